/**
 * Which rows of torres run together: stages of one band follow each other from right to left, and several bands
 * advance at once, each far enough behind the one before.
 *
 * @module
 */
import type { SectionNeeds, SliceRange } from "../sections.ts";
import type { Problem } from "../stencils/stencil.ts";
import { remembered } from "../remembered.ts";
import type { Update } from "../update.ts";
import { tilesOf, type TorreTiles } from "./tiles.ts";
import type { ParametersOf } from "./traversal.ts";

/** What the order of torres follows from. */
type Tiers = ParametersOf<"dts" | "nt" | "bands" | "unroll">;

/** Bands in one dispatch at most: their rows' uniforms fill the 256 bytes of a dispatch. */
export const MAX_BANDS = 16;

/** Torres whose tile meets the grid along y, in a row whose first torre is centred at y = shift. */
export function torresInRow({ grid: [, ny] }: Problem, { width, spread }: TorreTiles, shift: number): number {
  return Math.max(0, Math.floor((ny - 1 + width / 2 - 1 + spread[1] - shift) / width) + 1);
}

/** Stages that carry a band of `tiers` tiers from one end of x to the other. */
export function stageCount(
  { grid: [nx] }: Pick<Problem, "grid">,
  tiers: number,
  { slope, width, spread }: TorreTiles,
): number {
  const lowest = -(slope * (tiers - 1) + width - 1 + spread[0]);
  return Math.floor((nx - 1 - lowest) / (width / 2)) + 1;
}

/**
 * Stages by which a band must be ahead of the next. A band's stage at x touches cells up to x + S·Nt + W + S, or where
 * its fields' tiles reach further; the next band's, lag stages behind at x + lag·W/2, touches cells from S before its own x on.
 */
function lagBehind(tiers: number, { slope, width, spread, margin }: TorreTiles): number {
  return Math.ceil((slope * tiers + width + spread[0] + 2 * margin) / (width / 2));
}

/** Bands that run at the same time where any number may. */
export function usableBands(problem: Problem, { dts, nt }: Pick<Tiers, "dts" | "nt">): number {
  const shape = tilesOf(problem.stencil.update, dts);
  const tiers = Math.max(1, Math.min(nt, problem.steps));
  return Math.min(
    Math.ceil(problem.steps / tiers),
    Math.ceil(stageCount(problem, tiers, shape) / lagBehind(tiers, shape)),
    MAX_BANDS,
  );
}

/** One row of torres: a stage of a band. */
export interface TorreRow {
  /** x of the torres' base at their first tier that is computed. */
  readonly x: number;
  /** y of the first torre's centre. */
  readonly y: number;
  readonly tiers: number;
  /** Torres, W apart. */
  readonly torres: number;
  /** Time step that the row's first tier starts from, counted from the run's. */
  readonly step: number;
  /** The place of the stage in its band, and of the band in the run. */
  readonly stage: number;
  readonly band: number;
  /** Tiers of the band below the row's first, and in all. */
  readonly below: number;
  readonly height: number;
}

export function slicesOfRow(
  { x, tiers }: Pick<TorreRow, "x" | "tiers">,
  { slope, width, spread, margin }: TorreTiles,
): SliceRange {
  return [x - margin, x + slope * (tiers - 1) + width + spread[0] + margin];
}

/** Slices that a row touches at most, and those that all rows of a wave do. */
export function torreNeeds(
  { nt, bands = 1 }: Pick<Tiers, "nt" | "bands">,
  shape: TorreTiles,
): SectionNeeds & { readonly wish: number } {
  const [from, to] = slicesOfRow({ x: 0, tiers: nt }, shape);
  return { span: to - from, wish: to - from + (bands - 1) * lagBehind(nt, shape) * shape.width / 2 };
}

/**
 * When each row of torres runs: those of one **wave**, a dispatch, touch no cell in common, and need only earlier waves.
 * The steps are those done by torres; what is left over is fewer than the loop's body holds.
 */
export function scheduleTorres(
  problem: Problem,
  { dts, nt, unroll, bands = 1 }: Tiers,
  steps: number,
  tiles: TorreTiles = tilesOf(problem.stencil.update, dts),
): { readonly waves: readonly (readonly TorreRow[])[]; readonly steps: number } {
  const waves: TorreRow[][] = [];
  const list = bandsOf(problem, { nt, bands, unroll, steps }, tiles);
  for (const [band, { tiers, step, begin }] of list.entries()) {
    stagesOf(problem, { ...tiles, tiers, unroll, step, band }).forEach((row, stage) => {
      const wave = waves[begin + stage] ??= [];
      if (row !== undefined) wave.push(row);
    });
  }
  return {
    waves: waves.filter((rows) => rows.length > 0),
    steps: list.reduce((sum, { tiers }) => sum + tiers, 0),
  };
}

