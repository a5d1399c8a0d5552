/**
 * The rules of ARCHITECTURE.md that a machine can check: imports go one way and never in circles, kernels and models are
 * pure, only the command line prints, and files are named for what they hold.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dirname!, "..");

/**
 * What a file of each layer may import beside its own: these layers, and what they may import in turn. Within the
 * tuner a layer is a room. ARCHITECTURE.md draws it.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kernels: [],
  models: ["kernels"],
  tuner: ["kernels", "deno.json"],
  devices: ["tuner", "models"],
  measuring: ["devices"],
  sharing: ["measuring"],
  search: ["measuring"],
  problem: ["search"],
  profile: ["problem"],
  solver: ["profile"],
  files: ["profile"],
  ranks: ["solver", "files"],
  shot: ["solver", "files"],
  tune: ["profile", "sharing"],
  interchange: ["profile"],
  replay: ["interchange"],
  report: ["profile"],
  qualify: ["profile"],
  cli: ["mod.ts", "ranks", "replay", "report", "shot"],
  "mod.ts": ["solver", "tune", "qualify", "files"],
};

/** Everything that a layer may import: what it is allowed to, and what these are allowed to. */
function allowedFor(layer: string): ReadonlySet<string> {
  return new Set([
    layer,
    ...MAY_IMPORT[layer]!.flatMap((below) => MAY_IMPORT[below] ? [...allowedFor(below)] : [below]),
  ]);
}

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

/** The first folder; within the tuner the room, or `tuner` for the few files that belong to none. */
function layerOf(path: string): string {
  const [first = "", room = "", file] = path.split("/");
  return first === "tuner" && file !== undefined ? room : first;
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

/** The files that a file imports, for types too, or starts as a worker: paths from the root. */
function importsOf({ path, code }: Pick<SourceFile, "path" | "code">): string[] {
  const specifiers = [...code.matchAll(/(?:\bfrom|\bimport|\bimport\s*\(|new URL\()\s*"(\.{1,2}\/[^"]+)"/g)];
  return specifiers.map(([, specifier]) => relative(ROOT, join(ROOT, dirname(path), specifier!)));
}

/** Imports of one file that its layer does not allow, as `from -> to`. */
export function forbiddenImports({ path, layer, code }: SourceFile): string[] {
  return importsOf({ path, code })
    .filter((target) => !allowedFor(layer).has(layerOf(target)))
    .map((target) => `${path} -> ${target}`);
}

/** The first circle of files that import each other, as `a -> b -> a`; undefined if there is none. */
export function circleOf(sources: readonly Pick<SourceFile, "path" | "code">[]): string | undefined {
  const imports = new Map(sources.map((source) => [source.path, importsOf(source)]));
  const clear = new Set<string>();
  const circleFrom = (path: string, way: readonly string[]): string | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path].join(" -> ");
    if (clear.has(path)) return undefined;
    for (const target of imports.get(path) ?? []) {
      const circle = circleFrom(target, [...way, path]);
      if (circle !== undefined) return circle;
    }
    clear.add(path);
  };
  for (const path of imports.keys()) {
    const circle = circleFrom(path, []);
    if (circle !== undefined) return circle;
  }
}

/** Places in one file that match, as `path: match`. */
function matches({ path, code }: SourceFile, pattern: RegExp): string[] {
  return [...code.matchAll(pattern)].map(([match]) => `${path}: ${match}`);
}

Deno.test("imports go one way: kernels, models, the rooms of the tuner, mod.ts", () => {
  assertEquals(SOURCES.flatMap(forbiddenImports), []);
});

Deno.test("the page imports nothing of the product but its public interface, and examples", () => {
  const found = [...Deno.readDirSync(join(ROOT, "page"))].filter(({ name }) => name.endsWith(".ts"))
    .flatMap(({ name }) =>
      [...Deno.readTextFileSync(join(ROOT, "page", name)).matchAll(/from "(\.\.\/[^"]+)"/g)].map(([, from]) =>
        `${name}: ${from}`
      )
    );
  const others = found.filter((one) => !/: ..\/(mod|examples\/scene\w+).ts$/.test(one));
  assertEquals(others, ["build.ts: ../pack/bundle.ts"]);
});

Deno.test("no files import each other in a circle, not even for types", () => {
  assertEquals(circleOf(SOURCES), undefined);
});

/** The traversal in whose folder a file lies; undefined for one that serves several. */
function traversalOf(path: string): string | undefined {
  return /^kernels\/traversals\/([a-z_]+)\//.exec(path)?.[1];
}

