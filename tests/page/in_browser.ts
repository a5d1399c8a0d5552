/**
 * Tests of the page in Chromium, on software WebGPU and without WebGPU. `browser_test.ts` runs them; by hand:
 * `deno test -A tests/page/in_browser.ts`.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import axe from "axe-core";
import { Buffer } from "node:buffer";
import { type Browser, chromium, type Page } from "playwright-core";
import { createSolver, type OpenProblem } from "../../mod.ts";
import { encode, painted } from "../../page/picture.ts";
import { SCENES } from "../../examples/scenes.ts";
import { problemOf } from "../../page/simulation.ts";
import { findBrowser } from "../report/find_browser.ts";
import { THOROUGH } from "../thorough.ts";

const WEBGPU = [
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
  "--use-angle=vulkan",
  "--use-vulkan=swiftshader",
  "--disable-vulkan-surface",
];
/** Browsers by their flags: starting one takes longer than most of what a test does with it. */
const browsers = new Map<string, Promise<Browser>>();

const FOLDER = await Deno.makeTempDir({ prefix: "facet-page-" });
const SERVER = new Deno.Command(Deno.execPath(), {
  args: ["task", "page", "--out", FOLDER, "--serve", "0"],
  stdout: "piped",
  stderr: "null",
}).spawn();
let printed = "";
for await (const piece of SERVER.stdout.pipeThrough(new TextDecoderStream())) {
  printed += piece;
  if (/http\S+\n/.test(printed)) break;
}
const ADDRESS = /http\S+/.exec(printed)![0];

Deno.test.afterAll(async () => {
  for (const browser of browsers.values()) await (await browser).close();
  SERVER.kill();
  await SERVER.status;
  await Deno.remove(FOLDER, { recursive: true });
});

/** Opens the page, and collects what the browser complains about and what it asks for. */
async function withPage(
  {
    flags = ["--disable-gpu"],
    url = ADDRESS,
    width = 1280,
    height = 900,
    theme = "light" as "light" | "dark",
    bypassCSP = true,
  },
  use: (page: Page, requests: readonly string[]) => Promise<void>,
): Promise<void> {
  const args = ["--no-sandbox", ...flags], key = args.join();
  const launched = browsers.get(key) ?? chromium.launch({ executablePath: findBrowser()!, args });
  browsers.set(key, launched);
  const context = await (await launched).newContext({
    viewport: { width, height },
    colorScheme: theme,
    bypassCSP, // for what the tests evaluate
    permissions: ["clipboard-read", "clipboard-write"],
  });
  try {
    const page = await context.newPage(), requests: string[] = [], errors: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", ({ message }) => errors.push(message));
    await page.goto(url);
    await page.waitForSelector("body[data-ready=yes]");
    await use(page, requests);
    assertEquals(errors, []);
  } finally {
    await context.close();
  }
}

/** Opens a panel of the page, and closes the others. */
async function openPanel(page: Page, id: string): Promise<void> {
  if (!await page.isVisible(`#${id}`)) await page.click(`[aria-controls=${id}]`);
}

/** Opens a scene of the gallery. */
async function openScene(page: Page, name: string): Promise<void> {
  await openPanel(page, "scenes");
  await page.click(`[data-scene=${name}]`);
}

/** Runs programs that the page gave, with fewer steps: each prints a field. Thorough runs check their types. */
async function runPrograms(programs: readonly string[]): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "facet-programs-" });
  try {
    for (const [i, program] of programs.entries()) {
      assert(program.split("\n").length < 50, program);
      const own = program.replace("@facet/facet", new URL("../../mod.ts", import.meta.url).href)
        .replace("run(1000)", "run(20)").replace(/(boundary: .*\n\})\)/, "$1, { device: null })");
      await Deno.writeTextFile(`${folder}/${i}.ts`, own);
    }
    await Deno.writeTextFile(
      `${folder}/all.ts`,
      programs.map((_, i) => `await import("./${i}.ts");`).join("\n"),
    );
    // of a few scenes `program_test.ts` checks the types in every run
    const args = ["run", THOROUGH ? "--check" : "--no-check", "-A", `${folder}/all.ts`];
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    assert(success, new TextDecoder().decode(stderr));
    const printed = new TextDecoder().decode(stdout).match(/^Float32Array/gm);
    assertEquals(printed?.length, programs.length);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const value = (page: Page, code: string): Promise<unknown> => page.evaluate(code);

