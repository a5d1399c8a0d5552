/**
 * What a visitor made: a scene, what was painted into it, sources, receivers and the kernel. It can be written into a URL.
 *
 * @module
 */
import type { Place } from "../examples/scenes.ts";
import type { Configuration } from "../mod.ts";

/** A line of one brush. */
export interface Stroke {
  /** Which of the scene's brushes. */
  readonly brush: number;
  /** In thousandths of the picture's width. */
  readonly radius: number;
  readonly places: readonly Place[];
}

/** Everything that a link holds. */
export interface Picture {
  readonly scene: string;
  /** Cells down and across. */
  readonly size: readonly [rows: number, columns: number];
  /** Which of the scene's presets. */
  readonly preset: number;
  readonly strokes: readonly Stroke[];
  readonly sources: readonly Place[];
  readonly receivers: readonly Place[];
  /** Which of the scene's sides lie at the top, the bottom, left and right; the first, unless it is here. */
  readonly walls?: readonly number[];
  /** What the visitor set, by the parameter's name. */
  readonly parameters?: Readonly<Record<string, number>>;
  /** The text of an equation of the visitor's own, and the scene whose look it has. */
  readonly equation?: string;
  readonly like?: string;
  /** The kernel, where one was chosen by tuning. */
  readonly kernel?: Configuration;
}

/** The most that a link may hold after `#`, in characters. */
export const LONGEST = 8192;

/** Places within this many thousandths of a straight line are left out of strokes. */
const STRAIGHT = 2;

const LARGEST_SIZE = 2048;

/** Bytes that a link may unpack to, and cells that its strokes may visit: some seconds. */
const MOST_BYTES = 2 ** 20, MOST_VISITS = 2 ** 28;

/** Sources, or receivers, at most. */
export const MOST_PLACES = 32;

/** A stroke without the places that make no difference to the eye (Douglas and Peucker's algorithm). */
export function simplified(places: readonly Place[]): readonly Place[] {
  const [first, last] = [places[0]!, places.at(-1)!];
  const [dy, dx] = [last[0] - first[0], last[1] - first[1]], length = Math.hypot(dx, dy);
  const distance = ([y, x]: Place): number =>
    length === 0
      ? Math.hypot(y - first[0], x - first[1])
      : Math.abs((y - first[0]) * dx - (x - first[1]) * dy) / length;
  const far = places.reduce((most, place, i) => distance(place) > distance(places[most]!) ? i : most, 0);
  if (places.length < 3 || distance(places[far]!) <= STRAIGHT) return [...new Set([first, last])];
  return [...simplified(places.slice(0, far + 1)), ...simplified(places.slice(far)).slice(1)];
}

/** The picture as the part of a URL behind `#`; undefined where it is too large for one. */
export async function encode(picture: Picture): Promise<string | undefined> {
  const packed = await through(new TextEncoder().encode(JSON.stringify(picture)), CompressionStream)
    .catch(() => undefined);
  if (packed === undefined) return undefined;
  const text = btoa(String.fromCharCode(...packed)).replaceAll("+", "-").replaceAll("/", "_");
  return text.length <= LONGEST ? text.replace(/=+$/, "") : undefined;
}

/**
 * The picture of such a text.
 *
 * @throws {Error} if it is none; the message is one line
 */
