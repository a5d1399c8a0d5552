/**
 * An equation of the user's own, in a module: tuned, and then run from the profile alone.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { chooseConfiguration, createSolver, problemOf, readProfile } from "../../mod.ts";
import { loadEquation } from "../../tuner/cli/load_equation.ts";
import { journalPath, readJournal } from "../../tuner/profile/journal.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { THOROUGH } from "../thorough.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { inDirectory, runCommand, runTask } from "./run_task.ts";

const FACET = new URL("../../mod.ts", import.meta.url).href;

/** Moves a field by a cell along z and halves it, which no rounding changes. */
const MODULE = `import { equation, multiply } from ${JSON.stringify(FACET)};
export default equation({
  name: "Half_shift",
  variant: { factor: 0.5 },
  fields: { u: [0, 1] },
  boundaries: ["periodic", "zero"],
  step: ({ u }) => ({ u: multiply(0.5, u.at(0, 0, -1)) }),
});
`;

testOnGpu(
  "a module's equation is tuned, and its profile qualified, reported and solved without the module",
  () =>
    inDirectory(async (directory) => {
      const module = `${directory}/half_shift.ts`, out = `${directory}/p.json`;
      await Deno.writeTextFile(module, MODULE);
      const wanted = "--grid 8x6x12 --steps 4 --traversal stepwise --cpu-workers 0 --budget 2 --quiet";
      const files = ["--stencil", `file://${module}`, "--out", out];
      const tuned = await runTask("tune", [...files, ...wanted.split(" ")]);
      assertEquals(tuned.code, 0, tuned.stderr);
      assertMatch(tuned.stdout, /^Half_shift, grid 8x6x12, periodic boundary/);
      await Deno.remove(module);

      const profile = await readProfile(out), [entry, ...more] = profile.entries;
      assertEquals([more.length, entry!.problem.definition?.variant], [0, { factor: 0.5 }]);
      const { records: [first] } = await readJournal(journalPath(out));
      assertEquals(first?.kind === "run" && first.problem, entry!.problem);
      const qualified = await runTask("qualify", ["--profile", out, "--numerics", "--quick", "--quiet"]);
      assertEquals(qualified.code, 0, qualified.stderr);
      assertStringIncludes(qualified.stdout, "right: Half_shift, factor 0.5, hash ");
      const { code, stderr } = await runCommand("report", ["--profile", out, "--out", `${directory}/r.html`]);
      assertEquals(code, 0, stderr);

      const problem = problemOf(entry!.problem)!;
      const cpu = {
        traversal: "stepwise",
        parameters: {},
        share: { cpuSlices: 8, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 },
      };
      assertEquals(
        chooseConfiguration(profile, problem, null, { cpuWorkers: 1 }).configuration.share.cpuSlices,
        8,
      );
      using solver = await createSolver(null, problem, cpu);
      await solver.write("u", (_, __, z) => z);
      await solver.run(2);
      assertEquals([...(await solver.read("u")).subarray(0, 4)], [2.5, 2.75, 0, 0.25]);

      // a hand that edits the definition is noticed
      await Deno.writeTextFile(
        out,
        (await Deno.readTextFile(out)).replace('["multiply", 0.5', '["multiply", 0.25'),
      );
      const edited = await runCommand("qualify", ["--profile", out]);
      assertEquals(edited.code, 2);
      assertMatch(
        edited.stderr,
        /^facet: Cannot read [^\n]+problem\.hash: wanted [0-9a-f]{16}, the definition's, found [^\n]+\n$/,
      );
    }),
);

const NO_EQUATION = "its default export is not an equation: Cannot build the equation";