/** Advances by single steps, one after another, after what was asked for before. */
async function step(page: Page, steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) await page.click("#step");
  await value(page, "facet.done");
}

/** What the picture shows: its bytes as text. */
function shown(page: Page): Promise<unknown> {
  return value(page, `document.querySelector("#picture").toDataURL()`);
}

const OPTIONS = { sanitizeOps: false, sanitizeResources: false };

for (const where of ["the CPU", "WebGPU"]) {
  Deno.test({
    ignore: !THOROUGH && where === "WebGPU",
    name: `draw, set a source, and read a trace that equals Deno's, on ${where}`,
    ...OPTIONS,
    async fn() {
      const flags = where === "WebGPU" ? WEBGPU : ["--disable-gpu"], url = `${ADDRESS}?on=gpu`;
      await withPage({ flags, url }, async (page) => {
        if (where === "WebGPU" && (await page.textContent("#device"))!.includes("the CPU")) return; // no adapter
        await page.click("#clear");
        await openPanel(page, "scenes");
        await page.selectOption("#preset", { label: "water" });
        await page.selectOption("#brush", { label: "salt, 4500 m/s" });
        await openPanel(page, "walls");
        await page.selectOption("#top", { label: "held at p = 0" });
        // the page may scroll to what is used
        const at = async (down: number, across: number): Promise<[number, number]> => {
          await page.locator("#frame").scrollIntoViewIfNeeded();
          const { x, y, width, height } = (await page.locator("#frame").boundingBox())!;
          return [x + across * width, y + down * height];
        };
        await page.mouse.move(...await at(0.6, 0.3));
        await page.mouse.down();
        await page.mouse.move(...await at(0.6, 0.7), { steps: 8 });
        await page.mouse.up();
        await page.mouse.click(...await at(0.3, 0.4));
        await page.mouse.click(...await at(0.3, 0.42), { button: "right" });
        await page.click("#restart");
        await step(page, 60);
        const heard = Object.values(await value(page, "({ ...facet.simulation.traces[0] })") as number[]);
        const picture = await value(page, "facet.picture") as Parameters<typeof painted>[0] & {
          sources: [number, number][];
          receivers: [number, number][];
        };
        assertEquals([picture.strokes.length, picture.sources.length, picture.receivers.length], [1, 1, 1]);

        // the same in this process, on the CPU
        const scene = SCENES.sound!, [rows, columns] = picture.size;
        // beyond all sides but the top there are 36 cells that absorb
        const given = problemOf(scene, picture), grid = [rows + 36, columns + 72] as const;
        assertEquals([given.grid, given.edges], [[rows, columns], "around"]);
        const problem = { ...given, grid, edges: "within" } as const;
        const plain = {
          traversal: "stepwise",
          parameters: {},
          share: { cpuSlices: problem.grid[0], gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 },
        };
        const kernel = JSON.parse((await page.getAttribute("#device", "title"))!);
        await using solver = await createSolver(null, problem, where === "WebGPU" ? plain : kernel);
        const cells = painted(picture, () => 1500, scene.brushes.map(([, value]) => value));
        const inside = (i: number, count: number) => Math.min(count - 1, Math.max(0, i));
        await solver.write(
          "velocity",
          (x, ...others) => cells[inside(x, rows) * columns + inside(others.at(-1)! - 36, columns)]!,
        );
        const position = ([down, across]: [number, number]) =>
          [down / 1000 * rows, 36 + across / 1000 * columns] as const;
        await solver.addSources("s", [position(picture.sources[0]!)], scene.source![1](20));
        await solver.addReceivers("p", [position(picture.receivers[0]!)]);
        await solver.run(60);
        const [expected] = await solver.traces(), largest = Math.max(...expected!.map(Math.abs));
        assert(largest > 1e-3 && heard.length === expected!.length, `${largest}, ${heard.length} samples`);
        const bound = where === "WebGPU" ? 1e-5 * largest : 0;
        heard.forEach((one, i) =>
          assert(Math.abs(one - expected![i]!) <= bound, `sample ${i}: ${one}, ${expected![i]}`)
        );
      });
    },
  });
}

