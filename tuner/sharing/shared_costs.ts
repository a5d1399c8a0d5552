/**
 * Measures what the model of a shared step needs: each device's part of a round alone, and a few short runs of both
 * together, with a handful of R. About a second a point. Other work on the machine comes and goes, and should not hit
 * one point alone: points are visited in turn. It only ever adds time: of all visits the shortest counts.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { type DesignPoint, designPoints, type FirstGuess } from "../../models/shared_design.ts";
import { fitShared, type SharedFit, type SharedSample } from "../../models/shared_fit.ts";
import type { SharedGrid } from "../../models/shared_step.ts";
import type { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { bytesOf, rangesOf } from "../devices/gpu/gpu_slices.ts";
import type { Start } from "../devices/reference.ts";
import { SharedField } from "../devices/shared/shared_field.ts";
import { disposeShares, makeShares, type Shares } from "../devices/shared/shares.ts";
import type { CpuPool } from "../devices/cpu/wasm_workers.ts";
import type { Configuration, FailureReason } from "../configuration.ts";
import { firstGuess, middle, shortest } from "./first_guess.ts";
import { shareConfiguration, sharedGridOf } from "./shared_problem.ts";
import { isFailure } from "../devices/run_failure.ts";

/** What {@linkcode SharedCalibrator.create} takes. */
export interface SharedCostOptions {
  readonly gpu: GpuDevice;
  readonly cpuPool: CpuPool;
  readonly problem: Problem;
  /** How the GPU computes its share. */
  readonly configuration: Configuration;
  readonly start: Start;
  /** Cells per second of each device alone, as far as they are known; what is not is probed. */
  readonly alone?: { readonly cpu?: number; readonly gpu?: number };
  /** Whether there is time for something that probably takes so many nanoseconds. @default {always} */
  readonly mayTake?: (timeNs: number) => boolean;
}

/** What was measured, and the costs that follow. */
export interface SharedCalibration extends SharedFit {
  readonly samples: readonly SharedSample[];
}

/** Rounds of one device alone in a visit: so many at least and at most, and for about so long. */
const LEAST_ALONE = 3, MOST_ALONE = 15, ALONE_NS = 60e6;
/** A batch of both together lasts about so long, in 4 to 16 rounds. */
const BATCH_NS = 120e6, LEAST_ROUNDS = 4, MOST_ROUNDS = 16;
/** Rounds of both before those that are timed. */
const WARM_ROUNDS = 2;

/** What was timed at one point: of each visit the median round, or the whole batch. */
interface Visits {
  readonly point: DesignPoint;
  readonly cpuNs: number[];
  readonly gpuNs: number[];
  /** Rounds of a batch of both; fixed at the first visit. */
  rounds: number;
  readonly wallNs: number[];
  readonly unpackNs: number[];
  readonly packNs: number[];
  /** Whether this share does not fit the devices. */
  isLeftOut: boolean;
}

/** What a share that is too large fails with. */
const TOO_LARGE: readonly FailureReason[] = ["limits", "out-of-memory"];

/** The points of a design, visited in turn as often as there is time; each fit uses all that was timed so far. */
export class SharedCalibrator {
  readonly shared: SharedGrid;
  readonly #options: VisitOptions;
  readonly #visits: readonly Visits[];
  /** Why the last point that failed did. */
  #failure: Error | undefined;
  #visited = 0;

