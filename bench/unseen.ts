/**
 * What choices lose on grids, equations and GPUs that were not recorded, as a table: by numbers of known grids, random ones and
 * well spread ones, and by what is left out.
 *
 *     deno run -A bench/unseen.ts [FILE…]
 *
 * Files are recordings, an H100's where none are named; those of other devices count as elsewhere.
 *
 * @module
 */
import { hashOf } from "../kernels/definition.ts";
import type { Problem } from "../kernels/stencils/stencil.ts";
import { seededRandom } from "../tuner/measuring/seeded_random.ts";
import { leaveOneOut, type MeasuredProblem, type UnseenProblem } from "../tuner/profile/leave_one_out.ts";
import { predictionOf } from "../tuner/profile/prediction.ts";
import { problemOf } from "../tuner/profile/profile_problem.ts";
import { readReplaySpaces } from "../tuner/replay/read_replay_space.ts";

/** Grids that have little in common. */
const SPREAD = ["512,512,512", "2000,2000,32", "128,128,128", "96,4001,160", "3000,500,120"];

const DEVICE = { copyBytesPerSecond: 3e12 };

async function measuredIn(file: string): Promise<MeasuredProblem[]> {
  return (await readReplaySpaces(file)).spaces.flatMap(({ facet, configurations }) => {
    const problem = facet && problemOf(facet.problem);
    if (problem === undefined) return [];
    const samples = configurations.flatMap(({ traversal, parameters, rate }) => {
      const prediction = predictionOf({ traversal, parameters, cpuWorkers: undefined }, problem, DEVICE);
      return rate === undefined || "reason" in prediction
        ? []
        : [{ ...prediction, problem, cellsPerSecond: rate }];
    });
    return [{ problem, samples }];
  });
}

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))]!;

function row(name: string, all: readonly UnseenProblem[]): void {
  const losses = all.map(({ loss }) => loss);
  const off = all.map(({ chosen, expected }) => Math.abs(Math.log(chosen.cellsPerSecond / expected)));
  const within = off.filter((one, i) => one < 1.96 * all[i]!.deviation).length / all.length;
  const slower = all.filter(({ chosen, plain }) => chosen.cellsPerSecond < 0.99 * plain).length;
  const percents = [
    quantile(losses, 0.5),
    quantile(losses, 0.9),
    Math.max(...losses),
    quantile(off, 0.5),
    within,
  ];
  console.log(
    `| ${[name, all.length, ...percents.map((part) => `${(100 * part).toFixed(1)}%`), slower].join(" | ")} |`,
  );
}

const files = Deno.args.length > 0 ? Deno.args : ["fixtures/h100/grids.jsonl.gz"];
const all = (await Promise.all(files.map(measuredIn))).flat();
const gridOf = ({ grid }: Problem): string => `${grid}`,
  equationOf = ({ stencil }: Problem) => hashOf(stencil.update);
const grids = [...new Set(all.map(({ problem }) => gridOf(problem)))];
const isSame = (one: Problem, other: Problem): boolean => equationOf(one) === equationOf(other);
console.log(
  "| known | problems | median loss | one in ten | largest | half are off by | in the interval | slower than stepwise |",
);
console.log(`|${" --- |".repeat(8)}`);
const alone = all.map(({ problem, samples }): UnseenProblem => {
  const [chosen] = samples.toSorted((a, b) => b.predicted - a.predicted),
    rates = samples.map((one) => one.cellsPerSecond);
  const plain = samples.filter(({ traversal: { name } }) => name === "stepwise").map((one) =>
    one.cellsPerSecond
  );
  const best = Math.max(...rates), loss = 1 - chosen!.cellsPerSecond / best, expected = chosen!.predicted;
  return {
    grid: problem.grid,
    known: 0,
    chosen: chosen!,
    expected,
    deviation: 0.2,
    best,
    plain: Math.max(0, ...plain),
    loss,
  };
});
row("the models alone", alone);
for (const count of [1, 2, 3, 5, 10, 20]) {
  const random = seededRandom(count), chosen = new Map<string, Set<string>>();
  for (const grid of grids) {
    const others = grids.filter((other) => other !== grid).map((other) => [random(), other] as const).sort();
    chosen.set(grid, new Set(others.slice(0, count).map(([, other]) => other)));
  }
  row(
    `${count} random grids, the same equation`,
    leaveOneOut(
      all,
      DEVICE,
      (other, one) => isSame(other, one) && chosen.get(gridOf(one))!.has(gridOf(other)),
    ),
  );
}
for (const count of [1, 2, 3, 5]) {
  const some = new Set(SPREAD.slice(0, count));
  row(
    `${count} spread grids, the same equation`,
    leaveOneOut(
      all,
      DEVICE,
      (other, one) => isSame(other, one) && gridOf(other) !== gridOf(one) && some.has(gridOf(other)),
    ),
  );
}
row(
  "all other grids, the same equation",
  leaveOneOut(all, DEVICE, (other, one) => isSame(other, one) && gridOf(other) !== gridOf(one)),
);
row("all other grids, all equations: as shipped", leaveOneOut(all, DEVICE));
row(
  "all other grids, other equations",
  leaveOneOut(all, DEVICE, (other, one) => !isSame(other, one) && gridOf(other) !== gridOf(one)),
);
