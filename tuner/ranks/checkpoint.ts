/**
 * The state of a grid in one file, which all ranks write and read together, each its own part: ranks of another number
 * can go on from it.
 *
 * The file: {@linkcode HEADER_BYTES} of JSON and spaces; then F(t) of every field and material, and where the update
 * reads it F(t−1) of every field, each as f32 (little-endian) in the order x, y, z of the whole grid; then the CRC-32 of
 * all that, which files of earlier versions lack. Axis profiles are the equation's, and not in the file.
 *
 * @module
 */
import { crc32 } from "node:zlib";
import { hashOf } from "../../kernels/definition.ts";
import { INITIAL_FIELDS, type Start } from "../../kernels/initial_field.ts";
import { cellsOf, describeGrid, ownBoundary, type Problem } from "../../kernels/stencils/stencil.ts";
import { planesOf, readsPrevious } from "../../kernels/update.ts";
import type { GridSlices } from "../devices/shared/part_field.ts";
import { RequestError } from "../problem/request_error.ts";
import { isMissing, reasonOf } from "../profile/profile_error.ts";
import { checkFileWritable, writeAll } from "../profile/store.ts";
import type { RankSolver } from "./rank_solver.ts";

export interface Checkpoint {
  readonly step: number;
  /** What the run began with. */
  readonly start: Start;
}

const HEADER_BYTES = 4096, SUM_BYTES = 4;

/** The CRC-32 of anything that ends with its own. */
const WHOLE = 0x2144df1c;

/** What was found where something else was not a checkpoint. */
const OTHER_FILE = "another kind of file";

/** Cells that are read from a device and written at once: 64 MiB. */
const CELLS_AT_ONCE = 2 ** 24;

/** What must be the same where a run goes on. */
function identityOf(problem: Problem) {
  const { stencil } = problem;
  return {
    facetCheckpoint: 1,
    stencil: stencil.name,
    hash: hashOf((stencil.original ?? stencil).update),
    grid: describeGrid(problem),
    boundary: `${ownBoundary(problem)}`,
  };
}

/** The planes in the order of the file. */
function levelsOf({ stencil: { update } }: Problem): { ago: 0 | 1; plane: number }[] {
  const planes = (count: number, ago: 0 | 1) => Array.from({ length: count }, (_, plane) => ({ ago, plane }));
  return [...planes(planesOf(update), 0), ...(readsPrevious(update) ? planes(update.fields.length, 1) : [])];
}

/** Bytes before the checksum. */
function bytesOf(problem: Problem): number {
  return HEADER_BYTES + 4 * levelsOf(problem).length * cellsOf(problem.grid);
}

/**
 * Writes a checkpoint in place of an earlier one: whole, or not at all. Every rank calls it.
 *
 * @param path on a file system that all ranks see
 */
export async function writeCheckpoint(solver: RankSolver, path: string, start: Start): Promise<void> {
  await write(solver, path, start).catch(fileFailed(`Cannot write ${path}`));
}

/** Turns what the system says of a file into one line. */
function fileFailed(what: string): (error: unknown) => never {
  return (error) => {
    throw (error as { code?: unknown }).code === undefined
      ? error
      : new RequestError(`${what}: ${reasonOf(error)}`, { cause: error });
  };
}

async function write(solver: RankSolver, path: string, start: Start): Promise<void> {
  const { problem, world } = solver, unfinished = `${path}.unfinished`;
  if (world.rank === 0) {
    using file = await Deno.open(unfinished, { write: true, create: true, truncate: true });
    const text = JSON.stringify({ ...identityOf(problem), step: solver.step, start });
    const header = new TextEncoder().encode(text.padEnd(HEADER_BYTES - 1) + "\n");
    await writeAll(file, header);
    await file.truncate(bytesOf(problem));
  }
  await world.meet();
  {
    using file = await Deno.open(unfinished, { write: true });
    for await (const { at, rows, slices } of ownRows(solver)) {
      const cells = await solver.save(slices);
      for (let i = 0; i < at.length; i++) {
        await file.seek(at[i]!, Deno.SeekMode.Start);
        await writeAll(file, new Uint8Array(cells.buffer, 4 * i * rows, 4 * rows));
      }
    }
    await file.sync();
  }
  await world.meet();
  if (world.rank === 0) {
    using file = await Deno.open(unfinished, { append: true });
    await writeAll(file, new Uint8Array(Uint32Array.of(await sumOf(unfinished)).buffer));
    await file.sync();
    await Deno.rename(unfinished, path);
  }
  await world.meet();
}

/** The CRC-32 of a file. */
async function sumOf(path: string): Promise<number> {
  let sum = 0;
  for await (const bytes of (await Deno.open(path)).readable) sum = crc32(bytes, sum);
  return sum;
}

/**
 * Refuses to replace anything but a checkpoint of this problem or an empty file, and to go on from a damaged one.
 *
 * @param isRead whether a run goes on from it
 * @throws {RequestError} saying what was found
 */
