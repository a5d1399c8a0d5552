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
  /** A place to mark. */
  readonly mark?: readonly [right: number, down: number];
}

/** Letters of 5 x 7 pixels, the last two of 9 rows below the line; a row is a digit of base 32. */
const LETTERS = "0123456789.,-()/=:%abcdefghiklmnopqrstuvwxyzH";
const ROWS =
  "ehjlphe004c4444e00eh1248v00eh161he0026aiv2200vgu11he0068guhhe00v12448800ehhehhe00ehhf12c0000000cc0000" +
  "000c480000u0000048888840084444480011248gg0000u0u00000cc0cc000pp248jj0000e1fhf00gguhhhu0000eggge0011fh" +
  "hhf0000ehvge0068u88880000fhhhf1egguhhhh0040c444e00ggikoki00c44444e0000qllll0000uhhhh0000ehhhe0000uhhh" +
  "ugg00fhhhf1100moggg0000fge1u0088u88860000hhhhf0000hhha40000hllla0000ha4ah0000hhhhf1e00v248v00hhhvhhh00";

/** Pixels of a letter's dot, from one letter to the next, and around the plot. */
const DOT = 2, ADVANCE = 6 * DOT, LEFT = 84, TOP = 58, RIGHT = 28, BOTTOM = 62;

/** Draws a plot as the bytes of a PNG file. */
export async function drawPlot(plot: Plot): Promise<Uint8Array<ArrayBuffer>> {
  const { title, across, down, size, colourAt, mark } = plot;
  const [w, h] = size, width = LEFT + w + RIGHT, height = TOP + h + BOTTOM;
  const pixels = new Uint8Array(3 * width * height).fill(255);
  const fill = (x: number, y: number, wide: number, high: number, colour: Colour = [0, 0, 0]): void => {
    for (let i = 0; i < wide * high; i++) {
      pixels.set(colour, 3 * ((y + Math.floor(i / wide)) * width + x + i % wide));
    }
  };
  /** Writes a line; `part` of it lies left of x. */
  const write = (text: string, x: number, y: number, part: number): void =>
    [...text].forEach((letter, i) => {
      const at = LETTERS.indexOf(letter), left = Math.round(x - part * text.length * ADVANCE) + i * ADVANCE;
      for (let k = 0; at >= 0 && k < 45; k++) {
        const row = Math.floor(k / 5), isSet = parseInt(ROWS[9 * at + row]!, 32) >> (4 - k % 5) & 1;
        if (isSet) fill(left + DOT * (k % 5), y + DOT * row, DOT, DOT);
      }
    });
  fill(LEFT - 2, TOP - 2, w + 4, h + 4);
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) fill(LEFT + x, TOP + y, 1, 1, colourAt((x + 0.5) / w, (y + 0.5) / h));
  }
  if (mark) fill(LEFT + Math.round(mark[0] * w) - 4, TOP + Math.round(mark[1] * h) - 4, 8, 8, [0, 140, 0]);
  for (const { place, text } of ticksOf(across)) {
    const x = LEFT + Math.round(place * (w - 1));
    fill(x - 1, TOP + h + 2, 2, 7);
    write(text, x, TOP + h + 14, 0.5);
  }
  for (const { place, text } of ticksOf(down)) {
    const y = TOP + Math.round(place * (h - 1));
    fill(LEFT - 9, y - 1, 7, 2);
    write(text, LEFT - 14, y - 7, 1);
  }
  write(across.label, LEFT + w / 2, height - 24, 0.5);
  write(down.label, 8, TOP - 28, 0);
  write(title, LEFT + w, TOP - 50, 1);
  return await pngOf(pixels, width, height);
}

/** Round values along an axis, about five, and how far along they lie. */
function ticksOf({ from, to }: PlotAxis): { place: number; text: string }[] {
  const span = to - from, power = 10 ** Math.floor(Math.log10(Math.abs(span) / 5));
  const step = power * [1, 2, 5, 10].find((factor) => Math.abs(span) / (power * factor) <= 6.5)!;
  const low = Math.min(from, to), high = Math.max(from, to), first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1,
    decimals = Math.max(0, -Math.floor(Math.log10(step)));
  return Array.from({ length: count }, (_, i) => (first + i) * step)
    .map((value) => ({ place: (value - from) / span, text: value.toFixed(decimals) }));
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
