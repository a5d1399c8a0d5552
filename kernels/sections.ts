/**
 * Time levels that exceed one binding: **sections** of whole slices, neighbours with slices in common. A dispatch binds
 * one section. Where a level fits a buffer, sections are ranges of it; else each is an array of its own, and
 * `traversals/section_work.ts` keeps the common slices alike. Slices are counted by x, from the first of the pad on, which is
 * negative.
 *
 * @module
 */
import type { DeviceLimits } from "./device_limits.ts";
import type { Refusal } from "./capability.ts";
import type { Layout } from "./layout.ts";
import { precisionOf } from "./precision.ts";
import type { Grid } from "./stencils/stencil.ts";

/** Slices from the first on, up to but without the second. */
export type SliceRange = readonly [from: number, to: number];

/** Some slices of a time level in an array of their own, or in a range of the level's. */
export interface Section {
  /** Where it begins in the level's array; none: it has its own. */
  readonly begin?: number;
  /** What it holds, pads included. */
  readonly slices: SliceRange;
  /** What it computes where a step is computed as a whole: every slice of the grid is one section's own. */
  readonly own: SliceRange;
  /** Its array, whose grid is what it holds of the whole one, from slice `x` on. */
  readonly layout: Layout;
  readonly x: number;
}

/** Slices that dispatches touch. */
export interface SectionNeeds {
  /** Slices that must lie in one section together, wherever they are. */
  readonly span: number;
  /** As many would lie together if that takes no more sections; in a window they must. @default {span} */
  readonly wish?: number | undefined;
  /** Whether each needs an array of its own: a dispatch copies slices from one to another. @default {false} */
  readonly apart?: boolean;
}

/** Values that the beginning of a range is a multiple of: the largest minStorageBufferOffsetAlignment, 256 bytes. */
export const RANGE_ALIGNMENT = 64;

/** Buffers of each level that a window consists of: one section is computed while others are moved. */
export const WINDOW_SECTIONS = 2;

/** The limits that decide how many slices fit a section. */
export type SectionLimits = Pick<
  DeviceLimits,
  "maxStorageBufferBindingSize" | "maxBufferSize" | "maxStorageBuffersPerShaderStage" | "windowBytes"
>;

/** Sections of a level at most: beyond every device's memory, and enough to make a search of plans slow. */
const MOST_SECTIONS = 1024;

/** Whether a level exceeds one binding. */
export function isCut(layout: Layout, limits: SectionLimits): boolean {
  return totalOf(layout) > mostSlices(layout, limits);
}

/** The sections of a level: one where it fits a binding, or no limits are given; else as few as possible. */
export function sectionsOf(
  layout: Layout,
  { span, wish = span, apart = false }: SectionNeeds,
  limits?: SectionLimits,
): readonly Section[] {
  const total = totalOf(layout), isWindow = limits?.windowBytes !== undefined;
  if (limits === undefined || !isCut(layout, limits)) {
    return [sectionOf(layout, [0, total], [0, layout.grid[0]])];
  }
  const least = Math.min(isWindow ? wish : span, total) - 1;
  const { count, most, unit } = countSections(layout, { least, apart }, limits);
  if (!(most > least)) {
    throw new RangeError(`Cannot cut a level: ${whyUncut(layout, { span, wish, apart }, limits)?.message}`);
  }
  const common = Math.max(least, Math.min(wish - 1, Math.floor((count * most - total) / (count - 1))));
  const size = Math.ceil((total + (count - 1) * common) / count);
  const places = Array.from({ length: count }, (_, i) => Math.min(i * (size - common), total - size));
  const starts = places.map((start) => start - start % (unit ?? 1));
  const ends = places.map((start) => start + size);
  const [padX] = layout.pad, [nx] = layout.grid;
  const cuts = starts.map((start, i) =>
    i === 0 ? 0 : Math.max(0, Math.min(nx, Math.floor((start + ends[i - 1]!) / 2) - padX))
  );
  return starts.map((start, i) => ({
    ...sectionOf(layout, [start, ends[i]!], [cuts[i]!, cuts[i + 1] ?? nx]),
    ...unit !== undefined && { begin: start * layout.slice },
  }));
}

/**
 * How many sections a level needs at least, and the slices that one may hold; `unit`: where they are ranges, with every how
 * many slices one may begin.
 */
function countSections(
  layout: Layout,
  { least, apart }: { readonly least: number; readonly apart: boolean },
  limits: SectionLimits,
): { readonly count: number; readonly most: number; readonly unit?: number } {
  // a range that may begin earlier holds as many slices less
  const countOf = (held: number): number => Math.ceil((totalOf(layout) - least) / Math.max(0, held - least));
  let unit = 1;
  while (unit * layout.slice % RANGE_ALIGNMENT !== 0) unit *= 2;
  const most = mostSlices(layout, limits), count = countOf(most), shorter = most - unit + 1;
  const isWindow = limits.windowBytes !== undefined;
  const fits = !apart && !isWindow && precisionOf(layout).bytes * layout.length <= limits.maxBufferSize;
  return fits && countOf(shorter) === count ? { count, most: shorter, unit } : { count, most };
}

