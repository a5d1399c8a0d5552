/**
 * Tests of the page in a real browser. `browser_test.ts` runs them; by hand: `deno test -A tests/report/in_browser.ts`.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { parseJournal } from "../../tuner/profile/journal_format.ts";
import { parseProfile } from "../../tuner/profile/schema.ts";
import { buildReport } from "../../tuner/report/page.ts";
import { ENTRY } from "../profile/sample_profile.ts";
import { THOROUGH } from "../thorough.ts";
import { findBrowser } from "./find_browser.ts";
import { sampleReport } from "./sample_journal.ts";

/** Defines a test that drives the browser, whose process and pipes are playwright's own. Most are for thorough runs. */
function testInBrowser(
  name: string,
  test: (browser: Browser) => Promise<void>,
  { always = false }: { always?: boolean } = {},
): void {
  Deno.test({
    name,
    ignore: !always && !THOROUGH,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      const args = ["--no-sandbox", "--disable-gpu"];
      const browser = await chromium.launch({ executablePath: findBrowser()!, args });
      try {
        await test(browser);
      } finally {
        await browser.close();
      }
    },
  });
}

const VIEWS = [
  { theme: "light", width: 1200 },
  { theme: "dark", width: 1200 },
  { theme: "light", width: 360 },
  { theme: "dark", width: 360 },
] as const;

/** Opens a page from a file, and collects what the browser complains about. */
async function withPage(
  browser: Browser,
  text: string,
  { theme, width }: { theme: "light" | "dark"; width: number },
  use: (page: Page) => Promise<void>,
): Promise<void> {
  const file = await Deno.makeTempFile({ suffix: ".html" });
  await Deno.writeTextFile(file, text);
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: theme });
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (request.url() !== `file://${file}`) complaints.push(`request for ${request.url()}`);
  });
  try {
    await page.goto(`file://${file}`);
    await use(page);
    assertEquals(complaints, []);
  } finally {
    await page.close();
    await Deno.remove(file);
  }
}

function wave(): string {
  const profile = parseProfile(Deno.readTextFileSync("fixtures/h100/wave.json"), "wave.json");
  const { records } = parseJournal(Deno.readFileSync("fixtures/h100/wave.json.journal.jsonl"));
  const curve = [1, 2, 4, 8].map((exchangeEvery) => ({
    exchangeEvery,
    cpuSlices: 10,
    predictedNs: 1e5 / exchangeEvery,
    measuredNs: 1e5,
  }));
  // two problems, the second with a cost model, so that every chart is there
  const entries = profile.entries.slice(0, 2).map((entry, i) =>
    i === 0 ? entry : { ...entry, costModel: { ...ENTRY.costModel!, curve } }
  );
  return buildReport({ ...profile, entries }, { journal: records, warnings: ["a warning"] }).page;
}

/** A page with every kind of chart. */
function small(others: NonNullable<Parameters<typeof buildReport>[1]["others"]> = []): string {
  const { profile, journal } = sampleReport(1, 3);
  const entries = profile.entries.map((entry) => ({ ...entry, costModel: ENTRY.costModel! }));
  return buildReport({ ...profile, entries }, { journal, others, warnings: ["a warning"] }).page;
}

function long(): string {
  const { profile, journal } = sampleReport(2000, 30);
  return buildReport(profile, { journal }).page;
}

