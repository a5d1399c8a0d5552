/**
 * What computes a case, by chance: a device, parts, a traversal and its parameters. What is legal is asked of the product.
 *
 * @module
 */
import { refusalOf } from "../../kernels/capability.ts";
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { precisionOf } from "../../kernels/precision.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { traversalNamed, TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { DeviceLimits, Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import {
  partOfRank,
  partsOfRank,
  planForPairs,
  planOf,
  problemOfRank,
  turnsOf,
} from "../../models/rank_part.ts";
import type { Configuration, Share } from "../../tuner/configuration.ts";
import { sharesOf } from "../../tuner/shares.ts";
import { limitsOf, whyNoPrecision } from "../../tuner/devices/device.ts";
import { whyNot } from "../../tuner/devices/refuse_parameters.ts";
import { partOf, whyNoShare } from "../../tuner/devices/shared/shares.ts";
import type { Dice } from "./dice.ts";
import { type LimitedGpu, problemOf } from "./machines.ts";
import type { RandomCase, Where } from "./random_case.ts";

/** Bytes of workgroup memory that a GPU in software clears in reasonable time, again and again. */
const MOST_WORKGROUP_BYTES = 2560;

/** What computes: one device or several. */
export type Device =
  | "cpu"
  | "gpu"
  | "both"
  | "sections"
  | "buffers"
  | "window"
  | "cpu-ranks"
  | "gpu-ranks"
  | "both-ranks"
  | "mixed-ranks";

export const DEVICES: readonly Device[] = [
  "cpu",
  "gpu",
  "both",
  "sections",
  "buffers",
  "window",
  "cpu-ranks",
  "gpu-ranks",
  "both-ranks",
  "mixed-ranks",
];

/** What devices allow. */
export interface Bench {
  /** The traversal that the GPU is to have. @default {any} */
  readonly wish?: string | undefined;
  readonly gpu: LimitedGpu | undefined;
  /** Whether CPU kernels can have fused products. */
  readonly fuses: boolean;
  /** Instructions of a GPU kernel's loop at most: a driver in software compiles for milliseconds an instruction. */
  readonly longestLoop: number;
}

/** A traversal with its parameters. */
type Way = Pick<Configuration, "traversal" | "parameters">;

/** A traversal of the CPU's workers for a problem or a part; undefined where there is none. */
function drawCpuWay(
  dice: Dice,
  problem: Problem,
  { workers, fuses }: { readonly workers: number; readonly fuses: boolean },
): Way | undefined {
  const ways = CPU_TRAVERSALS.flatMap((traversal) => {
    if (refusalOf(traversal, problem) !== undefined) return [];
    const { grid: [, ny, nz] } = problem, fused = fuses && dice.chance(0.3) ? { fused: 1 } : {};
    // beyond those that are tried: thin strips, low diamonds, short nodes
    const others: Parameters[] = traversal.name === "stepwise"
      ? [{}, { strip: dice.from(0, ny), ...fused }]
      : traversal.name === "diamond-wavefront"
      ? Array.from(
        { length: 4 },
        () => ({ tiles: dice.from(1, 3), levels: dice.from(1, 6), block: dice.from(1, 4), ...fused }),
      )
      : traversal.name === "swept"
      ? [{}, { points: dice.from(1, nz) }]
      : [{}];
    const all = [...traversal.candidates(problem, workers, { fuses }), ...others]
      .filter((parameters) => traversal.infeasible(problem, parameters) === undefined);
    return all.length === 0 ? [] : [{ traversal: traversal.name, all }];
  });
  if (ways.length === 0) return undefined;
  const { traversal, all } = dice.oneOf(ways);
  return { traversal, parameters: dice.oneOf(all) };
}

/** How often a traversal is drawn where it is able: others seldom are. */
const WEIGHTS: Readonly<Record<string, number>> = { stepwise: 0.5, marching: 2, classic: 1 };

/** Parameters that are any whole number, where the lists have what is fast. */
const ANY_COUNT = new Set([
  "dts",
  "nt",
  "bands",
  "chunk",
  "pieces",
  "depth",
  "line",
  "across",
  "side",
  "patchA",
  "patchB",
  "patchC",
  "steps",
  "threadsX",
]);

