/**
 * Reads a recorded space from a file of either format.
 *
 * @module
 */
import { ProfileError } from "../profile/profile_error.ts";
import { readKernelTuner } from "./kernel_tuner.ts";
import { readText } from "./read_json.ts";
import type { SpaceReading } from "./recorded_space.ts";
import { readT4 } from "./t4.ts";

/** The formats, by the names that `--format` takes. */
export const SPACE_FORMATS = ["t4", "kernel-tuner"] as const;
/** One of {@linkcode SPACE_FORMATS}. */
export type SpaceFormat = typeof SPACE_FORMATS[number];

/**
 * Reads T4 results or a Kernel Tuner cache, plain or gzipped; which of them it is the file tells.
 *
 * @param bytes the file's content; nothing of it is evaluated
 * @param source what to call it in errors, as its path
 * @returns the space, which format it had, and what could not be carried over
 * @throws {ProfileError} in one line: where in the file, what was wanted, what was found
 */
export function readSpace(bytes: Uint8Array, source: string): SpaceReading & { format: SpaceFormat } {
  const text = readText(bytes, source);
  if (isCache(text)) return { ...readKernelTuner(text, source), format: "kernel-tuner" };
  if (/"results"\s*:/.test(text)) return { ...readT4(text, source), format: "t4" };
  throw new ProfileError(
    `Cannot read ${source}: wanted T4 results (a field "results") or a Kernel Tuner cache ` +
      `(fields "tune_params_keys" and "cache"), found ${JSON.stringify(text.slice(0, 40))}`,
  );
}

/** A cache names its parameters before its records; a T4 file may carry the same word, but later. */
function isCache(text: string): boolean {
  return /"(results|tune_params_keys)"\s*:/.exec(text)?.[1] === "tune_params_keys";
}
