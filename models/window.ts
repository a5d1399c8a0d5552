/**
 * How fast a field advances of which the device holds no more than a window (DiamondTorre paper, §5): while the device
 * computes one section, the host moves the slices of others.
 *
 * @module
 */

/**
 * Bytes per second that one thread of the host hands to a GPU and takes from a mapped buffer, one after the other (Deno
 * 2.9.6, H100, 2026-11-22). It does not get faster with the device: the host copies.
 */
const UP_BYTES_PER_SECOND = 3.6e9, DOWN_BYTES_PER_SECOND = 3.4e9;

/** No wait for the device is shorter: Deno polls it on a timer. */
const WAIT_SECONDS = 0.011;

export interface Passage {
  readonly cells: number;
  readonly steps: number;
  /** Of both levels together; they go up once and come back once. */
  readonly bytes: number;
  /** Sections, each of which is waited for. */
  readonly sections: number;
}

/** Seconds of a passage's parts. */
export function passageTimes(
  { cells, steps, bytes, sections }: Passage,
  cellsPerSecond: number,
): { readonly compute: number; readonly transfer: number; readonly wait: number } {
  const transfer = bytes / UP_BYTES_PER_SECOND + bytes / DOWN_BYTES_PER_SECOND;
  return { compute: cells * steps / cellsPerSecond, transfer, wait: sections * WAIT_SECONDS };
}

/**
 * Cells per second through a window, of what advances at `cellsPerSecond` where all lies on the device. The shorter of
 * computing and moving hides behind the longer, but for one section: the first that goes up, the last that comes back.
 */
export function windowRate(passage: Passage, cellsPerSecond: number): number {
  const { compute, transfer, wait } = passageTimes(passage, cellsPerSecond);
  const bare = Math.min(compute, transfer) / passage.sections;
  return passage.cells * passage.steps / (Math.max(compute, transfer) + bare + wait);
}
