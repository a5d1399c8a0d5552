/**
 * What commands download, beside Deno: the packages of `tuner/deno.lock`, or `pack/deno.lock`; what tests need is in
 * `tests/deno.lock` alone.
 *
 * @module
 */
import { assert, assertEquals, assertLess } from "@std/assert";
import { join } from "node:path";

/** Packages by name and version, as `zod@4.6.7`, with what a lock file says of them. */
type Packages = Readonly<Record<string, { readonly integrity: string }>>;

async function readJson(path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await Deno.readTextFile(path));
}

async function lockedIn(folder: string): Promise<Packages> {
  return (await readJson(join(folder, "deno.lock"))).npm as Packages;
}

/** Where the cache has its packages: the folder of the registry that has them. */
async function cacheOf(name: string): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { npmCache } = JSON.parse(new TextDecoder().decode(stdout));
  for await (const { name: registry } of Deno.readDir(npmCache)) {
    const path = join(npmCache, registry);
    if (await Deno.stat(join(path, name)).catch(() => undefined) !== undefined) return path;
  }
  throw new Error(`${npmCache} has no ${name}`);
}

/** Name and version of a key: `@a/b@1.0.0` has two signs. */
function nameOf(key: string): string {
  return key.slice(0, key.indexOf("@", 1));
}

/** Copies a folder; returns the bytes of its files. */
async function copyFolder(from: string, to: string): Promise<number> {
  let bytes = 0;
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (isDirectory) bytes += await copyFolder(source, target);
    else await Deno.copyFile(source, target), bytes += (await Deno.stat(source)).size;
  }
  return bytes;
}

Deno.test("a command of an empty cache needs what tuner/deno.lock names and no more, below 30 MB", async () => {
  const folder = await Deno.makeTempDir({ prefix: "facet-cache-" });
  try {
    const names = new Set(Object.keys(await lockedIn("tuner")).map(nameOf)), cache = await cacheOf("zod");
    const own = join(folder, "npm", cache.slice(cache.lastIndexOf("/") + 1));
    let bytes = 0;
    for (const name of names) bytes += await copyFolder(join(cache, name), join(own, name));
    assertLess(bytes, 30e6);
    for (const args of [["space", "--grid", "16x16x16"], ["replay", "--help"], ["bench", "--help"]]) {
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["task", ...args],
        // nothing can be downloaded: no proxy answers there
        env: { DENO_DIR: folder, HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9" },
        stdout: "null",
      }).output();
      assert(success, new TextDecoder().decode(stderr));
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("what commands and the package use is what the tests use, in the same versions", async () => {
  const tested = await lockedIn("tests");
  for (const folder of ["tuner", "pack"]) {
    const used = await lockedIn(folder);
    for (const key of Object.keys(used)) assertEquals(used[key]!.integrity, tested[key]?.integrity, key);
  }
  const { imports } = await readJson("tuner/deno.json") as { imports: Record<string, string> };
  const { scopes } = await readJson("deno.json") as { scopes: Record<string, Record<string, string>> };
  const { "@facet/facet": _, ...packages } = imports;
  assertEquals(packages, scopes["./tuner/"]);
});

Deno.test("deno install in the root gets every package that files name themselves, in their versions", async () => {
  const { scopes } = await readJson("deno.json") as { scopes: Record<string, Record<string, string>> };
  const installed = new Set(Object.values(scopes).flatMap((packages) => Object.values(packages)));
  const { stdout } = await new Deno.Command("git", {
    args: ["grep", "-hoE", '"npm:[^"]+"', "--", "kernels/*.ts", "models/*.ts", "tuner/*.ts", "std/*.ts"],
  }).output();
  const named = new TextDecoder().decode(stdout).trim().split("\n").map((text) => JSON.parse(text));
  assert(named.length > 10);
  for (const specifier of named) assert(installed.has(specifier), specifier);
});
