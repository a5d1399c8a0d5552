/**
 * Reads the files that `record` wrote before it wrote journals: JSON in columns, compressed with gzip. Entry i of
 * every column belongs to configuration i.
 *
 *     {"format":"facet-space","version":1,"device":{…},"problem":{…},…,
 *      "traversals":[{"traversal":"stepwise","parameters":{"threadsZ":[64,128],…},
 *        "cellsPerSecond":[2.0134e11,null],"compileMs":[…],"evaluationMs":[…],"failure":[null,"timeout"],…}]}
 *
 * @module
 */
import * as z from "npm:zod@^4.6.0";
import { checkRecord, parseJson } from "../profile/check_record.ts";
import { quantitySchema, rateSchema } from "../profile/journal_format.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { deviceSchema, problemSchema } from "../profile/schema.ts";
import { keyOf, type RecordedConfiguration, type ReplaySpace, titleOf } from "./replay_space.ts";

const name = z.string().regex(/^[a-zA-Z][a-zA-Z0-9-]*$/, "a name");
/** Milliseconds, read as nanoseconds. */
const times = z.array(quantitySchema.transform((time) => time * 1e6).nullable(), "a list of times");

const tableSchema = z.looseObject({
  traversal: name,
  parameters: z.record(name, z.array(z.number("a number"), "a list of values"), "lists of values by name"),
  cellsPerSecond: z.array(rateSchema.nullable(), "a list of rates"),
  compileMs: times,
  evaluationMs: times,
  failure: z.array(z.string("a failure's reason").max(100).nullable(), "a list of reasons"),
});

const recordingSchema = z.looseObject({
  format: z.literal("facet-space", '"facet-space"'),
  version: z.literal(1, "1"),
  device: deviceSchema,
  problem: problemSchema,
  traversals: z.array(tableSchema, "a list of traversals"),
});

/** Whether a text begins as these files do. */
export function isOldRecording(text: string): boolean {
  return /^\s*\{\s*"format"\s*:\s*"facet-space"/.test(text);
}

/** Reads such a file; errors call it `source`. */
export function readOldRecording(text: string, source: string): ReplaySpace {
  const { device, problem, traversals } = checkRecord(recordingSchema, parseJson(text, source), source);
  const configurations = traversals.flatMap((table) => rowsOf(table, source));
  const keys = new Set(configurations.map(keyOf));
  if (keys.size < configurations.length) {
    throw new ProfileError(`Cannot read ${source}: a configuration occurs twice`);
  }
  return { title: titleOf(problem, device), configurations, facet: { problem, device } };
}

function rowsOf(table: z.infer<typeof tableSchema>, source: string): RecordedConfiguration[] {
  const { traversal, parameters, cellsPerSecond, failure } = table;
  const { compileMs: compileNs, evaluationMs: evaluationNs } = table;
  const lists = Object.entries(parameters);
  const columns = [cellsPerSecond, compileNs, evaluationNs, failure, ...lists.map(([, list]) => list)];
  if (columns.some(({ length }) => length !== failure.length)) {
    throw new ProfileError(`Cannot read ${source}: ${traversal}: wanted columns of equal length`);
  }
  return failure.map((reason, i) => {
    const rate = cellsPerSecond[i] ?? undefined;
    if ((rate === undefined) !== (reason !== null)) {
      throw new ProfileError(`Cannot read ${source}: ${traversal}[${i}]: wanted either a rate or a failure`);
    }
    return {
      traversal,
      parameters: Object.fromEntries(lists.map(([name, list]) => [name, list[i]!])),
      rate,
      compileNs: compileNs[i] ?? undefined,
      evaluationNs: evaluationNs[i] ?? undefined,
      failure: reason ?? undefined,
    };
  });
}
