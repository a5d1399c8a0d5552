import type { InputFile } from "./input_file.ts";
import { KernelTunerReader } from "./kernel_tuner.ts";
import { ListScanner } from "./list_scanner.ts";
import type { RecordReader, SpaceReading, SpaceRecord } from "./recorded_space.ts";
import { T4Reader } from "./t4.ts";

/** The formats, by the names that `--format` takes. */
export const SPACE_FORMATS = ["t4", "kernel-tuner"] as const;
/** One of {@linkcode SPACE_FORMATS}. */
export type SpaceFormat = typeof SPACE_FORMATS[number];

/**
 * Reads T4 results or a Kernel Tuner cache; which of them it is the file tells. The file is read twice: first all but
 * its records, which may come before what says how to read them, and whether there are more than can be read.
 *
 * @param file nothing of its content is evaluated
 * @param take takes every record, with the reader that read it; @default {undefined} the space has them
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
  const reader: RecordReader = isCache ? new KernelTunerReader(found, path) : new T4Reader(found, path);
  const records: SpaceRecord[] = [];
  const keep = take ?? ((record) => records.push(record));
  const scanner = new ListScanner(path, (text, start) => keep(reader.read(text, start), reader));
  for await (const text of file.text()) scanner.push(text);
  scanner.end();
  return { ...reader.end(records), format: isCache ? "kernel-tuner" : "t4" };
}
