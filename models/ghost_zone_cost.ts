/**
 * What R steps between two exchanges cost, by Liu and Perumalla (B2R), §3.4, for subdomains of any shape. The paper
 * writes a cube of B³ cells with ghost zones on both sides of every axis. Here each axis has its own number of
 * cells, its own reach, and ghost zones on no, one or both of its sides:
 *
 *     B + 2Rδ   becomes   B_d + s_d·R·δ_d   along axis d
 *
 * δ is the reach of one full step; an update of two sub-steps reaches 2δ. Times are in whatever unit a and b have.
 *
 * @module
 */

/** Time as a straight line over the work: y = a·x + b (Eq. 1; for messages and copies Eq. 4). */
export interface LinearCost {
  /** Time of one unit of work; of a message, the inverse of the bandwidth. */
  readonly a: number;
  /** Time besides; of a message, the latency. */
  readonly b: number;
}

/** A part of the grid that is computed for R steps without its neighbours. */
export interface Subdomain {
  /** B: its own cells along x (the slowest axis), y and z. */
  readonly cells: readonly [x: number, y: number, z: number];
  /** δ: cells along each axis that one full step makes invalid, at each side with a ghost zone. */
  readonly reach: readonly [x: number, y: number, z: number];
  /**
   * s: sides of each axis with a ghost zone; 0 where the subdomain spans the whole grid.
   * @default {[2, 2, 2]} the paper's
   */
  readonly sides?: readonly [x: 0 | 1 | 2, y: 0 | 1 | 2, z: 0 | 1 | 2];
}

/** Coefficients of Eq. 7. */
export interface StepCosts {
  /** Which device computes: by Eq. 2 or Eq. 3. @default {"gpu"} */
  readonly device?: "cpu" | "gpu";
  /** Time of one cell update, and of a step (GPU) or a round of R steps (CPU) besides. */
  readonly compute: LinearCost;
  /** Time of one cell sent to a neighbour, and of a message. */
  readonly network: LinearCost;
  /** Time of one cell copied between host and device, and of both copies besides. */
  readonly transfer: LinearCost;
}

/** The three terms of Eq. 7: parts of the time of one step. Their sum is the paper's prediction. */
export interface StepTerms {
  readonly compute: number;
  readonly network: number;
  readonly transfer: number;
}

/** Eq. 1 and Eq. 4: the time of so much work. */
export function linearTime({ a, b }: LinearCost, work: number): number {
  return a * work + b;
}

/** Cells of a subdomain with ghost zones for some more steps, Π_d (B_d + s_d·steps·δ_d); of 0 steps its own. */
export function expandedCells({ cells, reach, sides = [2, 2, 2] }: Subdomain, steps: number): number {
  return [0, 1, 2].reduce(
    (product, axis) => product * (cells[axis]! + sides[axis]! * steps * reach[axis]!),
    1,
  );
}

/**
 * Eq. 2's sum: the cell updates of R steps on the CPU, where each step leaves out what has become invalid,
 * Σ_{i=1…R} Π_d (B_d + s_d·(R−i)·δ_d).
 */
export function shrinkingUpdates(subdomain: Subdomain, exchangeEvery: number): number {
  let updates = 0;
  for (let left = exchangeEvery - 1; left >= 0; left--) updates += expandedCells(subdomain, left);
  return updates;
}

/** Eq. 5's volume: the cells of the ghost zones. */
export function ghostCells(subdomain: Subdomain, exchangeEvery: number): number {
  return expandedCells(subdomain, exchangeEvery) - expandedCells(subdomain, 0);
}

/**
 * Eq. 6's volume: the cells of a subdomain copied to the device with its ghost zones, and back without those at the
 * ends of the slowest axis (the paper's z, our x), which are invalid by then.
 */
export function copiedCells(subdomain: Subdomain, exchangeEvery: number): number {
  const [, y, z] = subdomain.sides ?? [2, 2, 2];
  return expandedCells(subdomain, exchangeEvery) +
    expandedCells({ ...subdomain, sides: [0, y, z] }, exchangeEvery);
}

/**
 * Eq. 7: the time of one step where computing (Eq. 2 on the CPU, Eq. 3 on the GPU, which also updates the invalid
 * cells), messages (Eq. 5) and copies between host and device (Eq. 6) follow each other. As a function of R it falls
 * with the latencies b/R, then rises with the ghost zones.
 *
 * @param exchangeEvery R, at least 1
 * @throws {RangeError} if R is not a whole number >= 1
 *
 * @example
 * ```ts
 * import { stepTerms } from "./ghost_zone_cost.ts";
 * import { assertEquals } from "@std/assert";
 *
 * // ten slices of 6 cells on the CPU, a neighbour at one end, three steps: 12 + 11 + 10 slices
 * const share = { cells: [10, 2, 3], reach: [1, 1, 1], sides: [1, 0, 0] } as const;
 * const none = { a: 0, b: 0 };
 * const costs = { device: "cpu", compute: { a: 1, b: 6 }, network: { a: 0, b: 9 }, transfer: none } as const;
 * assertEquals(stepTerms(share, 3, costs), { compute: (6 * 33 + 6) / 3, network: 3, transfer: 0 });
 * ```
 */
export function stepTerms(
  subdomain: Subdomain,
  exchangeEvery: number,
  { device = "gpu", compute, network, transfer }: StepCosts,
): StepTerms {
  const steps = exchangeEvery;
  if (!(Number.isSafeInteger(steps) && steps >= 1)) {
    throw new RangeError(
      `Cannot predict: steps between exchanges must be a whole number >= 1: current value is ${steps}`,
    );
  }
  const roundTime = device === "cpu"
    ? linearTime(compute, shrinkingUpdates(subdomain, steps))
    : steps * linearTime(compute, expandedCells(subdomain, steps));
  return {
    compute: roundTime / steps,
    network: linearTime(network, ghostCells(subdomain, steps)) / steps,
    transfer: linearTime(transfer, copiedCells(subdomain, steps)) / steps,
  };
}
