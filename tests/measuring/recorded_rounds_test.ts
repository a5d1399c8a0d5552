/**
 * What the rule says of final rounds that were recorded on an H100, of two to five blocks each.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { configurationKey, type Measurement } from "../../tuner/configuration.ts";
import { readJournal } from "../../tuner/profile/journal.ts";
import { standingsOf } from "../../tuner/measuring/tie_set.ts";

/** One final round: of each finalist the rates of its turns. */
interface Round {
  readonly name: string;
  readonly finalists: readonly { readonly first: Measurement; readonly rates: readonly number[] }[];
}

/** The final rounds of a journal: what a run measured more than twice, the first time in its search. */
async function roundsOf(path: string): Promise<Round[]> {
  const { records } = await readJournal(path);
  const runs: { name: string; turns: Map<string, Measurement[]> }[] = [];
  for (const record of records) {
    if (record.kind === "run") {
      const { stencil, order, delta } = record.problem;
      runs.push({ name: `${stencil} ${order ?? delta ?? ""}`.trim(), turns: new Map() });
    } else if (record.kind === "measurement" && record.measurement.configuration.share.cpuSlices === 0) {
      const key = configurationKey(record.measurement.configuration);
      const { turns } = runs.at(-1)!;
      turns.set(key, [...turns.get(key) ?? [], record.measurement]);
    }
  }
  return runs.map(({ name, turns }) => ({
    name,
    finalists: [...turns.values()].filter((all) => all.length > 2).map(([first, ...again]) => ({
      first: first!,
      rates: again.map(({ cellsPerSecond }) => cellsPerSecond),
    })),
  }));
}

Deno.test("in recorded rounds of an H100 few configurations tie, and a few blocks tell most of them", async () => {
  const found: string[] = [];
  for (const file of ["wave", "heat", "life_elastic"]) {
    for (const { name, finalists } of await roundsOf(`fixtures/h100/${file}.json.journal.jsonl`)) {
      const standings = standingsOf(finalists.map(({ rates }) => rates))!;
      const tied = standings.filter(({ isTied }) => isTied);
      const blocks = finalists[0]!.rates.length;
      for (const { interval95: [low, high] } of tied) {
        assert(high - low < (blocks > 2 ? 0.004 : 0.025), `${name}: ${low} to ${high}`);
      }
      found.push(`${name}: ${tied.filter(({ isCore }) => isCore).length} of ${tied.length}`);
      assert(
        finalists.every(({ first }, i) =>
          first.configuration.traversal !== "stepwise" || !standings[i]!.isTied
        ),
      );
    }
  }
  assertEquals(found, [
    "wave 2: 2 of 3",
    "wave 4: 2 of 2",
    "wave 6: 1 of 2",
    "wave 8: 1 of 2",
    "heat 1: 1 of 3",
    "heat 2: 1 of 2",
    "heat 3: 3 of 4",
    "heat 4: 1 of 1",
    "life: 1 of 1",
    "elastic: 1 of 2",
  ]);
});
