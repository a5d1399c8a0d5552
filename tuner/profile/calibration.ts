import { hashOf } from "../../kernels/definition.ts";
import { remembered } from "../../kernels/remembered.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { Update } from "../../kernels/update.ts";
import { type Corrections, H100 } from "../../models/gpu_record.ts";
import { GaussianProcess } from "../../models/gaussian_process.ts";
import { type DeviceModel, registerPressure } from "../../models/roofline.ts";
import { partOf } from "../devices/shared/shares.ts";
import { median } from "../measuring/statistics.ts";
import { isShared, uses } from "../shares.ts";
import { rankCandidates, type Space } from "../search/space.ts";
import { formerPoints } from "./former_files.ts";
import { type Prediction, predictionOf } from "./prediction.ts";
import type { ProfileEntry, ProfilePoint, ProfileRated } from "./profile_types.ts";
import { recorded } from "./shipped.ts";

/** A candidate for a problem, with the rate that it reached. */
export interface Sample extends Prediction {
  readonly problem: Problem;
  readonly cellsPerSecond: number;
  /** A number of the device, where it is not the one at hand. @default {0} */
  readonly device?: number;
  /** Whether it is of another equation than the one at hand. @default {false} */
  readonly isForeign?: boolean;
}

/** Measurements of an entry that a profile keeps to predict from. */
const MOST_POINTS = 60;

/** Above this multiple of the registers that there are, more make no difference. */
const MOST_PRESSURE = 3;

/** Most measurements of one device to learn from, the nearest problems first: time grows with the cube of a traversal's. */
export const MOST_SAMPLES = 200;

/** Measurements of other devices to learn from, even if MOST_SAMPLES of the device at hand are known. */
const LEAST_ELSEWHERE = 50;

/** Most measurements of other devices to learn from. @param known measurements of the device at hand */
export function mostElsewhere(known: number): number {
  return Math.max(LEAST_ELSEWHERE, MOST_SAMPLES - known);
}

/** Candidates of a traversal whose predictions are corrected one by one, the models' best. */
const MOST_CORRECTED = 4000;

/** What is expected of a candidate, and its place in the process; none if nothing like it was measured. */
interface Corrected {
  readonly problem: Problem;
  readonly mean: number;
  readonly its?: readonly [kind: Kind, covariances: Float64Array] | undefined;
}

/** What is known of one kind of configurations. */
interface Kind {
  /** Its parameters: in what they are measured; of those that say how a kernel is written, and measure nothing, the values. */
  readonly axes: ReadonlyMap<string, { readonly length: number; readonly values?: number[] | undefined }>;
  /** Median of the predictions' errors. */
  readonly level: number;
  /** The most of its registers that a fast one needs. */
  readonly pressure: number;
  readonly process: GaussianProcess;
  /** Covariances of a point with those that were measured. */
  readonly covariances: (point: Float64Array) => Float64Array<ArrayBuffer>;
}

/**
 * Corrects predictions by what was measured on a device: a Gaussian process of log(measured / predicted) for each
 * traversal, over its parameters and over what the models know least of.
 */
export class Calibration {
  readonly #kinds = new Map<string, Kind>();
  readonly #found = new WeakMap<Prediction, Corrected>();
  readonly #device: DeviceModel;
  readonly #its: Corrections;
  /** Of the GPU's kinds. */
  readonly #level: number;