/** Parameters of a traversal by chance, mostly from its own lists; undefined where none were found that are legal. */
function drawParameters(
  dice: Dice,
  { traversal, problem, limits }: {
    readonly traversal: Traversal;
    readonly problem: Problem;
    readonly limits: DeviceLimits;
  },
  { gpu, longestLoop }: Bench,
): Parameters | undefined {
  const lists = Object.entries(traversal.parameterLists(problem, limits));
  if (lists.some(([, list]) => list.length === 0)) return undefined;
  // some beyond the lists, which serve large grids
  const draw = ([name, list]: (typeof lists)[0], stray: number): Parameters[string] =>
    !ANY_COUNT.has(name) || !dice.chance(stray)
      ? dice.oneOf(list)
      // whether larger tiles fit takes seconds to find out
      : dice.from(1, dice.oneOf(name === "dts" ? [2, 3] : [2, 3, 12]));
  const parameters: Record<string, Parameters[string]> = {};
  for (let i = 0; i < 200; i++) {
    // one or two others where these do not go together, all others now and then
    const some = i % 50 === 0 ? lists : [dice.oneOf(lists), dice.oneOf(lists)];
    for (const one of some) parameters[one[0]] = draw(one, 0.5);
    // what goes together only by a rare chance
    if (i % 50 === 0 && parameters.exchange === 1) {
      Object.assign(parameters, { depth: dice.from(2, 4), threadsZ: limits.subgroupSize, tile: 0, ahead: 1 });
    }
    if (traversal.infeasible(problem, parameters, limits) !== undefined) continue;
    const { loopInstructions = 0, rounds: { instructions }, workgroupBytes } = traversal.demand(
      problem,
      parameters,
    );
    if (Math.max(loopInstructions, instructions) > longestLoop) continue;
    if (gpu?.isSoftware && workgroupBytes > MOST_WORKGROUP_BYTES) continue;
    return { ...parameters };
  }
  return undefined;
}

/** A traversal of the GPU for a problem or a part. */
function drawGpuWay(dice: Dice, problem: Problem, limits: DeviceLimits, bench: Bench): Way | undefined {
  const able = TRAVERSALS.filter((traversal) =>
    refusalOf(traversal, problem, limits) === undefined && (bench.wish ?? traversal.name) === traversal.name
  );
  for (let i = 0; i < 4 && able.length > 0; i++) {
    // every other one is seldom able
    const traversal = dice.weighted(able.map((one) => [WEIGHTS[one.name] ?? 4, one] as const));
    const parameters = drawParameters(dice, { traversal, problem, limits }, bench);
    if (parameters !== undefined) return { traversal: traversal.name, parameters };
  }
  return undefined;
}

type Undecided = Omit<RandomCase, "where" | "calls">;

function alone(nx: number, way: Way, of: Partial<Share>): Configuration {
  return {
    ...way,
    share: {
      cpuSlices: 0,
      gpuSlices: 0,
      exchangeEvery: 1,
      cpuWorkers: 0,
      ...of,
      ...(of.gpuSlices === undefined ? { cpuSlices: nx } : {}),
    },
  };
}

/** Draws what computes, and asks whether it can have points; undefined where the device cannot compute this problem at all. */
export function drawWhere(dice: Dice, one: Undecided, device: Device, bench: Bench): Where | undefined {
  const where = decide(dice, one, device, bench),
    counts = { sources: one.definition.sources ? 1 : 0, receivers: 1 };
  if (where?.on !== "solver" || one.survey !== undefined) return where;
  const open = problemOf({ ...one, where, calls: [] }),
    { configuration, configuration: { share }, sections } = where;
  const problem = { ...plannedProblem(open), survey: counts }, { gpu } = bench;
  const limits = gpu && {
    ...limitsOf(gpu.limits as unknown as GPUSupportedLimits),
    ...(sections &&
      {
        maxStorageBufferBindingSize: sections.bytes,
        ...(sections.isBuffer && { maxBufferSize: sections.bytes }),
      }),
  };
  const canAddPoints = sharesOf(configuration).every(({ device, ...way }) =>
    canCompute(way, { problem: partOf(problem, share, device), device, limits })
  );
  return canAddPoints ? { ...where, canAddPoints } : where;
}

