/**
 * Eq. 8 of B2R: how many slices the CPU and the GPU should each compute. `balance.ts` iterates it.
 *
 * @module
 */

/** What a device did. */
export interface DeviceTiming {
  /** Slices it computed. */
  readonly slices: number;
  /** Time it took; of no meaning where it computed no slice. */
  readonly timeNs: number;
}

/** Input of {@linkcode nextShare}. */
export interface BalanceInput {
  /** Slices of the grid. */
  readonly slices: number;
  readonly cpu: DeviceTiming;
  readonly gpu: DeviceTiming;
  /** Slices of a ghost zone: a share is 0 or at least this many. */
  readonly ghost: number;
}

/** Whole slices of each device. */
export interface SliceShare {
  readonly cpuSlices: number;
  readonly gpuSlices: number;
}

/** Why no share follows from the times, in one line. */
export interface UnusableTimes {
  readonly failure: string;
}

/** A device's time as a line over its slices. */
export interface Line {
  readonly offsetNs: number;
  readonly nsPerSlice: number;
}

/**
 * Eq. 8 solved: x_C = N (T_G/N_G) / (T_C/N_C + T_G/N_G) in whole slices, rounded to the side whose longer time
 * is shorter; a share too thin for its ghost zone becomes 0.
 *
 * @param input both devices' last timing
 * @returns the next share, or why the times allow none; a device that computed nothing tells nothing of its
 * speed, so then the share stays
 *
 * @example
 * ```ts
 * import { nextShare } from "./slice_share.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const gpu = { slices: 90, timeNs: 90 };
 * // the GPU is four times faster a slice
 * const next = nextShare({ slices: 100, cpu: { slices: 10, timeNs: 40 }, gpu, ghost: 2 });
 * assertEquals(next, { cpuSlices: 20, gpuSlices: 80 });
 * ```
 */
export function nextShare({ slices, cpu, gpu, ghost }: BalanceInput): SliceShare | UnusableTimes {
  checkSlices(slices, ghost);
  const failure = unusable("CPU", cpu) ?? unusable("GPU", gpu);
  if (failure !== undefined) return { failure };
  if (cpu.slices === 0 || gpu.slices === 0) return shareOf(cpu.slices === 0 ? 0 : slices, slices);
  return intersect(proportional(cpu), proportional(gpu), { slices, ghost });
}

/** Where both lines take equally long, in whole slices; 0 for a share thinner than its ghost zone. */
export function intersect(
  cpu: Line,
  gpu: Line,
  { slices, ghost }: { slices: number; ghost: number },
): SliceShare {
  const exact = (gpu.offsetNs + gpu.nsPerSlice * slices - cpu.offsetNs) / (cpu.nsPerSlice + gpu.nsPerSlice);
  const thinnest = Math.max(1, ghost);
  const longer = (cpuSlices: number): number =>
    Math.max(
      cpuSlices === 0 ? 0 : cpu.offsetNs + cpu.nsPerSlice * cpuSlices,
      cpuSlices === slices ? 0 : gpu.offsetNs + gpu.nsPerSlice * (slices - cpuSlices),
    );
  if (slices < 2 * thinnest) return shareOf(longer(0) <= longer(slices) ? 0 : slices, slices);
  if (!(exact >= thinnest)) return shareOf(0, slices);
  if (exact > slices - thinnest) return shareOf(slices, slices);
  const floor = Math.floor(exact), ceiling = Math.ceil(exact);
  const rounded = longer(floor) <= longer(ceiling) ? floor : ceiling;
  return shareOf(Math.min(Math.max(rounded, thinnest), slices - thinnest), slices);
}

/** Eq. 8's assumption: time proportional to slices. */
export function proportional({ slices, timeNs }: DeviceTiming): Line {
  return { offsetNs: 0, nsPerSlice: timeNs / slices };
}

/** Why a timing can't be used, in one line. */
export function unusable(device: string, { slices, timeNs }: DeviceTiming): string | undefined {
  if (slices === 0 || (timeNs > 0 && Number.isFinite(timeNs))) return undefined;
  return `cannot balance: the ${device}'s time for ${slices} slices is ${timeNs} ns`;
}

/** @throws {RangeError} if there can be no such grid */
export function checkSlices(slices: number, ghost: number): void {
  if (!(Number.isSafeInteger(slices) && slices >= 1 && Number.isSafeInteger(ghost) && ghost >= 0)) {
    throw new RangeError(
      `Cannot balance: slices must be a whole number >= 1, ghost >= 0: they are ${slices} and ${ghost}`,
    );
  }
}

/** The share of both devices. */
export function shareOf(cpuSlices: number, slices: number): SliceShare {
  return { cpuSlices, gpuSlices: slices - cpuSlices };
}
