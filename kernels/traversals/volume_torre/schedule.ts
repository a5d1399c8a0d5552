/**
 * Which torres of tiles in three dimensions run together: those of one stage a + b + c, and stages of several bands.
 *
 * @module
 */
import { remembered } from "../../remembered.ts";
import type { Grid } from "../../stencils/stencil.ts";
import { MAX_BANDS } from "../waves.ts";
import { spanOf, type VolumeExtent, type VolumePiece, type VolumeShape } from "./lattice.ts";

/** A stage of a band, which begins with this step of the run: its torres' places along the forms have this sum. */
type VolumeRow = Readonly<Record<"stage" | "band" | "place" | "step" | "height", number>>;

type Span = Pick<VolumeExtent, "across" | "last">;

type Bands = Readonly<Record<"nt" | "bands" | "steps", number>>;

/** The stages of a band of `height` tiers, first and last: whatever its tiles' offset is, they begin at the first. */
function stagesOf({ slope, width, tile }: VolumeShape, extent: Span, height: number) {
  const { last, across: [ny, nz] } = extent;
  const lowest = Math.ceil(-(slope * (height - 1) + 2 * width + 2 * slope - 2) / tile);
  return { from: Math.floor(1.5 * last), to: Math.floor(1.5 * lowest - (ny + nz - 2) / 2) };
}

/** Stages of a band, and by how many the next follows. */
export function pace(piece: VolumeShape, extent: Span, { nt, bands, steps }: Bands) {
  const height = Math.min(nt, Math.max(1, steps)), { from, to } = stagesOf(piece, extent, height);
  const stages = from - to + 1, count = Math.ceil(steps / height);
  // a torre begins on the tile that the band before has left three stages later for each width that tiles move
  const least = 3 * Math.ceil(piece.slope * height / piece.width) + 1;
  const lag = Math.max(least, Math.ceil(stages / (count > bands ? bands : MAX_BANDS)));
  const usable = Math.min(count, Math.ceil(stages / least), MAX_BANDS);
  return { height, stages, count, lag, usable, places: Math.min(bands, usable) };
}

/** The rows of each dispatch of a run. */
export function scheduleVolume(piece: VolumePiece, extent: VolumeExtent, run: Bands): VolumeRow[][] {
  const waves: VolumeRow[][] = [], { lag } = pace(piece, extent, run), { nt, bands, steps } = run;
  for (let step = 0, band = 0; step < steps; step += nt, band++) {
    const height = Math.min(nt, steps - step), { from, to } = stagesOf(piece, extent, height);
    const row = { band, place: band % bands, step, height };
    for (let stage = from; stage >= to; stage--) {
      (waves[lag * band + from - stage] ??= []).push({ stage, ...row });
    }
  }
  return [...waves].map((rows) => rows ?? []).filter((rows) => rows.length > 0);
}

/** Groups that tell dispatches of a run apart enough. */
const GROUPS = 6;

/**
 * How many torres dispatches have, which are few where bands begin and end: of those that are alike how many there are, and
 * their torres. Of a stage those places have torres whose X is whole.
 */
export const dispatchesOf: (
  shape: VolumeShape,
  grid: Grid,
  nt: number,
  bands: number,
  steps: number,
) => readonly Readonly<Record<"count" | "torres", number>>[] = remembered((shape, grid, nt, bands, steps) => {
  const span = spanOf(shape, grid), { across: [ny, nz], last } = span, { slope, width, tile } = shape;
  const { height, stages, count, lag } = pace(shape, span, { nt, bands, steps });
  const { from } = stagesOf(shape, span, height);
  const lowest = Math.ceil(-(slope * (height - 1) + width + 2 * slope - 1) / tile);
  const inStage = Float64Array.from({ length: stages }, (_, i) => {
    const stage = from - i;
    let torres = 0;
    for (let sum = (stage % 3 + 3) % 3; sum <= ny + nz - 2; sum += 3) {
      const at = (2 * stage + sum) / 3, columns = Math.min(sum, ny - 1) - Math.max(0, sum - nz + 1) + 1;
      if (at >= lowest && at <= last) torres += columns;
    }
    return torres;
  });
  const together = new Float64Array(stages + lag * (count - 1));
  for (let band = 0; band < count; band++) {
    for (let i = 0; i < stages; i++) together[lag * band + i]! += inStage[i]!;
  }
  together.sort();
  const each = Math.ceil(together.length / GROUPS);
  return Array.from({ length: Math.ceil(together.length / each) }, (_, i) => {
    const some = together.subarray(i * each, (i + 1) * each);
    return { count: some.length, torres: some.reduce((sum, one) => sum + one) / some.length };
  });
});

/** Tiers of all torres of a band together, and the torres, where tiles have not moved. */
export function workOf(
  { slope, width, tile }: VolumePiece,
  extent: VolumeExtent,
  nx: number,
  height: number,
) {
  const { across: [ny, nz], last } = extent, even = Math.ceil(ny * nz / 2);
  let tiers = 0, torres = 0;
  for (let at = Math.ceil(-(slope * (height - 1) + width + 2 * slope - 1) / tile); at <= last; at++) {
    const x = tile * at, begin = Math.max(0, Math.ceil((-x - width - 2 * slope + 1) / slope));
    const end = Math.min(height, Math.ceil((nx - x) / slope)), columns = at % 2 === 0 ? even : ny * nz - even;
    tiers += Math.max(0, end - begin) * columns;
    torres += end > begin ? columns : 0;
  }
  return { tiers, torres };
}
