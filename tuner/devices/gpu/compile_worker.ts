/**
 * A thread that compiles shaders on a device of its own, for {@linkcode CompileThreads}.
 *
 * @module
 */
import type { Precise, PrecisionName } from "../../../kernels/precision.ts";
import { answerMessages } from "../../platform.ts";
import { requestAdapter, requestFullDevice } from "../device.ts";
import { makePipeline } from "./gpu_pipelines.ts";

/** A shader, and its storage bindings. */
export interface ShaderSource {
  readonly code: string;
  readonly storage: readonly number[];
}

/** What is to be compiled, for a GPU of this name, in a precision; any answer says that it is done. */
export interface CompileCommand extends Precise {
  readonly shaders: readonly ShaderSource[];
  readonly gpu: string;
  /** Becomes 0 when it is done. */
  readonly busy?: Int32Array;
}

/** By precision. */
const opened = new Map<PrecisionName | undefined, Promise<GPUDevice | undefined>>();

/** A device of the GPU of that name; undefined where it is not the one that is found here. */
async function open(gpu: string, of: Precise): Promise<GPUDevice | undefined> {
  const adapter = await requestAdapter();
  if (adapter?.info.description !== gpu) return undefined;
  const device = await requestFullDevice(adapter, of);
  device?.addEventListener("uncapturederror", (event) => event.preventDefault());
  return device ?? undefined;
}

answerMessages<CompileCommand>(async ({ shaders, gpu, precision, busy }) => {
  const device = await opened.getOrInsertComputed(
    precision,
    () => open(gpu, { precision }).catch(() => undefined),
  );
  for (const { code, storage } of shaders) {
    // who asked will find the same error
    if (device) await makePipeline(device, code, "compiled ahead", storage).catch(() => {});
  }
  if (busy) {
    Atomics.store(busy, 0, 0);
    Atomics.notify(busy, 0);
  }
  return true;
});
