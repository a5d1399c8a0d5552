import { refuserOf } from "../problem/request_error.ts";
import { type FileArray, numbersIn, type READERS } from "./npy.ts";

/** Ends of names of SEG-Y files. */
export const SEGY = /\.se?gy$/i;

/** Bytes of the file's headers, and of a trace's; of each further text header. */
export const FILE = 3600, TRACE = 240;
const TEXT = 3200;

/** Numbers by the format's code: how they are read, and their names. IBM's floats are read as their bits. */
const FORMATS: Readonly<Record<number, readonly [keyof typeof READERS, name: string]>> = {
  ...{ 1: ["u4", "IBM float"], 2: ["i4", "i4"], 3: ["i2", "i2"], 5: ["f4", "f4"], 8: ["i1", "i1"] },
};

/** The number that IBM's 32 bits hold: a sign, an exponent of 16, excess 64, and a fraction of 24 bits. */
function ibm(bits: number): number {
  const size = (bits & 0xffffff) * 2 ** -24 * 16 ** ((bits >>> 24 & 0x7f) - 64);
  return bits >>> 31 ? -size : size;
}

/**
 * Reads a model in SEG-Y, revision 0 or 1, big-endian: traces, then samples downwards; three axes where rows of traces have
 * in-line numbers (bytes 189 to 192) of their own. @throws {RequestError} if it is none
 */
export function readSegy(bytes: Uint8Array<ArrayBuffer>, path: string): FileArray {
  const refuse = refuserOf(`read ${path}`), view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length <= FILE + TRACE) refuse("a SEG-Y file is wanted, with traces", `${bytes.length} bytes`);
  // the standard counts bytes from 1
  const code = view.getInt16(3225 - 1), samples = view.getUint16(3221 - 1), format = FORMATS[code];
  if (format === undefined) {
    return refuse("SEG-Y of format 1, IBM floats, 2, 3, 5, IEEE floats, or 8 is wanted", `${code}`);
  }
  const [type, name] = format, length = Number(type[1]) * samples;
  const first = FILE + TEXT * Math.max(0, view.getInt16(3505 - 1)),
    traces = (bytes.length - first) / (TRACE + length);
  if (samples === 0 || traces < 1 || !Number.isInteger(traces)) {
    const found = `${bytes.length} bytes, ${traces.toFixed(3)} traces`;
    refuse(`whole traces of ${samples} samples are wanted`, found);
  }
  const values = new Float32Array(traces * samples), lines: number[] = [];
  for (let trace = 0, at = first; trace < traces; trace++, at += TRACE + length) {
    const own = view.getUint16(at + 115 - 1);
    if (own !== 0 && own !== samples) refuse(`${samples} samples are wanted in trace ${trace + 1}`, `${own}`);
    lines.push(view.getInt32(at + 189 - 1));
    const place = new DataView(bytes.buffer, bytes.byteOffset + at + TRACE, length);
    values.set(code === 1 ? ibmIn(place, samples) : numbersIn(place, type, samples, false), trace * samples);
  }
  const row = lines.findIndex((line) => line !== lines[0]);
  const isRow = (line: number, i: number): boolean =>
    line === lines[i - i % row] && (i % row > 0 || i === 0 || line !== lines[i - 1]);
  const isVolume = row > 1 && traces % row === 0 && traces > row && lines.every(isRow);
  const shape = isVolume ? [traces / row, row, samples] : [traces, samples];
  return { shape, values, converted: code === 5 ? undefined : name };
}

const ibmIn = (view: DataView, count: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => ibm(view.getUint32(4 * i)));
