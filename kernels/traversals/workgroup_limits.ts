/**
 * Workgroups: checks against the device's limits before anything is compiled, shapes to try, and the rows that they cover.
 *
 * @module
 */
import { type Refusal, wrongParameters } from "../capability.ts";
import type { Layout } from "../layout.ts";
import { type Precise, precisionOf } from "../precision.ts";
import { type SectionNeeds, whyUncut } from "../sections.ts";
import type { Grid } from "../stencils/stencil.ts";
import type { ParameterWords } from "./parameter.ts";
import type { DeviceLimits } from "./traversal.ts";

/** What a configuration would take; without a span all slices of a level lie together. */
export interface Claim extends Partial<SectionNeeds> {
  readonly layout: Layout;
  /** Values of the scratch buffer. @default {0} */
  readonly scratch?: number;
  /** Threads along the workgroup's x, y, z (which run along the grid's z, y, x). */
  readonly workgroup: readonly [number, number, number];
  readonly workgroupBytes: number;
  /** Workgroups of every dispatch, along whichever dimension. */
  readonly workgroups: readonly number[];
}

/** The first limit that the claim exceeds, with what is wanted and what there is; undefined if it fits. */
export function exceededLimit(limits: DeviceLimits, claim: Claim): Refusal | undefined {
  const { workgroup, workgroups } = claim, x = workgroup[0], y = workgroup[1], z = workgroup[2];
  const uncut = whyUncut(claim.layout, claim, limits);
  if (uncut !== undefined) return uncut;
  const scratch = precisionOf(claim.layout).bytes * (claim.scratch ?? 0);
  const wanted = [scratch, scratch, claim.workgroupBytes, x * y * z, x, y, z, Math.max(...workgroups)];
  for (let i = 0; i < wanted.length; i++) {
    const [limit, what] = CLAIMED[i]!;
    if (wanted[i]! > limits[limit]!) {
      return { kind: "limits", message: `${wanted[i]} ${what}, ${limit} is ${limits[limit]}` };
    }
  }
}

/** What is claimed, in the order of the checks. */
const CLAIMED: readonly (readonly [limit: keyof Required<DeviceLimits>, what: string])[] = [
  ["maxStorageBufferBindingSize", "bytes of exchanged values"],
  ["maxBufferSize", "bytes of exchanged values"],
  ["maxComputeWorkgroupStorageSize", "bytes of workgroup memory"],
  ["maxComputeInvocationsPerWorkgroup", "threads in a workgroup"],
  ["maxComputeWorkgroupSizeX", "threads along z"],
  ["maxComputeWorkgroupSizeY", "threads along y"],
  ["maxComputeWorkgroupSizeZ", "threads along x"],
  ["maxComputeWorkgroupsPerDimension", "workgroups in one dimension"],
];

/** Refuses cells of a thread for which WGSL has no vector without gaps in memory. */
export function refuseVector(cells: number): Refusal | undefined {
  return [1, 2, 4].includes(cells)
    ? undefined
    : wrongParameters(`${cells} cells a thread: 1, 2 or 4 make a vector`);
}

export function powersOfTwo(from: number, to: number): number[] {
  const powers: number[] = [];
  for (let power = from; power <= to; power *= 2) powers.push(power);
  return powers;
}

/** The shape of a workgroup, in words. */
export const WORKGROUP_PARAMETERS = {
  threadsZ: ["Workgroup along z", "threads along z, where neighbours lie side by side in memory", {
    unit: "thread",
  }],
  threadsY: ["Workgroup along y", "threads side by side along y", { unit: "thread" }],
  threadsX: ["Workgroup along x", "threads side by side along x", { unit: "thread" }],
} as const satisfies ParameterWords;

/** Workgroup shapes to try: threads along z, y and x, powers of two, not half of them beyond the grid. */
export function workgroupShapes(
  [nx, ny, nz]: Grid,
  limits: DeviceLimits,
): Record<keyof typeof WORKGROUP_PARAMETERS, number[]> {
  const upTo = (most: number, limit: number, cells: number): number[] =>
    powersOfTwo(1, Math.min(most, limit)).filter((threads) => threads === 1 || threads < 2 * cells);
  const threadsZ = upTo(1024, limits.maxComputeWorkgroupSizeX, nz);
  return {
    threadsZ: threadsZ.filter((threads) => threads >= 4 || threads === threadsZ.at(-1)),
    threadsY: upTo(64, limits.maxComputeWorkgroupSizeY, ny),
    threadsX: upTo(8, limits.maxComputeWorkgroupSizeZ, nx),
  };
}

/** What the caches move at once. */
const SECTOR_BYTES = 32;

/**
 * Of workgroups with this number of threads along z, and of cells in their rows: the pieces of rows that a SIMD group
 * covers; what is moved beside a row's values, since caches move sectors; and what lies beyond the ends of its rows, as
 * parts of a row.
 */
export function rowsAcross(
  threadsZ: number,
  cells: number,
  reach: number,
  of: Precise,
): Record<"pieces" | "part" | "ends", number> {
  const { bytes } = precisionOf(of);
  const isWhole = 32 % threadsZ === 0 || threadsZ % 32 === 0, sector = SECTOR_BYTES / (bytes * cells);
  return {
    pieces: isWhole ? Math.max(1, 32 / threadsZ) : 1 + 31 / threadsZ,
    part: sector,
    ends: 2 * sector * Math.ceil(bytes * reach / SECTOR_BYTES),
  };
}
