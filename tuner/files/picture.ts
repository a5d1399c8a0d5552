/**
 * A picture with axes and labels, as PNG, drawn without a browser.
 *
 * @module
 */
import { crc32 } from "../platform.ts";
import { joined } from "./npy.ts";

/** Red, green and blue, 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number];

/** What an axis shows from one end of the plot to the other. */
export interface PlotAxis {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

/** A plot of colours; places in it go from 0 to 1, to the right and down. */
export interface Plot {
  readonly title: string;
  readonly across: PlotAxis;
  readonly down: PlotAxis;
  /** Pixels of the plot, without its axes. */
  readonly size: readonly [width: number, height: number];
  readonly colourAt: (right: number, down: number) => Colour;
  /** What colours mean: an axis beside the plot, and the colour of each of its values. */
  readonly bar?: PlotAxis & { readonly colourOf: (value: number) => Colour };
  /** A place to mark. */
  readonly mark?: readonly [right: number, down: number];
}

/**
 * Letters as strokes of a pen, between spaces: places of a digit across and one down, 0 at the top and 6 on the line. A stroke
 * is a quadratic B-spline of its places, which ends in the first and the last, turns sharply in a place named twice, and is
 * closed where both are the same.
 */
const STROKES: Readonly<Record<string, string>> = Object.fromEntries(
  ("0 0040460600|1 01202026|2 01004042060646|3 01004043232343460605|4 30040444 3036|5 40000003030242460605|" +
    "6 30000646420204|7 00404016|8 0040430300 0343460603|9 16464000044442|. 26|, 2617|- 0444|( 30111637|) 10313617|" +
    "/ 4007|= 0343 0545|: 23 26|% 4006 0020220200 2444462624|a 0242460602 4246|b 0006 0242460602|c 434202064645|" +
    "d 4046 0242460602|e 0444444202064645|f 40202326 1242|g 0242460602 42480807|h 0006 04024246|i 2226 20|" +
    "j 22270807 20|k 0006 420404 0446|l 2026|m 0206 04022226 24224246|n 0206 04024246|o 0242460602|" +
    "p 0208 0242460602|q 4248 0242460602|r 0206 040232|s 4342020444460605|t 202636 1242|u 02064644 4246|" +
    "v 02262642|w 0216162323363642|x 0246 4206|y 0226 4218|z 024242060646|E 40000646 0333|F 400006 0333|H 0006 4046 0343")
    .split("|")
    .map((letter) => [letter[0]!, letter.slice(2)]),
);

/** Pixels of a step of these places, from a letter to the next, of a space, and half a pen's width. */
const UNIT = 2, GAP = 5, SPACE = 9, PEN = 0.85;

/** Pixels around the plot, and of the bar of colours. */
const LEFT = 84, TOP = 58, RIGHT = 28, BOTTOM = 62, BAR = 16, BAR_LEFT = 24, BAR_RIGHT = 96;

type Point = readonly [x: number, y: number];

/** Points along a stroke, close to each other, in pixels. */
function curveOf(stroke: string): Point[] {
  const places = (stroke.match(/../g) ?? []).map((
    pair,
  ): Point => [UNIT * Number(pair[0]), UNIT * Number(pair[1])]);
  const [first, last] = [places[0]!, places.at(-1)!],
    isClosed = places.length > 2 && `${first}` === `${last}`;
  const between = ([a, b]: Point, [c, d]: Point): Point => [(a + c) / 2, (b + d) / 2];
  const controls = places.slice(1, isClosed ? undefined : -1);
  let from = isClosed ? between(first, places[1]!) : first;
  return controls.flatMap((control, i) => {
    const isEnd = !isClosed && i === controls.length - 1, begin = from;
    const end = from = isEnd ? last : between(control, controls[i + 1] ?? controls[0]!);
    return Array.from({ length: 9 }, (_, k): Point => {
      const t = k / 8,
        at = (axis: 0 | 1) =>
          (1 - t) ** 2 * begin[axis] + 2 * t * (1 - t) * control[axis] + t ** 2 * end[axis];
      return [at(0), at(1)];
    });
  }).concat(controls.length === 0 ? [first, last] : []);
}

/** How far a place is from a line between two points. */
function distanceTo([x, y]: Point, [x0, y0]: Point, [x1, y1]: Point): number {
  const [dx, dy] = [x1 - x0, y1 - y0], square = dx ** 2 + dy ** 2;
  const t = square === 0 ? 0 : Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / square));
  return Math.hypot(x - x0 - t * dx, y - y0 - t * dy);
}

/** The curves of a text's letters, from 0 to the right, and how wide it is. */
function lettersOf(text: string): { curves: Point[][]; width: number } {
  let width = 0;
  const curves = [...text].flatMap((letter) => {
    const strokes = (STROKES[letter] ?? STROKES[letter.toLowerCase()] ?? "").split(" ").filter((stroke) =>
      stroke !== ""
    ).map(curveOf);
    const across = strokes.flat().map(([x]) => x), least = Math.min(...across), begin = width;
    width += strokes.length === 0 ? SPACE : Math.max(...across) - least + GAP;
    return strokes.map((curve) => curve.map(([x, y]): Point => [begin + x - least, y]));
  });
  return { curves, width: width - GAP };
}

