import type { Problem } from "../../../kernels/stencils/stencil.ts";
import type { Share } from "../../configuration.ts";
import { type Comparison, joinComparisons } from "../comparison.ts";
import type { Submission } from "../gpu/gpu_device.ts";
import { type Reference, stateLevels } from "../reference.ts";
import type { FieldStart, PartField } from "./part_field.ts";
import { type RoundTimes, runRounds, wayBetween } from "./shared_rounds.ts";
import { makeShares, planOfShare, type ShareOptions, type Shares } from "./shares.ts";

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
  /** Each device's part; undefined where it has none. */
  readonly cpuShare: Shares["cpu"];
  readonly gpuShare: Shares["gpu"];
  readonly #share: Share;
  #step = 0;

  private constructor(problem: Problem, share: Share, { cpu, gpu }: Shares) {
    this.problem = problem;
    this.compileNs = (cpu?.compileNs ?? 0) + (gpu?.field.compileNs ?? 0);
    this.cpuShare = cpu;
    this.gpuShare = gpu;
    this.#share = share;
  }

  /**
   * Compiles both shares' code and takes their memory. A share of 0 slices leaves its device out; then there are
   * neither ghost zones nor exchanges.
   *
   * @throws {RunFailure} if the devices or the share do not allow it
   */
  static async create(problem: Problem, options: ShareOptions): Promise<SharedField> {
    return new SharedField(problem, options.configuration.share, await makeShares(problem, options));
  }

  /** Those that there are. */
  get parts(): PartField[] {
    return [this.cpuShare, this.gpuShare].filter((part) => part !== undefined);
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.#step;
  }

  /** Sets both levels of both shares, ghost zones too, and the time step. */
  async initialise(start: FieldStart): Promise<void> {
    this.#step = start.step ?? 0;
    for (const part of this.parts) await part.initialise(start);
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
    const times = cpu !== undefined && gpu !== undefined
      ? await this.#runBoth(cpu, gpu, roundsOf(steps, this.#share.exchangeEvery, repetitions))
      : {
        computeNs: await cpu?.field.run({ steps: steps * repetitions }) ?? 0,
        gpuNs: await gpu?.field.run(steps, repetitions) ?? 0,
        unpackNs: 0,
        packNs: 0,
      };
    this.#step += steps * repetitions;
    const wallNs = (performance.now() - started) * 1e6;
    const timeNs = cpu === undefined || gpu === undefined ? times.computeNs + times.gpuNs : wallNs;
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
    const { cpuShare: cpu, gpuShare: gpu } = this, parts: Comparison[] = [];
    const slicesOf = ({ place: { part: { own, before } } }: PartField) => {
      return { slice: before[0], slices: own.size[0], referenceSlice: own.low[0] };
    };
    for (const ago of cpu === undefined ? [] : stateLevels(this.problem)) {
      parts.push(await reference.compareCpu(cpu!.field, { ago, ...slicesOf(cpu!) }));
    }
    if (gpu !== undefined) parts.push(await reference.compareGpu(gpu.field, slicesOf(gpu)));
    return joinComparisons(parts);
  }

  [Symbol.dispose](): void {
    for (const part of this.parts) part[Symbol.dispose]();
  }

  #runBoth(cpu: PartField, gpu: PartField, rounds: readonly number[]): Promise<RoundTimes> {
    const { problem } = this, plan = planOfShare(problem, this.#share);
    const toCpu = wayBetween(problem, plan, gpu, cpu), toGpu = wayBetween(problem, plan, cpu, gpu);
    return runRounds({ cpu, gpu, toCpu, toGpu }, rounds);
  }
}

function roundsOf(steps: number, exchangeEvery: number, repetitions: number): number[] {
  const whole = Math.floor(steps / exchangeEvery), rest = steps % exchangeEvery;
  const once = [...new Array<number>(whole).fill(exchangeEvery), ...(rest > 0 ? [rest] : [])];
  return new Array<number[]>(repetitions).fill(once).flat();
}
