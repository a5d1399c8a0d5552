import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { type Comparison, joinComparisons } from "../comparison.ts";
import type { Submission } from "../gpu/gpu_device.ts";
import { type Reference, type Start, stateLevels } from "../reference.ts";
import { type RoundTimes, SharedRounds } from "./shared_rounds.ts";
import { disposeShares, isCyclic, makeShares, type ShareOptions, type Shares } from "./shares.ts";

/** How long a run took. */
export interface SharedTimes extends RoundTimes {
  /** By the host's clock, from beginning to end. */
  readonly wallNs: number;
  /** By the clock of a device that computes alone; else the host's. */
  readonly timeNs: number;
}

/**
 * One grid on the GPU and the CPU together (B2R, §3.2–3.5). The CPU computes slices x < `cpuSlices`, the GPU the
 * others, both at the same time.
 *
 * **Ghost zones.** Where the shares meet, each carries R·S slices of the other's: S is the reach of a full step
 * along x, R the number of steps between two exchanges. Every step makes S of these slices invalid, from the outside
 * in, so that after R steps a share's own slices are still right. The CPU leaves the invalid ones out (Eq. 2); the
 * GPU runs an unmodified plan over its own slices and the ghost zone, with zeros beyond, and what it computes in
 * the ghost zone is thrown away (Eq. 3). The shares meet once, at x = `cpuSlices`. Where x
 * is periodic they meet at the ends of the grid too: each share then has a ghost zone at both ends. What the
 * shares exchange after R steps, and what hides behind what: `shared_rounds.ts`.
 */
export class SharedField implements Disposable {
  readonly problem: Problem;
  /** Host time from the configuration to both devices' code. */
  readonly compileNs: number;
  /** Each device's field and its own slices in it; undefined where it has none. */
  readonly cpuShare: Shares["cpu"];
  readonly gpuShare: Shares["gpu"];
  readonly #exchangeEvery: number;
  /** Where both devices have a share. */
  readonly #rounds: SharedRounds | undefined;
  #step = 0;

  private constructor(problem: Problem, exchangeEvery: number, { cpu, gpu, toCpu, toGpu }: Shares) {
    this.problem = problem;
    this.compileNs = (cpu?.compileNs ?? 0) + (gpu?.field.compileNs ?? 0);
    this.cpuShare = cpu;
    this.gpuShare = gpu;
    this.#exchangeEvery = exchangeEvery;
    if (cpu !== undefined && gpu !== undefined) {
      this.#rounds = new SharedRounds(cpu, gpu, { toCpu, toGpu, isPeriodic: isCyclic(problem) });
    }
  }

  /**
   * Compiles both shares' code and takes their memory. A share of 0 slices leaves its device out; then there are
   * neither ghost zones nor exchanges.
   *
   * @throws {RunFailure} if the devices or the share do not allow it
   */
  static async create(problem: Problem, options: ShareOptions): Promise<SharedField> {
    const { exchangeEvery } = options.configuration.share;
    return new SharedField(problem, exchangeEvery, await makeShares(problem, options));
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.#step;
  }

  /** Sets both levels of both shares, ghost zones too, and the time step. */
  async initialise({ kind, seed, step = 0 }: Start & { readonly step?: number }): Promise<void> {
    const whole = this.problem.grid;
    this.#step = step;
    this.#rounds?.forget();
    const { cpuShare: cpu, gpuShare: gpu } = this;
    await cpu?.field.setInitial(kind, { seed, first: [-cpu.first, 0, 0], whole, step });
    await gpu?.field.initialise({ kind, seed, first: [(cpu?.slices ?? 0) - gpu.first, 0, 0], whole, step });
  }

  /**
   * Advances the field. Shared, it does so in rounds of R steps, each ended by an exchange; where the steps are no
   * multiple of R the last round is shorter. One device alone has a single round.
   *
   * @param steps time steps of one run
   * @param repetitions runs, one after another in one batch
   */
  async run(steps: number, repetitions = 1): Promise<SharedTimes> {
    const started = performance.now();
    const { cpuShare: cpu, gpuShare: gpu } = this;
    const times: RoundTimes = await this.#rounds?.run(roundsOf(steps, this.#exchangeEvery, repetitions)) ?? {
      computeNs: await cpu?.field.run({ steps: steps * repetitions }) ?? 0,
      gpuNs: await gpu?.field.run(steps, repetitions) ?? 0,
      unpackNs: 0,
      packNs: 0,
    };
    this.#step += steps * repetitions;
    const wallNs = (performance.now() - started) * 1e6;
    const timeNs = this.#rounds === undefined ? times.computeNs + times.gpuNs : wallNs;
    return { wallNs, timeNs, ...times };
  }

  /** The same without waiting for its end, though a GPU alone has all of it: see {@linkcode GpuField.begin}. */
  async begin(steps: number, repetitions = 1): Promise<Submission> {
    if (this.cpuShare !== undefined) {
      const run = this.run(steps, repetitions);
      run.catch(() => {}); // thrown by `finish`
      return { finish: async () => (await run).timeNs };
    }
    const submission = await this.gpuShare!.field.begin(steps, repetitions);
    this.#step += steps * repetitions;
    return submission;
  }

  /** Takes over all cells and the time step of another field of the problem; a GPU computes both alone. */
  async copyOnGpu(other: SharedField): Promise<void> {
    this.#step = other.step;
    await this.gpuShare!.field.copyFrom(other.gpuShare!.field);
  }

  /** Compares all own cells of both shares, every level of the state, with the reference at the same time step. */
  async compare(reference: Reference): Promise<Comparison> {
    const { cpuShare: cpu, gpuShare: gpu } = this;
    const parts: Comparison[] = [];
    if (cpu !== undefined) {
      const { field, first: slice, slices } = cpu;
      for (const ago of stateLevels(this.problem)) {
        parts.push(await reference.compareCpu(field, { ago, slice, slices, referenceSlice: 0 }));
      }
    }
    if (gpu !== undefined) {
      const { field, first: slice, slices } = gpu;
      parts.push(await reference.compareGpu(field, { slice, slices, referenceSlice: cpu?.slices ?? 0 }));
    }
    return joinComparisons(parts);
  }

  /** Brings the GPU's ghost zones up to date, so that slices may be written from outside. */
  async settle(): Promise<void> {
    await this.#rounds?.settle();
  }

  [Symbol.dispose](): void {
    this.#rounds?.forget();
    disposeShares({ cpu: this.cpuShare, gpu: this.gpuShare });
  }
}

function roundsOf(steps: number, exchangeEvery: number, repetitions: number): number[] {
  const whole = Math.floor(steps / exchangeEvery), rest = steps % exchangeEvery;
  const once = [...new Array<number>(whole).fill(exchangeEvery), ...(rest > 0 ? [rest] : [])];
  return new Array<number[]>(repetitions).fill(once).flat();
}
