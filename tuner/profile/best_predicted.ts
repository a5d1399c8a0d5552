import type { Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { namesOf } from "../../kernels/traversals/parameter.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import type { Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import { type CostModel, kindOf, type Prediction } from "../../models/cost_model.ts";
import type { Configuration, Share } from "../configuration.ts";
import { partOf } from "../devices/shared/shares.ts";
import { cpuCandidates } from "../search/cpu_space.ts";
import { Enumeration, listsOf, onGpuAlone, withLists } from "../search/enumeration.ts";
import { isShared, uses } from "../shares.ts";
import { adaptConfiguration, adaptShare, type AdaptTarget } from "./adapt.ts";

/** Shapes of each traversal of the GPU whose rate is corrected, the models' best. */
const MOST_CORRECTED = 100;

/** Of what was measured of each of them, the nearest problems first: the model may know too little of it to be among these. */
const MOST_MEASURED = 32;

/** Runners-up of a choice. */
export const MOST_RUNNERS_UP = 23;

/** Those of them that differ from it in the order of dispatches alone. */
const MOST_OTHER_ORDERS = 2;

/** Kernels of each kind that are written in every way, those with the highest rates; orders of dispatches that the best have. */
const MOST_WRITTEN = 8, MOST_ORDERS = 6;

/** A candidate counts with its expected rate less this many deviations: what is unknown may be slow. */
const CAUTION = 0.8;

/**
 * On the CPU other traversals have to be faster than stepwise by more than this: how much of a cache is free changes with
 * what else the machine does.
 */
const CPU_DOUBT = Math.log(1.1);

/** Deviations to either side that 95% lie within. */
const WITHIN_95 = 1.96;

/** What there is to run on. */
export interface PredictionTarget extends AdaptTarget {
  /** The GPU's traversals. @default {all} */
  readonly traversals?: readonly Traversal[];
  /** Standard deviation of the logarithm by which rates are off beside what the cost model says. @default {0} */
  readonly beside?: number;
}

/** A configuration that can run, with the rate that it should reach. */
export interface Expected {
  readonly configuration: Configuration;
  readonly kind: string;
  readonly changes: readonly string[];
  readonly cellsPerSecond: number;
  /** 95% interval, as far as predictions were off where it was measured. */
  readonly interval95: readonly [low: number, high: number];
}

/** A way to compute the grid: a candidate for the part of it that one device computes, in its time. */
interface Way {
  readonly candidate: Prediction;
  readonly on: Problem;
  readonly share: Share;
  readonly changes: readonly string[];
  /** The part of the grid. @default {1} */
  readonly part?: number;
}

/** What a rate is expected of. */
type Timed = Pick<Way, "candidate" | "on" | "part">;

/** A way with the logarithm of the whole grid's rate. */
interface Weighed<W> {
  readonly way: W;
  readonly mean: number;
  readonly deviation: number;
}

type Ranked<W> = Pick<Weighed<W>, "way" | "mean">;

/**
 * The ways to compute a grid whose rates should be highest, of everything that can run: on the GPU alone, on the CPU
 * alone if it was measured or there is nothing else, and shared as `like` is. The first is never expected to be slower
 * than stepwise.
 *
 * @param model what runs cost, corrected by what was measured
 * @param like a configuration that was best for a problem like this one
 * @returns the best, runners-up of every sort, and the best of stepwise on the GPU, or why the GPU or the CPU cannot compute it
 */
export function bestPredicted(target: PredictionTarget, model: CostModel, like?: Configuration): {
  readonly best: Expected | undefined;
  readonly runnersUp: readonly Configuration[];
  readonly baseline: Expected | undefined;
  readonly reasons: string[];
} {
  const { problem, cpuWorkers, beside } = target, [slices] = problem.grid;
  const reasons: string[] = [];
  const { windowBytes: memory } = target.limits ?? {};
  const { share } = onGpuAlone({ traversal: stepwise, parameters: {}, memory }, problem);
  const ways = gpuWays({ on: problem, share, changes: [] }, target, model, reasons);
  if (ways.length === 0 || (model.knowsCpu && cpuWorkers > 0)) ways.push(...cpuWays(target, reasons));
  const adapted = like && adaptShare(like, target);
  if (adapted !== undefined && "share" in adapted && isShared(adapted.share)) {
    const part = adapted.share.gpuSlices / slices;
    ways.push(...gpuWays({ ...adapted, part, on: partOf(problem, adapted.share, "gpu") }, target, model, []));
  }
  const baselines = ways.filter(({ candidate, share }) => isPlain(candidate) && !uses(share, "cpu"));
  const kinds = Map.groupBy(fastestFirst(ways, model), ({ way }) => kindOf(way.candidate));
  const written = [...kinds.values()].flatMap((kind) => inEveryWay(kind, target, model));
  const first = mostPromising([...written, ...baselines], model);
  const baseline = mostPromising(baselines, model);
  return {
    best: first && describe(first, beside),
    runnersUp: first === undefined ? [] : runnersUp(first.way, [...written, ...ways], model),
    baseline: baseline && describe(baseline, beside),
    reasons,
  };
}

/**
 * The way that promises most, cautiously; stepwise where all others should be slower.
 *
 * @param ways each a candidate for a problem, or for a part of the grid that is computed in the time of the whole
 */
export function mostPromising<W extends Timed>(ways: readonly W[], model: CostModel): Weighed<W> | undefined {
  let best: (Weighed<W> & { readonly worth: number }) | undefined;
  for (const { way, mean } of fastestFirst(ways, model)) {
    // what follows is no better, however sure
    if (best !== undefined && mean < best.worth) break;
    const deviation = model.deviation(way.candidate, way.on);
    const doubt = way.candidate.cpuWorkers !== undefined && !isPlain(way.candidate) ? CPU_DOUBT : 0;
    const worth = mean - CAUTION * deviation - doubt;
    if (best === undefined || worth > best.worth) best = { way, mean, deviation, worth };
  }
  return best;
}

/**
 * What should be the fastest beside the first, however unsure: two other orders of its own kernel's dispatches, which need
 * no compiling, then other kernels, each in the order that should suit it best.
 */
function runnersUp(first: Way, ways: readonly Way[], model: CostModel): Configuration[] {
  const parametersOf = ({ candidate: { parameters } }: Way): string => JSON.stringify(parameters);
  const ordering = namesOf(traversalOf(first), "ordering"), own = kernelOf(first);
  const seen = new Set([parametersOf(first)]), orders: Way[] = [], kernels: Way[] = [];
  const mostOrders = ordering.length > 0 ? MOST_OTHER_ORDERS : 0;
  for (const { way } of corrected(ways, model)) {
    if (orders.length >= mostOrders && kernels.length >= MOST_RUNNERS_UP) break;
    const kernel = kernelOf(way), key = kernel === own ? parametersOf(way) : kernel;
    if (!seen.has(key)) (kernel === own ? orders : kernels).push(way);
    seen.add(key);
  }
  return [...orders.slice(0, mostOrders), ...kernels].slice(0, MOST_RUNNERS_UP).map(configurationOfWay);
}

/** The best kernels of a kind, written in every way, and what is best of these with dispatches in other orders. */
function inEveryWay(kind: readonly Ranked<Way>[], target: PredictionTarget, model: CostModel): Way[] {
  const traversal = traversalOf(kind[0]!.way), writing = namesOf(traversal, "writing");
  const ordering = namesOf(traversal, "ordering");
  const shapes = Map.groupBy(kind, ({ way }) => kernelOf(way, writing));
  const ways = [...shapes.values()].slice(0, MOST_WRITTEN).flatMap(([shape]) =>
    writing.length > 0 ? variants(shape!.way, target, model, { free: writing }) : [shape!.way]
  );
  const best = ordering.length > 0 ? corrected(ways, model).slice(0, MOST_WRITTEN) : [];
  const others = best.flatMap(({ way }) =>
    shapes.get(kernelOf(way, writing))!.slice(1, MOST_ORDERS).flatMap(({ way: { candidate } }) => {
      const values = Object.fromEntries(ordering.map((name) => [name, candidate.parameters[name]!]));
      return variants(way, target, model, { values });
    })
  );
  return [...ways, ...others];
}

/** The GPU's traversal of a way; undefined on the CPU. */
function traversalOf({ candidate }: Way): Traversal | undefined {
  return TRAVERSALS.find(({ name }) => name === kindOf(candidate));
}

/** A text that ways share exactly if they are one kernel, whose dispatches may come in another order. */
function kernelOf(way: Way, without: readonly string[] = []): string {
  const { candidate, part } = way, ordering = namesOf(traversalOf(way), "ordering");
  const compiled = Object.entries(candidate.parameters).filter(([name]) =>
    !ordering.includes(name) && !without.includes(name)
  );
  return JSON.stringify([kindOf(candidate), part, ...compiled]);
}

/** Ways with their corrected rates, the fastest first. */
function corrected<W extends Timed>(ways: readonly W[], model: CostModel): Ranked<W>[] {
  const meanOf = ({ candidate, on, part = 1 }: Timed) => model.mean(candidate, on) - Math.log(part);
  return ways.map((way) => ({ way, mean: meanOf(way) })).sort((a, b) => b.mean - a.mean);
}

/** The same down to the fastest of stepwise. */
function fastestFirst<W extends Timed>(ways: readonly W[], model: CostModel): Ranked<W>[] {
  const all = corrected(ways, model);
  const baseline = all.findIndex(({ way: { candidate } }) => isPlain(candidate));
  return baseline < 0 ? all : all.slice(0, baseline + 1);
}

/** Whether it is stepwise, of the GPU or of the CPU. */
function isPlain({ traversal: { name } }: Prediction): boolean {
  return name === stepwise.name;
}

/** What the GPU can do with its part of the grid; kernels written as usual. */
function gpuWays(
  way: Omit<Way, "candidate">,
  { limits, traversals = TRAVERSALS }: PredictionTarget,
  model: CostModel,
  reasons: string[],
): Way[] {
  const { device } = model;
  if (limits === undefined) {
    reasons.push("GPU: there is no GPU");
    return [];
  }
  const enumerations = traversals.map((traversal) => new Enumeration(traversal, way.on, { limits, device }));
  const ways = enumerations.flatMap((enumeration) => {
    const known = model.measured(enumeration.traversal), isMeasured = !model.isCorrected || known.length > 0;
    const own = known.filter(({ isForeign }) => !isForeign).slice(0, MOST_MEASURED);
    const measured = own.map(({ parameters }) => parameters);
    return enumeration.best(MOST_CORRECTED, { isMeasured, measured }).map((candidate) => ({
      ...way,
      candidate,
    }));
  });
  if (ways.length === 0) {
    const [first] = enumerations.toSorted((a, b) =>
      Number(a.refusal !== undefined) - Number(b.refusal !== undefined)
    );
    reasons.push(`GPU: ${first?.why}`);
  }
  return ways;
}

/** The same with every value of some parameters, and with these values of others. */
function variants(
  way: Way,
  { limits }: PredictionTarget,
  { device }: CostModel,
  { free = [], values = {} }: { readonly free?: readonly string[]; readonly values?: Parameters },
): Way[] {
  const { candidate: { parameters }, on } = way, traversal = traversalOf(way)!;
  const fixed = Object.keys(parameters).filter((name) => !free.includes(name));
  const lists = withLists(listsOf(on, traversal.name, limits!), fixed, (_, name) => [
    values[name] ?? parameters[name]!,
  ]);
  const { candidates } = new Enumeration(traversal, on, { limits: limits!, device }).look(lists);
  return candidates.map((candidate) => ({ ...way, candidate }));
}

/** What the CPU can do alone. */
function cpuWays(target: PredictionTarget, reasons: string[]): Way[] {
  const { problem, cpuWorkers } = target, [slices] = problem.grid;
  // what no memory of the CPU holds need not be enumerated
  const share = { cpuSlices: slices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: Math.max(1, cpuWorkers) };
  const whole = adaptShare({ traversal: stepwise.name, parameters: {}, share }, target);
  if ("reason" in whole) {
    reasons.push(`CPU: ${whole.reason}`);
    return [];
  }
  return cpuCandidates(problem, Math.max(1, cpuWorkers)).flatMap((candidate) => {
    const adapted = adaptConfiguration(candidate.configuration, target);
    if ("reason" in adapted) {
      if (reasons.length < 2) reasons.push(`CPU: ${adapted.reason}`);
      return [];
    }
    return [{ candidate, on: problem, share: candidate.configuration.share, changes: [] }];
  });
}

function configurationOfWay(
  { candidate: { traversal: { name: traversal }, parameters }, share }: Way,
): Configuration {
  return { traversal, parameters, share };
}

function describe({ way, mean, deviation }: Weighed<Way>, beside = 0): Expected {
  const half = WITHIN_95 * Math.hypot(deviation, beside);
  return {
    configuration: configurationOfWay(way),
    kind: kindOf(way.candidate),
    changes: way.changes,
    cellsPerSecond: Math.exp(mean),
    interval95: [Math.exp(mean - half), Math.exp(mean + half)],
  };
}
