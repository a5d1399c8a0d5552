import { type FloatArray, precisionOf, zeros } from "../../kernels/precision.ts";
import { profilesOf } from "../../kernels/axis_profiles.ts";
import type { InitialField } from "../../kernels/initial_field.ts";
import type { Layout } from "../../kernels/layout.ts";
import { cellsOf, innerOf, isAllZero, type Problem } from "../../kernels/stencils/stencil.ts";
import { usersLayout, usersProblem } from "../../kernels/planned_problem.ts";
import { type Material, placed, type Update } from "../../kernels/update.ts";
import type { Extent } from "../../models/decomposition.ts";
import { slicesAtOnce } from "../devices/shared/part_field.ts";
import type { SharedField } from "../devices/shared/shared_field.ts";
import type { Configuration } from "../configuration.ts";
import { crc32 } from "../platform.ts";
import type { Choice } from "../profile/choose.ts";
import { RequestError } from "../problem/request_error.ts";
import { checkSignals } from "../problem/resolve_problem.ts";
import { agree } from "./agree.ts";
import {
  boxOf,
  type CellRange,
  checked,
  checkStart,
  checkSteps,
  extended,
  profileOf,
  rangeOf,
  sliceSource,
} from "./cells.ts";
import { areFinite, brokenError, findBroken, type HeldCells, isDue, misfitIn } from "./finite.ts";
import type { Refined } from "./refined.ts";
import { type Contender, copyState, type Refinement } from "./refinement.ts";
import type { CellsOptions, CellValues, Solver, SolverRun } from "./solver.ts";
import { type SnapshotOptions, Snapshots } from "./snapshots.ts";
import { failingAs } from "./solver_error.ts";
import { cellsIn, type OpenedState, type SavedState, startOfSurvey, writeHeader } from "./state.ts";
import { type PlaceOptions, type Position, type ReceiverOptions, Survey } from "../devices/survey.ts";

/** What a solver is made of; all of it ends with the solver. */
interface SolverParts {
  readonly contender: Contender;
  /** What ends with the solver. */
  readonly gpu: Partial<Disposable> | undefined;
  /** Why the configuration was chosen, if it was. */
  readonly choice?: Choice | undefined;
  readonly refinement?: Refinement | undefined;
  /** Whether the GPU's arrays are the caller's. */
  readonly isBorrowed: boolean;
  /** Compiles the configuration again, for the same problem with sources or receivers, and takes memory for it. */
  readonly withPoints: () => Promise<Contender>;
}

/** What a solver's first field is compiled from, and what it goes on from. */
interface Opening extends Omit<SolverParts, "contender" | "withPoints"> {
  /** Compiles the configuration for the problem, with points or without, and takes memory for it. */
  readonly open: (problem: Problem) => Promise<Contender>;
  readonly saved: OpenedState | undefined;
}

/** Opens a solver, which goes on from what was saved, or begins with zeros; all that it is made of ends if it cannot. */
export async function openSolver(problem: Problem, { open, saved, ...its }: Opening): Promise<FieldSolver> {
  const withPoints = { ...problem, survey: problem.survey ?? { sources: 1, receivers: 1 } };
  const contender = await open(saved?.hasPoints ? withPoints : problem).catch((error) => {
    for (const part of [its.refinement, its.gpu]) part?.[Symbol.dispose]?.();
    throw error;
  });
  const solver = new FieldSolver({ ...its, contender, withPoints: () => open(withPoints) });
  try {
    const { materials, profiles = [] } = problem.stencil.update;
    // without materials, all is zero already; an order of the plan's own may hold more than values
    const isZero = materials.length + profiles.length === 0 && !contender.field.onGpu?.plan.storage.order;
    if (saved !== undefined) await solver.restore(saved, saved.read);
    // what lies in the caller's buffers stays; axis profiles do not lie there
    else if (its.isBorrowed) await solver.fillProfiles();
    else if (!isZero) await solver.initialise("zero");
    return solver;
  } catch (error) {
    solver.dispose();
    throw error;
  }
}

/** How long a call under way may go on once the solver is disposed of. */
const GRACE_MS = 500;

/** Steps that CPU workers are handed at once, roughly. */
const STEPS_AT_ONCE = 1000;

/** A function that is asked once for the same. */
function askedOnce<In extends readonly unknown[], Out>(ask: (...of: In) => Out): (...of: In) => Out {
  const known = new Map<string, Out>();
  return (...of) => {
    const key = JSON.stringify(of);
    if (!known.has(key)) known.set(key, ask(...of));
    return known.get(key)!;
  };
}

