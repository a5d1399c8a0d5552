import { basename, join } from "node:path";

/** Where Vulkan's loader looks for drivers on Linux. */
const ICD_DIRECTORIES = ["/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];

/** Where it looks for libraries that are named without a directory. */
const LIBRARY_DIRECTORIES = [
  "/usr/lib/x86_64-linux-gnu",
  "/usr/lib/aarch64-linux-gnu",
  "/usr/lib64",
  "/usr/lib",
  "/usr/local/lib",
];

/**
 * A text that changes when a Vulkan driver is installed, updated or removed: the drivers' library files with their
 * versions, as far as their names tell, sizes and dates. WebGPU reports no version, so that an update that doubles a
 * rate would go unnoticed. Never throws.
 *
 * @returns undefined where there is nothing to read, as on other systems than Linux
 */
export async function describeDriver(
  { icdDirectories = ICD_DIRECTORIES, libraryDirectories = LIBRARY_DIRECTORIES }: {
    readonly icdDirectories?: readonly string[];
    readonly libraryDirectories?: readonly string[];
  } = {},
): Promise<string | undefined> {
  const drivers = new Set<string>();
  const nothing = () => undefined;
  for (const directory of icdDirectories) {
    for (const manifest of await manifestsIn(directory).catch(nothing) ?? []) {
      const library = await libraryOf(manifest).catch(nothing);
      if (library === undefined) continue;
      // a name without a directory is looked up, the first that is there counts
      const places = library.includes("/") ? [library] : libraryDirectories.map((at) => join(at, library));
      const files = await Promise.all(places.map((place) => describeFile(place).catch(nothing)));
      const found = files.find((file) => file !== undefined);
      if (found !== undefined) drivers.add(found);
    }
  }
  return drivers.size === 0 ? undefined : [...drivers].sort().join("; ").slice(0, 1000);
}

async function manifestsIn(directory: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(directory), ({ name }) => name);
  return names.filter((name) => name.endsWith(".json")).map((name) => join(directory, name));
}

/** What a driver's manifest names. */
async function libraryOf(manifest: string): Promise<string | undefined> {
  const path: unknown = JSON.parse(await Deno.readTextFile(manifest))?.ICD?.library_path;
  return typeof path === "string" ? path : undefined;
}

/** `libGLX_nvidia.so.535.104 1234567 2026-11-21`. */
async function describeFile(path: string): Promise<string> {
  const target = await Deno.realPath(path);
  const { size, mtime } = await Deno.stat(target);
  return `${basename(target)} ${size} ${mtime?.toISOString() ?? ""}`.trimEnd();
}
