/**
 * Checks that every traversal makes against the device's limits before anything is compiled.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import { whyUncut } from "../sections.ts";
import type { Grid } from "../stencils/stencil.ts";
import type { DeviceLimits } from "./traversal.ts";

/** What a configuration would take. */
export interface Claim {
  readonly layout: Layout;
  /** Slices that a dispatch touches, where a level may lie in several sections. @default {all} */
  readonly span?: number;
  /** Slices that a sweep touches at once, where the device holds no more than a window. @default {span} */
  readonly wish?: number | undefined;
  /** Threads along the workgroup's x, y, z (which run along the grid's z, y, x). */
  readonly workgroup: readonly [number, number, number];
  readonly workgroupBytes: number;
  /** Workgroups of every dispatch, along whichever dimension. */
  readonly workgroups: readonly number[];
}

/** The first limit that the claim exceeds, with what is wanted and what there is; undefined if it fits. */
export function exceededLimit(limits: DeviceLimits, claim: Claim): string | undefined {
  const [x, y, z] = claim.workgroup;
  const uncut = whyUncut(claim.layout, { wish: claim.wish, span: claim.span ?? Infinity }, limits);
  if (uncut !== undefined) return uncut;
  const checks: [wanted: number, limit: Exclude<keyof DeviceLimits, "windowBytes">, what: string][] = [
    [claim.workgroupBytes, "maxComputeWorkgroupStorageSize", "bytes of workgroup memory"],
    [x * y * z, "maxComputeInvocationsPerWorkgroup", "threads in a workgroup"],
    [x, "maxComputeWorkgroupSizeX", "threads along z"],
    [y, "maxComputeWorkgroupSizeY", "threads along y"],
    [z, "maxComputeWorkgroupSizeZ", "threads along x"],
    [Math.max(...claim.workgroups), "maxComputeWorkgroupsPerDimension", "workgroups in one dimension"],
  ];
  const exceeded = checks.find(([wanted, limit]) => wanted > limits[limit]);
  if (exceeded === undefined) return undefined;
  const [wanted, limit, what] = exceeded;
  return `${wanted} ${what}, ${limit} is ${limits[limit]}`;
}

export function powersOfTwo(from: number, to: number): number[] {
  const powers: number[] = [];
  for (let power = from; power <= to; power *= 2) powers.push(power);
  return powers;
}

/** Workgroup shapes to try: threads along z, y and x, powers of two, not half of them beyond the grid. */
export function workgroupShapes(
  [nx, ny, nz]: Grid,
  limits: DeviceLimits,
): Record<"threadsZ" | "threadsY" | "threadsX", number[]> {
  const upTo = (most: number, limit: number, cells: number): number[] =>
    powersOfTwo(1, Math.min(most, limit)).filter((threads) => threads === 1 || threads < 2 * cells);
  const threadsZ = upTo(1024, limits.maxComputeWorkgroupSizeX, nz);
  return {
    threadsZ: threadsZ.filter((threads) => threads >= 4 || threads === threadsZ.at(-1)),
    threadsY: upTo(64, limits.maxComputeWorkgroupSizeY, ny),
    threadsX: upTo(8, limits.maxComputeWorkgroupSizeZ, nx),
  };
}
