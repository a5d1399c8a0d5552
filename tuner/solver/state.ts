/**
 * The state of a grid as bytes: what a solver saves, and a checkpoint of ranks.
 *
 * {@linkcode HEADER_BYTES} of JSON and spaces; then F(t) of every field and material, and where the update reads it F(t−1)
 * of every field, each in the problem's precision (little-endian) in the order x, y, z of the whole grid, of a field in layers its outer cells at
 * the low end and then those at the high end; the values of every axis profile; sources and receivers, as JSON and then
 * their values; and the CRC-32 of all that.
 *
 * @module
 */
import { precisionOf } from "../../kernels/precision.ts";
import { profilesOf } from "../../kernels/axis_profiles.ts";
import { hashOf } from "../../kernels/definition.ts";
import { INITIAL_FIELDS, type Start } from "../../kernels/initial_field.ts";
import {
  cellsOf,
  describeGrid,
  type Grid,
  ownBoundary,
  type Problem,
} from "../../kernels/stencils/stencil.ts";
import { planesOf, readsPrevious } from "../../kernels/update.ts";
import { AXES, type Axis, type Extent, gridOf } from "../../models/decomposition.ts";
import type { Box } from "../../models/rank_part.ts";
import { crc32 } from "../platform.ts";
import { slicesAtOnce } from "../devices/shared/part_field.ts";
import type { SavedSurvey } from "../devices/survey.ts";

/** What a header says. */
export interface SavedState {
  readonly step: number;
  /** What its run began with, if that is known. */
  readonly start?: Start | undefined;
  /** Whether it was computed by kernels that have points. */
  readonly hasPoints: boolean;
  /** Bytes of the JSON, and values, of sources and receivers. */
  readonly survey: readonly [json: number, values: number];
}

export const HEADER_BYTES = 4096;
const SUM_BYTES = 4, VERSION = 2;

/** What files of former versions mean that do not say it. */
const FORMER: Readonly<Record<string, string>> = { precision: "f32", edges: "within" };

/** The CRC-32 of anything that ends with its own. */
export const WHOLE = 0x2144df1c;

/** With what a state begins. */
export const BEGINNING = '{"facetCheckpoint":';

/** What must be the same where a run goes on. */
function identityOf(problem: Problem) {
  const { stencil, inner } = problem;
  return {
    stencil: stencil.name,
    precision: precisionOf(stencil.update).name,
    hash: hashOf((stencil.original ?? stencil).update),
    grid: describeGrid(problem),
    boundary: `${ownBoundary(problem)}`,
    edges: inner ? "around" : "within",
  };
}

/** The header of a state, and the JSON of its points. */
export function writeHeader(
  problem: Problem,
  { hasPoints = false, survey, ...others }: Pick<SavedState, "step" | "start"> & {
    hasPoints?: boolean;
    survey?: SavedSurvey | undefined;
  },
): readonly [header: Uint8Array<ArrayBuffer>, json: Uint8Array<ArrayBuffer>] {
  const encode = (text: string) => new TextEncoder().encode(text);
  const json = survey === undefined || survey.groups.length === 0 ? "" : JSON.stringify(survey.groups);
  // values behind it lie at multiples of four bytes
  const bytes = encode(json + " ".repeat((4 - encode(json).length % 4) % 4));
  const values = survey?.values.reduce((sum, { length }) => sum + length, 0) ?? 0;
  const says = { ...identityOf(problem), ...others, hasPoints, survey: [bytes.length, values] };
  return [
    encode(JSON.stringify({ facetCheckpoint: VERSION, ...says }).padEnd(HEADER_BYTES - 1) + "\n"),
    bytes,
  ];
}

/**
 * Reads a header.
 *
 * @param size bytes of the whole
 * @param refuse says what is wanted, and what was found
 */
export function readHeader(
  bytes: Uint8Array,
  size: number,
  problem: Problem,
  refuse: (wanted: string, found: string) => never,
): SavedState {
  let header: Record<string, unknown> = {};
  try {
    header = JSON.parse(new TextDecoder().decode(bytes)) ?? {};
  } catch {
    // refused below
  }
  const { facetCheckpoint: version, step, start, hasPoints, survey = [0, 0] } = header;
  if (version === undefined) refuse("a checkpoint", "another kind of file");
  if (version !== VERSION) refuse(`a checkpoint of version ${VERSION}`, `${version}`);
  for (const [name, wanted] of Object.entries(identityOf(problem))) {
    const of = name === "hash" ? "the same equation, of hash" : name;
    const found = header[name] ?? FORMER[name];
    const whose = name === "hash" ? ", another equation's or another version's of Facet" : "";
    if (found !== wanted) refuse(`${of} ${wanted}`, `${found}${whose}`);
  }
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  const { kind, seed } = (start ?? {}) as Partial<Start>, known = INITIAL_FIELDS.find((one) => one === kind);
  const isStart = start === undefined || (known !== undefined && isCount(seed));
  const [json, values] = Array.isArray(survey) ? survey : [];
  const isSurvey = isCount(json) && isCount(values) && json % 4 === 0;
  if (!isCount(step) || !isStart || !isSurvey) {
    return refuse("a step and a start", JSON.stringify({ step, start }));
  }
  const saved = {
    step,
    ...(known && { start: { kind: known, seed: seed! } }),
    hasPoints: hasPoints === true,
    survey: [json, values] as const,
  };
  const whole = bytesOf(problem, saved.survey);
  if (size !== whole) refuse(`${whole} bytes, of which the last four are a checksum`, `${size}`);
  return saved;
}