  private constructor(shared: SharedGrid, options: VisitOptions) {
    this.shared = shared;
    this.#options = options;
    this.#visits = designPoints(shared, options.guess).map((point) => ({
      point,
      cpuNs: [],
      gpuNs: [],
      rounds: 0,
      wallNs: [],
      unpackNs: [],
      packNs: [],
      isLeftOut: false,
    }));
  }

  /**
   * Times the host's waits, and probes what is not known of the devices' rates.
   *
   * @throws {RunFailure} if the devices fail
   */
  static async create(options: SharedCostOptions): Promise<SharedCalibrator> {
    const guess = await firstGuess(options);
    return new SharedCalibrator(sharedGridOf(options.problem), { ...options, guess });
  }

  /** Points that one pass visits; 0 where two shares do not fit. */
  get points(): number {
    return this.#visits.length;
  }

  /** Visits so far, those left out that did not fit. */
  get visited(): number {
    return this.#visited;
  }

  /**
   * Visits every point once. A share that does not fit the devices' memory or limits is left out.
   *
   * @param mayVisit asked before each visit; the pass ends where it says no, or within a visit where `mayTake` does
   * @throws {RunFailure} if the devices fail
   */
  async pass(mayVisit: () => boolean = () => true): Promise<void> {
    for (const visits of this.#visits) {
      if (!mayVisit()) return;
      if (visits.isLeftOut) continue;
      try {
        if (!await visit(visits, this.#options)) return;
        this.#visited++;
      } catch (error) {
        if (!isFailure(error) || !TOO_LARGE.includes(error.reason)) throw error;
        visits.isLeftOut = true;
        this.#failure = error;
      }
    }
  }

  /**
   * The costs by all that was timed; undefined before both devices were timed together.
   *
   * @throws {RunFailure} if no point fits the devices
   */
  fit(): SharedCalibration | undefined {
    if (this.#failure !== undefined && this.#visits.every(({ isLeftOut }) => isLeftOut)) throw this.#failure;
    const samples = this.#visits.filter(({ gpuNs }) => gpuNs.length > 0).map(sampleOf);
    if (!samples.some(({ together }) => together !== undefined)) return undefined;
    const { waitNs, timerNs } = this.#options.guess;
    return { samples, ...fitShared(this.shared, samples, { waitNs, timerNs }) };
  }
}

function sampleOf({ point, cpuNs, gpuNs, rounds, wallNs, unpackNs, packNs }: Visits): SharedSample {
  const { exchangeEvery, cpuSlices } = point;
  const alone = { exchangeEvery, cpuSlices, cpuNs: shortest(cpuNs), gpuNs: shortest(gpuNs) };
  if (wallNs.length === 0) return alone;
  const together = {
    rounds,
    wallNs: shortest(wallNs),
    unpackNs: shortest(unpackNs),
    packNs: shortest(packNs),
  };
  return { ...alone, together };
}

type VisitOptions = SharedCostOptions & { readonly guess: FirstGuess };

/** Times each device alone, then both; false where time ran out. */
async function visit(visits: Visits, options: VisitOptions): Promise<boolean> {
  const { gpu, cpuPool, problem, mayTake = () => true } = options;
  const { point } = visits;
  const configuration = shareConfiguration(options, point);
  const shares = await makeShares(problem, { gpu, cpuPool, configuration });
  try {
    if (!await measureAlone(shares, visits, options)) return false;
  } finally {
    disposeShares(shares);
  }
  if (!point.together) return true;
  const expectedNs = Math.max(shortest(visits.cpuNs), shortest(visits.gpuNs)) + options.guess.waitNs;
  visits.rounds ||= Math.min(Math.max(Math.round(BATCH_NS / expectedNs), LEAST_ROUNDS), MOST_ROUNDS);
  if (!mayTake((WARM_ROUNDS + visits.rounds) * expectedNs)) return false;
  const field = await SharedField.create(problem, { gpu, cpuPool, configuration });
  try {
    await field.initialise(options.start);
    await field.run(point.exchangeEvery, WARM_ROUNDS); // the first rounds are slow: shaders are compiled
    const times = await field.run(point.exchangeEvery, visits.rounds);
    visits.wallNs.push(times.wallNs);
    visits.unpackNs.push(middle(times.unpackRoundsNs));
    visits.packNs.push(middle(times.packRoundsNs));
    return true;
  } finally {
    field[Symbol.dispose]();
  }
}

/**
 * Rounds of each device while the other is idle; what they hold afterwards is of no use.
 *
 * @returns false where time ran out: then not all is timed
 */
async function measureAlone(
  { cpu, gpu, toCpu, toGpu }: Shares,
  { point: { exchangeEvery: steps }, cpuNs, gpuNs }: Visits,
  { problem: { boundary, grid: [wholeX] }, start, guess, mayTake = () => true }: VisitOptions,
): Promise<boolean> {
  await cpu!.field.setInitial(start.kind, { seed: start.seed, xOffset: -cpu!.first, xPeriod: wholeX });
  await gpu!.field.initialise({ ...start, firstX: cpu!.slices - gpu!.first, wholeX });
  const ghost = { low: boundary === "periodic", high: true };
  const cpuTimeNs = await timeOf(() => cpu!.field.run({ steps, ghost }), mayTake);
  if (cpuTimeNs === undefined) return false;
  const { device, field } = gpu!;
  const buffer = (transfers: typeof toCpu, usage: number) =>
    device.buffer(bytesOf(transfers, field.plan.layout), usage, "slices of a round that is timed");
  const { COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const incoming = await buffer(toGpu, COPY_SRC | COPY_DST);
  const round = async (): Promise<number> => {
    const outgoing = await buffer(toCpu, COPY_DST | MAP_READ);
    try {
      const submission = await field.exchange(steps, {
        incoming: { buffer: incoming, ranges: rangesOf(toGpu) },
        outgoing: { buffer: outgoing, ranges: rangesOf(toCpu) },
      });
      const timeNs = await submission.finish();
      return device.hasTimestamps ? timeNs : timeNs - guess.waitNs;
    } finally {
      outgoing.destroy();
    }
  };
  try {
    const gpuTimeNs = await timeOf(round, mayTake);
    if (gpuTimeNs === undefined) return false;
    cpuNs.push(cpuTimeNs);
    gpuNs.push(gpuTimeNs);
    return true;
  } finally {
    incoming.destroy();
  }
}

/** The median of some rounds, after one that only warms up and tells whether there is time for the others. */
async function timeOf(
  round: () => Promise<number>,
  mayTake: (timeNs: number) => boolean,
): Promise<number | undefined> {
  if (!mayTake(LEAST_ALONE * await round())) return undefined;
  const times: number[] = [];
  const began = performance.now();
  const isOver = (): boolean => times.length >= LEAST_ALONE && (performance.now() - began) * 1e6 > ALONE_NS;
  while (times.length < MOST_ALONE && !isOver()) times.push(await round());
  return middle(times);
}
