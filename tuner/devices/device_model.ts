import { isRecorded, LLVMPIPE, measuredRecord } from "../../models/gpu_record.ts";
import type { DeviceModel } from "../../models/roofline.ts";
import type { CpuDescription, GpuDescription } from "./device.ts";

/** Copy bandwidth assumed where it is unknown; it hardly changes the order of predictions. */
export const USUAL_BANDWIDTH = 200e9;

/**
 * What the models should know of a device. A driver that computes in software runs workgroups on the CPU's cores, of which
 * each is as fast as a part of the whole.
 *
 * @param copyBytesPerSecond of a plain copy @default {as measured; else the usual}
 */
export function deviceModelOf(
  { gpu, cpu: { cores }, measured = {} }: {
    readonly gpu: Pick<GpuDescription, "isFallback"> & Partial<GpuDescription> | null;
    readonly cpu: Pick<CpuDescription, "cores">;
    /** The constants of a GPU without a record. @default {not measured: all scales with the copy} */
    readonly measured?: Readonly<Record<string, number | null>>;
  },
  copyBytesPerSecond: number = measured.copyBytesPerSecond ?? USUAL_BANDWIDTH,
): DeviceModel {
  const constants = isRecorded(gpu?.description ?? "") ? {} : measured;
  if (constants !== measured || measured.barrierNs) {
    return { copyBytesPerSecond, record: measuredRecord(copyBytesPerSecond, constants) };
  }
  if (!gpu?.isFallback) return { copyBytesPerSecond };
  const record = LLVMPIPE;
  const copy = record.copyBytesPerSecond * cores / record.multiprocessors;
  return { copyBytesPerSecond, record: { ...record, multiprocessors: cores, copyBytesPerSecond: copy } };
}
