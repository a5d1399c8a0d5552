import type { Grid } from "../../kernels/stencils/stencil.ts";
import type { ShotPlan } from "./shoot.ts";

/** Most that headers of 16 bits hold, of samples in a trace and of microseconds between two. */
export const MOST_IN_HEADER = 32_767;

/** Bytes of the file's headers and of a trace's. */
const FILE = 3600, TRACE = 240;

/** Headers hold places as whole numbers, in millimetres, and say by what they are to be divided. */
const PER_METRE = 1000;

/** The bytes of a SEG-Y file, revision 1, big-endian, IEEE floats; shots count from 1, and z is a depth. */
export function segyBytes(
  traces: readonly Float32Array[],
  { interval, receivers, frequency }: Pick<ShotPlan, "interval" | "receivers" | "frequency">,
  { shot, source }: { readonly shot: number; readonly source: Grid },
): Uint8Array<ArrayBuffer> {
  const { length } = traces[0]!, bytes = new Uint8Array(FILE + traces.length * (TRACE + 4 * length));
  const lines = [`shot ${shot}, Ricker wavelet of ${frequency} Hz, z is a depth`, ...new Array(37).fill("")];
  const text = [...lines, "SEG Y REV1", "END TEXTUAL HEADER"]
    .map((line, i) => `C${`${i + 1}`.padStart(2)} ${line}`.padEnd(80)).join("");
  bytes.set(Uint8Array.from(text, ebcdicOf));
  const view = new DataView(bytes.buffer), us = Math.round(interval * 1e6);
  let start = -1; // the standard counts bytes from 1
  const short = (value: number, ...at: readonly number[]) =>
    at.forEach((i) => view.setInt16(start + i, value));
  const long = (value: number, ...at: readonly number[]) =>
    at.forEach((i) => view.setInt32(start + i, Math.round(value)));
  short(us, 3217, 3219);
  short(length, 3221, 3223);
  short(5, 3225); // IEEE floats
  short(1, 3229, 3255, 3503); // as recorded, metres, traces of one length
  short(0x100, 3501); // revision 1.0
  traces.forEach((trace, i) => {
    start = FILE + i * (TRACE + 4 * length) - 1;
    const [x, y, z] = receivers[i]!;
    long(i + 1, 1, 5, 13);
    long(shot, 9, 17);
    short(1, 29, 35, 89); // seismic data, for production, places in units of length
    long(Math.hypot(x - source[0], y - source[1]), 37);
    short(-PER_METRE, 69, 71);
    [-z, source[2]].forEach((metres, k) => long(metres * PER_METRE, [41, 49][k]!)); // a height, a depth
    [source[0], source[1], x, y].forEach((metres, k) => long(metres * PER_METRE, 73 + 4 * k));
    short(length, 115);
    short(us, 117);
    trace.forEach((value, k) => view.setFloat32(start + 1 + TRACE + 4 * k, value));
  });
  return bytes;
}

/** Characters that follow each other in EBCDIC, after the code of the first. */
const RUNS = ["\x4b.", "\x4d(+", "\x5d)", "\x60-/", "\x6b,", "\x7a:", "\x7e=", "\xf00123456789"].concat(
  ["\x81abcdefghi", "\x91jklmnopqr", "\xa2stuvwxyz", "\xc1ABCDEFGHI", "\xd1JKLMNOPQR", "\xe2STUVWXYZ"],
);

/** A character in EBCDIC; a space instead of one that is none of the above. */
function ebcdicOf(char: string): number {
  const run = RUNS.find((one) => one.includes(char, 1));
  return run === undefined ? 0x40 : run.charCodeAt(0) + run.indexOf(char, 1) - 1;
}
