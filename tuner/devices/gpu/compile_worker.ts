/**
 * A thread that compiles shaders on a device of its own, for {@linkcode CompileThreads}.
 *
 * @module
 */
import { answerMessages } from "../../platform.ts";
import { requestAdapter, requestFullDevice } from "../device.ts";
import { makePipeline } from "./gpu_pipelines.ts";

/** A shader, and its storage bindings. */
export interface ShaderSource {
  readonly code: string;
  readonly storage: readonly number[];
}

/** What is to be compiled, for a GPU of this name; any answer says that it is done. */
export interface CompileCommand {
  readonly shaders: readonly ShaderSource[];
  readonly gpu: string;
  /** Becomes 0 when it is done. */
  readonly busy?: Int32Array;
}

let opened: Promise<GPUDevice | undefined> | undefined;

/** A device of the GPU of that name; undefined where it is not the one that is found here. */
async function open(gpu: string): Promise<GPUDevice | undefined> {
  const adapter = await requestAdapter();
  if (adapter?.info.description !== gpu) return undefined;
  const device = await requestFullDevice(adapter);
  device.addEventListener("uncapturederror", (event) => event.preventDefault());
  return device;
}

answerMessages<CompileCommand>(async ({ shaders, gpu, busy }) => {
  const device = await (opened ??= open(gpu).catch(() => undefined));
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
