/**
 * The npm package, packed once: in Node.js, installed by npm, and in a browser page. Where there is no npm or no
 * Chromium the test is ignored, and its name says so.
 *
 * @module
 */
import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import type { PageReport } from "./page.ts";

const HERE = import.meta.dirname!, ROOT = join(HERE, "../..");

/** The first of these programs that starts. */
async function findProgram(...names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    try {
      const args = ["--version"];
      const { success } = await new Deno.Command(name, { args, stdout: "null", stderr: "null" }).output();
      if (success) return name;
    } catch {
      // there is none of this name
    }
  }
  return undefined;
}

const NPM = await findProgram("npm");
const CHROMIUM = await findProgram(
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
);

async function output(program: string, args: readonly string[], cwd = ROOT): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd }).output();
  const text = new TextDecoder();
  assert(success, `${program} ${args[0]}: ${text.decode(stderr)}`);
  return text.decode(stdout);
}

const FOLDER = await Deno.makeTempDir({ prefix: "facet-pack-" });
Deno.test.afterAll(() => Deno.remove(FOLDER, { recursive: true }));

let packing: Promise<string> | undefined;

/** The package's file, made by the first test that asks. */
function tarball(): Promise<string> {
  const path = join(FOLDER, "facet.tgz");
  return packing ??= output(Deno.execPath(), ["task", "pack", path]).then(() => path);
}

Deno.test({
  name: "the package is installed from its file alone, and solves on CPU workers in Node.js" +
    (NPM === undefined ? " (ignored: no npm)" : ""),
  ignore: NPM === undefined,
  async fn() {
    const folder = join(FOLDER, "node"), program = join(folder, "main.mjs");
    await Deno.mkdir(folder);
    await output(NPM!, ["install", "--offline", await tarball()], folder);
    await Deno.copyFile(join(HERE, "node_program.js"), program);
    const stdout = await output("node", [program, join(ROOT, "fixtures/h100/wave.json")], folder);
    const { workers, largest, missing } = JSON.parse(stdout);
    assertEquals([workers, missing], [2, "Cannot read none.json: there is no such file"]);
    assertLess(largest, 1e-4);
    // the program of the README, without types and as it says for a Node.js that lacks `await using`
    const readme = await Deno.readTextFile(join(ROOT, "README.md"));
    const [, typed] = /## In your own program\n\n```ts\n(.*?)```/s.exec(readme)!;
    const plain = typed!.replace("await using solver", "const solver").replaceAll(
      / as const|: number\b/g,
      "",
    );
    await Deno.writeTextFile(program, `${plain}solver.dispose();\n`);
    const [chosen, numbers] = (await output("node", [program], folder)).trim().split("\n");
    assertStringIncludes(chosen!, "the CPU alone");
    const [rate, cells] = numbers!.split(" ").map(Number);
    assert(rate! > 0 && cells === 64 * 64, `${rate} ${cells}`);
  },
});

Deno.test("the package is small enough for a page", async () => {
  const { size } = await Deno.stat(await tarball());
  assertLess(size, 2 ** 20);
  await output("tar", ["-xzf", await tarball(), "-C", FOLDER]);
  const library = await Deno.readTextFile(join(FOLDER, "package", "mod.js"));
  assertEquals(library.match(/\bfrom ?"[\w:@./-]+"/g), null); // a browser has no node:path
});

Deno.test("the package declares all that it exports, by files that it has", async () => {
  await output("tar", ["-xzf", await tarball(), "-C", FOLDER]);
  const folder = join(FOLDER, "package"), seen = new Set<string>();
  const visit = async (path: string): Promise<void> => {
    if (seen.has(path)) return;
    seen.add(path);
    const text = (await Deno.readTextFile(path)).replaceAll(/\/\*.*?\*\//gs, "");
    for (const [, specifier] of text.matchAll(/(?:from |import\()"([^"]+)"/g)) {
      assert(specifier!.startsWith("."), `${path}: ${specifier}`);
      await visit(join(path, "..", specifier!.replace(/\.js$/, ".d.ts")));
    }
  };
  await visit(join(folder, "mod.d.ts"));
  assert(seen.size > 10);
});

Deno.test({
  name: "the package in a browser page solves on the page's device, and with CPU workers" +
    (CHROMIUM === undefined ? " (ignored: no Chromium; apt-get install chromium)" : ""),
  ignore: CHROMIUM === undefined,
  async fn(test) {
    await output("tar", ["-xzf", await tarball(), "-C", FOLDER]);
    const args = ["run", "-A", join(HERE, "run_page.ts"), CHROMIUM!, join(FOLDER, "package")];
    const report: PageReport = JSON.parse(await output(Deno.execPath(), args));
    if (report.error === "openDevice found no adapter") {
      await test.step({ name: "(ignored: this Chromium has no WebGPU adapter)", ignore: true, fn() {} });
      return;
    }
    assertEquals(report.error, undefined);
    for (const [limits, error] of Object.entries(report.planeWaves!)) assertLess(error, 1e-4, limits);
    assertEquals(report.isolated, true);
    assertEquals(report.wrongCells, {
      stepwise: 0,
      marching: 0,
      "diamond-torre": 0,
      life: 0,
      elastic: 0,
      "shared with the CPU": 0,
      "the CPU alone": 0,
    });
    assertStringIncludes(report.chosen!, "the models alone");
    assertStringIncludes(report.refused!, "each buffer must have at least");
  },
});
