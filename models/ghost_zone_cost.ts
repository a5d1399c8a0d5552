/**
 * What R steps between two exchanges cost, after Zheng et al. (B2R), §3.4: one function an equation, for subdomains
 * of any shape. The paper writes a cube of B³ cells with ghost zones on both sides of every axis; here each axis has
 * its own number of cells, its own reach, and ghost zones on no, one or both of its sides:
 *
 *     B + 2Rδ   becomes   B_d + s_d·R·δ_d   along axis d
 *
 * δ is the reach of one full step; an update of two sub-steps reaches 2δ. Times are in whatever unit a and b have;
 * cells are cells of the grid, so that a time per byte is to be multiplied by the bytes that a cell takes.
 *
 * @module
 */

/** Time as a straight line over the work: y = a·x + b (B2R, Eq. 1). */
export interface LinearCost {
  /** Time of one unit of work. */
  readonly a: number;
  /** Time that no work explains. */
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

/**
 * Eq. 1, and Eq. 4 for messages: the time of so much work.
 *
 * @param cost time per unit of work, and besides
 * @param work units: cell updates, cells, bytes
 */
export function linearTime({ a, b }: LinearCost, work: number): number {
  return a * work + b;
}

/**
 * Cells of a subdomain with ghost zones that are good for some more steps: Π_d (B_d + s_d·steps·δ_d).
 *
 * @param subdomain own cells, reach, sides
 * @param steps steps that the ghost zones allow; 0: the own cells
 */
export function expandedCells({ cells, reach, sides = [2, 2, 2] }: Subdomain, steps: number): number {
  return cells.reduce((product, own, axis) => product * (own + sides[axis] * steps * reach[axis]), 1);
}

/**
 * Eq. 2's sum, the cell updates of R steps where each step leaves out what has become invalid:
 * Σ_{i=1…R} Π_d (B_d + s_d·(R−i)·δ_d).
 */
export function shrinkingUpdates(subdomain: Subdomain, exchangeEvery: number): number {
  let updates = 0;
  for (let left = exchangeEvery - 1; left >= 0; left--) updates += expandedCells(subdomain, left);
  return updates;
}

/**
 * Eq. 2: time of R steps on the CPU, which leaves invalid cells out. For a cube it is
 * a [2δ³R⁴ + (4Bδ² − 4δ³)R³ + (3B²δ − 6Bδ² + 2δ³)R² + (B³ − 3B²δ + 2Bδ²)R] + b.
 *
 * @param subdomain own cells, reach, sides
 * @param exchangeEvery R, at least 1
 * @param cost a: time of a cell update; b: time of a round besides
 * @throws {RangeError} if R is no whole number from 1 up
 *
 * @example
 * ```ts
 * import { cpuRoundTime } from "./ghost_zone_cost.ts";
 * import { assertEquals } from "@std/assert";
 *
 * // ten slices of 6 cells, a neighbour at one end, three steps: 12 + 11 + 10 slices
 * const share = { cells: [10, 2, 3], reach: [1, 1, 1], sides: [1, 0, 0] } as const;
 * assertEquals(cpuRoundTime(share, 3, { a: 2, b: 5 }), 2 * 6 * (12 + 11 + 10) + 5);
 * ```
 */
export function cpuRoundTime(subdomain: Subdomain, exchangeEvery: number, cost: LinearCost): number {
  checkPeriod(exchangeEvery);
  return linearTime(cost, shrinkingUpdates(subdomain, exchangeEvery));
}

/**
 * Eq. 3: time of R steps on the GPU, which computes invalid cells too and throws them away. For a cube it is
 * a [8δ³R⁴ + 12Bδ²R³ + 6B²δR² + B³R] + bR.
 *
 * @param subdomain own cells, reach, sides
 * @param exchangeEvery R, at least 1
 * @param cost a: time of a cell update; b: time of a step besides
 * @throws {RangeError} if R is no whole number from 1 up
 */
export function gpuRoundTime(subdomain: Subdomain, exchangeEvery: number, cost: LinearCost): number {
  checkPeriod(exchangeEvery);
  return exchangeEvery * linearTime(cost, expandedCells(subdomain, exchangeEvery));
}

/**
 * Eq. 4: time of a message, its volume over the bandwidth and a latency.
 *
 * @param volume cells or bytes, the unit of 1/a
 * @param cost a: inverse bandwidth; b: latency
 */
export function messageTime(volume: number, cost: LinearCost): number {
  return linearTime(cost, volume);
}

/**
 * Eq. 5: time to refill the ghost zones from the neighbours, both directions at once. For a cube it is
 * a [8δ³R³ + 12Bδ²R² + 6B²δR] + b.
 *
 * @param subdomain own cells, reach, sides
 * @param exchangeEvery R, at least 1
 * @param cost a: time of a cell; b: latency
 * @throws {RangeError} if R is no whole number from 1 up
 */
export function networkTime(subdomain: Subdomain, exchangeEvery: number, cost: LinearCost): number {
  checkPeriod(exchangeEvery);
  return messageTime(expandedCells(subdomain, exchangeEvery) - expandedCells(subdomain, 0), cost);
}

/**
 * Eq. 6: time to copy a subdomain with its ghost zones to the device, and back without those at the ends of the
 * slowest axis (the paper's z, our x), which are invalid by then; one after the other. For a cube it is
 * a [8δ³R³ + 16Bδ²R² + 10B²δR + 2B³] + b.
 *
 * @param subdomain own cells, reach, sides
 * @param exchangeEvery R, at least 1
 * @param cost a: time of a cell; b: latency of both copies
 * @throws {RangeError} if R is no whole number from 1 up
 */
export function transferTime(subdomain: Subdomain, exchangeEvery: number, cost: LinearCost): number {
  checkPeriod(exchangeEvery);
  const { sides: [, sidesY, sidesZ] = [2, 2, 2] } = subdomain;
  const returned: Subdomain = { ...subdomain, sides: [0, sidesY, sidesZ] };
  return messageTime(expandedCells(subdomain, exchangeEvery) + expandedCells(returned, exchangeEvery), cost);
}

/**
 * Eq. 7: time of one step where computing, messages and copies follow each other. For a cube on the GPU it is
 * a₃R³ + a₂R² + a₁R + a₀ + (b_network + b_transfer + 2·a_transfer·B³)/R; it falls and then rises with R.
 *
 * @param subdomain own cells, reach, sides
 * @param exchangeEvery R, at least 1
 * @param costs of computing (Eq. 2 or 3), messages (Eq. 5), copies (Eq. 6)
 * @throws {RangeError} if R is no whole number from 1 up
 */
export function stepTime(
  subdomain: Subdomain,
  exchangeEvery: number,
  { device = "gpu", ...costs }: StepCosts,
): number {
  const computeTime = device === "cpu" ? cpuRoundTime : gpuRoundTime;
  const roundTime = computeTime(subdomain, exchangeEvery, costs.compute) +
    networkTime(subdomain, exchangeEvery, costs.network) +
    transferTime(subdomain, exchangeEvery, costs.transfer);
  return roundTime / exchangeEvery;
}

function checkPeriod(exchangeEvery: number): void {
  if (!(Number.isSafeInteger(exchangeEvery) && exchangeEvery >= 1)) {
    throw new RangeError(
      `Cannot predict: steps between exchanges must be a whole number >= 1: current value is ${exchangeEvery}`,
    );
  }
}