/** How many waves of a whole run have how many rows, those that are alike together, without listing them. */
export function rowsOfWaves(
  { grid: [nx], steps, stencil: { update } }: Problem,
  { dts, nt, bands = 1 }: Pick<Tiers, "dts" | "nt" | "bands">,
): RowsOfWaves {
  return findRows(update, nx, steps, nt, bands, dts);
}

/** Waves that have as many rows. */
type RowsOfWaves = readonly { readonly rows: number; readonly waves: number }[];

const findRows = remembered((
  update: Update,
  nx: number,
  steps: number,
  nt: number,
  bands: number,
  dts: number,
): RowsOfWaves => {
  const tiles = tilesOf(update, dts), problem = { grid: [nx, 1, 1] } as const;
  const count = Math.ceil(steps / nt), beginOf = beginsOf(problem, { nt, bands }, tiles);
  const stages = stageCount(problem, nt, tiles), last = stageCount(problem, steps - (count - 1) * nt, tiles);
  // in a long run as many bands as run together are alike, again and again
  const again = Math.max(0, Math.floor(count / bands) - 3), some = count - again * bands;
  const found = new Map<number, number>();
  let wave = 0, begun = 0;
  // without one of the parameters there is no number of waves
  for (let ended = 0; ended < some && Number.isFinite(wave);) {
    const begin = begun < some ? beginOf(begun) : Infinity,
      end = beginOf(ended) + (ended < some - 1 ? stages : last);
    const next = Math.min(begin, end), rows = begun - ended;
    const isAgain = wave >= beginOf(bands) && wave < beginOf(2 * bands);
    if (rows > 0 && next > wave) {
      found.set(rows, (found.get(rows) ?? 0) + (isAgain ? 1 + again : 1) * (next - wave));
    }
    wave = next;
    if (end === next) ended++;
    else begun++;
  }
  return [...found].map(([rows, waves]) => ({ rows, waves }));
});

/**
 * The wave of each band's first stage: as early as the band before lets it run, and the one that ran in its place. Of a run's
 * bands all but the last have Nt tiers.
 */
function beginsOf(
  problem: Pick<Problem, "grid">,
  { nt, bands }: { readonly nt: number; readonly bands: number },
  tiles: TorreTiles,
): (band: number) => number {
  const lag = lagBehind(nt, tiles), group = Math.max(stageCount(problem, nt, tiles), bands * lag);
  return (band) => Math.floor(band / bands) * group + band % bands * lag;
}

/** A band's tiers, its first time step, and the wave of its first stage. */
type Band = Readonly<Record<"tiers" | "step" | "begin", number>>;

/** The bands of a run. */
function bandsOf(
  problem: Pick<Problem, "grid">,
  { nt, bands, unroll, steps }: Pick<Tiers, "nt" | "unroll"> & { bands: number; steps: number },
  tiles: TorreTiles,
): Band[] {
  const list: Band[] = [], beginOf = beginsOf(problem, { nt, bands }, tiles);
  for (let step = 0; steps - step >= unroll;) {
    const tiers = Math.min(nt, Math.floor((steps - step) / unroll) * unroll);
    list.push({ tiers, step, begin: beginOf(list.length) });
    step += tiers;
  }
  return list;
}

/** A band's stages from right to left; undefined where no torre meets the grid. */
function stagesOf(
  problem: Problem,
  { tiers, unroll, step, band, ...tiles }: TorreTiles & Record<"tiers" | "unroll" | "step" | "band", number>,
): (TorreRow | undefined)[] {
  const [nx] = problem.grid, { slope, width, spread } = tiles;
  // The first tier must read the array that the run begins with, so that rounds start at even tiers.
  const round = Math.max(2, unroll);
  return Array.from({ length: stageCount(problem, tiers, tiles) }, (_, stage) => {
    const x = nx - 1 - stage * width / 2;
    const y = stage % 2 === 0 ? 0 : width / 2;
    const torres = torresInRow(problem, tiles, y);
    // Tiers that meet the grid, widened to whole rounds of the loop.
    const first = Math.max(0, Math.ceil((1 - width - spread[0] - x) / slope));
    const last = Math.min(tiers, Math.floor((nx - 1 - x) / slope) + 1);
    const from = Math.floor(first / round) * round;
    const to = Math.min(tiers, Math.ceil(last / unroll) * unroll);
    if (torres === 0 || from >= to) return undefined;
    const ofBand = { stage, band, below: from, height: tiers };
    return { x: x + slope * from, y, tiers: to - from, torres, step: step + from, ...ofBand };
  });
}