Deno.test("space and balance may read a module; what is wrong with one is a line that names it", () =>
  inDirectory(async (directory) => {
    const write = async (name: string, text: string): Promise<string> => {
      await Deno.writeTextFile(`${directory}/${name}`, text);
      return `${directory}/${name}`;
    };
    const good = await write("good.mjs", MODULE);
    const listed = await runTask("space", ["--stencil", good, "--grid", "8x8x8", "--json"]);
    assertEquals(listed.code, 0, listed.stderr);
    assertEquals(JSON.parse(listed.stdout).problem.stencil, "Half_shift");
    const { code, stdout, stderr } = await runTask("balance", ["--stencil", `${directory}/none.ts`]);
    assertEquals([code, stdout], [2, ""]);
    assertMatch(
      stderr,
      /^facet: Cannot use --stencil [^\n]+none\.ts: it cannot be imported: Module not found[^\n]+\n$/,
    );

    const wrong: [name: string, text: string, message: string][] = [
      ["syntax.ts", "export default\n{\n  a: [1 2],\n};", "it cannot be imported: SyntaxError: "],
      ["throws.ts", '\nthrow new Error("no luck\\ntoday");', "it cannot be imported: no luck, line 2"],
      ["text.ts", 'throw "text";', "it cannot be imported: text"],
      ["named.ts", "export const mine = 1;", "an equation is wanted as its default export: it has none"],
      [
        "number.ts",
        "export default 7;",
        `${NO_EQUATION}: stencil: an object is wanted: found 7`,
      ],
      [
        "function.ts",
        "export default () => 7;",
        `${NO_EQUATION}: stencil: an object is wanted: found a function`,
      ],
      [
        "empty.ts",
        "export default { name: 'x' };",
        `${NO_EQUATION} x: title: one line of at most 200 characters is wanted`,
      ],
      [
        "offset.ts",
        MODULE.replace("0, 0, -1", "0, 0, 0.5"),
        "it cannot be imported: Cannot build the equation Half_shift",
      ],
    ];
    const lines: Readonly<Record<string, string>> = { "syntax.ts": "3", "throws.ts": "2" };
    for (const [name, text, message] of wrong) {
      const path = await write(name, text);
      const error = await assertRejects(() => loadEquation(path), RequestError);
      assertStringIncludes(error.message, `Cannot use --stencil ${path}: ${message}`);
      assert(!error.message.includes("\n"), error.message);
      assertEquals(/, line (\d+)$/.exec(error.message)?.[1], lines[name], error.message);
    }
    for (const url of ["https://example.com/mine.ts", "data:text/javascript,export default 1"]) {
      await assertRejects(() => loadEquation(url), RequestError, "a path or a file's URL is wanted");
    }
    const refused = await runCommand("space", ["--stencil", good, "--set", "factor=1"]);
    assertEquals([refused.code, refused.stderr], [
      2,
      "facet: Cannot use --set factor=1: Half_shift has no options\n",
    ]);
  }));

Deno.test("a module outside Facet's folder imports @facet/facet, whatever package.json and deno.json lie beside it", () =>
  inDirectory(async (directory) => {
    const module = `${directory}/mine.ts`;
    await Deno.writeTextFile(module, MODULE.replace(JSON.stringify(FACET), '"@facet/facet"'));
    await Deno.mkdir(`${directory}/node_modules`);
    await Deno.writeTextFile(`${directory}/package.json`, '{ "dependencies": { "none": "1" } }');
    await Deno.writeTextFile(`${directory}/deno.json`, "{}");
    const { code, stdout, stderr } = await runTask("space", ["--stencil", module, "--grid", "8x8x8"]);
    assertEquals(code, 0, stderr);
    assertMatch(stdout, /^Half_shift, grid 8x8x8/);
  }));

Deno.test({
  name: "every example is tuned, and qualifies from the profile alone in another process",
  ignore: !THOROUGH,
  fn: () =>
    inDirectory(async (directory) => {
      const out = `${directory}/p.json`;
      const volumes = [
        "anisotropic_diffusion",
        "gray_scott",
        "advection_diffusion",
        "sine_gordon",
        "arrhenius",
      ];
      const planes = ["gray_scott_2d", "shallow_water"];
      for (const name of [...volumes, ...planes]) {
        const grid = planes.includes(name) ? "14x20" : "14x9x20";
        const wanted =
          `--stencil ./examples/${name}.ts --grid ${grid} --steps 8 --budget 6s --out ${out} --quiet`;
        const { code, stderr } = await runTask("tune", wanted.split(" "));
        assertEquals(code, 0, stderr);
      }
      // where there are no examples
      const profile = ["--profile", out, "--numerics", "--quick", "--quiet"];
      const main = new URL("../../tuner/cli/main.ts", import.meta.url).href;
      const args = ["run", "--no-prompt", "-A", "--deny-read=examples", main, "qualify", ...profile];
      const { code, stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "null" }).output();
      const text = new TextDecoder().decode(stdout);
      assertEquals([code, text.match(/^right: /gm)?.length], [0, 7], text);
    }),
});

