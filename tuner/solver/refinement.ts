import { type FloatArray, zeros } from "../../kernels/precision.ts";
import { amplitudeOf } from "../../kernels/initial_field.ts";
import { layOut } from "../../kernels/layout.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { coordinatesOf, TRAVERSALS } from "../../kernels/traversals/all.ts";
import { namesOf } from "../../kernels/traversals/parameter.ts";
import { errorBound } from "../../models/error_bound.ts";
import { type Configuration, configurationKey, type Failure, type Verification } from "../configuration.ts";
import { compareSlices, type Comparison, joinComparisons, type SliceCells } from "../devices/comparison.ts";
import type { CompileAhead } from "../devices/gpu/compile_ahead.ts";
import type { GpuField } from "../devices/gpu/gpu_field.ts";
import { refute, stateLevels } from "../devices/reference.ts";
import { isFailure } from "../devices/run_failure.ts";
import type { SharedField } from "../devices/shared/shared_field.ts";
import { median } from "../measuring/statistics.ts";
import { reasonOf } from "../profile/profile_error.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { atFullClock, type Clocked, type Refined, refinedOf } from "./refined.ts";
import { SolverError } from "./solver_error.ts";
import { cellsIn } from "./state.ts";

/** A configuration with a field of its own. */
export interface Contender extends Disposable {
  readonly configuration: Configuration;
  readonly field: SharedField;
}

/** What a candidate is measured in, at the rate of the current configuration: one piece, and all together at most. */
const PIECE_NS = 20e6, DECIDE_NS = 100e6;

/** Steps that show whether a configuration is worth comparing in long runs. */
const SHORT = 96;

/** Timed pieces that say the same after which a candidate is decided, and pieces of any kind after which it is at the latest. */
const LEAST_TIMED = 2, MOST_PIECES = 100;

/**
 * Speed over the current configuration's from which a candidate is kept, below which one piece is enough, and below which
 * its first run is: that may be slow for being the first, and where cores compute for whatever else they do.
 */
const FASTER = 1.01, SLOWER = 0.96, HOPELESS = 0.9, HOPELESS_ON_CORES = 0.75;

/** What compiles candidates before they are opened. */
type Ahead = Pick<CompileAhead<Configuration>, "isReady" | typeof Symbol.dispose>;

/** A candidate under way: it computes the same steps as the current configuration. */
interface Duel {
  readonly challenger: Contender;
  /** Steps since both held the same field, and pieces. */
  steps: number;
  pieces: number;
  verification?: Verification;
  /** Speed over the current configuration's, of each timed piece, or in long runs, if that should be less; their time. */
  readonly ratios: number[];
  timeNs: number;
}

/** What a refinement works with. */
interface RefinementMeans {
  /** Compiles a candidate and takes its memory. */
  readonly open: (configuration: Configuration) => Promise<Contender>;
  /** Compiles them elsewhere before; ends with the refinement. */
  readonly ahead?: Ahead | undefined;
  /** Compiles one again, in little time once it is compiled elsewhere, so that opening it takes less. */
  readonly prepare?: (configuration: Configuration) => Promise<unknown>;
  /** How much faster long runs should be than one of some steps. @default {only runs of the problem's steps count} */
  readonly longRunGain?: ((configuration: Configuration, steps: number) => number) | undefined;
}

/**
 * Tries candidates while a solver runs. Each gets a copy of the field and computes the same steps as the current
 * configuration, whose field remains the solver's: a candidate's takes its place once it is measured to be faster and
 * both fields agree as far as rounding allows, after the first piece and at the end.
 */
export class Refinement implements Disposable {
  readonly #waiting: Configuration[];
  readonly #tried = new Map<string, Clocked>();
  /** Speed of the current configuration over the first one's. */
  #speed = 1;
  #duel: Duel | undefined;
  #timeNs = 0;
  /** Of the current configuration; undefined as long as it has not run. */
  #nsPerStep: number | undefined;
  /** What the host took to compile the last candidate. */
  #compileNs = 0;
  /** The last candidate that was prepared. */
  #prepared: Configuration | undefined;

  /** @param candidates those to try first, first */
  constructor(
    private readonly problem: Problem,
    candidates: readonly Configuration[],
    private readonly means: RefinementMeans,
  ) {
    this.#waiting = [...candidates];
  }

  /** The candidate's field: what is written to the solver's is to be written to it, too. */
  get field(): SharedField | undefined {
    return this.#duel?.challenger.field;
  }