export async function decode(text: string): Promise<Picture> {
  if (text.length > LONGEST) throw new Error(`The link is too long: ${LONGEST} characters are the most`);
  let found: Picture;
  try {
    const packed = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(Uint8Array.from(packed, (c) => c.charCodeAt(0)), DecompressionStream);
    found = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new Error("The link is damaged: wanted what Share copies");
  }
  const isCount = (value: unknown, most: number, least = 0): boolean =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
  const arePairs = (pairs: unknown, most: number, least: number): boolean =>
    Array.isArray(pairs) &&
    pairs.every((pair) =>
      Array.isArray(pair) && pair.length === 2 && pair.every((one) => isCount(one, most, least))
    );
  const isStroke = ({ brush, radius, places }: Stroke): boolean =>
    isCount(brush, 99) && isCount(radius, 1000) && arePairs(places, 1000, 0) && places.length > 0;
  const {
    scene,
    size,
    preset,
    strokes,
    sources,
    receivers,
    walls = [],
    equation = "",
    like = "",
    parameters = {},
  } = found ?? {};
  const isRight = typeof like === "string" && Object.values(Object(parameters)).every(Number.isFinite) &&
    typeof scene === "string" && typeof equation === "string" && isCount(preset, 99) &&
    Array.isArray(walls) && walls.length <= 4 && walls.every((one) => isCount(one, 99)) &&
    arePairs([size], LARGEST_SIZE, 16) && Array.isArray(strokes) && strokes.every(isStroke) &&
    [sources, receivers].every((places) => arePairs(places, 1000, 0) && places.length <= MOST_PLACES);
  if (!isRight) throw new Error("The link holds something else than a picture");
  const visits = strokes.flatMap((stroke) => boxesOf(stroke, size))
    .reduce(
      (sum, { top, bottom, left, right }) => sum + Math.max(0, bottom - top) * Math.max(0, right - left),
      0,
    );
  if (visits > MOST_VISITS) throw new Error("The link's strokes cover too many cells to paint them here");
  return found;
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  Stream: typeof CompressionStream | typeof DecompressionStream,
): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new Stream("deflate-raw"));
  const found = new Uint8Array(MOST_BYTES);
  let length = 0;
  // a few bytes may unpack to any number
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const piece = part.value;
    if (length + piece.length > MOST_BYTES) throw new RangeError(`more than ${MOST_BYTES} bytes`);
    found.set(piece, length);
    length += piece.length;
  }
  return found.slice(0, length);
}

/**
 * Values of a picture's cells, row by row: the preset's, and over them those of the strokes.
 *
 * @param preset a value by place, from 0 to 1 down and across
 * @param brushes values of the brushes
 */
export function painted(
  { size: [rows, columns], strokes }: Pick<Picture, "size" | "strokes">,
  preset: (down: number, across: number, size: Picture["size"]) => number,
  brushes: readonly number[],
): Float32Array<ArrayBuffer> {
  const cells = new Float32Array(rows * columns);
  for (let i = 0; i < cells.length; i++) {
    cells[i] = preset((Math.floor(i / columns) + 0.5) / rows, (i % columns + 0.5) / columns, [rows, columns]);
  }
  for (const stroke of strokes) {
    forCells(stroke, [rows, columns], (i) => cells[i] = brushes[stroke.brush] ?? cells[i]!);
  }
  return cells;
}

/** The cells around each part of a stroke, and the part's ends, in cells. */
function boxesOf({ radius, places }: Pick<Stroke, "radius" | "places">, [rows, columns]: Picture["size"]) {
  const reach = Math.max(0.5, radius / 1000 * columns);
  const points = places.map(([down, across]) => [down / 1000 * rows, across / 1000 * columns] as const);
  return points.map(([y1, x1], i) => {
    const [y0, x0] = points[Math.max(0, i - 1)]!;
    const top = Math.max(0, Math.floor(Math.min(y0, y1) - reach)), left = Math.min(x0, x1) - reach;
    const bottom = Math.min(rows, Math.ceil(Math.max(y0, y1) + reach)), right = Math.max(x0, x1) + reach;
    const sides = { left: Math.max(0, Math.floor(left)), right: Math.min(columns, Math.ceil(right)) };
    return { top, bottom, ...sides, ends: [y0, x0, y1, x1] as const, reach };
  });
}

/** Calls with the index of every cell that a stroke covers; it may name a cell more than once. */
export function forCells(
  stroke: Pick<Stroke, "radius" | "places">,
  size: Picture["size"],
  use: (index: number) => void,
): void {
  for (const { top, bottom, left, right, ends: [y0, x0, y1, x1], reach } of boxesOf(stroke, size)) {
    const square = (x1 - x0) ** 2 + (y1 - y0) ** 2;
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) {
        const along = square === 0 ? 0 : ((x + 0.5 - x0) * (x1 - x0) + (y + 0.5 - y0) * (y1 - y0)) / square;
        const t = Math.min(1, Math.max(0, along));
        const distance = Math.hypot(x + 0.5 - x0 - t * (x1 - x0), y + 0.5 - y0 - t * (y1 - y0));
        if (distance <= reach) use(y * size[1] + x);
      }
    }
  }
}
