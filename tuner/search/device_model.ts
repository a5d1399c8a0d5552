import type { DeviceModel } from "../../models/roofline.ts";
import type { DeviceDescription } from "../device.ts";

/**
 * Lanes of 32 bits that a software driver computes at once: 256-bit vectors (llvmpipe's name says so: `LLVM 15.0.6,
 * 256 bits`).
 */
const SOFTWARE_LANES = 8;

/** A thread's values that find no register lie in the core's own cache: no number of them is too many. */
const UNLIMITED = 1e6;

/**
 * What the models should know of a device beside its bandwidth. A driver that computes in software runs workgroups on
 * the CPU's cores, a vector of threads at a time.
 *
 * @param device the GPU and the CPU
 * @param copyBytesPerSecond measured copy bandwidth
 */
export function deviceModelOf(
  { gpu, cpu }: Pick<DeviceDescription, "gpu" | "cpu">,
  copyBytesPerSecond: number,
): DeviceModel {
  if (!gpu?.isFallback) return { copyBytesPerSecond };
  return {
    copyBytesPerSecond,
    simdWidth: SOFTWARE_LANES,
    saturationWorkgroups: cpu.cores,
    registersPerThreadLimit: UNLIMITED,
    registersPerMultiprocessor: UNLIMITED * 1024,
  };
}
