import type * as z from "npm:zod@4.6.7";
import { MOST_DEEP } from "../../kernels/check_expression.ts";
import { describeValue } from "../format.ts";
import { jsonFault, type TextPlace } from "./json_fault.ts";
import { ProfileError } from "./profile_error.ts";

/** Names that would reach an object's prototype, or whoever's terminal shows them; no file has a use for them. */
const FORBIDDEN_KEY = /^(?:__proto__|constructor|prototype)$|\p{Cc}/u;

/** Deepest nesting of a profile, its equations included, with room to spare; an attack on the stack goes deeper. */
const MAX_DEPTH = 32 + MOST_DEEP;

/**
 * Reads JSON, in which every key of an object has to be the only one of its name.
 *
 * @param startOf says where in its file the text begins
 * @throws {ProfileError} in one line that calls the text `source`
 */
export function parseJson(text: string, source: string, startOf?: () => TextPlace): unknown {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new ProfileError(`Cannot read ${source}: it is not JSON: ${jsonFault(text, startOf?.())}`);
  }
  const { keys, fault } = inspect(data);
  if (fault !== undefined) throw new ProfileError(`Cannot read ${source}: ${fault}`);
  if (keys < countKeys(text)) {
    throw new ProfileError(`Cannot read ${source}: wanted every key once, found one twice in an object`);
  }
  return data;
}

/** Keys of a text that is JSON: each is followed by a colon, and other colons lie in texts. */
function countKeys(json: string): number {
  return json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, "").split(":").length - 1;
}

/** Checks data from a file against a schema, whose messages say what is wanted; one line says what is wrong. */
export function checkRecord<T>(schema: z.ZodType<T>, data: unknown, source: string): T {
  const { fault } = inspect(data);
  if (fault !== undefined) throw new ProfileError(`Cannot read ${source}: ${fault}`);
  return matchSchema(schema, data, source);
}

/** The same for what {@linkcode parseJson} has read. */
export function matchSchema<T>(schema: z.ZodType<T>, data: unknown, source: string): T {
  const { success, data: record, error } = schema.safeParse(data);
  if (success) return record;
  throw new ProfileError(`Cannot read ${source}: ${firstIssue(error, data)}`);
}

/** What is wrong first, and how much more there is. */
export function firstIssue({ issues: [first, ...others] }: z.ZodError, data: unknown): string {
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  return `${first === undefined ? "" : describeIssue(first, data)}${more}`;
}

/** Where, wanted, found. */
function describeIssue(issue: z.core.$ZodIssue, data: unknown): string {
  const where = (path: readonly PropertyKey[]): string => {
    const parts = path.map((part) => typeof part === "number" ? `[${part}]` : `.${String(part)}`).join("");
    return parts.replace(/^\./, "") || "the whole";
  };
  if (issue.code === "unrecognized_keys") {
    return `${where([...issue.path, issue.keys[0]?.slice(0, 60) ?? ""])}: wanted nothing of this name`;
  }
  const found = issue.path.reduce<unknown>(
    (value, part) => value === undefined ? undefined : (value as Record<PropertyKey, unknown>)?.[part],
    data,
  );
  const wanted = issue.code === "invalid_key"
    ? issue.issues[0]?.message
    : issue.code === "invalid_type" && issue.expected === "object"
    ? "an object"
    : issue.message;
  return `${where(issue.path)}: wanted ${wanted}, found ${describeValue(found)}`;
}

/** How many keys data have; a key that no file may have, or nesting too deep to be a profile, is a fault. */
function inspect(data: unknown): { keys: number; fault?: string } {
  let count = 0;
  const open: unknown[] = [data], depths = [0];
  while (open.length > 0) {
    const value = open.pop(), depth = depths.pop()!;
    if (typeof value !== "object" || value === null) continue;
    if (depth > MAX_DEPTH) {
      return { keys: 0, fault: `wanted at most ${MAX_DEPTH} levels of nesting, found more` };
    }
    const keys = Array.isArray(value) ? [] : Object.keys(value);
    count += keys.length;
    const forbidden = keys.find((key) => FORBIDDEN_KEY.test(key));
    if (forbidden !== undefined) {
      const key = /\p{Cc}/u.test(forbidden) ? describeValue(forbidden) : forbidden;
      return { keys: count, fault: `wanted no key named ${key}, found one` };
    }
    for (const inner of Object.values(value)) {
      if (typeof inner !== "object") continue;
      open.push(inner);
      depths.push(depth + 1);
    }
  }
  return { keys: count };
}
