/**
 * Kills runs of `tune` and the processes that measure for them at random moments, and goes on with `--resume`, until
 * 100 have been killed; then lets one end. As a program: `deno run -A bench/kill_runs.ts 100 [SEED]`.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { configurationKey } from "../tuner/configuration.ts";
import { journalPath, readJournal } from "../tuner/profile/journal.ts";
import type { JournalRecord } from "../tuner/profile/journal_format.ts";
import { readProfile } from "../tuner/profile/store.ts";
import { seededRandom } from "../tuner/measuring/seeded_random.ts";
import { taskCommand } from "../tests/cli/run_task.ts";

/** What became of the runs. */
export interface KillReport {
  /** Runs that were killed, and processes that measured for one. */
  readonly parents: number;
  readonly children: number;
  /** Runs that came to their end; the next one begins with an empty journal. */
  readonly ended: number;
  /** Evaluations in the journals before the runs that came to their end, and those of them that these made anew. */
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
  /** The longest time between two kills, in ms. */
  readonly longestMs: number;
  readonly onKill?: (parents: number, children: number, records: number) => void;
}

/**
 * Kills, and checks after every death of a run that nothing is lost and every file can be read, and at the end of
 * every run that it made nothing anew. The run and the process that measures for it are killed in turns, each at a
 * random moment; a run goes on after the death of such a process.
 */
export async function killRuns({ kills, seed, args, longestMs, onKill }: KillOptions): Promise<KillReport> {
  const directory = await Deno.makeTempDir({ prefix: "facet-kill-" });
  const draw = seededRandom(seed);
  let before: readonly JournalRecord[] = [];
  let parents = 0, children = 0, ended = 0, torn = 0, known = 0, again = 0;
  const path = (): string => `${directory}/${ended}.json`;
  /** Nothing that was there is gone, what is new is whole. */
  const check = async (): Promise<void> => {
    const content = await readJournal(journalPath(path()));
    assertEquals(content.records.slice(0, before.length), before, "a record is gone");
    // half a line stays where another run wrote on before it was removed
    assertEquals(content.damaged, []);
    if (content.torn) torn++;
    before = content.records;
    if (await Deno.stat(path()).then(() => true, () => false)) await readProfile(path());
  };
  /** Whether the journal has more than before: a run that is killed earlier shows nothing. */
  const hasRecorded = async (): Promise<boolean> => {
    const content = await readJournal(journalPath(path())).catch(() => undefined);
    return content !== undefined && evaluationsOf(content.records).length > evaluationsOf(before).length;
  };
  /** Runs until it is killed, or to its end. */
  const runOnce = async (mayKill: boolean): Promise<void> => {
    const run = taskCommand("tune", [...args, "--out", path(), "--resume", "--quiet", "--json"]).spawn();
    const output = Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
    let hasEnded = false;
    const status = run.status.then((status) => (hasEnded = true, status));
    while (mayKill && !hasEnded) {
      const isChild = (parents + children) % 2 === 0;
      const isReady = async (): Promise<boolean> =>
        isChild ? await evaluatorOf(run.pid) !== undefined : await hasRecorded();
      while (!hasEnded && !await isReady()) await pause(50);
      await pause(draw() * longestMs);
      // the one that was there may have come to its end
      const pid = isChild ? await evaluatorOf(run.pid) : run.pid;
      if (hasEnded || pid === undefined || !kill(pid)) continue;
      if (isChild) children++;
      else parents++;
      onKill?.(parents, children, before.length);
      if (!isChild || parents + children >= kills) break;
    }
    const { code, signal } = await status;
    const [stdout, stderr] = await output;
    const knownBefore = new Set(evaluationsOf(before)), records = before.length;
    await check();
    if (signal === "SIGKILL") return;
    // what a killed process had is on record as lost; the run ends well
    assertEquals([code, stderr], [0, ""]);
    const { recalled, evaluated, entry } = JSON.parse(stdout);
    assert(entry !== null && evaluated >= recalled);
    // the final round measures its finalists again: only what the search made anew counts
    const searched = evaluationsOf(before.slice(records)).slice(0, evaluated - recalled);
    const repeated = searched.filter((key) => knownBefore.has(key)).length;
    assertEquals([recalled, repeated], [knownBefore.size, 0]);
    known += knownBefore.size;
    again += repeated;
    ended++;
    before = [];
  };
  try {
    while (parents + children < kills) await runOnce(true);
    if (before.length > 0) await runOnce(false);
    return { parents, children, ended, known, again, torn };
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

/** The process that measures for a run; undefined while there is none. */
async function evaluatorOf(pid: number): Promise<number | undefined> {
  const args = ["-P", `${pid}`, "-f", "evaluator_main"];
  const { stdout } = await new Deno.Command("pgrep", { args, stderr: "null" }).output();
  const [child] = new TextDecoder().decode(stdout).split("\n").map(Number).filter((child) => child > 0);
  return child;
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
    longestMs: 3000,
    onKill: (parents, children, records) =>
      console.log(`${parents} runs and ${children} of their processes killed; ${records} records before`),
  });
  console.log(JSON.stringify(report));
}