Deno.test({
  ignore: !THOROUGH,
  name: "a page that may not share memory, and one whose GPU is lost, go on on the CPU",
  ...OPTIONS,
  async fn() {
    await using plain = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      const name = new URL(request.url).pathname.slice(1) || "index.html", type = name.split(".").at(-1)!;
      const file = await Deno.readFile(`${FOLDER}/${name}`).catch(() => undefined);
      const types: Record<string, string> = { html: "text/html", css: "text/css", js: "text/javascript" };
      return new Response(file ?? null, {
        status: file ? 200 : 404,
        headers: { "content-type": types[type] ?? "" },
      });
    });
    await withPage({ url: `http://127.0.0.1:${plain.addr.port}/` }, async (page) => {
      assertMatch(
        (await page.textContent("[role=status]"))!,
        /One worker, since the page may not share memory/,
      );
      await step(page, 5);
    });
    await withPage({ flags: WEBGPU, url: `${ADDRESS}?on=gpu` }, async (page) => {
      if ((await page.textContent("#device"))!.includes("the CPU")) return; // no adapter
      const said = ["it is opened again", "was lost twice"], where = [/swiftshader/i, /the CPU/];
      for (const [i, words] of said.entries()) {
        await value(page, "facet.device.destroy()");
        await page.waitForFunction(
          `document.querySelector("[role=status]").textContent.includes("${words}")`,
        );
        await page.waitForFunction(`${where[i]}.test(document.querySelector("#device").textContent)`);
        await step(page, 2);
      }
    });
  },
});

Deno.test({
  ignore: !THOROUGH,
  name: "tune shows both kernels, the faster goes on, and the profile is kept",
  ...OPTIONS,
  async fn() {
    await withPage({}, async (page) => {
      await openPanel(page, "walls");
      await page.selectOption("#left", { label: "hard wall: ∂p/∂n = 0" });
      await step(page, 3);
      await openPanel(page, "race");
      await page.click("#tune");
      await page.waitForFunction(`document.querySelector("#tune").textContent.startsWith("Tune")`, null, {
        timeout: 60_000,
      });
      // the tuned kernel goes on where the picture was
      await value(page, "facet.done");
      assertEquals(await page.getAttribute("#frame", "data-step"), "3");
      assertMatch((await page.textContent("#result .big"))!, /^(\d\S*× faster|Already the fastest)$/);
      const details = (await page.textContent("#result details"))!;
      assertMatch(details, /Plain: stepwise.*error \S+ of at most.*Tuned: .*error \S+ of at most/);
      assertEquals(await value(page, `document.querySelector("#best progress").value`), 1);
      assert(await value(page, `document.querySelectorAll("#tried circle").length`) as number >= 1);
      // a clip, meanwhile
      const recorded = page.waitForEvent("download");
      await openPanel(page, "sharing");
      await page.click("#record");
      assertMatch((await recorded).suggestedFilename(), /^facet\.webm$/);
      const clip = await Deno.readFile((await (await recorded).path())!);
      assertEquals([...clip.slice(0, 4)], [0x1a, 0x45, 0xdf, 0xa3]);
      assert(clip.length > 1000, `${clip.length} bytes`);
      // it is this scene's
      await openScene(page, "heat");
      assertEquals(await value(page, `document.querySelector("#result").children.length`), 0);
      await openScene(page, "sound");
      await value(page, "facet.done");
      // with other walls it is another problem
      assertEquals(await value(page, `document.querySelector("#result").children.length`), 0);
      await openPanel(page, "walls");
      await page.selectOption("#left", { label: "hard wall: ∂p/∂n = 0" });
      await value(page, "facet.done");
      assert(await value(page, `document.querySelector("#result").children.length`) as number > 0);
      const kept = JSON.parse(await value(page, `localStorage.getItem("facet-profile")`) as string);
      const kernel = JSON.parse((await page.getAttribute("#device", "title"))!);
      assertEquals(kernel, kept.entries[0].configuration);
      await page.reload();
      await page.waitForFunction(`document.body.dataset.ready === "yes"`);
      assertEquals(await page.isEnabled("#download"), true);
    });
  },
});

