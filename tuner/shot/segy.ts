import type { FloatArray } from "../../kernels/precision.ts";
import type { Grid } from "../../kernels/stencils/stencil.ts";
import { FILE, TRACE } from "../files/segy.ts";
import { refuserOf } from "../problem/request_error.ts";
import type { ShotPlan } from "./shoot.ts";

/** Most that headers of 16 bits hold, of samples in a trace and of microseconds between two. */
export const MOST_IN_HEADER = 32_767;

/** Lines of the text, and characters of one after its number. */
const LINES = 38, WIDTH = 76;

/** What traces may count in a metre, finest first: headers hold places as whole numbers, of 32 bits. */
const PER_METRE = [1000, 100, 10, 1], LONGEST = 2 ** 31 - 1;

/** Metres from the model's corner at most: offsets, in metres, must fit as well. */
const FARTHEST = 1e9;

/** What a trace is of: components along the lines of receivers, across them and down, pressure. Others are data of a survey. */
const COMPONENTS: Readonly<Record<string, number>> = { vx: 14, vy: 13, vz: 12, pressure: 11 };

/** What a component is measured in. */
const METRES_A_SECOND = 6, PASCALS = 1;

/** What one file holds of a shot. */
export interface SegyShot {
  /** Its number, from 1. */
  readonly shot: number;
  /** Traces before its own in the file. @default {0} */
  readonly before?: number;
  readonly source: Grid;
  /** What was recorded: p, vx, vy, vz or pressure. */
  readonly field: string;
  /** What was done, for the text header. */
  readonly text: readonly string[];
}

/** Units of places in a metre. @throws {RequestError} where no header can hold one of the places */
export function segyScale(places: readonly Grid[]): number {
  const most = places.flat().reduce((most, metres) => Math.max(most, Math.abs(metres)), 0);
  if (most > FARTHEST) refuserOf("write SEG-Y")(`places up to ${FARTHEST / 1000} km are wanted`, `${most} m`);
  return PER_METRE.find((scale) => most * scale <= LONGEST)!;
}

/** The bytes of a SEG-Y file, revision 1, big-endian, IEEE floats; z is a depth. */
export function segyBytes(
  traces: readonly FloatArray[],
  { interval, receivers }: Pick<ShotPlan, "interval" | "receivers">,
  { shot, before = 0, source, field, text }: SegyShot,
): Uint8Array<ArrayBuffer> {
  const { length } = traces[0]!, bytes = new Uint8Array(FILE + traces.length * (TRACE + 4 * length));
  const lines = text.map((line) => line.replace(/[^ -~]/gu, " "))
    .flatMap((line) => line.match(new RegExp(`.{1,${WIDTH}}`, "g")) ?? []).slice(0, LINES);
  const all = [...lines, ...new Array(LINES - lines.length).fill(""), "SEG Y REV1", "END TEXTUAL HEADER"];
  bytes.set(all.flatMap((line, i) => Array.from(`C${`${i + 1}`.padStart(2)} ${line}`.padEnd(80), ebcdicOf)));
  const view = new DataView(bytes.buffer), us = Math.round(interval * 1e6);
  const scale = segyScale([...receivers, source]), component = COMPONENTS[field];
  let start = -1; // the standard counts bytes from 1
  const short = (value: number, ...at: readonly number[]) =>
    at.forEach((i) => view.setInt16(start + i, value));
  const long = (value: number, ...at: readonly number[]) =>
    at.forEach((i) => view.setInt32(start + i, Math.round(value)));
  short(Math.min(traces.length, MOST_IN_HEADER), 3213); // of a shot
  short(us, 3217, 3219);
  short(length, 3221, 3223);
  short(5, 3225); // IEEE floats
  short(1, 3229, 3255, 3503); // as recorded, metres, traces of one length
  short(0x100, 3501); // revision 1.0
  traces.forEach((trace, i) => {
    start = FILE + i * (TRACE + 4 * length) - 1;
    const [x, y, z] = receivers[i]!;
    long(before + i + 1, 1, 5);
    long(i + 1, 13);
    long(shot, 9, 17);
    short(component ?? 1, 29);
    short(1, 35, 89); // for production, places in units of length
    long(Math.hypot(x - source[0], y - source[1]), 37);
    short(scale === 1 ? 1 : -scale, 69, 71);
    [-z, source[2]].forEach((metres, k) => long(metres * scale, [41, 49][k]!)); // a height, a depth
    [source[0], source[1], x, y].forEach((metres, k) => long(metres * scale, 73 + 4 * k));
    short(length, 115);
    short(us, 117);
    if (component !== undefined) short(field === "pressure" ? PASCALS : METRES_A_SECOND, 203);
    trace.forEach((value, k) => view.setFloat32(start + 1 + TRACE + 4 * k, value));
  });
  return bytes;
}

/** Characters that follow each other in EBCDIC, wherever its pages agree, after the code of the first. */
const RUNS = ["\x4b.<(+", "\x50&", "\x5b$*);", "\x60-/", "\x6b,%_>?", "\x7a:#@'=\"", "\xf00123456789"].concat(
  ["\x81abcdefghi", "\x91jklmnopqr", "\xa1~stuvwxyz", "\xc1ABCDEFGHI", "\xd1JKLMNOPQR", "\xe2STUVWXYZ"],
);

/** A character in EBCDIC; a space instead of one that is none of the above. */
function ebcdicOf(char: string): number {
  const run = RUNS.find((range) => range.includes(char, 1));
  return run === undefined ? 0x40 : run.charCodeAt(0) + run.indexOf(char, 1) - 1;
}
