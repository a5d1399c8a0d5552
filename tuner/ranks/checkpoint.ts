/**
 * The state of a grid in one file, which all ranks write and read together, each its own part: ranks of another number
 * can go on from it. How it lies in the file: `solver/state.ts`.
 *
 * @module
 */
import { precisionOf, zeros } from "../../kernels/precision.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Start } from "../../kernels/initial_field.ts";
import { crc32 } from "../platform.ts";
import { RequestError } from "../problem/request_error.ts";
import { isMissing, reasonOf } from "../profile/profile_error.ts";
import { checkFileWritable, readPart, resolveTarget, writeAll } from "../profile/store.ts";
import { bytesIn } from "../files/npy.ts";
import {
  BEGINNING,
  bytesOf,
  cellsIn,
  HEADER_BYTES,
  readHeader,
  type SavedState,
  startOfSurvey,
  WHOLE,
  writeHeader,
} from "../solver/state.ts";
import type { FieldSolver } from "../solver/field_solver.ts";

/**
 * Writes a checkpoint in place of an earlier one: whole, or not at all. Every rank calls it.
 *
 * @param path on a file system that all ranks see
 */
export async function writeCheckpoint(
  solver: FieldSolver,
  path: string,
  start: Start | undefined,
): Promise<void> {
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

async function write(solver: FieldSolver, path: string, start: Start | undefined): Promise<void> {
  const { step, field, field: { problem, world, own } } = solver, target = await resolveTarget(path);
  const { stencil: { update } } = problem, { bytes } = precisionOf(update);
  const unfinished = `${target}.unfinished`, survey = (await solver.survey()).saved();
  if (world.rank === 0) {
    using file = await Deno.open(unfinished, { write: true, create: true, truncate: true });
    const hasPoints = problem.survey !== undefined;
    const [header, json] = writeHeader(problem, { step, start, hasPoints, survey });
    await writeAll(file, header);
    await file.seek(startOfSurvey(problem), Deno.SeekMode.Start);
    for (const part of [json, ...survey.values.map(bytesIn)]) await writeAll(file, part);
  }
  await world.meet();
  {
    using file = await Deno.open(unfinished, { write: true });
    for (const { box, at, together, profile } of cellsIn(problem, own)) {
      const cells = profile === undefined
        ? zeros(update, cellsOf(box.size))
        : field.profiles.values[profile.index]!.slice(box.low[profile.axis]);
      if (profile === undefined) await field.readOwn(box, cells);
      for (let i = 0; i < at.length; i++) {
        await file.seek(at[i]!, Deno.SeekMode.Start);
        await writeAll(file, new Uint8Array(cells.buffer, bytes * i * together, bytes * together));
      }
    }
    await file.sync();
  }
  await world.meet();
  if (world.rank === 0) {
    using file = await Deno.open(unfinished, { append: true });
    await writeAll(file, bytesIn(Uint32Array.of(await sumOf(unfinished))));
    await file.sync();
    await Deno.rename(unfinished, target);
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
 * Refuses to replace anything but a checkpoint of this problem or an empty file, and to go on from a damaged one. What a
 * run that was killed has left unfinished goes.
 *
 * @param isRead whether a run goes on from it
 * @throws {RequestError} saying what was found
 */
export async function checkCheckpoint(path: string, problem: Problem, isRead: boolean): Promise<void> {
  await checkFileWritable(path, bytesOf(problem));
  const unfinished = `${await resolveTarget(path)}.unfinished`;
  const sizeOf = (file: string): Promise<number> => Deno.stat(file).then(({ size }) => size, () => 0);
  if (await sizeOf(unfinished) > 0) {
    const begun = new TextDecoder().decode(await beginningOf(unfinished)).slice(0, BEGINNING.length);
    if (!BEGINNING.startsWith(begun)) {
      throw new RequestError(`Cannot replace ${unfinished}: wanted a checkpoint: found another kind of file`);
    }
    await Deno.remove(unfinished).catch(fileFailed(`Cannot replace ${unfinished}`));
  }
  if (await sizeOf(path) > 0) await readCheckpoint(path, problem, "replace");
  if (!isRead || await sumOf(path) === WHOLE) return;
  throw new RequestError(`Cannot go on from ${path}: it is damaged: its checksum differs`);
}

async function beginningOf(path: string): Promise<Uint8Array> {
  using file = await Deno.open(path);
  return await readPart(file, 0, HEADER_BYTES);
}

/**
 * What a checkpoint is of.
 *
 * @throws {RequestError} if it is none, or of another problem
 */
export async function readCheckpoint(path: string, problem: Problem, to = "go on from"): Promise<SavedState> {
  const refuse = (wanted: string, found: string): never => {
    throw new RequestError(`Cannot ${to} ${path}: wanted ${wanted}: found ${found}`);
  };
  const because = (error: unknown): never =>
    refuse("a checkpoint", isMissing(error) ? "no such file" : reasonOf(error));
  const header = await beginningOf(path).catch(because), { size } = await Deno.stat(path).catch(because);
  const saved = readHeader(header, size, problem, refuse), hasNone = problem.survey === undefined;
  return hasNone && saved.survey[0] > 0 ? refuse("no sources and receivers", "some") : saved;
}

/** Sets a solver's fields, materials, profiles and points to a checkpoint's. Every rank calls it. */
export async function restoreCheckpoint(solver: FieldSolver, path: string, from: SavedState): Promise<void> {
  await restore(solver, path, from).catch(fileFailed(`Cannot go on from ${path}`));
}

async function restore(solver: FieldSolver, path: string, from: SavedState): Promise<void> {
  using file = await Deno.open(path);
  await solver.restore(from, async (at, length) => {
    const bytes = await readPart(file, at, length);
    if (bytes.length < length) throw new RequestError(`Cannot go on from ${path}: it has become shorter`);
    return bytes;
  });
}
