/**
 * What a thread that marches along x keeps in registers: for every value that is needed at several slices a
 * **queue**, from the slice where the value is found first to the one where it is needed last.
 *
 * Slices are counted from the one that the march has reached. The last sub-step is computed there; an earlier one
 * `lead` slices ahead, far enough for what the later ones read of its fields.
 *
 * @module
 */
import { type Expression, isSame, type Offset, type Tap, tapsIn, visitTaps } from "../../expression.ts";
import { remembered } from "../../remembered.ts";
import { expressionsOf, isLayered, readsPrevious, type Substep, tapsOf, type Update } from "../../update.ts";
import { isCarried, isKept } from "../../partial_sums.ts";

export interface Span {
  low: number;
  high: number;
}

/** Values of a thread's own column of a plane. */
export interface Column extends Span {
  readonly plane: number;
  /** 0 and 1: of F(t) and F(t−1), loaded. −1: of F(t+1), computed. */
  readonly ago: 0 | 1 | -1;
}

/** Values of a partial sum that sees nothing but its own slice. */
export interface SliceSum extends Span {
  readonly of: Expression;
  /** The sub-step that finds it, for itself. */
  readonly stage: number;
  /** Whether it is part of another sum, which takes its place. */
  readonly isPart: boolean;
}

export interface MarchQueues {
  readonly columns: readonly Column[];
  readonly sums: readonly SliceSum[];
  /** Slices by which each sub-step is ahead. */
  readonly leads: readonly number[];
  /**
   * Slices that the march must begin early for all queues to be right; 0 where every queue holds what was loaded, which
   * is filled at once.
   */
  readonly warmUp: number;
}

/** The queue index of a partial sum in an expression; −1 where it is taken apart. */
export function sumIndex(sums: readonly SliceSum[], of: Expression, [, y, z]: Offset): number {
  return y === 0 && z === 0 ? sums.findIndex((sum) => isSame(sum.of, of)) : -1;
}

/** The index of a plane's column; −1 where it has none. */
export function columnIndex(columns: readonly Column[], { plane, ago }: Pick<Tap, "plane" | "ago">): number {
  return columns.findIndex((column) => column.plane === plane && column.ago === ago);
}

/**
 * Finds the queues, as short as they can be. `isTiled`: neighbours in the slice are read from a tile, into which every
 * thread puts its own value; `ahead`: slices that are loaded before they are needed; `isPlane`: all sub-steps of a slice
 * share one barrier, and the queues of what was loaded are filled before the march.
 */
export const queuesOf: (update: Update, options: QueueOptions) => MarchQueues = remembered(findQueues);

interface QueueOptions {
  readonly isTiled: boolean;
  readonly ahead: number;
  readonly isPlane: boolean;
}

function findQueues(update: Update, { isTiled, ahead, isPlane }: QueueOptions): MarchQueues {
  const leads = leadsOf(update, isPlane);
  const columns: Column[] = [], sums: SliceSum[] = [];
  const extend = (span: Span, slice: number): void => {
    span.low = Math.min(span.low, slice);
    span.high = Math.max(span.high, slice);
  };
  const extendColumn = (plane: number, ago: Column["ago"], slices: readonly [number, ...number[]]): void => {
    let column = columns[columnIndex(columns, { plane, ago })];
    if (column === undefined) columns.push(column = { plane, ago, low: slices[0], high: slices[0] });
    for (const slice of slices) extend(column, slice);
  };
  const visit = (expression: Expression, lead: number, stage: number, isPart = false): void =>
    visitTaps(expression, ({ plane, ago, offset: [x, y, z] }) => {
      if (isLayered(update, plane)) return;
      const isNeighbour = y !== 0 || z !== 0;
      if (ago === 0 && isNeighbour && !isTiled) return;
      extendColumn(plane, ago, [lead + x]);
    }, (of, offset) => {
      if (!(isPart ? isCarried : isKept)(of, offset)) return false;
      const slice = lead + offset[0];
      let known = sums[sumIndex(sums, of, offset)];
      if (known === undefined) sums.push(known = { of, stage, isPart, low: slice, high: slice });
      // a part is found where the whole is
      for (const end of isPart ? [slice, lead] : [slice]) extend(known, end);
      return true;
    });
  update.substeps.forEach((substep, i) =>
    expressionsOf(substep).forEach((value) => visit(value, leads[i]!, i))
  );
  // all sums of a sub-step are found in one slice, whose neighbours are then read for all of them
  for (const sum of sums) {
    extend(sum, Math.max(...sums.filter(({ stage }) => stage === sum.stage).map(({ high }) => high)));
  }
  // what a sum is made of is needed where it is found first
  for (const { of, high, stage } of sums) visit(of, high, stage, true);
  // fields of earlier sub-steps are found at their lead, and stored at the slice itself
  update.substeps.slice(0, -1).forEach((substep, i) => {
    for (const { field } of substep) {
      if (!isLayered(update, field)) {
        extendColumn(field, -1, isStored(update, field) ? [leads[i]!, 0] : [leads[i]!]);
      }
    }
  });
  for (const column of columns) if (column.ago >= 0) column.high += ahead;
  const queues = { columns, sums, leads };
  return { ...queues, warmUp: warmUpOf(update, { ...queues, isTiled, ahead, isPlane }) };
}

