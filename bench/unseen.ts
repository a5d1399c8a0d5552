/**
 * What choices lose on grids, equations and GPUs that were not recorded, as a table: by numbers of known grids, random ones and
 * well spread ones, and by what is left out.
 *
 *     deno run -A bench/unseen.ts [FILE [OTHER]]
 *
 * The files are recordings of two GPUs, an H100's and an H200's where none are named.
 *
 * @module
 */
import { hashOf } from "../kernels/definition.ts";
import type { Problem } from "../kernels/stencils/stencil.ts";
import { seededRandom } from "../tuner/measuring/seeded_random.ts";
import type { DeviceModel } from "../models/roofline.ts";
import { ELSEWHERE } from "../tuner/profile/choose.ts";
import { leaveOneOut, type MeasuredProblem, type UnseenProblem } from "../tuner/profile/leave_one_out.ts";
import { predictionOf } from "../tuner/profile/prediction.ts";
import { problemOf } from "../tuner/profile/profile_problem.ts";
import { readReplaySpaces } from "../tuner/replay/read_replay_space.ts";
import { deviceModelOf } from "../tuner/devices/device_model.ts";

/** Grids that have little in common. */
const SPREAD = ["512,512,512", "2000,2000,32", "128,128,128", "96,4001,160", "3000,500,120"];

/** What was recorded on a GPU. */
interface Recorded {
  readonly name: string;
  readonly device: DeviceModel;
  readonly problems: readonly MeasuredProblem[];
}

async function recordedIn(file: string): Promise<Recorded> {
  const facets = (await readReplaySpaces(file)).spaces.flatMap(({ facet, configurations }) =>
    facet?.device.gpu ? [{ ...facet, configurations }] : []
  );
  const { gpu, measured } = facets[0]!.device;
  const device = deviceModelOf(facets[0]!.device, measured.copyBytesPerSecond!);
  const problems = facets.flatMap(({ problem: described, configurations }) => {
    const problem = problemOf(described);
    if (problem === undefined) return [];
    const samples = configurations.flatMap(({ traversal, parameters, rate }) => {
      const prediction = predictionOf({ traversal, parameters, cpuWorkers: undefined }, problem, device);
      return rate === undefined || "reason" in prediction
        ? []
        : [{ ...prediction, problem, cellsPerSecond: rate }];
    });
    return [{ problem, samples }];
  });
  return { name: gpu!.description, device, problems };
}

/** Other samples of the same problems, of a GPU with this number. */
function copied(problems: readonly MeasuredProblem[], device: number): MeasuredProblem[] {
  return problems.map(({ problem: of, samples }) => {
    const problem = { ...of };
    return { problem, samples: samples.map((one) => ({ ...one, problem, device })) };
  });
}

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))]!;

/** @param beside what expectations are off by beside what they say */
function row(name: string, all: readonly UnseenProblem[], beside = 0): void {
  const losses = all.map(({ loss }) => loss);
  const off = all.map(({ chosen, expected }) => Math.abs(Math.log(chosen.cellsPerSecond / expected)));
  const within = off.filter((one, i) => one < 1.96 * Math.hypot(all[i]!.deviation, beside)).length /
    all.length;
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

/** What the models choose that have measured nothing. */
function alone(problems: readonly MeasuredProblem[]): UnseenProblem[] {
  return problems.map(({ problem: { grid }, samples }) => {
    const [chosen] = samples.toSorted((a, b) => b.predicted - a.predicted);
    const rates = (some: typeof samples) => Math.max(0, ...some.map(({ cellsPerSecond }) => cellsPerSecond));
    const best = rates(samples), loss = 1 - chosen!.cellsPerSecond / best, expected = chosen!.predicted;
    const plain = rates(samples.filter(({ traversal: { name } }) => name === "stepwise"));
    return { grid, known: 0, chosen: chosen!, expected, deviation: 0.2, best, plain, loss };
  });
}

const files = Deno.args.length > 0
  ? Deno.args
  : ["h100", "h200"].map((name) => `fixtures/${name}/grids.jsonl.gz`);
const [here, other] = await Promise.all(files.map(recordedIn));
const { problems: all, device: DEVICE } = here!;
const gridOf = ({ grid }: Problem): string => `${grid}`,
  equationOf = ({ stencil }: Problem) => hashOf(stencil.update);
const grids = [...new Set(all.map(({ problem }) => gridOf(problem)))];
const isSame = (one: Problem, other: Problem): boolean => equationOf(one) === equationOf(other);
console.log(
  "| known | problems | median loss | one in ten | largest | half are off by | in the interval | slower than stepwise |",
);
console.log(`|${" --- |".repeat(8)}`);
row("the models alone", alone(all));
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

for (const [one, another] of other === undefined ? [] : [[here!, other], [other, here!]]) {
  const { device, name, problems } = one!, of = another!.name;
  const isOther = (known: Problem, { grid }: Problem) => `${known.grid}` !== `${grid}`;
  // a device alike counts as the one at hand until that is measured
  const [unknown, known] = [0, 1].map((number) => {
    const there = copied(another!.problems, number), isThere = new Set(there.map(({ problem }) => problem));
    return (isKnown: (known: Problem, wanted: Problem, isThere: boolean) => boolean) =>
      leaveOneOut(
        [...problems, ...there],
        device,
        (some, wanted) => !isThere.has(wanted) && isKnown(some, wanted, isThere.has(some)),
      );
  });
  row(`${name}: the models alone`, alone(problems));
  row(`${name}: of ${of}, all grids`, unknown!((_, __, isThere) => isThere), ELSEWHERE);
  row(
    `${name}: of ${of}, all other grids`,
    unknown!((some, wanted, isThere) => isThere && isOther(some, wanted)),
    ELSEWHERE,
  );
  row(
    `${name}: of ${of}, other grids and equations`,
    unknown!((some, wanted, isThere) => isThere && isOther(some, wanted) && !isSame(some, wanted)),
    ELSEWHERE,
  );
  row(`${name}: of both, all other grids`, known!(isOther));
}