  /** What is known by now. */
  refined(configuration: Configuration): Refined {
    const isDone = this.#waiting.length === 0 && this.#duel === undefined;
    return refinedOf(this.problem, configuration, {
      isDone,
      tried: atFullClock([...this.#tried.values()]),
      timeNs: this.#timeNs,
    });
  }

  /**
   * Advances the current configuration's field, and the candidate's.
   *
   * @param left steps that are to be done, of which it may do the first
   * @param isWhole whether these are a whole run
   * @returns steps and time of both, and the candidate if it is kept; undefined if none is to be measured now
   */
  async piece(
    current: Contender,
    left: number,
    isWhole: boolean,
  ): Promise<{ steps: number; timeNs: number; kept?: Contender } | undefined> {
    const { grid } = this.problem, duel = this.#duel;
    const [wanted, pieceNs] = this.#wanted(current), tuned = Math.min(left, wanted);
    // without the problem's steps also all of a shorter run, and what is left of a longer one if it takes its time
    const takesTime = isWhole || this.#nsPerStep === undefined || left * this.#nsPerStep >= pieceNs;
    const isLong = this.means.longRunGain === undefined ? left >= wanted : takesTime;
    if (duel === undefined) {
      return isLong && this.#waiting.length > 0 ? await this.#begin(current, left, tuned) : undefined;
    }
    const { challenger, ratios } = duel, isOnGpu = this.#isOnGpu(current);
    const isTimed = isLong && duel.verification !== undefined;
    const steps = isLong ? this.#stepsIn(pieceNs, left, tuned) : left;
    const [currentNs, candidateNs] = await this.#runBoth(current, duel, steps);
    const timeNs = currentNs + candidateNs, ratio = currentNs / candidateNs;
    this.#timeNs += timeNs;
    this.#nsPerStep = currentNs / steps;
    if (this.#duel === undefined) return { steps, timeNs };
    duel.steps += steps;
    duel.pieces++;
    duel.timeNs += currentNs;
    if (isTimed) {
      const [rate, candidateRate] = [currentNs, candidateNs].map((ns) => cellsOf(grid) * steps / (ns * 1e-9));
      // only a GPU lowers its clock
      const clocks = [isOnGpu ? rate! / this.#speed : Infinity];
      this.#record(current.configuration, { samples: [rate!], clocks });
      this.#record(challenger.configuration, { samples: [candidateRate!], clocks });
      ratios.push(ratio * Math.min(1, this.#bias(current, duel, steps)));
    } else if (duel.verification === undefined) {
      if (!await this.#agree(current, duel)) return { steps, timeNs };
      const least = isOnGpu ? HOPELESS : HOPELESS_ON_CORES;
      if (isLong && ratio * this.#bias(current, duel, steps) < least) {
        this.#end();
        return { steps, timeNs };
      }
    }
    const faster = ratios.filter((ratio) => ratio > FASTER).length, areAlike = faster % ratios.length === 0;
    const isSure = timeNs >= DECIDE_NS || ratios.length >= LEAST_TIMED;
    const isDecided = ratios.length > 0 && isSure && (areAlike || duel.timeNs >= DECIDE_NS);
    const speed = ratios.length > 0 ? median(ratios) : 1;
    if (!isDecided && speed > SLOWER && duel.pieces < MOST_PIECES) return { steps, timeNs };
    const isFaster = isSure && speed > FASTER;
    if (!isFaster) this.#end();
    else if (await this.#agree(current, duel)) {
      this.#duel = undefined;
      this.#speed *= speed;
      this.#nsPerStep = candidateNs / steps;
      return { steps, timeNs, kept: challenger };
    }
    return { steps, timeNs };
  }

  [Symbol.dispose](): void {
    this.#waiting.length = 0;
    this.means.ahead?.[Symbol.dispose]();
    this.#end();
  }

  /**
   * Advances both fields, by turns one of them first. A GPU that computes both is handed both at once and waited for
   * once: while it waits, its clock falls.
   *
   * @returns nanoseconds of each
   */
  async #runBoth(
    current: Contender,
    { challenger, ratios }: Duel,
    steps: number,
  ): Promise<readonly [currentNs: number, candidateNs: number]> {
    const times: [number, number] = [1, 1],
      isAlone = onGpuAlone(current.field, challenger.field) !== undefined;
    const finishes: (() => Promise<void>)[] = [];
    for (const nth of ratios.length % 2 === 0 ? [0, 1] as const : [1, 0] as const) {
      const run = async <T>(action: () => Promise<T>): Promise<T | undefined> =>
        nth === 0 ? await action() : await this.#attempt(action);
      const submission = await run(() => [current, challenger][nth]!.field.begin(steps));
      const finish = async (): Promise<void> => {
        times[nth] = Math.max(1, await run(async () => await submission?.finish()) ?? 0);
      };
      if (isAlone) finishes.push(finish);
      else await finish();
    }
    if (isAlone) await this.#prepareNext();
    await Promise.all(finishes.map((finish) => finish()));
    return times;
  }

  /**
   * Opens the next candidate that is ready while the current configuration computes, whose device has its steps before: a
   * compiler may keep this thread busy for longer than everything else takes.
   */
  async #begin(
    { field }: Contender,
    left: number,
    tuned: number,
  ): Promise<{ steps: number; timeNs: number }> {
    const isKnown = this.#nsPerStep !== undefined;
    const next = isKnown ? this.#waiting.findIndex((one) => this.#isReady(one)) : -1;
    const steps = this.#stepsIn(next < 0 ? PIECE_NS : Math.max(PIECE_NS, this.#compileNs), left, tuned);
    const ahead = await field.begin(steps);
    if (next >= 0) await this.#openNext(this.#waiting.splice(next, 1)[0]!);
    const timeNs = await ahead.finish(), { challenger } = this.#duel ?? {};
    this.#nsPerStep = timeNs / steps;
    if (challenger !== undefined) await this.#attempt(() => copyState(field, challenger.field));
    return { steps, timeNs };
  }

  /** Compiles what is opened next, where that is compiled elsewhere: it keeps this thread busy, better while the GPU computes. */
  async #prepareNext(): Promise<void> {
    const next = this.means.ahead && this.#waiting.find((one) => this.#isReady(one));
    if (next === undefined || next === this.#prepared) return;
    this.#prepared = next;
    await this.means.prepare?.(next).catch(() => {}); // opening it says why
  }

  #isReady(configuration: Configuration): boolean {
    return this.means.ahead?.isReady(configuration) ?? true;
  }

  async #openNext(configuration: Configuration): Promise<void> {
    try {
      const challenger = await this.means.open(configuration);
      this.#compileNs = challenger.field.compileNs;
      this.#duel = { challenger, steps: 0, pieces: 0, ratios: [], timeNs: 0 };
    } catch (error) {
      this.#record(configuration, { failure: failureOf(error) });
    }
  }

  /**
   * The steps of which pieces are multiples, and their time: the problem's steps; without any, few at first and where both
   * visit cells in one order, else as many as both take to begin and end a passage, for as long as decides. On cores, which
   * do other things too, pieces are never short.
   */
  #wanted(current: Contender): readonly [steps: number, ns: number] {
    if (this.means.longRunGain === undefined) return [this.problem.steps, PIECE_NS];
    const { verification, challenger = current } = this.#duel ?? {};
    const both = [current.configuration, challenger.configuration] as const;
    const passage = Math.max(...both.map(stepsOfPass));
    if (!this.#isOnGpu(current)) return [Math.max(SHORT, verification === undefined ? 0 : passage), PIECE_NS];
    const isFair = verification === undefined || isSameOrder(...both);
    return isFair ? [Math.min(SHORT, passage), PIECE_NS] : [passage, DECIDE_NS];
  }

  /** Whether a GPU that is no software computes both, whose clock counts its own work alone. */
  #isOnGpu({ field }: Contender): boolean {
    return onGpuAlone(field, this.#duel?.challenger.field ?? field)?.[0].device.isSoftware === false;
  }

  /** What a candidate should gain over the current configuration from runs that are longer than these steps. */
  #bias({ configuration }: Contender, { challenger }: Duel, steps: number): number {
    const gainOf = this.means.longRunGain;
    return gainOf === undefined ? 1 : gainOf(challenger.configuration, steps) / gainOf(configuration, steps);
  }

  /** Whole runs of that length that the current configuration does in a time, one at least. */
  #stepsIn(ns: number, left: number, tuned: number): number {
    const fitting = this.#nsPerStep === undefined ? 1 : Math.max(1, Math.round(ns / tuned / this.#nsPerStep));
    return Math.min(Math.floor(left / tuned), fitting) * tuned;
  }

  /** Whether both fields are the same but for rounding; if not, the candidate is wrong and ends. */
  async #agree(current: Contender, duel: Duel): Promise<boolean> {
    const { challenger: { configuration, field }, steps } = duel;
    const verification = await this.#attempt(async (): Promise<Verification> => {
      const { maxError, maxValue, notFinite } = await compareStates(current.field, field);
      const against = describeConfiguration(current.configuration);
      if (notFinite > 0) return { maxError: Infinity, bound: 0, against };
      const problem = { ...this.problem, steps };
      // the bound is one for fields of the usual size: of smaller ones rounding explains less
      const usual = amplitudeOf(problem.stencil);
      const bound = errorBound(problem, maxValue) * Math.min(1, maxValue / usual);
      return { maxError, bound, against };
    });
    if (verification === undefined) return false;
    const failure = refute(verification);
    if (failure !== undefined) {
      this.#record(configuration, { failure });
      this.#end();
      return false;
    }
    duel.verification = verification;
    for (const tried of [configuration, current.configuration]) this.#record(tried, { verification });
    return true;
  }

  /** A candidate's failure ends the candidate, not the run. */
  async #attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
    try {
      return await action();
    } catch (error) {
      const { challenger } = this.#duel ?? {};
      if (challenger !== undefined) this.#record(challenger.configuration, { failure: failureOf(error) });
      this.#end();
    }
  }

  #end(): void {
    this.#duel?.challenger[Symbol.dispose]();
    this.#duel = undefined;
  }

  #record(configuration: Configuration, { samples = [], clocks = [], ...found }: Partial<Clocked>): void {
    const key = configurationKey(configuration);
    const known = this.#tried.get(key) ?? { configuration, samples: [], clocks: [] };
    this.#tried.set(key, {
      ...known,
      ...found,
      samples: [...known.samples, ...samples],
      clocks: [...known.clocks, ...clocks],
    });
  }
}

