import type * as z from "zod";
import { ProfileError } from "./profile_error.ts";

/** Names that would reach an object's prototype; no profile or journal has a use for them. */
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);

/** Deepest nesting of a profile, with room to spare; an attack on the stack goes deeper. */
const MAX_DEPTH = 32;

/** Checks data from a file against a schema, whose messages say what is wanted; one line says what is wrong. */
export function checkRecord<T>(schema: z.ZodType<T>, data: unknown, source: string): T {
  const fault = findForbidden(data);
  if (fault !== undefined) throw new ProfileError(`Cannot read ${source}: ${fault}`);
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

/** A value in a few words. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 80 ? `${json.slice(0, 77)}…` : json;
}

/** A key that would reach a prototype, or nesting too deep to be a profile. */
function findForbidden(data: unknown): string | undefined {
  const open: { value: unknown; depth: number }[] = [{ value: data, depth: 0 }];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    if (typeof item.value !== "object" || item.value === null) continue;
    if (item.depth > MAX_DEPTH) return `wanted at most ${MAX_DEPTH} levels of nesting, found more`;
    for (const key of Object.keys(item.value)) {
      if (FORBIDDEN_KEYS.has(key)) return `wanted no key named ${key}, found one`;
      open.push({ value: (item.value as Record<string, unknown>)[key], depth: item.depth + 1 });
    }
  }
  return undefined;
}

/** The first line of an error's message. */
export function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).replace(/\n.*/s, "").slice(0, 200);
}