/** Whether a device can compute a problem or a part like this. */
function canCompute(
  { traversal, parameters }: Way,
  { problem, device, limits }: {
    readonly problem: Problem;
    readonly device: "cpu" | "gpu";
    readonly limits: DeviceLimits | undefined;
  },
): boolean {
  const its = device === "cpu" ? CPU_TRAVERSALS : TRAVERSALS,
    found = its.find(({ name }) => name === traversal)!;
  return refusalOf(found, problem, limits) === undefined &&
    (found as Traversal).infeasible(problem, parameters, limits!) === undefined;
}

function decide(dice: Dice, one: Undecided, device: Device, bench: Bench): Where | undefined {
  const open = problemOf({ ...one, where: undefined as never, calls: [] }), problem = plannedProblem(open);
  const { grid: [nx] } = problem,
    { gpu, fuses } = bench,
    workers = dice.weighted([[10, 1], [2, 2], [1, 3]] as const);
  const limits = gpu && limitsOf(gpu.limits as unknown as GPUSupportedLimits);
  const usesGpu = device !== "cpu" && device !== "cpu-ranks";
  if (usesGpu && (gpu === undefined || whyNoPrecision(gpu.device, problem.stencil.update))) return undefined;
  const exchangeEvery = dice.from(1, 4);
  switch (device) {
    case "cpu": {
      const way = drawCpuWay(dice, problem, { workers, fuses });
      return way && { on: "solver", configuration: alone(nx, way, { cpuWorkers: workers }) };
    }
    case "gpu": {
      const way = drawGpuWay(dice, problem, limits!, bench);
      return way && { on: "solver", configuration: alone(nx, way, { gpuSlices: nx }) };
    }
    case "buffers": {
      const way = drawGpuWay(dice, problem, limits!, bench);
      if (way === undefined) return undefined;
      const plan = TRAVERSALS.find(({ name }) => name === way.traversal)!.plan(
        problem,
        way.parameters,
        limits!,
      );
      if (plan.storage.order !== undefined) return undefined;
      return { on: "solver", configuration: alone(nx, way, { gpuSlices: nx }), hasBuffers: true };
    }
    case "sections": {
      const way = drawGpuWay(dice, problem, limits!, bench);
      if (way === undefined) return undefined;
      const traversal = TRAVERSALS.find(({ name }) => name === way.traversal)!;
      const { layout } = traversal.plan(problem, way.parameters).storage;
      for (let i = 0; i < 8; i++) {
        const bytes = 256 * Math.ceil(precisionOf(layout).bytes * layout.length * dice.real(0.25, 0.9) / 256),
          isBuffer = dice.chance(0.5);
        const lower = {
          ...limits!,
          maxStorageBufferBindingSize: bytes,
          ...(isBuffer && { maxBufferSize: bytes }),
        };
        if (traversal.infeasible(problem, way.parameters, lower) !== undefined) continue;
        return {
          on: "solver",
          configuration: alone(nx, way, { gpuSlices: nx }),
          sections: { bytes, isBuffer },
        };
      }
      return undefined;
    }
    case "both": {
      const cpuSlices = dice.from(1, Math.max(1, nx - 1)),
        share = { cpuSlices, gpuSlices: nx - cpuSlices, exchangeEvery, cpuWorkers: workers };
      if (nx < 2 || whyNoShare(problem, share) !== undefined) return undefined;
      const way = drawGpuWay(dice, partOf(problem, share, "gpu"), limits!, bench);
      const cpu = drawCpuWay(dice, partOf(problem, share, "cpu"), { workers, fuses });
      if (way === undefined || cpu === undefined) return undefined;
      return { on: "solver", configuration: { ...way, share: { ...share, cpu } } };
    }
    case "window":
      if (dice.chance(0.5)) {
        const configuration = drawWindow(dice, one, problem, bench);
        return configuration && { on: "solver", configuration };
      }
      // falls through: a window in a rank
    case "cpu-ranks":
    case "gpu-ranks":
    case "both-ranks":
    case "mixed-ranks": {
      const parts = dice.weighted<readonly number[]>([
        ...[[2, 1, 1], [1, 2, 1], [1, 1, 2], [3, 1, 1], [2, 2, 1], [2, 1, 2]].map((one) => [1, one] as const),
        [0.3, [1, 1, 1]],
      ]);
      const rates = Array.from({ length: parts.reduce((a, b) => a * b) }, () => dice.from(1, 2));
      const plan = planOf(problem, { parts: parts as [number, number, number], exchangeEvery, rates });
      if (plan === undefined) return undefined;
      const fractions = rates.map(() => dice.oneOf([0.25, 0.5, 0.6]));
      const turning = { ...plan, inTurns: device === "gpu-ranks" && dice.chance(0.5) };
      const turns = turnsOf(problem, turning), inTurns = turns !== undefined && turns !== turning;
      const fine = inTurns ? turns : device === "both-ranks" ? planForPairs(problem, plan, fractions) : plan;
      if (fine === undefined) return undefined;
      const counts = { sources: one.definition.sources ? 1 : 0, receivers: 1 };
      let canAddPoints = one.survey === undefined && problem.stencil.dimensions !== 1;
      const configurations = rates.map((_, rank): Configuration | undefined => {
        const isWindow = device === "window" || (device === "mixed-ranks" && dice.chance(0.3));
        const usesCpu = device === "cpu-ranks" || device === "both-ranks" ||
          (device === "mixed-ranks" && !isWindow && dice.chance(0.5));
        const locals = partsOfRank(fine, rank).map((number): Problem => {
          const part = partOfRank(problem, fine, number);
          return { ...problemOfRank(problem, fine, part), isPart: true };
        });
        const [local, other = local] = locals as [Problem, Problem?], { grid: [cells] } = local;
        const cpu = usesCpu ? drawCpuWay(dice, local, { workers, fuses }) : undefined;
        const gpu = isWindow || device === "cpu-ranks" || (device === "mixed-ranks" && usesCpu)
          ? undefined
          : drawGpuWay(dice, other, limits!, bench);
        // both of two parts are computed alike
        const why = inTurns && gpu && whyNot(traversalNamed(gpu.traversal), local, gpu.parameters, limits!);
        if (why) return undefined;
        const fraction = fractions[rank]!;
        const share = { cpuSlices: 100 * fraction, gpuSlices: 100 - 100 * fraction, exchangeEvery };
        const made = isWindow
          ? drawWindow(dice, one, local, bench)
          : device === "both-ranks"
          ? gpu && cpu && { ...gpu, share: { ...share, cpuWorkers: workers, cpu } }
          : cpu
          ? alone(cells, cpu, { cpuWorkers: workers })
          : gpu && alone(cells, gpu, { gpuSlices: cells });
        const windowBytes = made?.share.deviceMemory;
        canAddPoints &&= made !== undefined &&
          sharesOf(made).every(({ device: on, ...way }) =>
            (inTurns ? locals : [on === "gpu" ? other : local]).every((part) =>
              canCompute(way, {
                problem: { ...part, survey: counts },
                device: on,
                limits: limits && { ...limits, ...(windowBytes && { windowBytes }) },
              })
            )
          );
        return made;
      });
      if (configurations.includes(undefined)) return undefined;
      return {
        on: "ranks",
        parts,
        exchangeEvery,
        inTurns,
        rates,
        workers,
        configurations: configurations as Configuration[],
        ...(canAddPoints && { canAddPoints }),
      };
    }
  }
}

/** A window of a GPU's memory through which a grid can pass; undefined where none was found. */
function drawWindow(
  dice: Dice,
  { definition: { fields, materials } }: Pick<RandomCase, "definition">,
  problem: Problem,
  bench: Bench,
): Configuration | undefined {
  const { grid: [nx, ny, nz] } = problem,
    slice = precisionOf(problem.stencil.update).bytes * ny * nz * (fields.length + materials.length);
  for (let i = 0; i < 10; i++) {
    const windowBytes = 256 * Math.ceil(slice * dice.from(8, 8 * nx) / 256);
    const way = drawGpuWay(dice, problem, { ...limitsOf(bench.gpu!.device.limits), windowBytes }, bench);
    if (way !== undefined) return alone(nx, way, { gpuSlices: nx, deviceMemory: windowBytes });
  }
}
