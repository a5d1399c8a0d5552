/**
 * The library in a browser: a bundle of `mod.ts` in Chromium, on its software adapter. Where there is no Chromium the
 * test is ignored, and its name says so.
 *
 * @module
 */
import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import type { PageReport } from "./page.ts";

/** The first Chromium that starts. */
async function findChromium(): Promise<string | undefined> {
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]) {
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

const CHROMIUM = await findChromium();
const NAME = "a bundle in a browser page solves on the page's device, and with CPU workers";

Deno.test({
  name: CHROMIUM === undefined ? `${NAME} (ignored: no Chromium; apt-get install chromium)` : NAME,
  ignore: CHROMIUM === undefined,
  async fn(test) {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", join(import.meta.dirname!, "run_page.ts"), CHROMIUM!],
    }).output();
    const text = new TextDecoder();
    assert(stdout.length > 0, text.decode(stderr));
    const report: PageReport = JSON.parse(text.decode(stdout));
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
    assertStringIncludes(report.refused!, "each buffer must have at least");
  },
});