/** Why a level cannot be cut into sections that fit the device; undefined where it can, or need not be. */
export function whyUncut(
  layout: Layout,
  { span = Infinity, wish = span, apart = false }: Partial<SectionNeeds>,
  limits: SectionLimits,
): Refusal | undefined {
  if (!isCut(layout, limits)) return undefined;
  const { windowBytes } = limits, isWindow = windowBytes !== undefined;
  const total = totalOf(layout), most = mostSlices(layout, limits);
  const together = Math.min(isWindow ? wish : span, total);
  const limit = limits.maxBufferSize < limits.maxStorageBufferBindingSize
    ? "maxBufferSize"
    : "maxStorageBufferBindingSize";
  const beyond = (found: string): Refusal => ({
    kind: "limits",
    message: `${found}, ${limit} is ${limits[limit]}`,
  });
  const bytes = precisionOf(layout).bytes * layout.slice * together;
  if (isWindow) {
    if (together < most) return undefined;
    const found = `${bytes} bytes in the ${together} slices of a level that a passage touches at once`;
    return {
      kind: "window",
      message: `${found}, a window of ${windowBytes} bytes holds ${Math.max(0, most)}`,
    };
  }
  if (together > most) {
    const what = together === total ? "one time level" : `the ${together} slices that a dispatch touches`;
    return beyond(
      `${together === total ? precisionOf(layout).bytes * layout.length : bytes} bytes in ${what}`,
    );
  }
  const { count, unit } = countSections(layout, { least: together - 1, apart }, limits);
  if (count > MOST_SECTIONS) return beyond(`${count} sections of at most ${MOST_SECTIONS}`);
  if (unit !== undefined || total + (count - 1) * (together - 1) <= 2 * total) return undefined;
  const common = `sections with ${together - 1} slices in common`;
  return beyond(`${common} would take more than twice the memory: ${bytes} bytes lie together`);
}

/** Part of a section's array as a layout of its own: its grid is the slices of the range. */
export function layoutWithin(
  layout: Layout,
  { slices: [from, to] }: Pick<Section, "slices">,
  [first, last]: SliceRange,
): Layout {
  const { grid: [, ny, nz], pad: [padX, padY, padZ], slice } = layout;
  const grid: Grid = [last - first, ny, nz];
  const origin = layout.origin + (first - from - padX) * slice;
  const length = layout.length - (totalOf(layout) - (to - from)) * slice;
  return { ...layout, grid, pad: [first - from, padY, padZ], origin, length };
}

/** What another section holds of one's own slices, counted from the first of these. */
export interface Twin {
  readonly section: number;
  readonly range: SliceRange;
  /** Slices that it lies further on there. */
  readonly shift: number;
}

/** Whether sections have arrays of their own. */
export function areApart(sections: readonly Section[]): boolean {
  return sections.length > 1 && sections[0]!.begin === undefined;
}

/** Other sections whose own arrays hold some of a section's slices. */
export function twinsOf(sections: readonly Section[], section: number): Twin[] {
  if (!areApart(sections)) return [];
  const { own: [first, end], slices: [start] } = sections[section]!;
  return sections.flatMap(({ slices: [from, to] }, other): Twin[] => {
    const range = [Math.max(first, from) - first, Math.min(end, to) - first] as const;
    return other === section || range[0] >= range[1] ? [] : [{ section: other, range, shift: start - from }];
  });
}

export function holdsAll(
  { slices: [from, to] }: Pick<Section, "slices">,
  [first, last]: SliceRange,
): boolean {
  return from <= first && last <= to;
}

function sectionOf(layout: Layout, [start, end]: SliceRange, own: SliceRange): Section {
  const { pad: [padX], grid: [nx] } = layout;
  const slices = [start - padX, end - padX] as const;
  const inGrid = (x: number): number => Math.max(0, Math.min(nx, x));
  const x = inGrid(slices[0]);
  return { slices, own, x, layout: layoutWithin(layout, { slices }, [x, inGrid(slices[1])]) };
}

function totalOf({ grid: [nx], pad: [padX] }: Layout): number {
  return nx + 2 * padX;
}

/** Values of the longest array that shaders can index with i32. */
const INDEXED = 2 ** 31 - 1;

/** Slices that fit one array. */
export function mostSlices(
  layout: Layout,
  { maxStorageBufferBindingSize, maxBufferSize, windowBytes = Infinity }: SectionLimits,
): number {
  const beyond = layout.length - totalOf(layout) * layout.slice, { bytes: each } = precisionOf(layout);
  const binding = Math.min(maxStorageBufferBindingSize, maxBufferSize, each * INDEXED);
  const bytes = Math.min(binding, windowBytes / (2 * WINDOW_SECTIONS));
  return Math.floor((bytes / each - beyond) / layout.slice);
}