export async function checkCheckpoint(path: string, problem: Problem, isRead: boolean): Promise<void> {
  await checkFileWritable(path, bytesOf(problem));
  for (const file of [path, `${path}.unfinished`]) {
    const size = await Deno.stat(file).then(({ size }) => size, () => 0);
    if (size > 0) await readCheckpoint(file, problem, "replace");
  }
  if (!isRead || (await Deno.stat(path)).size === bytesOf(problem)) return;
  if (await sumOf(path) === WHOLE) return;
  throw new RequestError(`Cannot go on from ${path}: it is damaged: its checksum differs`);
}

/**
 * What a checkpoint is of.
 *
 * @throws {RequestError} if it is none, or of another problem
 */
export async function readCheckpoint(path: string, problem: Problem, to = "go on from"): Promise<Checkpoint> {
  const refuse = (wanted: string, found: string): never => {
    throw new RequestError(`Cannot ${to} ${path}: wanted ${wanted}: found ${found}`);
  };
  let header: Partial<Record<string, unknown>> = {}, size = 0;
  try {
    using file = await Deno.open(path);
    const bytes = new Uint8Array(HEADER_BYTES);
    size = (await file.stat()).size;
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, await file.read(bytes) ?? 0))) ?? {};
  } catch (error) {
    const found = isMissing(error) ? "no such file" : reasonOf(error);
    refuse("a checkpoint", error instanceof SyntaxError ? OTHER_FILE : found);
  }
  if (header.facetCheckpoint === undefined) refuse("a checkpoint", OTHER_FILE);
  for (const [name, wanted] of Object.entries(identityOf(problem))) {
    const of = name === "hash" ? "the same equation, of hash" : name;
    if (header[name] !== wanted) refuse(`${of} ${wanted}`, `${header[name]}`);
  }
  const bytes = bytesOf(problem);
  if (![bytes, bytes + SUM_BYTES].includes(size)) refuse(`${bytes + SUM_BYTES} bytes`, `${size}`);
  const { step, start } = header as { step?: unknown; start?: Partial<Start> };
  const kind = INITIAL_FIELDS.find((one) => one === start?.kind), seed = start?.seed;
  const areCounts = [step, seed].every((one) => Number.isSafeInteger(one) && (one as number) >= 0);
  if (kind === undefined || !areCounts) return refuse("a step and a start", JSON.stringify({ step, start }));
  return { step: step as number, start: { kind, seed: seed! } };
}

/** Sets a solver's fields and materials to a checkpoint's. Every rank calls it. */
export async function restoreCheckpoint(solver: RankSolver, path: string, from: Checkpoint): Promise<void> {
  await restore(solver, path, from).catch(fileFailed(`Cannot go on from ${path}`));
}

async function restore(solver: RankSolver, path: string, { step, start }: Checkpoint): Promise<void> {
  await solver.initialise({ ...start, step });
  using file = await Deno.open(path);
  for await (const { at, rows, slices } of ownRows(solver)) {
    const cells = new Float32Array(at.length * rows), bytes = new Uint8Array(cells.buffer);
    for (let i = 0; i < at.length; i++) {
      await file.seek(at[i]!, Deno.SeekMode.Start);
      for (let done = 4 * i * rows; done < 4 * (i + 1) * rows;) {
        const count = await file.read(bytes.subarray(done, 4 * (i + 1) * rows));
        if (count === null) throw new RequestError(`Cannot go on from ${path}: it has become shorter`);
        done += count;
      }
    }
    // materials belong to both levels
    const isMaterial = slices.plane >= solver.problem.stencil.update.fields.length;
    for (const ago of isMaterial ? [0, 1] as const : [slices.ago]) {
      await solver.restore({ ...slices, ago }, cells);
    }
  }
  await solver.restored();
}

/** A rank's own slices, a few at a time: where in the file each run of cells that lie together begins, and how long. */
function* ownRows({ problem, part: { own: { low, size } } }: RankSolver): Generator<
  { readonly at: readonly number[]; readonly rows: number; readonly slices: GridSlices }
> {
  const { grid: [nx, ny, nz] } = problem;
  const together = Math.max(1, Math.floor(CELLS_AT_ONCE / (size[1] * size[2])));
  for (const [index, level] of levelsOf(problem).entries()) {
    for (let x = 0; x < size[0]; x += together) {
      const slices = Math.min(together, size[0] - x);
      const startOf = (slice: number, y: number): number =>
        HEADER_BYTES + 4 * (((index * nx + low[0] + x + slice) * ny + low[1] + y) * nz + low[2]);
      // whole slices lie together, and so do whole rows of a slice
      const rows = size[2] < nz ? size[2] : size[1] < ny ? size[1] * nz : slices * ny * nz;
      const at = Array.from({ length: slices * size[1] * size[2] / rows }, (_, i) => {
        const row = i * rows / size[2];
        return startOf(Math.floor(row / size[1]), row % size[1]);
      });
      yield { at, rows, slices: { ...level, x, slices } };
    }
  }
}
