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
import { dirname, join, resolve } from "node:path";
import configuration from "../deno.json" with { type: "json" };
import { bundle, importedPackages, output } from "./bundle.ts";

/** What is packed as it is, besides declarations. */
const FILES = /\.d\.ts$|^package\/(?:README\.md|CHANGELOG\.md|LICENSE|profile\.schema\.json)$/;

async function write(folder: string, packages: ReadonlyMap<string, string>): Promise<void> {
  const sources = join(dirname(folder), "sources.tgz");
  await output(Deno.execPath(), "pack", "--allow-dirty", "--no-source-maps", "-o", sources);
  const names = (await output("tar", "-tzf", sources)).split("\n").filter((name) => FILES.test(name));
  await output("tar", "-xzf", sources, "-C", dirname(folder), ...names);
  // one by one: each is a whole of its own
  for (const entry of ["mod.ts", "tuner/devices/cpu/wasm_worker.ts"]) await bundle([entry], folder, packages);
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
