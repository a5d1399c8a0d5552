/**
 * Makes the gallery's pictures, and the README's of the page that is served somewhere, with Chromium:
 *
 *     deno task page --serve &
 *     deno run -A tests/page/make_pictures.ts http://localhost:8000/
 *
 * @module
 */
import { encode } from "fast-png";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { pixelsOf } from "../../page/draw.ts";
import { SCENES } from "../../examples/scenes.ts";
import { Simulation } from "../../page/simulation.ts";
import { findBrowser } from "../report/find_browser.ts";

const ROOT = join(import.meta.dirname!, "../..");

/** Pixels of a tile of the gallery, and steps after which a scene is at its best. */
const WIDTH = 240, HEIGHT = 150, STEPS = 600;
const BEST: Readonly<Record<string, number>> = {
  sound: 400,
  reaction: 2400,
  light: 1200,
  schroedinger: 1050,
  spirals: 1400,
  water: 1800,
  city: 1000,
  antenna: 1200,
  solitons: 560,
  heat: 60,
  life: 60,
  volume: 250,
};

async function tileOf(name: string): Promise<string> {
  const scene = SCENES[name]!,
    { coarse = 1, sources = [] } = scene,
    rows = Math.round(200 / Math.sqrt(coarse));
  const columns = Math.round(1.6 * rows), size = [rows, columns] as const;
  const picture = { scene: name, size, preset: 0, strokes: [], sources, receivers: [] };
  const simulation = await Simulation.open(scene, picture, { device: null, cpuWorkers: 1 }, []);
  await simulation.solver.run(BEST[name] ?? STEPS);
  const data = await pixelsOf(simulation, { map: scene.map, gain: 1 });
  simulation.solver.dispose();
  return `data:image/png;base64,${
    Buffer.from(encode({ width: columns, height: rows, channels: 4, data: new Uint8Array(data) })).toString(
      "base64",
    )
  }`;
}

const tiles: string[] = [];
for (const name of Object.keys(SCENES)) tiles.push(await tileOf(name));
const browser = await chromium.launch({
  executablePath: findBrowser()!,
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const page = await browser.newPage();
  const webp = await page.evaluate(`(async (tiles, width, height) => {
    const canvas = Object.assign(document.createElement("canvas"), { width, height: height * tiles.length });
    const context = canvas.getContext("2d");
    for (const [i, src] of tiles.entries()) {
      const image = Object.assign(new Image(), { src });
      await image.decode();
      context.drawImage(image, 0, height * i, width, height);
    }
    return canvas.toDataURL("image/webp", 0.7);
  })(${JSON.stringify(tiles)}, ${WIDTH}, ${HEIGHT})`) as string;
  await Deno.writeFile(
    join(ROOT, "docs/scenes.webp"),
    Uint8Array.from(atob(webp.split(",")[1]!), (c) => c.charCodeAt(0)),
  );
  const wide = { viewport: { width: 1280, height: 720 }, colorScheme: "dark", bypassCSP: true } as const;
  const shown = await (await browser.newContext(wide)).newPage();
  await shown.goto(Deno.args[0] ?? "http://localhost:8000/");
  await shown.waitForSelector("body[data-ready=yes]");
  await shown.evaluate("facet.simulation.solver.run(430)");
  await shown.click("#step");
  await shown.click("[aria-controls=scenes]");
  await shown.evaluate("facet.done");
  await shown.evaluate(`document.querySelector("#status").textContent = ""`);
  await shown.waitForTimeout(500); // the gallery's pictures
  await shown.screenshot({ path: join(ROOT, "docs/page.jpg"), type: "jpeg", quality: 80 });
} finally {
  await browser.close();
}