/** Time steps of a pass over memory. */
function stepsOfPass({ traversal, parameters }: Configuration): number {
  const names = namesOf(TRAVERSALS.find(({ name }) => name === traversal), "pass", "ordering");
  const place = coordinatesOf(traversal, parameters);
  return names.reduce((steps, name) => steps * (place[name] ?? 1), 1);
}

/** Whether both visit cells in one order, so that what runs of any length gain or lose is the same. */
function isSameOrder(...both: readonly [Configuration, Configuration]): boolean {
  const names = TRAVERSALS.filter(({ name }) => both.some(({ traversal }) => name === traversal))
    .flatMap((traversal) => namesOf(traversal, "tile", "pass", "ordering"));
  return names.every((name) => both[0].parameters[name] === both[1].parameters[name]);
}

function failureOf(error: unknown): Failure {
  const isKnown = isFailure(error) || error instanceof SolverError;
  return { reason: isKnown ? error.reason : "compile", message: reasonOf(error) };
}

/** The GPU's fields, where it computes both alone. */
function onGpuAlone(field: SharedField, other: SharedField): readonly [GpuField, GpuField] | undefined {
  const [first, second] = [field.alone?.onGpu, other.alone?.onGpu];
  return first && second && [first, second];
}

/** The same cells of all fields, one piece after another. */
async function* piecesOf(...fields: readonly SharedField[]) {
  for (const saved of cellsIn(fields[0]!.problem, fields[0]!.own)) {
    const { box, profile } = saved, pieces: FloatArray<ArrayBuffer>[] = [];
    for (const field of profile ? [] : fields) {
      const cells = zeros(field.problem.stencil.update, cellsOf(box.size));
      await field.readOwn(box, cells);
      pieces.push(cells);
    }
    yield { ...saved, pieces };
  }
}