/** What a hostile module tries, in the words of docs/permissions.md. */
const ATTACKS: Readonly<Record<string, string>> = {
  "read any file": `try { Deno.readTextFileSync("/etc/passwd") } catch { fs.readFileSync("/etc/passwd") }`,
  "read another file of its folder": `Deno.readTextFileSync(new URL("./secret.json", import.meta.url))`,
  "import one later on":
    `await import(new URL("./secret.json", import.meta.url), { with: { type: "json" } })`,
  "read the environment": `Deno.env.get("HOME")`,
  "write a file, or itself anew": `Deno.writeTextFileSync(new URL(import.meta.url), "")`,
  "start a program": `new Deno.Command("sh").outputSync()`,
  "stop the command": `process.kill(Deno.ppid)`,
  "call a C library": `Deno.dlopen("libc.so.6", {})`,
  "reach an address, or listen on one":
    `try { await fetch("http://[::1]") } catch { Deno.listen({ port: 0 }) }`,
  "import code from the web": `await import("https://deno.land/x/none.ts")`,
  "import a package that is not there": `await import("npm:facet-none@1.2.3")`,
  "ask for permission":
    `if (Deno.permissions.requestSync({ name: "read" }).state === "denied") throw "denied"`,
  "keep data in Deno's storage": `try { localStorage.setItem("a", "b") } catch { await caches.open("a") }`,
  "start a thread": `try { new Worker("data:,") } catch { new threads.Worker("", { eval: true }) }`,
  "use the GPU": `await navigator.gpu.requestAdapter()`,
};

/** What a module does instead of giving an equation, and what is said of it. */
const ENDS: readonly (readonly [name: string, code: string, said: RegExp])[] = [
  [
    "import a file from elsewhere",
    `import "../secret.json" with { type: "json" };`,
    /: it may read only what it imports of its own folder and Facet's: found \/.*\/secret\.json/,
  ],
  ["never end", "for (;;);", / s$/],
  ["end early", "Deno.exit(0);", /: it ended before its equation was there$/],
  ["print without end", "for (;;) console.log('x'.repeat(1e7));", /: it printed more than \d+ characters$/],
  [
    "answer by itself",
    `console.log('{"definition":{"name":"x"}}'); Deno.exit(0);`,
    /: it ended before its equation was there$/,
  ],
];

Deno.test("a hostile module is refused everything but time, as docs/permissions.md says", () =>
  inDirectory(async (directory) => {
    const lock = await Deno.readTextFile("tuner/deno.lock"), folder = `${directory}/a, b`;
    const path = `${folder}/mine.ts`, quote = (text: string): string => JSON.stringify(text);
    await Deno.mkdir(`${folder}/c`, { recursive: true });
    await Deno.writeTextFile(`${folder}/c/factor.ts`, "export default 0.5;");
    for (const place of [folder, directory]) await Deno.writeTextFile(`${place}/secret.json`, "{}");
    const tries = Object.entries(ATTACKS).map(([name, code]) =>
      `try { ${code}; console.log("got", ${quote(name)}) }
      catch (error) { console.log("refused", ${quote(name)}, "by", error.message ?? error) }`
    );
    const start = `import fs from "node:fs"; import * as threads from "node:worker_threads";
      import process from "node:process"; import factor from "./c/factor.ts";\n`;
    const module = MODULE.replace(quote(FACET), '"@facet/facet"').replace("(0.5", "(factor");
    await Deno.writeTextFile(path, start + tries.join("\n") + module);
    const { code, stderr } = await runCommand("space", ["--stencil", path, "--grid", "8x8x8", "--no-gpu"]);
    assertEquals(code, 0, stderr);
    const why =
      /^by (?:Requires (?:\w+ access|--allow-run)|.*but --no-remote|Failed loading|denied|an equation has|caches is not|.*'requestAdapter')/;
    const said = [...stderr.matchAll(/^refused (.*?) (by .*)$/gm)];
    assertEquals(said.map(([, name]) => name), Object.keys(ATTACKS), stderr);
    for (const [, name, by] of said) assertMatch(by!, why, name);
    for (const [name, code, wanted] of ENDS) {
      await Deno.writeTextFile(path, `${code}\n${MODULE}`);
      const limitMs = name === "never end" ? 500 : undefined;
      const { message } = await assertRejects(() => loadEquation(path, limitMs), RequestError, path, name);
      assertMatch(message, wanted, name);
    }
    const rows = [...(await Deno.readTextFile("docs/permissions.md")).matchAll(/^\| ([^|]+?) +\| /gm)];
    const names = rows.map(([, name]) => name).slice(-Object.keys(ATTACKS).length - ENDS.length);
    assertEquals(names, [...Object.keys(ATTACKS), ...ENDS.map(([name]) => name)]);
    assertEquals(await Deno.readTextFile("tuner/deno.lock"), lock);
  }));
