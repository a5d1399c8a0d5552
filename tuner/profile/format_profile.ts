import { digestOf } from "../../kernels/definition.ts";
import type { Profile } from "./profile_types.ts";

/**
 * A profile as the text of a file, with its checksum.
 *
 * @example
 * ```ts
 * import { formatProfile } from "./format_profile.ts";
 * import { readProfile } from "./read_profile.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const profile = await readProfile("fixtures/h100/wave.json");
 * assertEquals(await readProfile(formatProfile(profile)), profile);
 * ```
 */
export function formatProfile(profile: Profile): string {
  return jsonOf({ ...profile, checksum: checksumOf(profile) }) + "\n";
}

/** Whether a text begins as those of {@linkcode formatProfile}: damage leaves that as it is, other programs do not. */
export function isLaidOut(text: string): boolean {
  return text.startsWith('{\n  "');
}

/** Sixteen digits of what a profile says, however its text is laid out: of all but its checksum. */
export function checksumOf(profile: object): string {
  return digestOf(JSON.stringify({ ...profile, checksum: undefined }));
}

/** JSON in which a list that fits a line has one: definitions of equations are full of them. */
function jsonOf(value: unknown, start = "\n"): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${start}  `, isList = Array.isArray(value);
  const parts = isList
    ? value.map((element) => jsonOf(element, inner))
    : Object.entries(value).filter(([, member]) => member !== undefined)
      .map(([name, member]) => `${JSON.stringify(name)}: ${jsonOf(member, inner)}`);
  const line = `[${parts.join(", ")}]`;
  if (isList && line.length <= 90 && !line.includes("\n")) return line;
  const [open, end] = isList ? "[]" : "{}";
  return parts.length === 0 ? `${open}${end}` : `${open}${inner}${parts.join(`,${inner}`)}${start}${end}`;
}
