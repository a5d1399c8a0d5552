/**
 * Files of traces: one for each shot, or one of all, which is beside its name until all have come.
 *
 * @module
 */
import type { FloatArray } from "../../kernels/precision.ts";
import { bytesIn, npyBytes, rowsOf } from "../files/npy.ts";
import { FILE, SEGY } from "../files/segy.ts";
import { oneLine, reasonOf } from "../profile/profile_error.ts";
import { segyBytes, type SegyShot } from "./segy.ts";
import { readPart, writeAll } from "../profile/store.ts";
import type { ShotPlan } from "./shoot.ts";

/** What is at the beginning of a file of traces, and a shot's in it. */
export type TraceBytes = Readonly<Record<"head" | "body", Uint8Array>>;

/** The bytes of traces in a file of that name, which has those of `shots` if there are several in it. */
export function traceBytes(
  path: string,
  traces: readonly FloatArray[],
  plan: Pick<ShotPlan, "interval" | "receivers">,
  segy: SegyShot,
  shots?: number,
): TraceBytes {
  if (SEGY.test(path)) {
    const bytes = segyBytes(traces, plan, segy);
    return { head: bytes.subarray(0, FILE), body: bytes.subarray(FILE) };
  }
  const { shape, values } = rowsOf(traces), head = { shape: shots ? [shots, ...shape] : shape };
  return { head: npyBytes({ ...head, values: values.subarray(0, 0) }), body: bytesIn(values) };
}

/** The name of a file of all shots until it has all of them. */
export const unfinished = (path: string): string => `${path}.unfinished`;

/** Puts a shot, counted from 0, into the unfinished file of all. Ranks do that side by side. */
export async function putShot(
  path: string,
  { head, body }: TraceBytes,
  shot: number,
  shots: number,
): Promise<void> {
  try {
    using file = await Deno.open(unfinished(path), { create: true, write: true });
    await file.truncate(head.length + shots * body.length);
    for (const [at, bytes] of [[0, head], [head.length + shot * body.length, body]] as const) {
      await file.seek(at, Deno.SeekMode.Start);
      await writeAll(file, bytes);
    }
    await file.sync();
  } catch (cause) {
    throw oneLine(cause, `Cannot write ${path}: ${reasonOf(cause)}`);
  }
}

/** A shot's bytes in the file of all, unfinished or not; throws where there is none. */
export async function takeShot(path: string, shot: number, shots: number): Promise<Uint8Array> {
  using file = await Deno.open(unfinished(path)).catch(() => Deno.open(path));
  const [low, high] = await readPart(file, 8, 2), head = SEGY.test(path) ? FILE : 10 + low! + 256 * high!;
  const size = Math.floor(((await file.stat()).size - head) / shots);
  return await readPart(file, head + shot * size, size);
}