/** Draws a plot as the bytes of a PNG file. */
export async function drawPlot(
  { title, across, down, size, colourAt, bar, mark }: Plot,
): Promise<Uint8Array<ArrayBuffer>> {
  const [w, h] = size, width = LEFT + w + RIGHT + (bar ? BAR_LEFT + BAR + BAR_RIGHT - RIGHT : 0);
  const height = TOP + h + BOTTOM, pixels = new Uint8Array(3 * width * height).fill(255);
  const fill = (x: number, y: number, wide: number, high: number, colour: Colour = [0, 0, 0]): void => {
    for (let i = 0; i < wide * high; i++) {
      pixels.set(colour, 3 * ((y + Math.floor(i / wide)) * width + x + i % wide));
    }
  };
  /** Writes a line with a round pen; `part` of it lies left of x. */
  const write = (text: string, x: number, y: number, part: number): void => {
    const { curves, width: wide } = lettersOf(text), left = x - part * wide;
    for (const [from, to] of curves.flatMap((curve) => curve.map((end, i) => [curve[i - 1] ?? end, end]))) {
      const [[x0, y0], [x1, y1]] = [from!, to!], lowest = y + Math.max(y0, y1) + 2;
      for (let row = Math.floor(y + Math.min(y0, y1) - 2); row <= lowest; row++) {
        const begin = Math.floor(left + Math.min(x0, x1) - 2), end = left + Math.max(x0, x1) + 2;
        for (let column = begin; column <= end; column++) {
          const far = distanceTo([column + 0.5 - left, row + 0.5 - y], from!, to!);
          const paper = 255 * Math.min(1, Math.max(0, far - PEN + 0.5)), at = 3 * (row * width + column);
          for (let c = 0; c < 3; c++) pixels[at + c] = Math.min(pixels[at + c]!, paper);
        }
      }
    }
  };
  const colours = (left: number, wide: number, colourAt: Plot["colourAt"]): void => {
    fill(left - 2, TOP - 2, wide + 4, h + 4);
    for (let y = 0; y < h; y++) {
      const at = 3 * ((TOP + y) * width + left);
      for (let x = 0; x < wide; x++) pixels.set(colourAt((x + 0.5) / wide, (y + 0.5) / h), at + 3 * x);
    }
  };
  colours(LEFT, w, colourAt);
  if (mark) fill(LEFT + Math.round(mark[0] * w) - 4, TOP + Math.round(mark[1] * h) - 4, 8, 8, [0, 140, 0]);
  for (const { place, text } of ticksOf(across)) {
    const x = LEFT + Math.round(place * (w - 1));
    fill(x - 1, TOP + h + 2, 2, 7);
    write(text, x, TOP + h + 14, 0.5);
  }
  for (const { place, text } of ticksOf(down)) {
    const y = TOP + Math.round(place * (h - 1));
    fill(LEFT - 9, y - 1, 7, 2);
    write(text, LEFT - 14, y - 6, 1);
  }
  if (bar) {
    const left = LEFT + w + BAR_LEFT, { from, to } = bar;
    colours(left, BAR, (_, down) => bar.colourOf(to + down * (from - to)));
    for (const { place, text } of ticksOf(bar)) {
      const y = TOP + Math.round((1 - place) * (h - 1));
      fill(left + BAR + 2, y - 1, 7, 2);
      write(text, left + BAR + 14, y - 6, 0);
    }
    write(bar.label, width - 8, TOP - 26, 1);
  }
  write(across.label, LEFT + w / 2, height - 26, 0.5);
  write(down.label, 8, TOP - 26, 0);
  write(title, LEFT + w, TOP - 48, 1);
  return await pngOf(pixels, width, height);
}

/** Round values along an axis, about five, and how far along they lie. */
function ticksOf({ from, to }: PlotAxis): { place: number; text: string }[] {
  const span = to - from, power = 10 ** Math.floor(Math.log10(Math.abs(span) / 5));
  const step = power * [1, 2, 5, 10].find((factor) => Math.abs(span) / (power * factor) <= 6.5)!;
  const low = Math.min(from, to), high = Math.max(from, to), first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1,
    decimals = Math.max(0, -Math.floor(Math.log10(step)));
  const textOf = (value: number): string =>
    decimals > 4 ? String(Number(value.toPrecision(3))) : value.toFixed(decimals);
  return Array.from({ length: count }, (_, i) => (first + i) * step)
    .map((value) => ({ place: (value - from) / span, text: textOf(value) }));
}

/** Pixels, row by row, as a PNG file; each row begins with a 0, since it is stored as it is. */
async function pngOf(pixels: Uint8Array, width: number, height: number): Promise<Uint8Array<ArrayBuffer>> {
  const rows = new Uint8Array(height * (3 * width + 1));
  for (let y = 0; y < height; y++) {
    rows.set(pixels.subarray(3 * width * y, 3 * width * (y + 1)), y * (3 * width + 1) + 1);
  }
  const packed = new Blob([rows]).stream().pipeThrough(new CompressionStream("deflate"));
  return joined(
    Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), // PNG between bytes that texts lose
    ...chunkOf("IHDR", u32(width), u32(height), Uint8Array.of(8, 2, 0, 0, 0)), // 8 bits of red, green, blue
    ...chunkOf("IDAT", new Uint8Array(await new Response(packed).arrayBuffer())),
    ...chunkOf("IEND"),
  );
}

const u32 = (value: number): Uint8Array => new Uint8Array(new Uint32Array([value]).buffer).reverse();

/** A chunk of a PNG file: its length, name, bytes and sum. */
export function chunkOf(name: string, ...parts: readonly Uint8Array[]): Uint8Array[] {
  const body = joined(new TextEncoder().encode(name), ...parts);
  return [u32(body.length - 4), body, u32(crc32(body))];
}