/** Bytes of a value. */
function bytesIn({ stencil: { update } }: Problem): number {
  return precisionOf(update).bytes;
}

/** Bytes of a state with its checksum. */
export function bytesOf(problem: Problem, [json, values]: SavedState["survey"] = [0, 0]): number {
  return startOfSurvey(problem) + json + bytesIn(problem) * values + SUM_BYTES;
}

/** What a solver has saved, and how its bytes are read. */
export interface OpenedState extends SavedState {
  read(at: number, bytes: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** Opens what a solver has saved. @throws {RangeError} if it is damaged, or of another problem */
export async function openState(
  given: Blob | Uint8Array<ArrayBuffer> | undefined,
  problem: Problem,
): Promise<OpenedState | undefined> {
  if (given === undefined) return undefined;
  const from = new Blob([given]);
  const refuse = (wanted: string, found: string): never => {
    throw new RangeError(`Cannot go on from what was saved: ${wanted} wanted: found ${found}`);
  };
  const header = new Uint8Array(await from.slice(0, HEADER_BYTES).arrayBuffer());
  const saved = readHeader(header, from.size, problem, refuse);
  let sum = 0;
  for await (const bytes of from.stream()) sum = crc32(bytes, sum);
  if (sum !== WHOLE) refuse("the checksum of its bytes", "another");
  const read = async (at: number, bytes: number) =>
    new Uint8Array(await from.slice(at, at + bytes).arrayBuffer());
  return { ...saved, read };
}

/** Where sources and receivers begin. */
export function startOfSurvey(problem: Problem): number {
  return boxesOf(problem).reduce((end, { size }) => end + bytesIn(problem) * cellsOf(size), HEADER_BYTES);
}

/** Cells of the whole grid, or an axis profile's values, that lie together. */
interface SavedBox extends Extent {
  readonly ago: 0 | 1;
  /** Field, material, or after them profile. */
  readonly plane: number;
}

/** What lies one after another behind the header. */
function boxesOf({ stencil: { update }, grid }: Problem): SavedBox[] {
  const { fields: { length }, layers = [] } = update, planes = planesOf(update), low: Grid = [0, 0, 0];
  const levels = [...Array(planes).keys()].flatMap((plane): SavedBox[] => {
    const layer = plane < length ? layers[plane - length + layers.length] : undefined;
    if (layer === undefined || 2 * layer.cells >= grid[layer.axis]) {
      return [{ ago: 0, plane, low, size: grid }];
    }
    const { axis, cells } = layer, size = grid.with(axis, cells) as unknown as Grid;
    return [0, grid[axis] - cells].map((at) => ({
      ...{ ago: 0, plane, size },
      low: low.with(axis, at) as unknown as Grid,
    }));
  });
  const before = levels.filter(({ plane }) => readsPrevious(update) && plane < length);
  const profiles = profilesOf(update).map(({ axis }, i): SavedBox => {
    return { ago: 0, plane: planes + i, low, size: gridOf((one) => one === axis ? grid[axis] : 1) };
  });
  return [...levels, ...before.map((box): SavedBox => ({ ...box, ago: 1 })), ...profiles];
}

/**
 * What lies in a state of some of the grid's cells: boxes that are read or written at once, the bytes `at` which each
 * `together` of their cells begin, and the levels that they belong to, those of materials to both. Of an axis profile,
 * which has no other axes, it is named.
 */
export function* cellsIn(problem: Problem, own: Extent = { low: [0, 0, 0], size: problem.grid }) {
  const { update } = problem.stencil, planes = planesOf(update), bytes = bytesIn(problem);
  let end = HEADER_BYTES;
  for (const { ago, plane, low: from, size: [, by, bz], size: all } of boxesOf(problem)) {
    const begin = end;
    end += bytes * cellsOf(all);
    const found = profilesOf(update)[plane - planes], profile = found && { ...found, index: plane - planes };
    const within = (one: Axis): boolean => found === undefined || found.axis === one;
    const low = gridOf((one) => within(one) ? Math.max(from[one], own.low[one]) : 0);
    const size = gridOf((one) =>
      within(one) ? Math.min(from[one] + all[one], own.low[one] + own.size[one]) - low[one] : 1
    );
    if (AXES.some((one) => size[one] <= 0)) continue;
    const [nx, ny, nz] = size, atOnce = found ? nx : slicesAtOnce(size);
    for (let x = 0; x < nx; x += atOnce) {
      const slices = Math.min(atOnce, nx - x);
      // whole slices lie together, and so do whole rows of a slice
      const together = nz < bz ? nz : ny < by ? ny * nz : slices * ny * nz;
      const at = Array.from({ length: slices * ny * nz / together }, (_, i) => {
        const row = i * together / nz, y = low[1] - from[1] + row % ny;
        const slice = low[0] - from[0] + x + Math.floor(row / ny);
        return begin + bytes * ((slice * by + y) * bz + low[2] - from[2]);
      });
      const box: Box = { ago, plane, planes: 1, low: [low[0] + x, low[1], low[2]], size: [slices, ny, nz] };
      const levels: readonly (0 | 1)[] = plane < update.fields.length ? [ago] : [0, 1];
      yield { box, at, together, profile, levels };
    }
  }
}
