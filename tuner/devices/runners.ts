/**
 * The three backends behind one interface: the GPU alone, the CPU alone, both together. A configuration's share
 * says which.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Runner, Verification } from "../configuration.ts";
import type { FieldMemory } from "./gpu/field_memory.ts";
import type { GpuDevice } from "./gpu/gpu_device.ts";
import { type Reference, verificationOf } from "./reference.ts";
import { SharedField } from "./shared/shared_field.ts";
import type { CpuPool } from "./cpu/wasm_workers.ts";

/** What configurations run on. */
export interface Devices {
  readonly gpu?: GpuDevice | undefined;
  readonly cpuPool?: CpuPool | undefined;
  /** Where the GPU's arrays come from. @default {memory of each field's own} */
  readonly gpuMemory?: FieldMemory | undefined;
  /** The right result of the problem. */
  readonly reference: Reference;
}

/** Options of {@linkcode prepare}. */
export interface PrepareOptions {
  /** Called when the GPU's code is compiled, before its memory is taken. */
  readonly onCompiled?: () => Promise<void>;
}

/**
 * Compiles a configuration and takes its memory.
 *
 * @param devices what there is to run on, and the reference of this problem
 * @throws {RunFailure} if it cannot run
 */
export async function prepare(
  { gpu, cpuPool, gpuMemory, reference }: Devices,
  problem: Problem,
  configuration: Configuration,
  { onCompiled }: PrepareOptions = {},
): Promise<Runner> {
  const field = await SharedField.create(problem, {
    ...(gpu && { gpu }),
    ...(cpuPool && { cpuPool }),
    ...(gpuMemory && { gpuMemory }),
    configuration,
    async onCompiled(part, layout) {
      await reference.prepareGpu(part, layout);
      await onCompiled?.();
    },
  });
  return new FieldRunner(field, { configuration, reference, hasGpuClock: gpu?.hasTimestamps ?? false });
}

/** A field, and what to compare it with. */
class FieldRunner implements Runner {
  readonly configuration: Configuration;
  readonly compileNs: number;
  readonly clock: "device" | "host";
  readonly #field: SharedField;
  readonly #reference: Reference;

  constructor(
    field: SharedField,
    made: { configuration: Configuration; reference: Reference; hasGpuClock: boolean },
  ) {
    const { configuration, reference, hasGpuClock } = made;
    this.configuration = configuration;
    this.compileNs = field.compileNs;
    this.#field = field;
    this.#reference = reference;
    // the workers' clock is as good as a device's
    const gpuTellsNoTime = configuration.share.gpuSlices > 0 && (!hasGpuClock || this.#field.usesHost);
    this.clock = this.#isShared || gpuTellsNoTime ? "host" : "device";
  }

  async initialise(): Promise<void> {
    await this.#field.initialise(this.#reference.start);
  }

  async run(repetitions = 1): Promise<number> {
    const { steps } = this.#field.problem;
    const { wallNs, cpuRoundsNs, gpuRoundsNs } = await this.#field.run(steps, repetitions);
    const [aloneNs = wallNs] = [...cpuRoundsNs, ...gpuRoundsNs];
    return this.#isShared ? wallNs : aloneNs;
  }

  async verify(): Promise<Verification> {
    const { step, problem: { steps } } = this.#field;
    if (step !== steps) {
      throw new RangeError(`Cannot verify: the field must be at step ${steps}: it is at ${step}`);
    }
    return verificationOf(await this.#field.compare(this.#reference), this.#reference);
  }

  dispose(): void {
    this.#field[Symbol.dispose]();
  }

  get #isShared(): boolean {
    const { cpuSlices, gpuSlices } = this.configuration.share;
    return cpuSlices > 0 && gpuSlices > 0;
  }
}
