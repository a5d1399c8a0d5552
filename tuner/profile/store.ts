import { basename, dirname, join, resolve } from "node:path";
import { gpuName } from "../devices/vendors.ts";
import { formatPlural } from "../format.ts";
import { replaceBytes } from "../platform.ts";
import { withDirectoryLock } from "./file_lock.ts";
import { formatProfile } from "./format_profile.ts";
import { type DeviceIdentity, devicesOf, isSameDevice, mergeProfiles } from "./merge.ts";
import { PROFILES } from "./own_profile.ts";
import { oneLine, ProfileError, reasonOf } from "./profile_error.ts";
import { readFileIfThere } from "./read_profile.ts";
import { checkProfile, parseProfile, type Profile, type ReadOptions } from "./schema.ts";

export { isSameDevice, mergeProfiles } from "./merge.ts";
export { defaultProfilePath } from "./own_profile.ts";
export { readProfile } from "./read_profile.ts";

/**
 * Writes a profile, merged with the one that is already there, and returns what the file then holds. Missing
 * directories are made. A crash at any moment leaves either the old file or the new one.
 *
 * @throws {ProfileError} if it cannot be written, or the file is not a profile of this device
 */
export async function writeProfile(path: string, profile: Profile): Promise<Profile> {
  const target = await resolveTarget(path);
  checkProfile(profile, "the new profile");
  const merge = async (): Promise<Profile> => {
    const earlier = await readIfThere(target);
    if (earlier !== undefined) refuseForeign(path, earlier, profile.device);
    const merged = earlier === undefined ? profile : mergeProfiles(earlier, profile);
    await removeTemporaries(target);
    await replaceFile(target, formatProfile(merged));
    return merged;
  };
  try {
    await Deno.mkdir(dirname(target), { recursive: true });
    // of two processes at once, the second merges with what the first has written
    return await withDirectoryLock(dirname(target), merge);
  } catch (error) {
    throw oneLine(error, `Cannot write ${path}: ${reasonOf(error)}`);
  }
}

/** Removes what writers of this file left behind when they were killed; the lock says that none is at work. */
async function removeTemporaries(target: string): Promise<void> {
  const start = `.${basename(target)}.`;
  for await (const { name } of Deno.readDir(dirname(target))) {
    if (!name.startsWith(start) || !/^[0-9a-f-]{36}\.tmp$/.test(name.slice(start.length))) continue;
    await Deno.remove(join(dirname(target), name)).catch(() => {});
  }
}

/**
 * Throws if a profile cannot be written, before any work is done for it. Without a `device`, a profile that is there
 * may belong to any device. Returns the one that is there.
 */
export async function checkWritable(
  path: string,
  device?: DeviceIdentity,
  options?: ReadOptions,
): Promise<Profile | undefined> {
  const earlier = await readIfThere(await resolveTarget(path), options);
  if (earlier !== undefined && device !== undefined) refuseForeign(path, earlier, device);
  await checkFileWritable(path);
  return earlier;
}

/**
 * Throws if a file of any kind cannot be written there; a folder for every typing error is of no use to anyone. That a
 * disk has room for `bytes` shows only in writing them.
 */
export async function checkFileWritable(path: string, bytes = 2 ** 20): Promise<void> {
  const dir = dirname(await resolveTarget(path)), piece = new Uint8Array(2 ** 20);
  try {
    if (dir === resolve(PROFILES)) await Deno.mkdir(dir, { recursive: true });
    const probe = await Deno.makeTempFile({ dir, prefix: ".facet-", suffix: ".tmp" });
    using file = await Deno.open(probe, { write: true });
    await Deno.remove(probe); // gone with this process, however that ends
    for (let left = bytes; left > 0; left -= piece.length) await writeAll(file, piece.subarray(0, left));
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? `there is no folder ${dir}` : reasonOf(error);
    // what was read-only before any work is a wrong request, no disk that failed
    const isReadOnly = (error as { code?: unknown }).code === "EROFS";
    throw new ProfileError(`Cannot write ${path}: ${reason}`, isReadOnly ? {} : { cause: error });
  }
}

/** A file that others were merged into takes in what any of them measures. */
function refuseForeign(path: string, earlier: Profile, ours: DeviceIdentity): void {
  const { device: theirs } = earlier;
  if (devicesOf(earlier).some(({ device }) => isSameDevice(device, ours))) return;
  const describe = ({ gpu, cpu }: DeviceIdentity): string =>
    `${gpu === null ? "no GPU" : gpuName(gpu)} with ${cpu.model} (${formatPlural(cpu.cores, "core")})`;
  throw new ProfileError(
    `Cannot write ${path}: it is the profile of another device, ${describe(theirs)}; ` +
      `this one is ${describe(ours)}: choose another file with --out`,
  );
}

async function readIfThere(path: string, options?: ReadOptions): Promise<Profile | undefined> {
  const text = await readFileIfThere(path);
  return text === undefined ? undefined : parseProfile(text, path, options);
}

/** The file that a path names, links followed. Refuses what a profile must not replace. */
export async function resolveTarget(path: string): Promise<string> {
  if (path === "" || path.includes("\0") || /[/\\]$/.test(path)) {
    throw new ProfileError(`Cannot write ${JSON.stringify(path)}: wanted the name of a file`);
  }
  let target = resolve(path);
  try {
    target = await Deno.realPath(target);
    const { isFile, isDirectory } = await Deno.stat(target);
    const what = isDirectory ? "a folder" : "not a regular file";
    if (!isFile) throw new ProfileError(`Cannot write ${path}: it is ${what}`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) {
      throw oneLine(error, `Cannot write ${path}: ${reasonOf(error)}`);
    }
  }
  return target;
}

/** Writes a file in place of an earlier one, whole or not at all. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  await replaceBytes(await resolveTarget(path), bytes);
}

/** Writes every byte: one call may take only some of them. */
export async function writeAll(file: Pick<Deno.FsFile, "write">, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
}

/** Bytes of a file from a place on: as many as there are, up to a length. */
export async function readPart(
  file: Deno.FsFile,
  start: number,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const part = new Uint8Array(length);
  await file.seek(start, Deno.SeekMode.Start);
  let done = 0;
  for (let read: number | null = 0; read !== null && done < length; done += read ?? 0) {
    read = await file.read(part.subarray(done));
  }
  return part.subarray(0, done);
}
