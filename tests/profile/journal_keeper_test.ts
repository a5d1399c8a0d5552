import { assertEquals, assertRejects } from "@std/assert";
import type { Evaluation } from "../../tuner/measuring/evaluate.ts";
import { RecordError } from "../../tuner/profile/journal.ts";
import { JournalKeeper, type KeptJournal } from "../../tuner/profile/journal_keeper.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { configurationNamed, measurementNamed } from "../measuring/fake_runner.ts";

const measured = (traversal: string): Evaluation => ({
  configuration: configurationNamed(traversal),
  measurement: measurementNamed(traversal, 1),
});

const FAILED: Evaluation = {
  configuration: configurationNamed("c"),
  failure: { reason: "compile", message: "no" },
};

/** A journal on a disk that is full where it says so. */
class Disk implements KeptJournal {
  readonly written: string[] = [];
  error: Error | undefined;
  opens = 0;
  closes = 0;

  readonly open = (): Promise<KeptJournal> => {
    this.opens++;
    return this.error === undefined ? Promise.resolve(this) : Promise.reject(this.error);
  };
  record(evaluation: Evaluation): Promise<void> {
    const { traversal } = evaluation.configuration;
    return this.#write("failure" in evaluation ? `${traversal} failed` : traversal);
  }
  close(): void {
    this.closes++;
  }
  #write(text: string): Promise<void> {
    if (text === "wrong") return Promise.reject(new RecordError("Cannot write j: no rate"));
    if (this.error !== undefined) return Promise.reject(this.error);
    this.written.push(text);
    return Promise.resolve();
  }
}

const FULL = new ProfileError("Cannot write j: No space left on device");
const LOST =
  "Cannot write j: No space left on device: the run goes on; what it measures is lost if it does not end";
const AGAIN = "The journal can be written again: nothing is missing";

Deno.test("what a full disk does not take is written as soon as it does, in order; one line says so", async () => {
  const disk = new Disk(), warnings: string[] = [];
  const keeper = new JournalKeeper(disk.open, (text) => warnings.push(text));
  await keeper.begin();
  await keeper.record(measured("a"));
  disk.error = FULL;
  await keeper.record(measured("b"));
  await keeper.record(FAILED);
  assertEquals([disk.written, keeper.waiting, warnings], [["a"], 2, [LOST]]);
  disk.error = undefined;
  await keeper.record(measured("d"));
  assertEquals([disk.written, keeper.waiting], [["a", "b", "c failed", "d"], 0]);
  assertEquals([warnings, disk.opens], [[LOST, AGAIN], 1]);
  keeper.close();
  assertEquals(disk.closes, 1);
});

Deno.test("a journal that cannot be opened is tried again", async () => {
  const disk = new Disk(), warnings: string[] = [];
  disk.error = FULL;
  const keeper = new JournalKeeper(disk.open, (text) => warnings.push(text));
  await keeper.begin();
  await keeper.record(measured("a"));
  assertEquals([keeper.waiting, disk.opens, warnings], [1, 2, [LOST]]);
  disk.error = undefined;
  await keeper.record(measured("b"));
  assertEquals([disk.written, keeper.waiting, disk.opens], [["a", "b"], 0, 3]);
});

Deno.test("a record that is none is left out, and holds nothing up; an error of our own is thrown", async () => {
  const disk = new Disk(), warnings: string[] = [];
  const keeper = new JournalKeeper(disk.open, (text) => warnings.push(text));
  await keeper.record(measured("wrong"));
  await keeper.record(measured("b"));
  assertEquals([disk.written, warnings], [["b"], ["Cannot write j: no rate: left out"]]);
  disk.error = new TypeError("a bug");
  await assertRejects(() => keeper.record(measured("c")), TypeError, "a bug");
});
