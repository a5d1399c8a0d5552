import { formatPlural } from "../format.ts";
import type { InputFile } from "./input_file.ts";
import { KernelTunerReader, pythonKey } from "./kernel_tuner.ts";
import { ListScanner } from "./list_scanner.ts";
import type { RecordReader, SpaceReading, SpaceRecord } from "./recorded_space.ts";
import { T4Reader } from "./t4.ts";

/** The formats, by the names that `--format` takes. */
export const SPACE_FORMATS = ["t4", "kernel-tuner"] as const;
/** One of {@linkcode SPACE_FORMATS}. */
export type SpaceFormat = typeof SPACE_FORMATS[number];

/**
 * Reads T4 results or a Kernel Tuner cache; which of them it is the file tells. No more than one record is in memory:
 * the file is read twice, first all but its records, which may come before what says how to read them, and again
 * whenever someone goes through the space's records.
 *
 * @param file nothing of its content is evaluated
 * @param take takes every record, with the reader that read it, of which a cache may have several with one key
 * @returns the space, which format it had, and what could not be carried over
 * @throws {ProfileError} in one line: where in the file, what was wanted, what was found
 */
export async function readSpace(
  file: InputFile,
  take?: (record: SpaceRecord, reader: RecordReader) => void,
): Promise<SpaceReading & { format: SpaceFormat }> {
  const { path } = file;
  const survey = new ListScanner(path);
  for await (const text of file.text()) survey.push(text);
  const found = survey.end();
  const isCache = found.list === "cache";
  const open = (): RecordReader => isCache ? new KernelTunerReader(found, path) : new T4Reader(found, path);
  const reader = open();
  /** Of a cache, which record is the last with its key. */
  const last = new Map<string, number>();
  let count = 0;
  for await (const record of recordsOf(file, reader)) {
    if (take !== undefined) take(record, reader);
    else if (isCache) last.set(cacheKey(record), count);
    count++;
  }
  const { space, notes } = reader.end();
  const { length } = space.parameters;
  const repeated = last.size > 0 ? count - last.size : 0;
  if (repeated === 0) last.clear();
  const records: AsyncIterable<SpaceRecord> = {
    async *[Symbol.asyncIterator]() {
      let i = 0;
      for await (const record of recordsOf(file, open())) {
        const { values } = record;
        if (repeated > 0 && last.get(cacheKey(record)) !== i++) continue;
        // a parameter that a later result was the first to have
        yield { ...record, values: Array.from({ length }, (_, i) => values[i] ?? null) };
      }
    },
  };
  const others = repeated === 0
    ? []
    : [`${formatPlural(repeated, "record")} with the key of another: the last of each counts`];
  const format = isCache ? "kernel-tuner" : "t4";
  return { space: { ...space, records }, notes: [...notes, ...others], format };
}

function cacheKey({ key, values }: SpaceRecord): string {
  return key ?? pythonKey(values);
}

async function* recordsOf(file: InputFile, reader: RecordReader): AsyncGenerator<SpaceRecord> {
  const found: SpaceRecord[] = [];
  const scanner = new ListScanner(file.path, (text, start) => found.push(reader.read(text, start)));
  for await (const text of file.text()) {
    scanner.push(text);
    yield* found.splice(0);
  }
  scanner.end();
  yield* found;
}
