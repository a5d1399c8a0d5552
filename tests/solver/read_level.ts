import type { Solver } from "../../tuner/solver/solver.ts";

/** The values of a solver's F(t), as its layout says where they lie on the GPU. */
export async function readLevel(device: GPUDevice, solver: Solver): Promise<Float32Array> {
  const size = 4 * solver.layout!.length, { COPY_DST, MAP_READ } = GPUBufferUsage;
  const copy = device.createBuffer({ size, usage: COPY_DST | MAP_READ });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(solver.level(), 0, copy, 0, size);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const level = new Float32Array(copy.getMappedRange().slice(0));
  copy.destroy();
  return level;
}