/** A shared field with a queue of requests. */
export class FieldSolver implements Solver<FloatArray<ArrayBuffer>> {
  #current: Contender;
  readonly #survey: Survey;
  readonly #snapshots = new Snapshots();
  /** Whether the field knows the sources and receivers, and what materials make of them. */
  #isSurveyed = true;
  /** Whether the materials, as they are, make sense together. */
  #isFit = false;
  /** The last step at which all values were finite, and the one at which it was said that they are not. */
  #looked = 0;
  #broken = -1;
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;
  #grace: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly parts: SolverParts) {
    this.#current = parts.contender;
    this.#survey = new Survey(this.#problem);
  }

  get #field(): SharedField {
    return this.#current.field;
  }

  /** What this process holds of the grid, for who writes and compares it piece by piece. */
  get field(): SharedField {
    return this.#field;
  }

  /** The sources and receivers, with what all ranks have recorded on rank 0. Every rank calls it. */
  async survey(): Promise<Survey> {
    await this.#field.collect();
    return this.#survey;
  }

  get problem(): Problem {
    return usersProblem(this.#problem);
  }

  get #problem(): Problem {
    return this.#field.problem;
  }

  get #update(): Update {
    return this.#problem.stencil.update;
  }

  get configuration(): Configuration {
    return this.#current.configuration;
  }

  get choice(): Choice | undefined {
    return this.parts.choice;
  }

  get step(): number {
    return this.#field.step;
  }

  get refined(): Refined | undefined {
    return this.parts.refinement?.refined(this.configuration);
  }

  get layout(): Layout | undefined {
    const layout = this.#field.onGpu?.plan.storage.layout;
    return layout && usersLayout(this.#problem, layout);
  }

  level(ago: 0 | 1 = 0): GPUBuffer {
    if (this.#isClosed) throw new RangeError("Cannot give the GPU's level: the solver is disposed");
    const field = this.#field.onGpu;
    if (field === undefined) throw new RangeError("Cannot give the GPU's level: the CPU computes alone");
    const [buffer, ...others] = new Set(field.level(ago).map(({ array }) => array.buffer));
    if (others.length > 0) {
      throw new RangeError(`Cannot give the GPU's level: it lies in ${others.length + 1} buffers`);
    }
    return buffer!;
  }

  async initialise(
    kind: InitialField | "zero" = this.#problem.stencil.initialField ?? "noise",
    seed = 1,
  ): Promise<void> {
    checkStart({ kind, seed });
    await this.#next("set the initial field", async () => {
      this.#isSurveyed = false;
      [this.#looked, this.#broken] = [0, -1];
      this.#survey.restart();
      this.#snapshots.restart();
      for (const field of this.#fields()) await field.initialise({ kind, seed });
      const { stencil: { update } } = this.#problem;
      await this.#fill([...update.materials, ...profilesOf(update)]);
    });
  }

  /** Sets the axis profiles to what their formulas say. */
  async fillProfiles(): Promise<void> {
    await this.#next("fill the profiles", () => this.#fill(profilesOf(this.#update)));
  }

  async #fill(materials: readonly Material[]): Promise<void> {
    const { inner: _, ...whole } = this.#problem;
    for (const material of materials) {
      // profiles' formulas know of edges around the grid
      const problem = "axis" in material ? whole : this.#problem;
      const values = placed(material, innerOf(problem).size);
      if (values !== undefined) await this.#writer(material.name, values, {}, problem)();
    }
  }

  async write(name: string, values: CellValues, options: CellsOptions = {}): Promise<void> {
    const write = this.#writer(name, checked(this.#problem, name, values), options);
    await this.#next(`write ${name}`, () => agree(this.#field.world, write));
  }

  /** Checks what is to be written, and returns what writes it. */
  #writer(
    name: string,
    values: CellValues,
    options: CellsOptions = {},
    problem = this.#problem,
  ): () => Promise<void> {
    const profile = profileOf(problem, name, options);
    if (profile === undefined) {
      const range = rangeOf(problem, name, options);
      const source = sliceSource(name, values, range, innerOf(problem).size);
      return () => this.#put(range, source);
    }
    const valueAt = askedOnce(profile.source(values));
    return () => {
      this.#isSurveyed = false;
      for (const field of this.#fields()) field.writeProfile(profile.index, valueAt);
      return Promise.resolve();
    };
  }

  /**
   * Writes cells of a field, or of a material into both time levels and edges around the grid, some slices at a time into
   * all that need them.
   */
  async #put({ isMaterial, ...range }: CellRange, source: ReturnType<typeof sliceSource>): Promise<void> {
    this.#isSurveyed &&= !isMaterial;
    this.#isFit &&= !isMaterial;
    const problem = this.#problem,
      { low: [low], size: [nx] } = innerOf(problem),
      { x: first, slices } = range;
    const all = isMaterial ? extended(source, problem) : source;
    const goesOn = (isEnd: boolean): boolean => isMaterial && isEnd, last = first + slices;
    const end = goesOn(last === nx) ? problem.grid[0] : low + last, most = slicesAtOnce(problem.grid);
    for (let x = goesOn(first === 0) ? 0 : low + first; x < end; x += most) {
      const once = askedOnce(all),
        slices = Math.min(most, end - x);
      for (const field of this.#fields()) {
        if (isMaterial || problem.inner === undefined) {
          await field.write({ ...range, x, slices }, once, isMaterial ? [0, 1] : [range.ago]);
        } else {
          for (let i = x - low; i < x - low + slices; i++) {
            await field.writeBox(boxOf(problem, { ...range, x: i, slices: 1 }), once(i));
          }
        }
      }
    }
  }

  /** The solver's, and that of a candidate under way. */
  #fields(): SharedField[] {
    const candidate = this.parts.refinement?.field;
    return candidate === undefined ? [this.#field] : [this.#field, candidate];
  }

  async read(
    name: string = this.#update.fields[0]!,
    options: CellsOptions = {},
  ): Promise<FloatArray<ArrayBuffer>> {
    const profile = profileOf(this.#problem, name, options);
    if (profile !== undefined) {
      const { index, first, n } = profile;
      return await this.#next(`read ${name}`, async () => {
        return (await this.#field.readProfile(index)).slice(first, first + n);
      });
    }
    const range = rangeOf(this.#problem, name, options), box = boxOf(this.#problem, range);
    return await this.#next(`read ${name}`, async () => {
      const cells = this.#cellsFor(cellsOf(box.size));
      await this.#field.readBox(box, cells);
      if (!range.isMaterial) await this.#require(areFinite(cells));
      return cells;
    });
  }

  /** Memory for cells that rank 0 is given. */
  #cellsFor(count: number): FloatArray<ArrayBuffer> {
    return zeros(this.#update, this.#field.world.rank === 0 ? count : 0);
  }

  async addSources(
    name: string,
    positions: readonly Position[],
    signatures: ArrayLike<number> | readonly ArrayLike<number>[],
    options?: PlaceOptions,
  ): Promise<void> {
    await this.#next("add the sources", async () => {
      await this.#field.collect();
      this.#survey.addSources(name, positions, signatures, options);
      await this.#changeSurvey();
    });
  }

  async addReceivers(
    name: string,
    positions: readonly Position[],
    options: ReceiverOptions = {},
  ): Promise<void> {
    await this.#next("add the receivers", async () => {
      // other ranks have a part of what rank 0 gets
      const isLeftOut = this.#field.world.rank > 0 && typeof options?.onSamples === "function";
      await this.#field.collect();
      this.#survey.addReceivers(name, positions, isLeftOut ? { ...options, onSamples: () => {} } : options);
      await this.#changeSurvey();
    });
  }

  async addSnapshots(name: string, options: SnapshotOptions): Promise<void> {
    await this.#next("add the snapshots", () => {
      return Promise.resolve(this.#snapshots.add(this.#problem, name, options, this.step));
    });
  }

  async traces(): Promise<FloatArray<ArrayBuffer>[]> {
    return await this.#next("give the traces", () => this.#recorded(() => this.#survey.traces()));
  }

  async spectra(): Promise<Float64Array<ArrayBuffer>[]> {
    return await this.#next("give the spectra", () => this.#recorded(() => this.#survey.spectra()));
  }

  async #recorded<T>(give: () => T[]): Promise<T[]> {
    await this.#announce();
    await this.#field.collect();
    return this.#field.world.rank === 0 ? give() : [];
  }

  async save(): Promise<Blob> {
    return await this.#next("save", async () => {
      await (await this.#look(this.step, 0))?.();
      await this.#field.collect();
      const problem = this.#problem, hasPoints = problem.survey !== undefined, survey = this.#survey.saved();
      const [header, json] = writeHeader(problem, { step: this.step, hasPoints, survey });
      const parts: Blob[] = [];
      let sum = 0;
      const add = (values: FloatArray | Uint8Array): void => {
        const bytes = new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
        sum = crc32(bytes, sum);
        parts.push(new Blob([bytes]));
      };
      add(header);
      for (const { box, profile } of cellsIn(problem)) {
        const cells = profile
          ? await this.#field.readProfile(profile.index)
          : this.#cellsFor(cellsOf(box.size));
        if (profile === undefined) await this.#field.readBox(box, cells);
        add(cells);
      }
      for (const part of [json, ...survey.values]) add(part);
      return new Blob(this.#field.world.rank === 0 ? [...parts, Uint32Array.of(sum)] : []);
    });
  }

  /**
   * Goes on from what another solver has saved.
   *
   * @param read gives bytes of it
   */
  async restore(
    { step, survey: [json, values] }: SavedState,
    read: (at: number, bytes: number) => Promise<Uint8Array<ArrayBuffer>>,
  ): Promise<void> {
    const problem = this.#problem;
    await this.#next("go on from what was saved", async () => {
      const field = this.#field, update = this.#update, { Values, bytes: each } = precisionOf(update);
      await field.initialise({ kind: "zero", seed: 1, step });
      for (const { box, at, together, levels, profile } of cellsIn(problem, field.own)) {
        if (profile !== undefined) continue;
        const cells = zeros(update, at.length * together), bytes = new Uint8Array(cells.buffer);
        for (const [i, begin] of at.entries()) {
          bytes.set(await read(begin, each * together), each * i * together);
        }
        for (const ago of levels) await field.writeBox({ ...box, ago }, cells);
      }
      // a part needs profiles around its own cells, too
      for (const { box, at: [at], profile } of cellsIn(problem)) {
        if (profile === undefined) continue;
        const whole = new Values((await read(at!, each * box.size[profile.axis])).buffer);
        field.writeProfile(profile.index, (i) => whole[i]!);
      }
      await field.renew();
      if (json > 0) {
        const at = startOfSurvey(problem),
          groups = JSON.parse(new TextDecoder().decode(await read(at, json)));
        const all = new Values((await read(at + json, each * values)).buffer);
        let taken = 0;
        this.#survey.restore(groups, (count) => all.slice(taken, taken += count));
      }
      this.#isSurveyed = this.#isFit = false;
      this.#looked = step;
    });
  }

  async reset(): Promise<void> {
    await this.#next("reset", async () => {
      this.#survey.clear();
      this.#snapshots.clear();
      this.#isSurveyed = true;
      [this.#looked, this.#broken] = [0, -1];
      for (const field of this.#fields()) {
        await field.watch(undefined);
        await field.clear();
      }
    });
  }

  /** The field is to know of new sources or receivers; one that was compiled without any is compiled again. */
  async #changeSurvey(): Promise<void> {
    this.#isSurveyed = false;
    if (this.#problem.survey !== undefined) return;
    try {
      this.#keep(await this.#withPoints());
    } catch (error) {
      this.#survey.clear(); // a field without points had none before
      throw error;
    }
  }

  /** The same field, compiled for points. */
  async #withPoints(): Promise<Contender> {
    if (this.parts.isBorrowed) {
      throw new RangeError(
        "Cannot add sources or receivers: with your own buffers a problem with a survey is wanted: found none",
      );
    }
    const next = await this.parts.withPoints();
    try {
      await copyState(this.#field, next.field);
      return next;
    } catch (error) {
      next[Symbol.dispose]();
      throw error;
    }
  }

  /** Hands the sources and receivers to the field, if it does not know them as they are. */
  async #announce(): Promise<void> {
    if (this.#isSurveyed || this.#survey.isEmpty) return;
    await this.#field.collect();
    await this.#survey.watch(this.#field);
    this.#isSurveyed = true;
  }

  async run(steps: number): Promise<SolverRun> {
    checkSteps(steps);
    return await this.#next("run", async () => {
      checkSignals("run", this.#problem, this.step, this.step + steps);
      const { isBorrowed, refinement } = this.parts;
      const { steps: tuned, grid, boundary } = this.#problem;
      // the caller may have written into its buffers, and knows nothing of periodic images
      if (isBorrowed && !isAllZero(boundary)) await this.#field.onGpu?.renewPads();
      if (!this.#isFit && this.#problem.stencil.misfit) {
        await agree(this.#field.world, async () => {
          const wrong = await misfitIn(this.#held);
          if (wrong) throw new RequestError(`Cannot run: ${wrong}`);
        });
      }
      this.#isFit = true;
      await this.#announce();
      let timeNs = 0, deviceNs = 0, exchangeNs = 0;
      for (let done = 0;;) {
        await this.#snapshots.take(this.#field, (areFinite) => this.#require(areFinite));
        if (done === steps) break;
        // candidates would have to add and record as well
        const tries = this.#survey.isEmpty ? refinement : undefined;
        const left = Math.min(steps - done, this.#snapshots.due - this.step),
          piece = await tries?.piece(this.#current, left, done === 0);
        if (piece?.kept !== undefined) this.#keep(piece.kept);
        // a GPU alone cuts long runs itself, and is waited for once
        const atOnce = this.#field.alone?.field.facts.longRun !== undefined
          ? left
          : Math.min(Math.ceil(STEPS_AT_ONCE / tuned) * tuned, this.#survey.mostSteps);
        const ran = piece?.steps ?? Math.min(atOnce, left), end = this.step + (piece === undefined ? ran : 0);
        const running = piece === undefined ? await this.#field.begin(ran) : undefined;
        const look = (done += ran) === steps ? await this.#look(end, steps) : undefined;
        const [pieceNs] = await Promise.all([running?.finish(), look?.()]);
        timeNs += piece?.timeNs ?? pieceNs!;
        deviceNs += piece?.timeNs ?? (this.#field.alone ? pieceNs! : this.#field.deviceNs);
        exchangeNs += this.#field.exchangeNs;
      }
      if (steps === 0) await (await this.#look(this.step, 0))?.();
      return {
        steps,
        timeNs,
        deviceNs,
        exchangeNs,
        cellsPerSecond: timeNs > 0 ? cellsOf(grid) * steps / (timeNs * 1e-9) : 0,
      };
    });
  }

  /** Looks, behind what was begun, whether the field is finite at this step, if it is time after a run; what waits for it. */
  async #look(step: number, steps: number): Promise<(() => Promise<void>) | undefined> {
    if (!isDue(step, { looked: this.#looked, steps })) return undefined;
    const look = await this.#field.look();
    return async () => {
      await this.#require(await look(), true);
      this.#looked = step;
    };
  }

  /** Throws what there is to say of a field that is not finite: once for each step, if no run is to say it again. */
  async #require(areFinite: boolean, isRun = false): Promise<void> {
    const { step } = this, { world } = this.#field;
    if (await world.most(areFinite ? 0 : 1) === 0) return;
    if (!isRun && (step <= this.#looked || step === this.#broken)) return;
    const all = await world.shareAll(await findBroken(this.#held) ?? null);
    if (all.every((one) => one === null)) return; // what lies around the cells, or in F(t−1)
    this.#broken = step;
    throw brokenError(all, step, this.#looked);
  }

  get #held(): HeldCells {
    const field = this.#field, problem = this.#problem;
    const readCells = async (plane: number, { low, size }: Extent) => {
      const cells = zeros(this.#update, cellsOf(size));
      await field.readOwn({ ago: 0, plane, planes: 1, low, size }, cells);
      return cells;
    };
    return { problem, own: field.own, readCells };
  }

  /** Goes on with a candidate, which holds the same field. */
  #keep(candidate: Contender): void {
    this.#current[Symbol.dispose]();
    this.#current = candidate;
  }

  dispose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#waiting === 0) this.#release();
    else if (!this.#isAmongRanks) this.#grace = setTimeout(() => this.#release(), GRACE_MS);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
    await this.#queue;
  }

  /** Then the others are asked for the same, but not at the same moment: what was asked for before dispose is done. */
  get #isAmongRanks(): boolean {
    return this.#field.world.size > 1;
  }

  /** Does one thing after the other. */
  #next<T>(what: string, action: () => Promise<T>): Promise<T> {
    const closed = (): RangeError => new RangeError(`Cannot ${what}: the solver is disposed`);
    if (this.#isClosed) return Promise.reject(closed());
    const isFirst = this.#waiting++ === 0; // runs from now on
    const done = this.#queue.then(async () => {
      if (this.#isClosed && !isFirst && !this.#isAmongRanks) throw closed();
      const result = await failingAs(what, action).catch((error) => {
        throw this.#isClosed && !this.#isAmongRanks ? closed() : error;
      });
      this.#survey.check();
      return result;
    });
    this.#queue = done.catch(() => {}).then(() => {
      this.#waiting--;
      if (this.#isClosed && this.#waiting === 0) this.#release();
    });
    return done;
  }

  /** Ends what runs, too; again, where it had begun something new meanwhile. */
  #release(): void {
    clearTimeout(this.#grace);
    const { refinement, gpu } = this.parts;
    refinement?.[Symbol.dispose]();
    this.#current[Symbol.dispose]();
    gpu?.[Symbol.dispose]?.();
  }
}
