/**
 * The file of a recorded space: JSON, compressed with gzip, in columns. What `record` writes and `replay` reads.
 *
 *     {"format":"facet-space","version":1,"tool":{…},"recordedAt":"…","device":{…},"problem":{…},
 *      "space":{"candidates":12011,"limit":2000,"seed":1},
 *      "traversals":[{"traversal":"stepwise","parameters":{"threadsZ":[64,128],…},
 *        "cellsPerSecond":[2.0134e11,null],"low":[…],"high":[…],"compileMs":[…],"evaluationMs":[…],
 *        "failure":[null,"timeout"]}]}
 *
 * Entry i of every column belongs to configuration i. Rates have five digits and times three: no measurement has
 * more.
 *
 * @module
 */
import { gunzipSync, gzipSync } from "node:zlib";
import * as z from "zod";
import { checkRecord } from "../profile/check_record.ts";
import { ProfileError, reasonOf, whyUnreadable } from "../profile/profile_error.ts";
import { deviceSchema, problemSchema } from "../profile/schema.ts";
import { keyOf, type RecordedConfiguration, type ReplaySpace, titleOf } from "./replay_space.ts";

/** Version of the format; another one's files are refused. */
export const SPACE_VERSION = 1;

/** Bytes that a file may hold when it is unpacked: a hundred times the largest there is. */
const MAX_BYTES = 2 ** 28;

const text = z.string("a text").max(1000, "a text of at most 1000 characters");
const natural = z.int("a whole number").min(0, "a whole number >= 0");
const rates = z.array(z.number("a number").gt(0, "a rate above 0").nullable(), "a list of rates");
const times = z.array(z.number("a number").min(0, "a time >= 0").nullable(), "a list of times");

const table = z.strictObject({
  traversal: text.min(1, "a name"),
  parameters: z.record(
    z.string().regex(/^[a-zA-Z][a-zA-Z0-9]*$/, "a parameter's name"),
    z.array(z.number("a number"), "a list of values"),
    "lists of values by name",
  ),
  cellsPerSecond: rates,
  low: rates,
  high: rates,
  compileMs: times,
  evaluationMs: times,
  failure: z.array(
    z.enum(
      ["compile", "limits", "incorrect", "timeout", "device-lost", "out-of-memory"],
      "a failure's reason",
    ).nullable(),
    "a list of reasons",
  ),
}).check(({ value, issues }) => {
  const { traversal: _, parameters, ...columns } = value;
  const rows = value.failure.length;
  for (const [name, column] of [...Object.entries(columns), ...Object.entries(parameters)]) {
    if (column.length === rows) continue;
    const message = `as many entries as "failure" has, ${rows}`;
    issues.push({ code: "custom", message, path: [name, "length"], input: value });
  }
  const odd = value.cellsPerSecond.findIndex((rate, i) => (rate === null) !== (value.failure[i] !== null));
  if (odd >= 0 && odd < rows) {
    const message = "either a rate or a failure";
    issues.push({ code: "custom", message, path: ["cellsPerSecond", odd], input: value });
  }
});

const spaceSchema = z.strictObject({
  format: z.literal("facet-space", '"facet-space"'),
  version: z.literal(SPACE_VERSION, `${SPACE_VERSION}`),
  tool: z.strictObject({ name: text, version: text }),
  recordedAt: z.iso.datetime({ error: "a UTC time as 2026-11-21T10:00:00Z" }),
  device: deviceSchema,
  problem: problemSchema,
  /** Hash of the kernels' source, so that one recording does not mix two versions of them. */
  kernelSource: text,
  /** What the configurations were chosen from, and how. */
  space: z.strictObject({ candidates: natural, limit: natural.nullable(), seed: natural }),
  traversals: z.array(table, "a list of traversals"),
});

type SpaceRecord = z.infer<typeof spaceSchema>;

/** Under what a space was recorded: everything of the file but the measurements. */
export type SpaceHeader = Omit<SpaceRecord, "format" | "version" | "traversals">;

/** A file's content. */
export interface SpaceFile {
  readonly header: SpaceHeader;
  readonly configurations: readonly RecordedConfiguration[];
}

/**
 * The bytes of a file.
 *
 * @param file what was recorded
 * @returns JSON, compressed with gzip
 */
