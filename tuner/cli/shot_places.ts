/**
 * Places and numbers that `shot` reads, from options and files.
 *
 * @module
 */
import type { OwnGrid } from "../../kernels/stencils/stencil.ts";
import { readArray } from "../files/array.ts";
import { refuserOf } from "../problem/request_error.ts";
import { oneLine, whyUnreadable } from "../profile/profile_error.ts";
import type { Refuse } from "./options.ts";

/** A number as people and NumPy write it, with an exponent or without; NaN of anything else, such as 0x10. */
export function decimal(text: string): number {
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text.trim()) ? Number(text) : NaN;
}

/** Reads as many numbers, with commas, semicolons or spaces between. */
export const readNumbers = <T extends readonly number[]>(least: number, most: number, wanted: string) => {
  return (text: string, refuse: Refuse): T => {
    const all: readonly number[] = text.trim().split(/\s*[,;\s]\s*/).map(decimal), { length } = all;
    return length >= least && length <= most && all.every(Number.isFinite) ? all as T : refuse(wanted);
  };
};

export const readPlace = readNumbers<OwnGrid>(2, 3, "X,Y,Z or X,Z in metres");

/** The lines of a file with their numbers, without empty ones, and without names of columns above all others. */
async function linesOf(path: string, wanted: string) {
  const lines = new TextDecoder().decode(await readFile(path)).split("\n");
  const filled = lines.map((line, i) => ({ line: line.trim(), i })).filter(({ line }) => line !== "");
  const isHeader = /^["#]?[a-z_]/i.test(filled[0]?.line ?? "");
  const rows = filled.slice(isHeader ? 1 : 0), refuse = refuserOf(`read ${path}`);
  return { rows: rows.length === 0 ? refuse(`${wanted} is wanted`, "none") : rows, refuse };
}

/** The places in a file, a line each. */
export async function readPlaces(path: string, wanted = "X,Y,Z or X,Z in metres"): Promise<OwnGrid[]> {
  const { rows, refuse } = await linesOf(path, `a line ${wanted} for each place`);
  return rows.map(({ line, i }) =>
    readPlace(line, () => refuse(`${wanted} are wanted in line ${i + 1}`, line))
  );
}

/** What a source sends, a number for each step: in lines, or an array of one axis. */
export async function readSignature(path: string): Promise<ArrayLike<number>> {
  if (path.endsWith(".npy")) {
    const { shape, values } = await readArray(path, { precision: "f64" });
    return shape.length === 1 ? values : refuserOf(`use ${path}`)("one axis is wanted", `${shape.length}`);
  }
  const { rows, refuse } = await linesOf(path, "a line with a number for each step");
  return rows.map(({ line, i }) => {
    const value = decimal(line);
    return Number.isFinite(value) ? value : refuse(`a number is wanted in line ${i + 1}`, line.slice(0, 60));
  });
}

/** Whether receivers are one place or a line, which are written out, or in a file. */
export const isLine = (receivers: string): boolean => /^line:|^[-+\d.e]+(,[-+\d.e]+)+$/.test(receivers);

export async function readReceivers(text: string, refuse: Refuse): Promise<OwnGrid[]> {
  if (!isLine(text)) return await readPlaces(text);
  if (!text.startsWith("line:")) return [readPlace(text, refuse)];
  const wrong = (): never =>
    refuse("line:X,Y,Z:X,Y,Z:N or line:X,Z:X,Z:N, places in metres and a number from 2 to 1000000");
  const [first = "", last = "", count = "", ...more] = text.slice(5).split(":");
  const from = readPlace(first, wrong), to = readPlace(last, wrong), n = decimal(count);
  if (!(Number.isInteger(n) && n >= 2 && n <= 1e6 && from.length === to.length && more.length === 0)) wrong();
  const at = (part: number) => from.map((start, axis) => start + (to[axis]! - start) * part);
  return Array.from({ length: n }, (_, i) => at(i / (n - 1)) as readonly number[] as OwnGrid);
}

/** A whole file, of any size. */
export async function readFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return await Deno.readFile(path).catch((error): never => {
    throw oneLine(error, `Cannot read ${path}: ${whyUnreadable(error)}`);
  });
}

/**
 * The files of all shots, with their numbers if there may be several and traces are not in one; traces of several fields have their names.
 *
 * @param fields what is recorded; before the model is read, as many as there may be
 */
export function shotFiles(
  { stencil, hydrophones, oneFile, shots, out, traces, snapshots }: {
    readonly stencil: string;
    readonly hydrophones: boolean;
    readonly oneFile: boolean;
    readonly shots?: readonly unknown[] | undefined;
    readonly out: string;
    readonly traces?: string | undefined;
    readonly snapshots: number;
  },
  fields: readonly string[] = stencil === "elastic"
    ? [...hydrophones ? ["pressure"] : [], "vx", "vy", "vz"]
    : ["p"],
): { waves: string[]; picture: string; traces: string[] }[] {
  const ends = fields.length === 1 ? [""] : fields.map((name) => `-${name}`);
  return (shots ?? [undefined]).map((_, i) => {
    const named = (path: string, end = "", isOwn = true): string =>
      path.replace(/\.\w+$/, `${shots && isOwn ? `-${i + 1}` : ""}${end}$&`);
    const waves = Array.from({ length: snapshots }, (_, wave) => named(out, `-wave-${wave + 1}`));
    return {
      waves,
      picture: named(out),
      traces: traces ? ends.map((end) => named(traces, end, !oneFile)) : [],
    };
  });
}
