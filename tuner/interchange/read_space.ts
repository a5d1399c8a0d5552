import { crc32 } from "node:zlib";
import { formatPlural } from "../format.ts";
import { pythonKey, readCache, writeKernelTuner } from "./kernel_tuner.ts";
import { RecordList } from "./record_list.ts";
import type { RecordedSpace, SpaceRecord } from "./recorded_space.ts";
import { readT4, writeT4 } from "./t4.ts";

export const SPACE_FORMATS = ["t4", "kernel-tuner"] as const;
export type SpaceFormat = typeof SPACE_FORMATS[number];

/**
 * Writes a space, piece by piece.
 *
 * @returns how many records it has and how many of them failed, and what is not in the text, one line each
 */
export function* writeSpace(
  space: RecordedSpace,
  format: SpaceFormat,
): Generator<string, { records: number; failed: number; notCarried: readonly string[] }> {
  const writer = format === "t4" ? writeT4(space) : writeKernelTuner(space);
  yield writer.head;
  let records = 0, failed = 0;
  for (const record of space.records) {
    if (record.failure !== null) failed++;
    yield `${records++ === 0 ? "" : ",\n"}${writer.textOf(record)}`;
  }
  yield writer.end;
  return { records, failed, notCarried: writer.notCarried() };
}

/**
 * Reads T4 results or a Kernel Tuner cache; the file shows which of them it is. All records are checked, and one is in
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
): { space: RecordedSpace; notes: readonly string[]; format: SpaceFormat } {
  const list = new RecordList(bytes, source), isCache = list.name === "cache";
  const reader = (isCache ? readCache : readT4)(list, source);
  /** A hash table of the last record of each key, as 1 more than its index: keys themselves need too much memory. */
  const last = new Int32Array(2 ** Math.ceil(Math.log2(2 * list.length + 2))),
    hashes = new Int32Array(last.length);
  const superseded = new Set<number>();
  for (let i = 0; i < list.length; i++) {
    const key = keyOf(reader.read(i)), hash = crc32(key) | 0;
    const isOther = (at: number): boolean => hashes[at] !== hash || keyOf(reader.read(last[at]! - 1)) !== key;
    let at = hash & (last.length - 1);
    while (last[at] !== 0 && isOther(at)) at = (at + 1) & (last.length - 1);
    if (last[at] !== 0) superseded.add(last[at]! - 1);
    [last[at], hashes[at]] = [i + 1, hash];
  }
  const { space, notes } = reader.end();
  const records = {
    length: list.length - superseded.size,
    *[Symbol.iterator]() {
      for (let i = 0; i < list.length; i++) if (!superseded.has(i)) yield reader.read(i);
    },
  };
  const count = formatPlural(superseded.size, "record");
  const repeated = `${count} with the key of another: the last of each counts`;
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