export function packSpace({ header, configurations }: SpaceFile): Uint8Array<ArrayBuffer> {
  const names = [...new Set(configurations.map(({ traversal }) => traversal))];
  const traversals = names.map((traversal) => {
    const rows = configurations.filter((one) => one.traversal === traversal);
    const parameters = Object.keys(rows[0].parameters);
    const column = <T>(of: (row: RecordedConfiguration) => T | undefined): (T | null)[] =>
      rows.map((row) => of(row) ?? null);
    return {
      traversal,
      parameters: Object.fromEntries(
        parameters.map((name) => [name, rows.map((row) => row.parameters[name])]),
      ),
      cellsPerSecond: column(({ rate }) => digits(rate, 5)),
      low: column(({ interval95 }) => digits(interval95?.[0], 5)),
      high: column(({ interval95 }) => digits(interval95?.[1], 5)),
      compileMs: column(({ compileNs }) => digits(compileNs, 3, 1e6)),
      evaluationMs: column(({ evaluationNs }) => digits(evaluationNs, 3, 1e6)),
      failure: column(({ failure }) => failure),
    };
  });
  const record = { format: "facet-space", version: SPACE_VERSION, ...header, traversals };
  checkRecord(spaceSchema, record, "the recorded space"); // what could not be read back is better not written
  return new Uint8Array(gzipSync(JSON.stringify(record), { level: 9 }));
}

/** Rounded to significant digits; a lower end of 0 says nothing and is left out. */
function digits(value: number | undefined, count: number, unit = 1): number | undefined {
  if (value === undefined || (unit === 1 && value === 0)) return undefined;
  return Number((value / unit).toPrecision(count));
}

/**
 * Reads a file's JSON.
 *
 * @param data the parsed JSON
 * @param source what to call it in errors
 * @throws {ProfileError} in one line: where, wanted, found
 */
export function checkSpace(data: unknown, source: string): SpaceFile {
  const { format: _, version: __, traversals, ...header } = checkRecord(spaceSchema, data, source);
  const configurations = traversals.flatMap((table) =>
    table.failure.map((failure, i): RecordedConfiguration => {
      const rate = table.cellsPerSecond[i], low = table.low[i], high = table.high[i];
      const compileMs = table.compileMs[i], evaluationMs = table.evaluationMs[i];
      return {
        traversal: table.traversal,
        parameters: Object.fromEntries(
          Object.entries(table.parameters).map(([name, list]) => [name, list[i]]),
        ),
        rate: rate ?? undefined,
        ...(high !== null ? { interval95: [low ?? 0, high] as const } : {}),
        ...(compileMs !== null ? { compileNs: compileMs * 1e6 } : {}),
        ...(evaluationMs !== null ? { evaluationNs: evaluationMs * 1e6 } : {}),
        ...(failure !== null ? { failure } : {}),
      };
    })
  );
  const seen = new Set<string>();
  for (const configuration of configurations) {
    const key = keyOf(configuration);
    if (seen.has(key)) throw new ProfileError(`Cannot read ${source}: ${key} stands there twice`);
    seen.add(key);
  }
  return { header, configurations };
}

/** What a file holds as a space to replay. */
export function spaceOf({ header: { problem, device }, configurations }: SpaceFile): ReplaySpace {
  return { title: titleOf(problem, device), configurations, facet: { problem, device } };
}

/**
 * The text of a file, unpacked where it is compressed.
 *
 * @throws {ProfileError} in one line, if it can't be read, is damaged, or is larger than any such file
 */
export async function readText(path: string): Promise<string> {
  try {
    const bytes = await Deno.readFile(path);
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const plain = isPacked ? gunzipSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes;
    if (plain.length > MAX_BYTES) throw new RangeError(`more than ${MAX_BYTES} bytes`);
    return new TextDecoder("utf-8", { fatal: true }).decode(plain);
  } catch (error) {
    throw new ProfileError(`Cannot read ${path}: ${whyUnreadable(error)}`);
  }
}

/** Reads what `record` wrote, to go on with it. */
export async function readSpaceFile(path: string): Promise<SpaceFile> {
  return checkSpace(parseJson(await readText(path), path), path);
}

/** JSON, or one line that says that it is none. */
export function parseJson(json: string, source: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new ProfileError(`Cannot read ${source}: it is no JSON: ${reasonOf(error)}`);
  }
}
