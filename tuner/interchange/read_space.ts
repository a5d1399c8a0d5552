import { crc32 } from "node:zlib";
import { formatPlural } from "../format.ts";
import { CacheReader, pythonKey, writeKernelTuner } from "./kernel_tuner.ts";
import { RecordList } from "./record_list.ts";
import type { RecordedSpace, SpaceFrame, SpaceReader, SpaceRecord, SpaceText } from "./recorded_space.ts";
import { T4Reader, writeT4 } from "./t4.ts";

/** The formats, by the names that `--format` takes. */
export const SPACE_FORMATS = ["t4", "kernel-tuner"] as const;
/** One of {@linkcode SPACE_FORMATS}. */
export type SpaceFormat = typeof SPACE_FORMATS[number];

/** Writes a space in a format. */
export function writeSpace(space: RecordedSpace, format: SpaceFormat): SpaceText {
  return format === "t4" ? writeT4(space) : writeKernelTuner(space);
}

/**
 * Reads T4 results or a Kernel Tuner cache; which of them it is the file tells. All records are checked, and one is in
 * memory at a time: whoever goes through the space's records has them read again.
 *
 * @param bytes the file's content, of which nothing is evaluated
 * @param source what errors call the file
 * @returns the space, which format it had, and what could not be carried over
 * @throws {ProfileError} in one line: where in the file, what was wanted, what was found
 */
export function readSpace(
  bytes: Uint8Array,
  source: string,
): { space: RecordedSpace; notes: SpaceFrame["notes"]; format: SpaceFormat } {
  const list = new RecordList(bytes, source), isCache = list.name === "cache";
  const reader: SpaceReader = isCache ? new CacheReader(list, source) : new T4Reader(list, source);
  /** By the hash of its key, the last record that has it: keys themselves would need too much memory. */
  const last = new Map<number, number>(), superseded = new Set<number>();
  for (let i = 0; i < list.length; i++) {
    const key = keyOf(reader.read(i));
    let hash = crc32(key) | 0, earlier = last.get(hash);
    while (earlier !== undefined && keyOf(reader.read(earlier)) !== key) {
      hash = (hash + 1) | 0;
      earlier = last.get(hash);
    }
    if (earlier !== undefined) superseded.add(earlier);
    last.set(hash, i);
  }
  const { space, notes } = reader.end();
  const records = {
    *[Symbol.iterator]() {
      for (let i = 0; i < list.length; i++) if (!superseded.has(i)) yield reader.read(i);
    },
  };
  const repeated = `${
    formatPlural(superseded.size, "record")
  } with the key of another: the last of each counts`;
  return {
    space: { ...space, records },
    notes: [...notes, ...(superseded.size === 0 ? [] : [repeated])],
    format: isCache ? "kernel-tuner" : "t4",
  };
}

/** A record's key; values that do not apply count only before others: an earlier record had no such parameter. */
function keyOf({ key, values }: SpaceRecord): string {
  return key ?? pythonKey(values.slice(0, values.findLastIndex((value) => value !== null) + 1));
}
