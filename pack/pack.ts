/**
 * The task `pack`: makes an npm package of the library, for Node.js and for pages:
 *
 *     deno task pack [FILE.tgz]
 *
 * It holds one ES module, with what it uses of other packages; the CPU workers' module beside it; and the declarations,
 * by `deno pack`.
 *
 * @module
 */
import { build, type BuildOptions, type Plugin, stop } from "esbuild";
import { dirname, join, resolve } from "node:path";
import configuration from "../deno.json" with { type: "json" };

const ROOT = join(import.meta.dirname!, "..");

/** The oldest engines: Node.js 20 and browsers of its time; and what they lack, as the standard defines it. */
const TARGET = "es2022";
const MISSING = `Map.groupBy ??= (items, keyOf) => {
  const groups = new Map(); let i = 0;
  for (const item of items) {
    const key = keyOf(item, i++);
    groups.has(key) ? groups.get(key).push(item) : groups.set(key, [item]);
  }
  return groups;
};
Promise.withResolvers ??= function () {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};`;

/** Where modules are in the package, and where bundlers for pages need not look for any. */
const REPLACED = [
  ['"./wasm_worker.ts"', '"./wasm_worker.js"'],
  ['await import("node:module")', 'process.getBuiltinModule("node:module")'],
] as const;

/** What is packed as it is, besides declarations. */
const FILES = /\.d\.ts$|^package\/(?:README\.md|CHANGELOG\.md|LICENSE|profile\.schema\.json)$/;

/** The part of `deno info --json` that is read here. */
interface ModuleInfo {
  readonly modules: readonly { readonly specifier: string }[];
  readonly redirects: Readonly<Record<string, string>>;
  readonly npmPackages: Readonly<Record<string, { readonly localPath: string }>>;
}

async function output(program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd: ROOT }).output();
  const text = new TextDecoder();
  if (!success) throw new Error(`${program} ${args[0]} failed: ${text.decode(stderr).trim()}`);
  return text.decode(stdout);
}

/** Folders of the packages that the library imports, by the specifiers with which it does. */
async function importedPackages(): Promise<Map<string, string>> {
  const info: ModuleInfo = JSON.parse(
    await output(Deno.execPath(), "info", "--lock=pack/deno.lock", "--json", "mod.ts"),
  );
  const used = new Set(info.modules.map(({ specifier }) => specifier));
  return new Map(
    Object.entries(info.redirects).filter(([, target]) => used.has(target)).map(
      ([specifier, target]) => [specifier, info.npmPackages[target.replace(/^npm:\/?/, "")]!.localPath],
    ),
  );
}

async function bundle(folder: string, packages: ReadonlyMap<string, string>): Promise<void> {
  const npm: Plugin = {
    name: "npm:",
    setup({ onResolve, resolve }) {
      onResolve(
        { filter: /^npm:/ },
        ({ path, kind }) => resolve(packages.get(path)!, { kind, resolveDir: ROOT }),
      );
    },
  };
  const options = {
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: TARGET,
    mainFields: ["module", "main"],
    external: ["node:*"],
    plugins: [npm],
    absWorkingDir: ROOT,
    outdir: folder,
    write: false,
  } satisfies BuildOptions;
  const library = await build({ ...options, entryPoints: ["mod.ts"], banner: { js: MISSING } });
  const worker = await build({ ...options, entryPoints: ["tuner/devices/cpu/wasm_worker.ts"] });
  await stop();
  for (const { path, text } of [...library.outputFiles, ...worker.outputFiles]) {
    const edited = REPLACED.reduce((text, [from, to]) => text.replaceAll(from, to), text);
    await Deno.writeTextFile(path, edited);
  }
}

async function write(folder: string, packages: ReadonlyMap<string, string>): Promise<void> {
  const sources = join(dirname(folder), "sources.tgz");
  await output(Deno.execPath(), "pack", "--allow-dirty", "--no-source-maps", "-o", sources);
  const names = (await output("tar", "-tzf", sources)).split("\n").filter((name) => FILES.test(name));
  await output("tar", "-xzf", sources, "-C", dirname(folder), ...names);
  await bundle(folder, packages);
  const licenses = await Promise.all(
    [...packages].map(async ([name, path]) => `${name}\n\n${await Deno.readTextFile(join(path, "LICENSE"))}`),
  );
  await Deno.writeTextFile(join(folder, "LICENSES_OF_OTHERS"), licenses.join("\n\n"));
  const { name, version, license } = configuration;
  const manifest = {
    name,
    version,
    description:
      "Runs stencil kernels on WebGPU and CPU workers in the fastest way that was found for a device",
    license,
    type: "module",
    exports: { ".": { types: "./mod.d.ts", default: "./mod.js" }, "./wasm_worker.js": "./wasm_worker.js" },
    sideEffects: false,
    engines: { node: ">=20.16" },
    peerDependencies: { webgpu: "*" },
    peerDependenciesMeta: { webgpu: { optional: true } },
  };
  await Deno.writeTextFile(join(folder, "package.json"), JSON.stringify(manifest, null, 2) + "\n");
}

const { name, version } = configuration, usual = `${name.slice(1).replace("/", "-")}-${version}.tgz`;
const [file = usual, ...others] = Deno.args, isHelp = file === "--help" || file === "-h";
if (isHelp || others.length > 0 || file.startsWith("-")) {
  if (isHelp) console.log(`Usage: deno task pack [FILE.tgz]\n\nMakes an npm package (default ${usual}).`);
  else console.error(`facet: Unexpected argument "${others[0] ?? file}": wanted one file at most`);
  Deno.exit(isHelp ? 0 : 2);
}
const target = resolve(file), folder = await Deno.makeTempDir({ prefix: "facet-pack-" });
let exitCode = 0;
try {
  // before any work
  await Deno.writeFile(target, new Uint8Array());
  await write(join(folder, "package"), await importedPackages());
  await output("tar", "-czf", target, "-C", folder, "package");
  console.log(target);
} catch (error) {
  console.error(`facet: Cannot pack ${target}: ${(error as Error).message.split("\n")[0]}`);
  exitCode = 2;
} finally {
  await Deno.remove(folder, { recursive: true });
}
Deno.exit(exitCode);