/**
 * Whether the passes of such an update come in pairs: it reads F(t − 1), so that a pass makes two levels of two, which are
 * not yet to be overwritten. The first of a pair puts them into scratch buffers, the second takes them from there.
 */
export function isPaired(update: Update): boolean {
  return update.substeps.length > 1 && update.fields.length === 1 && readsPrevious(update);
}

/** Whether a value goes to memory, or is only what later steps of a deep march read. */
export function isStored(update: Update, field: number): boolean {
  return field < update.fields.length || (isPaired(update) && field === update.substeps.length - 1);
}

/** Whether a sub-step keeps sums of what earlier ones make, all of which are found in its last slice. */
function keepsSums(substep: Substep): boolean {
  let keeps = false;
  for (const expression of expressionsOf(substep)) {
    visitTaps(expression, () => {}, (of, offset) => {
      const isSum = isKept(of, offset);
      keeps ||= isSum && tapsIn([of]).some(({ ago }) => ago === -1);
      return isSum;
    });
  }
  return keeps;
}

/** The slices that taps lie in. */
function rangeOf(taps: readonly Tap[]): Span {
  const slices = taps.map(({ offset: [x] }) => x);
  return { low: Math.min(...slices), high: Math.max(...slices) };
}

/** How far ahead each sub-step must be for what later ones read of its fields. */
function leadsOf({ substeps }: Update, isPlane: boolean): number[] {
  const leads: number[] = [];
  for (const [i, substep] of [...substeps.entries()].reverse()) {
    const made = new Set(substep.map(({ field }) => field));
    leads[i] = Math.max(
      0,
      ...substeps.flatMap((reader, later) => {
        if (later <= i) return [];
        const taps = tapsOf(reader), latest = keepsSums(reader) ? rangeOf(taps).high : undefined;
        return taps.filter(({ plane, ago }) => ago === -1 && made.has(plane)).map(({ offset: [x, , z] }) =>
          // neighbours were computed a slice before, on the other side of the barrier
          leads[later]! + Math.max(0, (latest ?? x) + (isPlane && z !== 0 ? 1 : 0))
        );
      }),
    );
  }
  return leads;
}

/**
 * The same update where fields of a sub-step that are read from less far ahead are a sub-step of their own, behind the others:
 * they are made later, and what they are made of is kept for fewer slices.
 */
export const staggered: (update: Update) => Update = remembered((update) => {
  const substeps: Substep[] = [];
  for (const substep of [...update.substeps].reverse()) {
    const leads = leadsOf({
      ...update,
      substeps: [...substep.map((assignment) => [assignment]), ...substeps],
    }, false);
    const parts = Map.groupBy(substep, (_, i) => leads[i]!);
    substeps.unshift(...[...parts.keys()].sort((a, b) => b - a).map((lead) => parts.get(lead)!));
  }
  return substeps.length === update.substeps.length ? update : { ...update, substeps };
});

/**
 * Slices until every queue is filled. Of whatever a march finds in a slice, it is right from some slice on, counted from
 * where the march begins: of a column that it loads from the one that it has loaded first; of a sum, and of what a
 * sub-step makes, from the first that it finds and of which all that it reads is right.
 */
function warmUpOf(
  { substeps }: Update,
  { columns, sums, leads, isPlane, isTiled }: Omit<MarchQueues, "warmUp"> & QueueOptions,
): number {
  if (substeps.length === 1 && sums.length === 0) return 0;
  /** By field. */
  const made = new Map<number, number>();
  const firstOf = (expression: Expression, found: number, isPart = false): number => {
    let first = found;
    visitTaps(expression, ({ plane, ago, offset: [x, y] }) => {
      const { low, high } = columns[columnIndex(columns, { plane, ago })] ?? { low: 1, high: 0 };
      // what was loaded and is in no column, or without a tile in another row, comes from memory; of a row threads have several cells
      const isHeld = (isTiled || ago === -1 || y === 0) && low <= found + x && found + x <= high;
      if (isHeld) first = Math.max(first, (ago === -1 ? made.get(plane)! : isPlane ? low : high) - x);
    }, (of, offset) => {
      if (!(isPart ? isCarried : isKept)(of, offset)) return false;
      first = Math.max(first, firstOf(of, sums[sumIndex(sums, of, offset)]!.high, true) - offset[0]);
      return true;
    });
    return first;
  };
  for (const [i, substep] of substeps.entries()) {
    for (const { field, value } of substep) made.set(field, firstOf(value, leads[i]!));
  }
  return Math.max(...made.values());
}