/** Imports from another traversal's folder; of what serves several none but `all.ts`, which names their doors. */
export function strangeImports(source: Pick<SourceFile, "path" | "code">): string[] {
  if (!source.path.startsWith("kernels/") || source.path === "kernels/traversals/all.ts") return [];
  return importsOf(source)
    .filter((target) => (traversalOf(target) ?? traversalOf(source.path)) !== traversalOf(source.path))
    .map((target) => `${source.path} -> ${target}`);
}

Deno.test("no traversal imports another, and nothing that serves several imports one", () => {
  assertEquals(SOURCES.flatMap(strangeImports), []);
  const found = strangeImports({
    path: "kernels/traversals/torre/a.ts",
    code: `import "../tiles.ts";\nimport "./b.ts";\nimport "../marching/c.ts";`,
  });
  assertEquals(found, ["kernels/traversals/torre/a.ts -> kernels/traversals/marching/c.ts"]);
  const shared = { path: "kernels/capability.ts", code: `import "./traversals/marching/c.ts";` };
  assertEquals(strangeImports(shared), ["kernels/capability.ts -> kernels/traversals/marching/c.ts"]);
});

/** Parameters of one traversal alone, and those that several traversals share the sizes of; `chunk` is a word of streams too. */
const OF_ONE = /\b(?:lookahead|farsh|zPerThread|unroll|chunk)\b/g,
  OF_ANY = /\b(?:lookahead|farsh|zPerThread|unroll|dts|nt|threads[XYZ]|patch[ABC])\b/g;

/** Who names them outside their traversal's folder. */
const NAMING = new Set([
  // the order of torres
  "kernels/traversals/waves.ts",
  // the papers' formulas, and the chart that draws them
  "models/locality.ts",
  "tuner/report/roofline_chart.ts",
  // stepwise's workgroups, of the reference and of files that name none; recorded rates
  "tuner/devices/reference.ts",
  "tuner/profile/former_files.ts",
  "tuner/profile/shipped_rates.ts",
]);

Deno.test("parameters are named in their traversal's folder alone", () => {
  const found = SOURCES.filter(({ path }) => traversalOf(path) === undefined && !NAMING.has(path))
    .flatMap((one) => matches(one, one.path.startsWith("kernels/traversals/") ? OF_ONE : OF_ANY));
  assertEquals(found, []);
});

Deno.test("kernels and models are pure", () => {
  const pure = SOURCES.filter(({ layer }) => layer === "kernels" || layer === "models");
  assertEquals(pure.flatMap((source) => matches(source, IMPURE)), []);
});

Deno.test("a package is named with one version everywhere", () => {
  const versions = new Map<string, Set<string>>();
  for (const { code } of SOURCES) {
    for (const [, name, version] of code.matchAll(/"npm:(@?[^@"]+)@([^"/]+)/g)) {
      versions.set(name!, (versions.get(name!) ?? new Set()).add(version!));
    }
  }
  assertEquals([...versions].filter(([, { size }]) => size > 1), []);
});

/** Their standard output is the line to the process that started them. */
const SPEAK = ["tuner/measuring/process/evaluator_main.ts", "tuner/devices/opened_gpu.ts"];

Deno.test("inside the tuner, only the command line prints", () => {
  const silent = SOURCES.filter(({ layer, path }) => layer !== "cli" && !SPEAK.includes(path));
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
  const climbing = file("tuner/search/a.ts", `import "../measuring/b.ts";\nimport "../tune/c.ts";`);
  assertEquals(forbiddenImports(climbing), ["tuner/search/a.ts -> tuner/tune/c.ts"]);
  const circle = [
    file("models/a.ts", `import type { B } from "./b.ts";\nimport "./d.ts";`),
    file("models/b.ts", `import { c } from "../kernels/c.ts";`),
    file("kernels/c.ts", `import "./d.ts";\nexport type { B } from "../models/b.ts";`),
    file("kernels/d.ts", ""),
  ];
  assertEquals(circleOf(circle), "models/b.ts -> kernels/c.ts -> models/b.ts");
  assertEquals(circleOf(circle.filter(({ path }) => path !== "models/b.ts")), undefined);
  assertEquals(
    circleOf([file("models/a.ts", `const type = new URL("./a.ts");`)]),
    "models/a.ts -> models/a.ts",
  );
  const clock = file(
    "models/a.ts",
    `const t = performance.now(); // performance\n/* Date */ "//"; Date.now();`,
  );
  assertEquals(matches(clock, IMPURE), ["models/a.ts: performance", "models/a.ts: Date"]);
  assertEquals(matches(file("tuner/a.ts", "console.log(1)"), PRINTING), ["tuner/a.ts: console"]);
});
