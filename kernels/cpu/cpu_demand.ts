import { fold, uniform } from "../expression.ts";
import { precisionOf } from "../precision.ts";
import {
  expressionsOf,
  isInPlace,
  planesOf,
  readsPrevious,
  tapsOf,
  type Update,
  valuesMoved,
} from "../update.ts";

/**
 * What a configuration of the CPU asks for, known before anything is compiled; per update means: per cell and full time
 * step. The input of `models/cpu_roofline.ts`.
 */
export interface CpuDemand {
  /** Bytes read from and written to memory per update, at best: every value moved once in each pass. */
  readonly bytesPerUpdate: number;
  /** Bytes that stores load first although nothing reads them; no part of the roof. */
  readonly extraBytesPerUpdate: number;
  /** Bytes that each worker uses again and again, and the bytes per update that then come from its own cache. */
  readonly reusedBytes: number;
  readonly reusedBytesPerUpdate: number;
  /** Instructions per update, estimated: one of four cells counts a quarter, of two a half. */
  readonly instructionsPerUpdate: number;
  /** Times per step that all workers wait for each other. */
  readonly meetingsPerStep: number;
  /** Calls of a kernel per time step, all workers'; each slice of which rows are visited, but not all, counts as half a one. */
  readonly callsPerStep: number;
  /** The most work of any worker, over the mean. */
  readonly imbalance: number;
}

/** What every way to traverse a grid asks for alike. */
export function arithmeticDemand(update: Update, fused: boolean): Pick<CpuDemand, "instructionsPerUpdate"> {
  const loads = update.substeps.reduce((sum, substep) => sum + tapsOf(substep).length + substep.length, 0);
  const operations = expressionsOf(update).reduce((sum, value) => {
    return sum + fold<Counted>(value, {
      ...uniform<Counted>(LEAF, (...operands) => counted(operands)),
      tap: () => LEAF,
      multiply: (left, right) => ({ ...counted([left, right]), isProduct: true }),
      add: (left, right) => counted([left, right], fused && (left.isProduct || right.isProduct)),
      subtract: (left, right) => counted([left, right], fused && right.isProduct),
    }).operations;
  }, 0);
  return { instructionsPerUpdate: (loads + operations) / precisionOf(update).lanes };
}

/** Operations of a part of an expression. */
interface Counted {
  readonly operations: number;
  readonly isProduct: boolean;
}

const LEAF: Counted = { operations: 0, isProduct: false };

/** Operations of all operands, and one of their own if it is not one with a product. */
function counted(operands: readonly Counted[], isFused = false): Counted {
  const operations = operands.reduce((sum, each) => sum + each.operations, isFused ? 0 : 1);
  return { operations, isProduct: false };
}

/** Bytes per update of one pass over memory for each sub-step. */
export function bytesOfSteps(update: Update): Pick<CpuDemand, "bytesPerUpdate" | "extraBytesPerUpdate"> {
  // a store of what was not read loads its cache line first
  const unread = readsPrevious(update) ? 0 : update.fields.length, { bytes } = precisionOf(update);
  return { bytesPerUpdate: bytes * valuesMoved(update), extraBytesPerUpdate: bytes * unread };
}

/** Bytes of a cell, all planes of the levels in use; and moved where a pass over memory makes many levels. */
export function bytesOfPass(update: Update): { held: number; moved: number } {
  const planes = planesOf(update), held = (isInPlace(update) ? 1 : 2) * precisionOf(update).bytes;
  return { held: held * planes, moved: held * (planes + update.fields.length) };
}

/** Bytes per update that come from slices loaded before: of every plane and x that taps read but the foremost. */
export function reusedSlices(update: Update): number {
  return precisionOf(update).bytes * update.substeps.reduce((sum, substep) => {
    const read = tapsOf(substep).filter(({ ago }) => ago !== 1);
    const slices = new Set(read.map(({ plane, offset: [x] }) => `${plane} ${x}`));
    return sum + slices.size - new Set(read.map(({ plane }) => plane)).size;
  }, 0);
}
