import { median } from "npm:simple-statistics@7.12.1";
import { hashOf } from "../kernels/definition.ts";
import { remembered } from "../kernels/remembered.ts";
import { cellsOf, type Problem } from "../kernels/stencils/stencil.ts";
import { coordinatesOf, TRAVERSALS } from "../kernels/traversals/all.ts";
import { axesNamed } from "../kernels/traversals/parameter.ts";
import type { Demand, Parameters, Traversal } from "../kernels/traversals/traversal.ts";
import type { Update } from "../kernels/update.ts";
import { GaussianProcess } from "./gaussian_process.ts";
import { type Corrections, H100 } from "./gpu_record.ts";
import { type DeviceModel, predictRate, registerPressure } from "./roofline.ts";

/** A configuration of the GPU or of the CPU, with the rate that the device's model predicts. */
export interface Prediction {
  readonly traversal: { readonly name: string };
  readonly parameters: Parameters;
  /** Cells per second. */
  readonly predicted: number;
  /** What it asks of a GPU; the CPU's have none. */
  readonly demand?: Demand;
  /** Workers of the CPU. */
  readonly cpuWorkers?: number;
}

/** What a configuration asks of a GPU, and the rate that the GPU's model predicts: nothing measured corrects it. */
export function predict(
  traversal: Pick<Traversal, "demand">,
  parameters: Parameters,
  problem: Problem,
  device: DeviceModel,
): { readonly demand: Demand; readonly predicted: number } {
  const demand = traversal.demand(problem, parameters);
  return { demand, predicted: predictRate(demand, device, { cells: cellsOf(problem.grid) }) };
}

/** A candidate for a problem, with the rate that it reached. */
export interface Sample extends Prediction {
  readonly problem: Problem;
  readonly cellsPerSecond: number;
  /** A number of the device, where it is not the one at hand. @default {0} */
  readonly device?: number;
  /** Whether it is of another equation than the one at hand. @default {false} */
  readonly isForeign?: boolean;
}

/** Above this multiple of the registers that there are, more make no difference. */
const MOST_PRESSURE = 3;

/** The posterior of a candidate; without covariances if nothing like it was measured. */
interface Posterior {
  readonly problem: Problem;
  readonly mean: number;
  /** With what was measured of its kind. */
  readonly covariances?: Float64Array | undefined;
}

/** Axes, in what they are measured; of those that say how a kernel is written, and measure nothing, the values. */
type Axes = ReadonlyMap<string, { readonly length: number; readonly values?: number[] | undefined }>;

/** What is known of one kind of configurations. */
interface Kind {
  readonly measured: readonly Sample[];
  readonly axes: Axes;
  /** Median of the predictions' errors. */
  readonly level: number;
  /** The most of its registers that a fast one needs. */
  readonly pressure: number;
  readonly process: GaussianProcess;
  /** Covariances of a point with those that were measured. */
  readonly covariances: (point: Float64Array) => Float64Array<ArrayBuffer>;
}

/**
 * What a run costs on a device: the rates that its model predicts, corrected by what was measured, a Gaussian process of
 * log(measured / predicted) for each traversal, over its parameters and over what the models know least of.
 */
export class CostModel {
  readonly #kinds = new Map<string, Kind>();
  readonly #posteriors = new WeakMap<Prediction, Posterior>();
  readonly #corrections: Corrections;
  /** The median correction of the GPU's traversals, as a logarithm. */
  readonly #level: number;