/** Runs axe-core on all that can be seen; what is closed is opened first, of many alike a few. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(
    `document.querySelectorAll("details:not(.problem ~ .problem, .more ~ .more)").forEach((details) => { details.open = true; })`,
  );
  await page.waitForTimeout(50);
  await page.evaluate(axe.source);
  const found = await page.evaluate(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")))`,
  );
  return found as string[];
}

testInBrowser(
  "axe-core finds nothing to complain about, in both themes, wide and on a phone",
  async (browser) => {
    const all = THOROUGH
      ? [...VIEWS.map((view) => ({ view, text: wave() })), { view: VIEWS[3], text: long() }]
      : [];
    const { profile, journal } = sampleReport(2), createdAt = "2026-11-20T10:00:00.000Z";
    const compared = small([{ profile: { ...profile, createdAt }, journal }]);
    const cases = [{ view: VIEWS[0], text: small() }, { view: VIEWS[3], text: compared }, ...all];
    for (const { view, text } of cases) {
      await withPage(browser, text, view, async (page) => {
        assertEquals(await violations(page), [], JSON.stringify(view));
      });
    }
  },
  { always: true },
);

testInBrowser(
  "hover and the keyboard name a mark's configuration",
  async (browser) => {
    for (const view of [VIEWS[0], VIEWS[3]]) {
      await withPage(browser, small(), view, async (page) => {
        const format = view.width < 720 ? "narrow" : "wide";
        const chart = page.locator(`.drawings > .${format}[tabindex]`).first();
        const said = page.locator(".drawings p").first(), marks = chart.locator("[data-name]");
        assertEquals(await said.textContent(), await chart.getAttribute("aria-label"));
        const names = await Promise.all((await marks.all()).map((mark) => mark.getAttribute("data-name")));
        assert(names.length === 4 && names[3]!.includes(": diamond-torre dts=1 nt=8 "), names.join());
        const seen: (string | null)[] = [];
        await page.focus("a.skip");
        await page.keyboard.press("Tab"); // to the chart, the first thing after it
        for (const key of ["", "ArrowRight", "End", "ArrowLeft", "Home"]) {
          if (key !== "") await page.keyboard.press(key);
          seen.push(await said.textContent());
        }
        assertEquals(seen, [names[0]!, names[1]!, names[3]!, names[2]!, names[0]!]);
        await marks.nth(2).hover({ force: true });
        // a busy browser may drop a movement of the mouse
        for (let more = 4; more > 0 && await said.textContent() !== names[2]; more--) {
          await page.mouse.move(0, 0);
          await marks.nth(2).hover({ force: true });
        }
        assertEquals(await said.textContent(), names[2]!);
        assertEquals(await chart.locator(".at").count(), 1);
      });
    }
  },
  { always: true },
);

testInBrowser("axe-core is really run: it sees what is broken on purpose", async (browser) => {
  const broken = wave().replace('<html lang="en">', "<html>").replaceAll(
    'role="img" aria-label',
    'role="img" data-label',
  );
  await withPage(browser, broken, VIEWS[0], async (page) => {
    const ids = (await violations(page)).map((violation) => violation.split(":")[0]);
    assert(ids.includes("html-has-lang") && ids.includes("svg-img-alt"), ids.join());
  });
});

testInBrowser(
  "one drawing of each chart is shown, in the theme's colours, and nothing is wider than the page",
  async (browser) => {
    const text = wave();
    const papers: string[] = [];
    for (const view of VIEWS) {
      await withPage(browser, text, view, async (page) => {
        const shown = await page.evaluate(
          `[...document.querySelectorAll(".drawings > div")].filter((div) => div.checkVisibility() && div.querySelector("svg[role=img]")).map((div) => div.className)`,
        ) as string[];
        assert(shown.length >= 2);
        assertEquals([...new Set(shown)], [view.width < 720 ? "narrow" : "wide"]);
        assertEquals(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
        const smallest = await page.evaluate(
          `Math.min(...[...document.querySelectorAll("figure svg text")].filter((text) => text.checkVisibility() && text.textContent).map((text) => text.getBoundingClientRect().height))`,
        ) as number;
        assert(smallest >= 9, `letters of ${smallest} px`);
        papers.push(await page.evaluate("getComputedStyle(document.body).backgroundColor") as string);
      });
    }
    assertEquals([papers[0], papers[1]], [papers[2], papers[3]]);
    assert(papers[0] !== papers[1], "both themes have the same paper");
  },
);

testInBrowser("on a phone rows of tables are cards that name their cells", async (browser) => {
  await withPage(browser, long(), VIEWS[2], async (page) => {
    const cell = await page.evaluate(`(() => {
      const cell = document.querySelector("section > .scroll .rows td");
      return [getComputedStyle(cell.parentElement).display, getComputedStyle(cell, "::before").content, cell.dataset.label];
    })()`) as string[];
    assertEquals(cell, ["block", '"value"', "value"]);
    assertEquals(
      await page.evaluate(`getComputedStyle(document.querySelector(".map td")).display`),
      "table-cell",
    );
  });
});

testInBrowser("a link opens its problem; the button copies the configuration", async (browser) => {
  await withPage(browser, wave(), VIEWS[0], async (page) => {
    const isOpen = (): Promise<unknown> => page.evaluate(`document.querySelectorAll(".problem")[1].open`);
    assertEquals(await isOpen(), false);
    await page.click('nav a[href="#entry-2"]');
    await page.waitForFunction(`document.querySelectorAll(".problem")[1].open`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.click(".problem[open] button.copy");
    await page.waitForFunction(`document.querySelector("button.copy").textContent === "Copied"`);
    const copied = JSON.parse(await page.evaluate("navigator.clipboard.readText()") as string);
    assertEquals(copied.traversal, "diamond-torre");
  });
});

testInBrowser(
  "by keyboard: the skip link, a table behind a chart, all measurements",
  async (browser) => {
    await withPage(browser, long(), VIEWS[0], async (page) => {
      await page.keyboard.press("Tab");
      assertEquals(await page.evaluate("document.activeElement.className"), "skip");
      await page.keyboard.press("Enter");
      assertEquals(await page.evaluate("location.hash"), "#entry-1");
      const openByKey = async (selector: string): Promise<void> => {
        await page.focus(`${selector} > summary`);
        await page.keyboard.press("Enter");
        assertEquals(await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).open`), true);
      };
      await openByKey("figure details.behind");
      assertEquals(await page.isVisible("figure details.behind table"), true);
      await openByKey("details.all");
      assertEquals(
        await page.evaluate(`document.querySelectorAll("details.all[open] tbody tr").length`),
        300,
      );
    });
  },
);