  /** @param samples those of each problem that say most first */
  constructor(samples: readonly Sample[], device: DeviceModel) {
    this.#device = device;
    this.#its = (device.record ?? H100).corrections;
    for (const [kind, some] of Map.groupBy(samples, kindOf)) {
      const { writing = [] } = TRAVERSALS.find(({ name }) => name === kind) ?? {}, { lengths } = this.#its;
      const { ordering = [] } = TRAVERSALS.find(({ name }) => name === some[0]!.traversal.name) ?? {};
      const names = [...new Set(some.flatMap(({ parameters }) => Object.keys(parameters)))].sort();
      const written = names.filter((name) => writing.includes(name));
      const axes = new Map(
        [...new Set([...written, ...names])].map((name) => {
          const values = new Set(some.map(({ parameters }) => parameters[name] ?? 0));
          const length = ordering.includes(name) ? lengths.ordering : lengths.parameter;
          const its = writing.includes(name) ? [...values].sort((a, b) => a - b) : undefined;
          return [name, { length, values: its }];
        }),
      );
      const ratios = some.map(({ cellsPerSecond, predicted }) => cellsPerSecond / predicted);
      const level = Math.log(median(ratios)), errors = ratios.map(Math.log);
      const points = some.map((one) => this.#pointOf(one, one.problem, axes, one.device));
      const between = covarianceOf(this.#its, written.length);
      const covariances = (point: Float64Array, first = 0) => {
        const row = new Float64Array(points.length);
        for (let i = first; i < row.length; i++) row[i] = between(point, points[i]!);
        return row;
      };
      const process = GaussianProcess.of(errors.map((error) => error - level), points.map(() => 0), {
        variances: new Float64Array(points.length).fill(varianceOf(this.#its)),
        noise: (i) => (some[i]!.isForeign ? this.#its.foreignNoise : this.#its.noise) ** 2,
        row: (i, first) => covariances(points[i]!, first),
      });
      const asFast = some.filter((_, i) => errors[i]! > level + Math.log(this.#its.asFast));
      const pressure = Math.max(
        this.#its.safePressure,
        ...asFast.map((one) =>
          Math.min(one.isForeign ? this.#its.foreignPressure : Infinity, this.#pressureOf(one))
        ),
      );
      this.#kinds.set(kind, { axes, level, pressure, process, covariances });
    }
    const levels = [...this.#kinds].flatMap(([kind, { level }]) => kind.startsWith(CPU) ? [] : [level]);
    this.#level = levels.length > 0 ? Math.log(median(levels.map(Math.exp))) : 0;
  }

  /** Whether the CPU was measured. */
  get knowsCpu(): boolean {
    return [...this.#kinds.keys()].some((kind) => kind.startsWith(CPU));
  }

  /** Logarithm of the rate that a candidate should reach; found once for each. */
  mean(candidate: Prediction, problem: Problem): number {
    return this.#correct(candidate, problem).mean;
  }

  /** Its standard deviation. */
  deviation(candidate: Prediction, problem: Problem): number {
    const { its } = this.#correct(candidate, problem), { variation, noise } = this.#its;
    if (its === undefined) return variation;
    const [{ process }, covariances] = its;
    return Math.hypot(process.deviationBeside(covariances, varianceOf(this.#its)), noise);
  }

  #correct(candidate: Prediction, problem: Problem): Corrected {
    const before = this.#found.get(candidate);
    if (before?.problem === problem) return before;
    const known = this.#knownOf(candidate), predicted = Math.log(candidate.predicted);
    const { risk: perPressure, safePressure, unknown, newParameter } = this.#its;
    const risk = perPressure * Math.max(0, this.#pressureOf(candidate) - (known?.pressure ?? safePressure));
    // of what was never measured nothing good is expected
    let mean = predicted + this.#level - unknown - risk, its: Corrected["its"];
    if (known !== undefined) {
      const { axes, process, level, covariances } = known;
      if (!hasNew(candidate, known)) its = [known, covariances(this.#pointOf(candidate, problem, axes))];
      mean = predicted + level - risk + (its === undefined ? -newParameter : process.meanBeside(its[1]));
    }
    const found = { problem, mean, its };
    this.#found.set(candidate, found);
    return found;
  }

  /** What is known of its kind; nothing if it is written in a way that was never measured. */
  #knownOf(candidate: Prediction): Kind | undefined {
    const known = this.#kinds.get(kindOf(candidate)), { parameters } = candidate;
    for (const name in parameters) {
      const value = parameters[name]!;
      if (value > 1 && known?.axes.get(name)?.values?.includes(value) === false) return undefined;
    }
    return known;
  }

  /** A thread's values over its registers; 0 on the CPU. */
  #pressureOf({ demand }: Pick<Prediction, "demand">): number {
    return demand === undefined ? 0 : Math.min(MOST_PRESSURE, registerPressure(demand, this.#device));
  }

  #pointOf(
    { parameters, demand }: Prediction,
    { grid, stencil }: Problem,
    axes: Kind["axes"],
    device = 0,
  ): Float64Array {
    const { lengths } = this.#its, point: number[] = [];
    for (const [name, { values, length }] of axes) {
      const value = parameters[name] ?? 0;
      const place = values?.findIndex((other) => other >= value) ?? Math.log2(1 + value);
      point.push((place < 0 ? values!.length : place) / length);
    }
    point.push(Math.log2(grid[2]) / lengths.row, Math.log2(cellsOf(grid)) / lengths.cells);
    if (demand !== undefined) {
      const { workgroupsPerDispatch, loopInstructions = 0, bytesPerUpdate, rounds } = demand;
      point.push(
        Math.log2(workgroupsPerDispatch) / lengths.workgroups,
        Math.log2(1 + loopInstructions) / lengths.instructions,
        Math.log2(rounds.instructions * rounds.busyThreads / rounds.cells) / lengths.work,
        Math.log2(bytesPerUpdate) / lengths.bytes,
        Math.log2(rounds.cells) / lengths.round,
        this.#pressureOf({ demand }) / lengths.registers,
      );
    }
    point.push(device, equationOf(stencil.update));
    return new Float64Array(point);
  }
}

/** Whether it has a parameter that no measurement had, and that changes what it does. */
function hasNew({ parameters }: Prediction, { axes }: Kind): boolean {
  for (const name in parameters) if (parameters[name]! > 1 && !axes.has(name)) return true;
  return false;
}

/**
 * Of the errors of two predictions, for points whose first numbers say how a kernel is written, and the last which device
 * and equation it is. What changes abruptly is what a shape and an order of dispatches come to, however that is written.
 */
function covarianceOf(
  { variation, abrupt, apart, alike }: Corrections,
  written: number,
): (a: Float64Array, b: Float64Array) => number {
  const ofAll = variation ** 2, ofDevice = apart ** 2;
  return (a, b) => {
    const last = a.length - 2, isHere = a[last] === b[last];
    const squares = squaresOf(a, b, written, last), all = squares + squaresOf(a, b, 0, written);
    const like = (1 - abrupt) * decay(all / 2) + abrupt * decay(Math.sqrt(squares) / 3);
    const part = (isHere ? 1 : alike) * (a[last + 1] === b[last + 1] ? 1 : alike);
    return ofAll * like * part + (isHere ? ofDevice : 0);
  };
}

/** The same of a prediction with itself. */
function varianceOf({ variation, apart }: Corrections): number {
  return variation ** 2 + apart ** 2;
}

/** exp(−x), to 3e-9: so many are wanted that the engine's own takes a tenth of a choice. */
function decay(x: number): number {
  const at = 64 * x | 0, rest = x - at / 64;
  return at < DECAY.length ? DECAY[at]! * (1 - rest * (1 - rest * (0.5 - rest / 6))) : Math.exp(-x);
}

const DECAY = Float64Array.from({ length: 1024 }, (_, i) => Math.exp(-i / 64));

/** The squared distance of two points in the numbers from one to before another. */
function squaresOf(a: Float64Array, b: Float64Array, from: number, to: number): number {
  let squares = 0;
  for (let i = from; i < to; i++) {
    const difference = a[i]! - b[i]!;
    squares += difference * difference;
  }
  return squares;
}

/** A number of an equation. */
const equationOf = remembered((update: Update) => parseInt(hashOf(update).slice(0, 12), 16));

/** How kinds of the CPU's configurations begin. */
const CPU = "cpu ";

/** Of a GPU its traversals, of a CPU its own. */
export function kindOf(
  { traversal: { name }, cpuWorkers = 0 }: Pick<Prediction, "traversal" | "cpuWorkers">,
): string {
  return cpuWorkers > 0 ? CPU + name : name;
}

/**
 * Of what was measured, what says most of other grids: of each traversal the fastest with each value of each parameter,
 * and what else was fastest.
 *
 * @param measured the fastest first
 */
export function pointsOf<P extends Pick<ProfilePoint, "traversal" | "parameters" | "cpuWorkers">>(
  measured: readonly P[],
): P[] {
  const seen = new Set<string>();
  const each = [...Map.groupBy(measured, pointKey).values()].map(([fastest]) => fastest!);
  const first = each.filter(({ traversal, parameters, cpuWorkers = 0 }) => {
    const before = seen.size;
    for (const value of [["cpuWorkers", cpuWorkers], ...Object.entries(parameters)]) {
      seen.add([traversal, cpuWorkers > 0, ...value].join());
    }
    return seen.size > before;
  });
  return [...new Set([...first, ...each])].slice(0, MOST_POINTS);
}

/** A text that two points of one grid share exactly if they are the same configuration. */
function pointKey(
  { cpuWorkers = 0, traversal, parameters }: Pick<ProfilePoint, "traversal" | "parameters" | "cpuWorkers">,
): string {
  const values = Object.keys(parameters).sort().map((name) => `${name}=${parameters[name]}`);
  return `${cpuWorkers} ${traversal} ${values}`;
}

/** What was measured of one device alone, in short. */
export function pointOf(
  { configuration: { traversal, parameters, share }, cellsPerSecond }: Pick<
    ProfileRated,
    "configuration" | "cellsPerSecond"
  >,
): ProfilePoint {
  const workers = uses(share, "gpu") ? {} : { cpuWorkers: share.cpuWorkers };
  return { traversal, parameters, ...workers, cellsPerSecond };
}

/** What an entry's measurements teach of its problem, predicted with a model of the entry's own device. */
export function samplesOf(entry: ProfileEntry, problem: Problem, device: DeviceModel): Sample[] {
  const { configuration, result: { cellsPerSecond }, tieSet, bestOfEach = [], calibration = [] } = entry;
  const found = new Map<string, Sample>(), isTrusted = recorded.has(entry.problem);
  const add = (point: ProfilePoint, on: Problem): void => {
    const key = `${on.grid} ${pointKey(point)}`;
    if (found.has(key)) return;
    const { cellsPerSecond, ...one } = point, prediction = predictionOf(one, on, device, isTrusted);
    if (!("reason" in prediction)) found.set(key, { ...prediction, problem: on, cellsPerSecond });
  };
  const all = [{ configuration, cellsPerSecond }, ...tieSet, ...bestOfEach];
  // the rate through a window is not that of the GPU's kernels
  const isWindowed = all.some(({ configuration: { share } }) => share.deviceMemory !== undefined);
  for (const rated of all) {
    const { share } = rated.configuration, point = pointOf(rated);
    if (isWindowed && uses(share, "gpu")) continue;
    if (!isShared(share)) add(point, problem);
    // of a shared grid the GPU computes its part at that part of the rate
    else {
      const cellsPerSecond = share.gpuSlices / problem.grid[0] * rated.cellsPerSecond;
      add({ ...point, cellsPerSecond }, partOf(problem, share, "gpu"));
    }
  }
  for (const point of calibration) if (!isWindowed || point.cpuWorkers !== undefined) add(point, problem);
  for (const point of formerPoints(entry)) add(point, problem);
  return [...found.values()];
}

/**
 * A space in the order of corrected predictions. Of each traversal those that the models leave far behind are all as far off
 * as the median of the others, since a space has tens of thousands.
 */
export function correctSpace(space: Space, problem: Problem, calibration: Calibration): Space {
  const kinds = [...Map.groupBy(space.candidates, ({ traversal }) => traversal.name).values()];
  const candidates = kinds.flatMap((kind) => {
    const rates = Float64Array.from(kind, ({ predicted }) => predicted).sort();
    const least = rates[rates.length - MOST_CORRECTED] ?? 0;
    const ratios = kind.map((one) =>
      one.predicted < least ? undefined : Math.exp(calibration.mean(one, problem)) / one.predicted
    );
    const usual = median(ratios.filter((ratio) => ratio !== undefined));
    return kind.map((one, i) => ({ ...one, predicted: one.predicted * (ratios[i] ?? usual) }));
  });
  return { ...space, candidates: rankCandidates(candidates) };
}
