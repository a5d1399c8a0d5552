import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Configuration } from "../../tuner/configuration.ts";
import type { RecordedConfiguration } from "../../tuner/replay/replay_space.ts";
import {
  type Evaluator,
  takeTurns,
  type TimedEvaluation,
  type Turn,
} from "../../tuner/measuring/evaluator.ts";
import { recordConfigurations } from "../../tuner/replay/recorder.ts";
import { measurementNamed } from "../measuring/fake_runner.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";

const share = { cpuSlices: 0, gpuSlices: 8, exchangeEvery: 1, cpuWorkers: 0 };

function configurations(count: number): Configuration[] {
  return Array.from({ length: count }, (_, n) => ({ traversal: "stepwise", parameters: { n }, share }));
}

/** What becomes of a configuration. */
type Fate = "rate" | "timeout" | "out-of-memory" | "compile";

/** Processes without processes, that say what happened. */
class Bench {
  started = 0;
  closed = 0;
  /** Evaluations on the device at this moment, and the most there were. */
  #measuring = 0;
  mostMeasuring = 0;
  #compiling = 0;
  mostCompiling = 0;
  readonly recorded: RecordedConfiguration[] = [];
  readonly bests: number[] = [];

  constructor(readonly fate: (n: number, alive: number) => Fate) {}

  readonly start = (_: Turn): Promise<Evaluator> => {
    this.started++;
    let alive = true;
    const evaluate = (configuration: Configuration, options: { best: number; turn: Turn }) =>
      this.#evaluate(configuration, options, () => alive = false);
    return Promise.resolve({
      get alive() {
        return alive;
      },
      evaluate,
      close: () => {
        alive = false;
        this.closed++;
      },
    });
  };

  async #evaluate(
    configuration: Configuration,
    { best, turn }: { best: number; turn: Turn },
    die: () => void,
  ): Promise<TimedEvaluation> {
    const { n } = configuration.parameters;
    this.bests.push(best);
    this.mostCompiling = Math.max(this.mostCompiling, ++this.#compiling);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.#compiling--;
    const release = await turn();
    this.mostMeasuring = Math.max(this.mostMeasuring, ++this.#measuring);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.#measuring--;
    release();
    const fate = this.fate(n, this.started - this.closed);
    if (fate === "timeout") die();
    const evaluation: TimedEvaluation["evaluation"] = fate === "rate"
      ? { configuration, measurement: { ...measurementNamed("stepwise", 1e9 + n), configuration } }
      : { configuration, failure: { reason: fate, message: "" } };
    return { evaluation, evaluationNs: 1e6 };
  }

  async record(count: number, workers: number, signal = new AbortController().signal) {
    const { start } = this;
    const onRecorded = (one: RecordedConfiguration): void => void this.recorded.push(one);
    return await recordConfigurations(configurations(count), { workers, start, onRecorded, signal });
  }

  get numbers(): number[] {
    return this.recorded.map(({ parameters }) => parameters.n).sort((a, b) => a - b);
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

Deno.test("everything is recorded once, several compile at once, one measures at a time", async () => {
  const bench = new Bench(() => "rate");
  assertEquals(await bench.record(20, 4), { workersGivenUp: 0 });
  assertEquals(bench.numbers, upTo(20));
  assertEquals([bench.started, bench.closed, bench.mostMeasuring], [4, 4, 1]);
  assert(bench.mostCompiling > 1);
  assert(bench.bests.some((best) => best > 1e9)); // the best so far is passed on
});

Deno.test("a process that was too late is replaced, and costs its configuration alone", async () => {
  const bench = new Bench((n) => n % 5 === 0 ? "timeout" : n === 3 ? "compile" : "rate");
  await bench.record(12, 2);
  assertEquals(bench.numbers, upTo(12));
  const failed = bench.recorded.filter(({ failure }) => failure !== undefined);
  assertEquals(failed.map(({ parameters: { n }, failure }) => `${n} ${failure}`).sort(), [
    "0 timeout",
    "10 timeout",
    "3 compile",
    "5 timeout",
  ]);
  assert(bench.started >= 4 && bench.started === bench.closed, `${bench.started}, ${bench.closed}`);
});

Deno.test("where memory is short, processes are given up until the configuration fits or is alone", async () => {
  const fits = new Bench((n, alive) => n === 4 && alive > 2 ? "out-of-memory" : "rate");
  const { workersGivenUp } = await fits.record(30, 4);
  assert(workersGivenUp >= 1 && workersGivenUp <= 2);
  assertEquals(fits.numbers, upTo(30));
  assert(fits.recorded.every(({ rate }) => rate !== undefined));
  const never = new Bench((n) => n === 4 ? "out-of-memory" : "rate");
  assert((await never.record(30, 3)).workersGivenUp <= 2);
  assertEquals(never.numbers, upTo(30));
  assertEquals(never.recorded.filter(({ failure }) => failure === "out-of-memory").length, 1);
});

Deno.test("an interrupted recording keeps what it has", async () => {
  const stop = new AbortController();
  const bench = new Bench((n) => {
    if (n === 6) stop.abort();
    return "rate";
  });
  await bench.record(50, 2, stop.signal);
  assert(bench.recorded.length >= 6 && bench.recorded.length < 12, `${bench.recorded.length}`);
  assertEquals(bench.started, bench.closed);
});

Deno.test("a process that cannot start ends the recording, and the others with it", async () => {
  const bench = new Bench(() => "rate");
  let starts = 0;
  const start = (turn: Turn): Promise<Evaluator> => {
    if (++starts === 2) return Promise.reject(new RunFailure("device-lost", "no adapter"));
    return bench.start(turn);
  };
  const options = { workers: 3, start, onRecorded: () => {}, signal: new AbortController().signal };
  await assertRejects(() => recordConfigurations(configurations(50), options), RunFailure, "no adapter");
  assertEquals(bench.started, bench.closed);
});

Deno.test("turns are taken in the order asked", async () => {
  const turn = takeTurns();
  const order: number[] = [];
  await Promise.all(
    upTo(5).map(async (n) => {
      const release = await turn();
      order.push(n);
      await new Promise((resolve) => setTimeout(resolve, 1));
      order.push(n);
      release();
    }),
  );
  assertEquals(order, upTo(5).flatMap((n) => [n, n]));
});