Deno.test({
  name:
    "a shared link shows the same picture; by keyboard alone; nothing is asked of others, and little of the host",
  ...OPTIONS,
  async fn() {
    let url = "", picture: unknown, loaded: readonly string[] = [];
    await withPage({}, async (page, requests) => {
      loaded = [...requests];
      await page.focus("[aria-controls=scenes]");
      await page.keyboard.press("Enter");
      await page.focus("[data-scene=life]");
      await page.keyboard.press("Enter");
      await page.focus("#frame");
      // at once: what is done while a scene opens is done to that scene
      for (const key of ["ArrowLeft", "Enter", "Shift+ArrowUp", "Enter"]) await page.keyboard.press(key);
      assertEquals((await value(page, "facet.picture.strokes.length")) as number, 2);
      for (const pressed of [true, false]) {
        await page.keyboard.press(" ");
        await page.waitForSelector(`#play[aria-pressed=${pressed}]`);
      }
      await page.focus("[aria-controls=walls]");
      await page.keyboard.press("Enter");
      for (const [side, downs] of [["left", 1], ["bottom", 2]] as const) {
        await page.focus(`#${side}`);
        for (let i = 0; i < downs; i++) await page.keyboard.press("ArrowDown");
      }
      // what is joined is so on both sides
      assertEquals(await value(page, "facet.picture.walls"), [2, 2, 1, 0]);
      assertEquals(await page.inputValue("#top"), "2");
      await value(page, "facet.done");
      const { grid, boundary } = await value(page, "facet.simulation.solver.problem") as OpenProblem;
      assertEquals([grid.length, boundary[0 as never], boundary[2 as never]], [3, "periodic", "zero"]);
      await page.click("#restart");
      await step(page, 12);
      picture = await shown(page);
      await openPanel(page, "sharing");
      const saved = page.waitForEvent("download");
      await page.click("#save");
      const file = await Deno.readFile((await (await saved).path())!);
      assertEquals(`data:image/png;base64,${Buffer.from(file).toString("base64")}`, picture);
      await page.click("#share");
      await page.waitForFunction("location.hash.length > 1");
      url = page.url();
      assert(new URL(url).hash.length <= 8193);
      assertEquals(requests.filter((one) => !one.startsWith(ADDRESS)), []);
    });
    await withPage({ url }, async (page) => {
      await step(page, 12);
      assertEquals(await shown(page), picture);
    });
    const used = [...new Set(loaded.map((one) => one.slice(ADDRESS.length) || "index.html"))]
      .filter((name) => /^[\w-]+\./.test(name));
    const sizes = used.map(async (name) => {
      const packed = new Blob([await Deno.readFile(`${FOLDER}/${name}`)]).stream().pipeThrough(
        new CompressionStream("gzip"),
      );
      return (await new Response(packed).arrayBuffer()).byteLength;
    });
    const bytes = (await Promise.all(sizes)).reduce((sum, one) => sum + one);
    assert(used.length > 5 && bytes <= 266 * 1024, `${bytes} bytes in ${used.join(", ")}`);
  },
});

Deno.test({
  name:
    "a tap sets off a source, a drag paints, holding still places a receiver; on one screen with Play and Tune",
  ...OPTIONS,
  async fn() {
    for (const [width, height] of [[1280, 800], [390, 844]] as const) {
      await withPage({ width, height }, async (page) => {
        const { x, y, width: across, height: down } = (await page.locator("#frame").boundingBox())!;
        assert(across > 0.9 * width && down > 0.4 * height, `the picture has ${across} x ${down} pixels`);
        for (const control of ["#play", "#tools", "#gain", "[aria-controls=race]"]) {
          const box = (await page.locator(control).boundingBox())!;
          assert(box.y >= 0 && box.y + box.height <= height, `${control} is below the first screen`);
        }
        const counts = () =>
          value(page, "['sources', 'receivers', 'strokes'].map((key) => facet.picture[key].length)");
        assertEquals(await counts(), [1, 1, 0]);
        await page.mouse.move(x + across / 2, y + down / 2);
        await page.mouse.down();
        await page.mouse.up();
        assertEquals(await counts(), [2, 1, 0]);
        await page.mouse.down();
        await page.mouse.move(x + across / 3, y + down / 3, { steps: 5 });
        await page.mouse.up();
        assertEquals(await counts(), [2, 1, 1]);
        await page.mouse.down();
        await page.waitForFunction("facet.picture.receivers.length === 2");
        await page.mouse.up();
        assertEquals(await counts(), [2, 2, 1]);
        // a tool of one's own choice does the same at every touch
        await page.check("input[value=receiver]", { force: true });
        await page.mouse.click(x + across / 4, y + down / 4);
        assertEquals(await counts(), [2, 3, 1]);
      });
    }
  },
});