/** Carries over all cells, whatever the layouts, and the time step. */
export async function copyState(from: SharedField, to: SharedField): Promise<void> {
  const fields = onGpuAlone(from, to);
  if (fields !== undefined) return await fields[1].copyFrom(fields[0]);
  await to.initialise({ kind: "noise", seed: 1, step: from.step });
  from.profiles.values.forEach((values, profile) => to.writeProfile(profile, (i) => values[i]!));
  for await (const { box, levels, pieces: [cells] } of piecesOf(from)) {
    if (cells) { for (const ago of levels) await to.writeBox({ ...box, ago }, cells); }
  }
  await to.renew();
}

/** Compares what the next steps need of two fields. */
async function compareStates(field: SharedField, other: SharedField): Promise<Comparison> {
  const fields = onGpuAlone(field, other), parts: Comparison[] = [];
  if (fields !== undefined) return await fields[1].compare(fields[0], { levels: stateLevels(field.problem) });
  for await (const { box: { size }, pieces } of piecesOf(field, other)) {
    const layout = layOut(size, {
      pad: [0, 0, 0],
      align: 1,
      precision: field.problem.stencil.update.precision,
    });
    const [expected, found] = pieces.map((cells): SliceCells => ({ cells, layout, slice: 0 }));
    if (found) parts.push(compareSlices(found, expected!, size[0]));
  }
  return joinComparisons(parts);
}
