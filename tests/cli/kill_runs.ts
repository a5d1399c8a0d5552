/**
 * Kills runs of `tune` and the processes that measure for them at random moments, and goes on with `--resume`, until
 * so many have been killed; then lets one end. As a program: `deno run -A tests/cli/kill_runs.ts 100 [SEED]`.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { configurationKey } from "../../tuner/configuration_key.ts";
import { journalPath, readJournal } from "../../tuner/profile/journal.ts";
import type { JournalRecord } from "../../tuner/profile/journal_format.ts";
import { readProfile } from "../../tuner/profile/store.ts";
import { seededRandom } from "../../tuner/search/seeded_random.ts";
import { taskCommand } from "./run_task.ts";

/** What became of the runs. */
export interface KillReport {
  /** Runs that were killed, and processes that measured for one. */
  readonly parents: number;
  readonly children: number;
  /** Runs that ended before they could be killed. */
  readonly ended: number;
  /** Evaluations in the journal before the last run, and those of them that it made anew in its search. */
  readonly known: number;
  readonly again: number;
  /** Journals that ended with half a line. */
  readonly torn: number;
}

/** How to kill. */
export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
  /** Options of `tune`, without `--out` and `--resume`. */
  readonly args: readonly string[];
  /** The longest that a run lives, in ms. */
  readonly longestMs: number;
  readonly onKill?: (count: number, records: number) => void;
}

/** Kills, and checks after every death that nothing is lost and every file can be read. */
export async function killRuns({ kills, seed, args, longestMs, onKill }: KillOptions): Promise<KillReport> {
  const directory = await Deno.makeTempDir({ prefix: "facet-kill-" });
  const out = `${directory}/p.json`;
  const draw = seededRandom(seed);
  let before: readonly JournalRecord[] = [];
  let parents = 0, children = 0, ended = 0, torn = 0;
  /** Nothing that was there is gone, what is new is whole. */
  const check = async (): Promise<void> => {
    const content = await readJournal(journalPath(out));
    assertEquals(content.records.slice(0, before.length), before, "a record is gone");
    // half a line stays where another run wrote on before it was removed
    assertEquals(content.damaged, []);
    if (content.torn) torn++;
    before = content.records;
    if (await Deno.stat(out).then(() => true, () => false)) await readProfile(out);
  };
  try {
    while (parents + children < kills) {
      const run = taskCommand("tune", [...args, "--out", out, "--resume", "--quiet"]).spawn();
      const output = Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
      let hasEnded = false;
      const status = run.status.then((status) => (hasEnded = true, status));
      if (draw() < 0.5) {
        let child: number | undefined;
        while (!hasEnded && child === undefined) {
          await pause(50);
          [child] = await childrenOf(run.pid);
        }
        await pause(draw() * longestMs / 2);
        if (child !== undefined && kill(child)) children++;
        await pause(draw() * longestMs / 2);
      } else {
        await pause(draw() * longestMs);
      }
      if (!hasEnded && kill(run.pid)) parents++;
      const { code, signal } = await status;
      const [, stderr] = await output;
      if (signal !== "SIGKILL") {
        ended++;
        assertEquals([code, stderr], [0, ""]);
      }
      await check();
      onKill?.(parents + children, before.length);
    }
    const known = new Set(evaluationsOf(before));
    const runs = before.length;
    const { code, stdout, stderr } = await taskCommand("tune", [...args, "--out", out, "--resume", "--json"])
      .output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    await check();
    const { recalled, evaluated, entry } = JSON.parse(new TextDecoder().decode(stdout));
    assert(entry !== null && evaluated >= recalled);
    // the final round measures its finalists again: only what the search made anew counts
    const searched = evaluationsOf(before.slice(runs)).slice(0, evaluated - recalled);
    const again = searched.filter((key) => known.has(key)).length;
    assertEquals([recalled, again], [known.size, 0]);
    return { parents, children, ended, known: known.size, again, torn };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Configurations of evaluations. */
function evaluationsOf(records: readonly JournalRecord[]): string[] {
  return records.flatMap((record) =>
    record.kind === "run" ? [] : [
      configurationKey(record.kind === "failure" ? record.configuration : record.measurement.configuration),
    ]
  );
}

/** The processes that a process has started. */
async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await new Deno.Command("pgrep", { args: ["-P", `${pid}`], stderr: "null" }).output();
  return new TextDecoder().decode(stdout).split("\n").map(Number).filter((child) => child > 0);
}

function kill(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false; // it has just ended
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

if (import.meta.main) {
  const [kills = "100", seed = "1"] = Deno.args;
  const args =
    "--grid 24x20x16 --steps 12 --traversal stepwise --strategy exhaustive --budget 400 --cpu-workers 0";
  const report = await killRuns({
    kills: Number(kills),
    seed: Number(seed),
    args: args.split(" "),
    longestMs: 4000,
    onKill: (count, records) => console.log(`${count} killed, ${records} records`),
  });
  console.log(JSON.stringify(report));
}