Deno.test({
  name: "a link to no scene opens the first one and says so; an own equation reaches no address",
  ...OPTIONS,
  async fn() {
    const nothing = { size: [20, 32], preset: 0, strokes: [], sources: [], receivers: [] } as const;
    const url = `${ADDRESS}#${await encode({ scene: "constructor", ...nothing })}`;
    await withPage({ url, bypassCSP: false }, async (page) => {
      assertEquals(await value(page, "facet.picture.scene"), "sound");
      assertMatch((await page.textContent("[role=status]"))!, /The link names no scene of this page/);
      await openPanel(page, "equation");
      await page.fill("#text", 'const all = await fetch("' + ADDRESS + '");\nexport default all;');
      await page.click("#run-own");
      await page.waitForSelector("#mistake:not(:empty)");
      assertMatch((await page.textContent("#mistake"))!, /fetch/);
    });
  },
});

Deno.test({
  name:
    "an own equation with a mistake says in which line; mended it runs, with every scene and theme accessible; what is not finite pauses",
  ...OPTIONS,
  async fn() {
    await withPage({ width: 390, theme: "dark" }, async (page) => {
      await openScene(page, "solitons");
      await openPanel(page, "equation");
      const right = await page.inputValue("#text");
      const lineOf = (words: string): number => right.split(words)[0]!.split("\n").length;
      const mistakes = [
        [right.replace("const push =", "const push"), lineOf("const push")],
        [right.replace("multiply(4, u)", "4 * u"), lineOf("export default equation")],
      ] as const;
      for (const [text, line] of mistakes) {
        await page.fill("#text", text);
        await page.click("#run-own");
        await page.waitForFunction(`document.querySelector("#mistake").textContent !== ""`);
        assertMatch((await page.textContent("#mistake"))!, new RegExp(`^Line ${line}: `));
      }
      await page.fill("#text", right);
      await page.click("#run-own");
      await page.waitForFunction(`facet.picture.scene === "own"`);
      assertEquals(await page.textContent("#mistake"), "");
      await step(page, 3);
      const programs: string[] = [];
      for (const scene of Object.keys(SCENES)) {
        await openScene(page, scene);
        await step(page, 2);
        assertEquals(await page.getAttribute("#frame", "data-step"), "2", scene);
        await openPanel(page, "equation");
        await page.click("#copy");
        await page.waitForFunction(
          `document.querySelector("#status").textContent === "The program was copied."`,
        );
        await value(page, `document.querySelector("#status").textContent = ""`);
        programs.push(await value(page, "navigator.clipboard.readText()") as string);
        assertMatch((await page.textContent("[role=status]"))!, /^$|The CPU computes|was copied/, scene);
      }
      await runPrograms(programs);
      await page.evaluate(axe.source);
      for (const [width, colorScheme] of [[390, "dark"], [1280, "light"]] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        assertEquals(await value(page, "document.documentElement.scrollWidth <= innerWidth"), true);
        for (const panel of ["scenes", "equation", "walls", "race", "sharing"]) {
          await openPanel(page, panel);
          const found = await value(
            page,
            `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
            violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" | ")))`,
          );
          assertEquals(found, [], `${width} ${colorScheme} ${panel}`);
        }
      }
      await openScene(page, "solitons");
      await value(page, "facet.done");
      // neighbours that differ by more than f32 holds
      await value(page, `facet.simulation.solver.write("u", (x, y) => 3e38 * (-1) ** (x + y))`);
      await page.click("#play");
      await page.waitForSelector("#play[aria-pressed=false]");
      assertMatch(
        (await page.textContent("[role=status]"))!,
        /^u grew beyond all numbers at step \d+: a smaller time step/,
      );
    });
  },
});
