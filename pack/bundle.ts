/**
 * Makes modules for Node.js and pages of the library, and of what uses it: types left out, what is imported of other packages
 * put in.
 *
 * @module
 */
import { build, type Plugin, stop } from "esbuild";
import { join } from "node:path";

const ROOT = join(import.meta.dirname!, "..");

/** The oldest engines: Node.js 20 and browsers of its time; and what they lack, as the standard defines it. */
const TARGET = "es2022";
const MISSING: Readonly<Record<string, string>> = {
  "Map.groupBy": `(items, keyOf) => {
  const groups = new Map(); let i = 0;
  for (const item of items) {
    const key = keyOf(item, i++);
    groups.has(key) ? groups.get(key).push(item) : groups.set(key, [item]);
  }
  return groups;
}`,
  "Promise.withResolvers": `function () {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}`,
};

/** Where modules are in the package, and where bundlers for pages need not look for any. */
const REPLACED = [
  ['"./wasm_worker.ts"', '"./wasm_worker.js"'],
  ['await import("node:module")', 'process.getBuiltinModule("node:module")'],
] as const;

/** The part of `deno info --json` that is read here. */
interface ModuleInfo {
  readonly modules: readonly { readonly specifier: string }[];
  readonly redirects: Readonly<Record<string, string>>;
  readonly npmPackages: Readonly<Record<string, { readonly localPath: string }>>;
}

/** What a program prints, run in the project's root. */
export async function output(program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd: ROOT }).output();
  const text = new TextDecoder();
  if (!success) throw new Error(`${program} ${args[0]} failed: ${text.decode(stderr).trim()}`);
  return text.decode(stdout);
}

/** Folders of the packages that the library imports, by the specifiers with which it does. */
export async function importedPackages(): Promise<Map<string, string>> {
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

/** Files of mod.ts's exports by name, types left out. */
async function exportedFrom(): Promise<Map<string, string>> {
  const text = await Deno.readTextFile(join(ROOT, "mod.ts"));
  return new Map(
    [...text.matchAll(/^export \{([^}]*)\} from "(.*)";/gm)].flatMap(([, names, file]) =>
      names!.split(",").map((name) => [name.trim(), file!] as const)
    ),
  );
}

/**
 * Writes a module of each entry into a folder, under its own name.
 *
 * @param packages of {@linkcode importedPackages}
 * @param options.minify leaves out what only readers need; parts that several entries share are files of their own then
 */
export async function bundle(
  entryPoints: string[],
  folder: string,
  packages: ReadonlyMap<string, string>,
  { minify = false } = {},
): Promise<void> {
  const npm: Plugin = {
    name: "npm:",
    setup({ onLoad, onResolve, resolve }) {
      onResolve(
        { filter: /^npm:/ },
        ({ path, kind }) => resolve(packages.get(path)!, { kind, resolveDir: ROOT }),
      );
      // the version alone is read
      onLoad({ filter: /[\\/]deno\.json$/ }, async ({ path }) => {
        const { version } = JSON.parse(await Deno.readTextFile(path));
        return { contents: JSON.stringify({ version }), loader: "json" };
      });
      // a page computes in f32 alone
      onLoad({ filter: /[\\/]kernels[\\/]functions\.ts$/ }, async ({ path }) => {
        const text = await Deno.readTextFile(path);
        const short = text.replace(/^(const MADE_IN_F64.* = \{)[^]*?^\}/m, "$1}").replace(
          /^ {2}f64: \{[^]*?^ {2}\}/m,
          "  f64: {}",
        );
        return { contents: minify ? short : text, loader: "ts" };
      });
      // it reads profiles and makes no JSON Schema of them
      onLoad(
        { filter: /[\\/]zod[\\/].*[\\/](to-json-schema|json-schema-processors)\.js$/ },
        async ({ path }) => {
          if (!minify) return undefined;
          const text = await Deno.readTextFile(path);
          const names = text.matchAll(/^export (?:function|const|\{ \w+ as) (\w+)/gm);
          return {
            contents: [...names].map(([, name]) => `export const ${name} = () => () => {};`).join("\n"),
          };
        },
      );
      // a part of a page loads the files that it uses, not all that mod.ts names
      onLoad({ filter: /[\\/](page|examples)[\\/]\w+\.ts$/ }, async ({ path }) => {
        const text = await Deno.readTextFile(path), files = await exportedFrom();
        const contents = text.replace(
          /^import \{([^}]*)\} from "..\/mod.ts";/gm,
          (_, names: string) =>
            names.split(",").map((name) => name.trim()).filter((name) => /^\w+$/.test(name))
              .map((name) => `import { ${name} } from ${JSON.stringify(join(ROOT, files.get(name)!))};`).join(
                " ",
              ),
        );
        // and of all its words those of equations
        const words = [...files].filter(([name, file]) =>
          /^\w+$/.test(name) && file.startsWith("./kernels/") && !file.endsWith("/reference.ts")
        );
        const whole = words.map(([name, file]) =>
          `export { ${name} } from ${JSON.stringify(join(ROOT, file))};`
        );
        return {
          contents: contents.replace(/^export \* from "..\/mod.ts";/m, () => whole.join("\n")),
          loader: "ts",
        };
      });
    },
  };
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    minify,
    splitting: minify,
    entryNames: "[name]",
    format: "esm",
    platform: "neutral",
    target: TARGET,
    mainFields: ["module", "main"],
    external: ["node:*", "*.webp"],
    plugins: [npm],
    absWorkingDir: ROOT,
    outdir: folder,
    write: false,
  });
  await stop();
  for (const { path, text } of outputFiles) {
    const edited = REPLACED.reduce((text, [from, to]) => text.replaceAll(from, to), text);
    const before = Object.entries(MISSING).filter(([name]) => edited.includes(name))
      .map(([name, made]) => `${name} ??= ${made};\n`).join("");
    await Deno.writeTextFile(path, before + edited);
  }
}