  /** @param samples those of each problem that say most first */
  constructor(readonly device: DeviceModel, samples: readonly Sample[] = []) {
    const corrections = this.#corrections = (device.record ?? H100).corrections;
    for (const [kind, measured] of Map.groupBy(samples, kindOf)) {
      const { axes, written } = axesOfKind(measured, corrections);
      const ratios = measured.map(({ cellsPerSecond, predicted }) => cellsPerSecond / predicted);
      const level = Math.log(median(ratios)), errors = ratios.map(Math.log);
      const points = measured.map((sample) => this.#pointOf(sample, sample.problem, axes, sample.device));
      const between = covarianceOf(corrections, written);
      const covariances = (point: Float64Array, first = 0) => {
        const row = new Float64Array(points.length);
        for (let i = first; i < row.length; i++) row[i] = between(point, points[i]!);
        return row;
      };
      const process = GaussianProcess.of(errors.map((error) => error - level), points.map(() => 0), {
        variances: new Float64Array(points.length).fill(varianceOf(corrections)),
        noise: (i) => (measured[i]!.isForeign ? corrections.foreignNoise : corrections.noise) ** 2,
        row: (i, first) => covariances(points[i]!, first),
      });
      const asFast = measured.filter((_, i) => errors[i]! > level + Math.log(corrections.asFast));
      const pressures = asFast.map((sample) =>
        Math.min(sample.isForeign ? corrections.foreignPressure : Infinity, pressureOf(sample, device))
      );
      const pressure = Math.max(corrections.safePressure, ...pressures);
      this.#kinds.set(kind, { measured, axes, level, pressure, process, covariances });
    }
    const levels = [...this.#kinds].flatMap(([kind, { level }]) => kind.startsWith(CPU) ? [] : [level]);
    this.#level = levels.length > 0 ? Math.log(median(levels.map(Math.exp))) : 0;
  }

  /** Whether anything was measured. */
  get isCorrected(): boolean {
    return this.#kinds.size > 0;
  }

  /** What was measured of a kind of configurations. */
  measured(kind: string): readonly Sample[] {
    return this.#kinds.get(kind)?.measured ?? [];
  }

  /** Whether the CPU was measured. */
  get knowsCpu(): boolean {
    return [...this.#kinds.keys()].some((kind) => kind.startsWith(CPU));
  }

  /** Logarithm of the rate that a candidate should reach; found once for each. */
  mean(candidate: Prediction, problem: Problem): number {
    return this.#posteriorOf(candidate, problem).mean;
  }

  /** Its standard deviation. */
  deviation(candidate: Prediction, problem: Problem): number {
    const { covariances } = this.#posteriorOf(candidate, problem), { variation, noise } = this.#corrections;
    if (covariances === undefined) return variation;
    const { process } = this.#knownOf(candidate)!;
    return Math.hypot(process.deviationBeside(covariances, varianceOf(this.#corrections)), noise);
  }

  #posteriorOf(candidate: Prediction, problem: Problem): Posterior {
    const before = this.#posteriors.get(candidate);
    if (before?.problem === problem) return before;
    const known = this.#knownOf(candidate), predicted = Math.log(candidate.predicted);
    const { risk: perPressure, safePressure, unknown, newParameter } = this.#corrections;
    const risk = perPressure *
      Math.max(0, pressureOf(candidate, this.device) - (known?.pressure ?? safePressure));
    // of what was never measured nothing good is expected
    let mean = predicted + this.#level - unknown - risk, covariances: Posterior["covariances"];
    if (known !== undefined) {
      const { axes, process, level } = known;
      if (!hasNew(candidate, known)) covariances = known.covariances(this.#pointOf(candidate, problem, axes));
      mean = predicted + level - risk + (covariances ? process.meanBeside(covariances) : -newParameter);
    }
    const posterior = { problem, mean, covariances };
    this.#posteriors.set(candidate, posterior);
    return posterior;
  }

  /** What is known of its kind; nothing if it is written in a way that was never measured. */
  #knownOf(candidate: Prediction): Kind | undefined {
    const known = this.#kinds.get(kindOf(candidate)), place = placeOf(candidate);
    for (const name in place) {
      const value = place[name]!;
      if (value > 1 && known?.axes.get(name)?.values?.includes(value) === false) return undefined;
    }
    return known;
  }

  #pointOf(prediction: Prediction, { grid, stencil }: Problem, axes: Axes, device = 0): Float64Array {
    const { lengths } = this.#corrections;
    return pointOf(prediction, axes, this.device, [
      Math.log2(grid[2]) / lengths.row,
      Math.log2(cellsOf(grid)) / lengths.cells,
      device,
      equationOf(stencil.update),
    ]);
  }
}

/**
 * How alike the errors of two of these predictions are, of one traversal and for one problem: 1 where they are the same, 0
 * where they have nothing in common. By the H100's corrections: no other record has its own.
 */
export function likenessOf(predictions: readonly Prediction[]): (a: number, b: number) => number {
  const device = { copyBytesPerSecond: H100.copyBytesPerSecond };
  const corrections = { ...H100.corrections, variation: 1, apart: 0 };
  const kinds = new Map([...Map.groupBy(predictions, kindOf)].map(([kind, some]) => {
    const { axes, written } = axesOfKind(some, corrections);
    return [kind, { axes, covariance: covarianceOf(corrections, written) }];
  }));
  const known = predictions.map((prediction) => kinds.get(kindOf(prediction))!);
  const points = predictions.map((prediction, i) => pointOf(prediction, known[i]!.axes, device, [0, 0]));
  return (a, b) => known[a]!.covariance(points[a]!, points[b]!);
}

/** Where a prediction's parameters lie. */
const placeOf = ({ traversal, parameters }: Prediction) => coordinatesOf(traversal.name, parameters);

/** The axes of one kind; those that say how a kernel is written, and how many these are, first. */
function axesOfKind(
  predictions: readonly Prediction[],
  { lengths }: Corrections,
): { readonly axes: Axes; readonly written: number } {
  const places = predictions.map(placeOf), names = [...new Set(places.flatMap(Object.keys))].sort();
  const kind = kindOf(predictions[0]!), { name: traversal } = predictions[0]!.traversal;
  const writing = axesNamed(TRAVERSALS.find(({ name }) => name === kind), "writing");
  const ordering = axesNamed(TRAVERSALS.find(({ name }) => name === traversal), "ordering");
  const written = names.filter((name) => writing.includes(name));
  const axes = new Map([...new Set([...written, ...names])].map((name) => {
    const values = new Set(places.map((place) => place[name] ?? 0));
    return [name, {
      length: lengths[ordering.includes(name) ? "ordering" : "parameter"],
      values: writing.includes(name) ? [...values].sort((a, b) => a - b) : undefined,
    }];
  }));
  return { axes, written: written.length };
}

/** A prediction's point: its place, what it asks of the device, what tells problems apart, the device and the equation. */
function pointOf(
  prediction: Prediction,
  axes: Axes,
  device: DeviceModel,
  rest: readonly number[],
): Float64Array {
  const { lengths } = (device.record ?? H100).corrections, point: number[] = [];
  const { demand } = prediction, places = placeOf(prediction);
  for (const [name, { values, length }] of axes) {
    const value = places[name] ?? 0;
    const place = values?.findIndex((other) => other >= value) ?? Math.log2(1 + value);
    point.push((place < 0 ? values!.length : place) / length);
  }
  if (demand !== undefined) {
    const { workgroupsPerDispatch, loopInstructions = 0, bytesPerUpdate, rounds } = demand;
    point.push(
      Math.log2(workgroupsPerDispatch) / lengths.workgroups,
      Math.log2(1 + loopInstructions) / lengths.instructions,
      Math.log2(rounds.instructions * rounds.busyThreads / rounds.cells) / lengths.work,
      Math.log2(bytesPerUpdate) / lengths.bytes,
      Math.log2(rounds.cells) / lengths.round,
      pressureOf({ demand }, device) / lengths.registers,
    );
  }
  return Float64Array.of(...point, ...rest);
}

/** A thread's values over its registers; 0 on the CPU. */
function pressureOf({ demand }: Pick<Prediction, "demand">, device: DeviceModel): number {
  return demand === undefined ? 0 : Math.min(MOST_PRESSURE, registerPressure(demand, device));
}

/** Whether it lies along an axis that no measurement had, and that changes what it does. */
function hasNew(prediction: Prediction, { axes }: Kind): boolean {
  const place = placeOf(prediction);
  for (const name in place) if (place[name]! > 1 && !axes.has(name)) return true;
  return false;
}

/**
 * The covariance of the errors of two predictions. A point's first numbers say how a kernel is written, its last ones for
 * which device and equation. The abrupt part belongs to a shape and an order of dispatches, however they are written.
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

/** The squared distance of two points in their numbers from `from` to before `to`. */
function squaresOf(a: Float64Array, b: Float64Array, from: number, to: number): number {
  let squares = 0;
  for (let i = from; i < to; i++) {
    const difference = a[i]! - b[i]!;
    squares += difference * difference;
  }
  return squares;
}

/** A number that distinguishes an equation. */
const equationOf = remembered((update: Update) => parseInt(hashOf(update).slice(0, 12), 16));

/** How kinds of the CPU's configurations begin. */
const CPU = "cpu ";

/** What corrections are learnt apart for: a traversal of the GPU, or one of the CPU. */
export function kindOf(
  { traversal: { name }, cpuWorkers = 0 }: Pick<Prediction, "traversal" | "cpuWorkers">,
): string {
  return cpuWorkers > 0 ? CPU + name : name;
}
