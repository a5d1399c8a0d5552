import { isPage } from "../platform.ts";
import { ProfileError, reasonOf } from "./profile_error.ts";
import type { Profile } from "./profile_types.ts";
import { readBytesIfThere } from "./read_bytes.ts";
import { checkProfile, parseProfile, type ReadOptions } from "./schema.ts";

export type { ReadOptions };

/**
 * Reads a profile and checks all of it.
 *
 * @param source the JSON text, which begins with a brace; what it says, as an object; the path of a file, but in a
 *   page; or a URL
 * @param options called with what is odd about it, as that it has no checksum or is dated in the future
 * @throws {ProfileError} if it cannot be read, has another schema version, is not a valid profile or not what its
 *   checksum is of; the message is one line
 *
 * @example
 * ```ts
 * import { readProfile } from "./read_profile.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const profile = await readProfile("fixtures/h100/wave.json");
 * assertEquals(profile.entries[0]!.configuration.parameters.dts, 6);
 * assertEquals((await readProfile(JSON.stringify(profile))).entries.length, profile.entries.length);
 * ```
 */
export async function readProfile(source: string | URL | object, options?: ReadOptions): Promise<Profile> {
  if (!(typeof source === "string" || source instanceof URL)) {
    return checkProfile(source, "the profile", options);
  }
  if (typeof source === "string" && /^\s*\{/.test(source)) {
    return parseProfile(source, "the profile", options);
  }
  const found = typeof source === "string" || source.protocol === "file:"
    ? await readFileIfThere(source)
    : await fetchText(source);
  if (found === undefined) throw new ProfileError(`Cannot read ${nameOf(source)}: there is no such file`);
  return parseProfile(found, nameOf(source), options);
}

/** The text of a file; undefined if there is no such file. */
export async function readFileIfThere(path: string | URL): Promise<string | undefined> {
  if (isPage()) {
    throw new ProfileError(
      `Cannot read ${nameOf(path)}: files cannot be read here: wanted the JSON text or a URL`,
    );
  }
  const bytes = await readBytesIfThere(path);
  try {
    return bytes && new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ProfileError(`Cannot read ${path}: wanted text in UTF-8, found other bytes`);
  }
}

async function fetchText(url: URL): Promise<string> {
  let reason: string;
  try {
    const response = await fetch(url);
    if (response.ok) return await response.text();
    reason = `wanted a file, found status ${response.status}`;
  } catch (error) {
    reason = reasonOf(error);
  }
  throw new ProfileError(`Cannot read ${nameOf(url)}: ${reason}`);
}

function nameOf(source: string | URL): string {
  const name = typeof source === "string" ? source : source.href;
  return name.length > 200 ? `${name.slice(0, 199)}…` : name;
}
