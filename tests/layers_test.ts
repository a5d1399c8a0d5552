/**
 * The rules of ARCHITECTURE.md that a machine can check: imports go one way, kernels and models are pure, only
 * the command line prints, and files are named for what they hold.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dirname!, "..");

/** Layers that a file of each layer may import; `cli` is the part of the tuner that prints. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kernels: ["kernels"],
  models: ["kernels", "models"],
  tuner: ["kernels", "models", "tuner", "deno.json"],
  cli: ["kernels", "models", "tuner", "cli", "deno.json"],
  "mod.ts": ["kernels", "models", "tuner"],
};

/** What reaches out of a pure function: the runtime, devices, clocks, chance, the network, the terminal. */
const IMPURE =
  /\b(?:Deno|navigator|performance|fetch|console|Date|crypto|Worker|setTimeout|setInterval)\b|\bMath\.random\b|"node:/g;

const PRINTING = /\bconsole\b|\bDeno\.(?:stdout|stderr)\b|\bprocess\.std(?:out|err)\b/g;

interface SourceFile {
  /** Path from the root, with forward slashes. */
  readonly path: string;
  readonly layer: string;
  /** The text without comments. */
  readonly code: string;
}

function layerOf(path: string): string {
  return path.startsWith("tuner/cli/") ? "cli" : path.split("/")[0];
}

function* walk(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(join(ROOT, folder))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* walk(path);
    else yield path;
  }
}

/** Removes comments, but not what looks like one inside a text on one line, as "https://". */
function withoutComments(source: string): string {
  return source.replace(
    /("(?:\\.|[^"\\\n])*")|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_, text: string | undefined) => text ?? "",
  );
}

function readSource(path: string): SourceFile {
  return { path, layer: layerOf(path), code: withoutComments(Deno.readTextFileSync(join(ROOT, path))) };
}

const FOLDERS = ["kernels", "models", "tuner"];
const PATHS = [...FOLDERS.flatMap((folder) => [...walk(folder)]), "mod.ts"];
const SOURCES = PATHS.filter((path) => path.endsWith(".ts")).map(readSource);

/** Imports of one file that its layer does not allow, as `from -> to`. */
export function forbiddenImports({ path, layer, code }: SourceFile): string[] {
  const specifiers = [...code.matchAll(/(?:\bfrom|\bimport|\bimport\s*\(|new URL\()\s*"(\.{1,2}\/[^"]+)"/g)];
  return specifiers
    .map(([, specifier]) => relative(ROOT, join(ROOT, dirname(path), specifier)))
    .filter((target) => !MAY_IMPORT[layer].includes(layerOf(target)))
    .map((target) => `${path} -> ${target}`);
}

/** Places in one file that match, as `path: match`. */
function matches({ path, code }: SourceFile, pattern: RegExp): string[] {
  return [...code.matchAll(pattern)].map(([match]) => `${path}: ${match}`);
}

Deno.test("imports go one way: kernels, models, tuner, mod.ts", () => {
  assertEquals(SOURCES.flatMap(forbiddenImports), []);
});

Deno.test("kernels and models are pure", () => {
  const pure = SOURCES.filter(({ layer }) => layer === "kernels" || layer === "models");
  assertEquals(pure.flatMap((source) => matches(source, IMPURE)), []);
});

Deno.test("inside the tuner, only the command line prints", () => {
  const silent = SOURCES.filter(({ layer }) => layer !== "cli");
  assertEquals(silent.flatMap((source) => matches(source, PRINTING)), []);
});

Deno.test("files are named in snake_case, for what they hold", () => {
  const names = [...PATHS, ...walk("tests"), ...walk("std")]
    .filter((path) => /\.[jt]s$/.test(path))
    .flatMap((path) => path.split("/").map((part) => ({ path, part: part.replace(/\.(?:ts|js)$/, "") })));
  const isBad = (name: string): boolean =>
    !/^[a-z0-9]+(?:_[a-z0-9]+)*$/.test(name) || /^(?:utils?|helpers?|common|misc)$/.test(name);
  assertEquals([...new Set(names.filter(({ part }) => isBad(part)).map(({ path }) => path))], []);
});

Deno.test("the rules see what they forbid", () => {
  const file = (path: string, code: string): SourceFile => ({
    path,
    layer: layerOf(path),
    code: withoutComments(code),
  });
  const upwards = file("kernels/a.ts", `import { b } from "../tuner/b.ts";\nexport * from "../models/c.ts";`);
  assertEquals(forbiddenImports(upwards), ["kernels/a.ts -> tuner/b.ts", "kernels/a.ts -> models/c.ts"]);
  assertEquals(forbiddenImports(file("tuner/a.ts", `await import("./cli/b.ts")`)), [
    "tuner/a.ts -> tuner/cli/b.ts",
  ]);
  assertEquals(forbiddenImports(file("models/a.ts", `import "../kernels/b.ts";`)), []);
  const clock = file(
    "models/a.ts",
    `const t = performance.now(); // performance\n/* Date */ "//"; Date.now();`,
  );
  assertEquals(matches(clock, IMPURE), ["models/a.ts: performance", "models/a.ts: Date"]);
  assertEquals(matches(file("tuner/a.ts", "console.log(1)"), PRINTING), ["tuner/a.ts: console"]);
});
