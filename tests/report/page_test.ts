import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parseHTML } from "linkedom";
import { formatRate } from "../../tuner/format.ts";
import { parseJournal } from "../../tuner/profile/journal_format.ts";
import { parseProfile, type Profile } from "../../tuner/profile/schema.ts";
import { neighboursOf } from "../../tuner/report/explain.ts";
import { viewEntry } from "../../tuner/report/entry_view.ts";
import { escapeHtml, jsonBlock } from "../../tuner/report/html.ts";
import { buildReport, MAX_ENTRIES } from "../../tuner/report/page.ts";
import { ENTRY, PROFILE } from "../profile/sample_profile.ts";
import { sampleReport } from "./sample_journal.ts";

const WAVE = parseProfile(Deno.readTextFileSync("fixtures/h100/wave.json"), "wave.json");
const JOURNAL = parseJournal(Deno.readFileSync("fixtures/h100/wave.json.journal.jsonl")).records;

/** The page of all that was measured on an H100. */
const REPORT = buildReport(WAVE, { journal: JOURNAL });

/** The page as words, tags left out. */
function wordsOf(page: string): string {
  return page.replace(/<(script|style)[\s\S]*?<\/\1>/g, "").replace(/<[^>]*>/g, "").replace(
    /&#(\d+);/g,
    (_, code) => String.fromCharCode(code),
  )
    .replace(/\s+/g, " ");
}

// deno-lint-ignore no-explicit-any -- linkedom's types name the browser's, which are not here
function parse(page: string): any {
  return (parseHTML(page) as unknown as { document: unknown }).document;
}

Deno.test("the page of a real run: every problem, every measurement, the same text every time", () => {
  const { page, measurements } = REPORT;
  const [one, again] = [1, 2].map(() => buildReport(WAVE, { journal: JOURNAL, entries: [0] }).page);
  assertEquals(one, again);
  const rows = WAVE.entries.map((_, i) => viewEntry(WAVE, i, JOURNAL).points.length);
  assertEquals(measurements, rows.reduce((sum, n) => sum + n, 0));
  const document = parse(page);
  const tables = [...document.querySelectorAll("details.all table tbody")];
  assertEquals(tables.map((body) => body.querySelectorAll("tr").length), rows);
  const words = wordsOf(page);
  for (
    const text of [
      "It is 3.9× as fast as the best plain kernel",
      "It moves 2.86 bytes for each cell update instead of 12.0, because it computes 96 time steps in one pass over memory.",
      "It reaches 76% of its roof. Copies run at 3,009 GB/s here, which allows 1,051 Gcells/s for its traffic.",
      "compared with gpu stepwise 64x4x1, cell by cell, the largest error is 0.00000191",
      "Sharing with the CPU was tried 3 times",
      "this run did not measure what an exchange costs",
    ]
  ) assertStringIncludes(words, text);
});

Deno.test("a page needs nothing from elsewhere, and a short one no script", () => {
  for (
    const { page } of [
      REPORT,
      buildReport(sampleReport(300).profile, sampleReport(300)),
    ]
  ) {
    assert(
      !/<(?:link|img|iframe|object|embed|base)\b|\ssrc=|url\(|@import|https?:\/\//.test(
        page.replaceAll("http://www.w3.org/", ""),
      ),
      "a reference",
    );
    for (const [, target] of page.matchAll(/href="([^"]*)"/g)) assert(/^#entry-\d+$/.test(target!), target);
    assertStringIncludes(page, `content="default-src 'none';`);
  }
  assert(!REPORT.page.includes("<script"));
});

Deno.test("every chart has a name, a caption and a table behind it; ids are unique, headings in order", () => {
  const { page } = REPORT;
  const document = parse(page);
  const figures = [...document.querySelectorAll("figure")];
  assert(figures.length > 4 * 6);
  for (const figure of figures) {
    assert(figure.querySelector("figcaption strong") !== null);
    const drawings = [...figure.querySelectorAll("svg[role=img]")];
    assert(drawings.length === 0 || drawings.length === 2, "one for wide pages, one for phones");
    for (const svg of drawings) {
      assert(svg.getAttribute("aria-label").length > 40, svg.getAttribute("aria-label"));
    }
    if (drawings.length > 0) assert(figure.querySelector("details table caption") !== null);
  }
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  assertEquals(ids.length, new Set(ids).size);
  const levels = [...page.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
  levels.forEach((level, i) => assert(i === 0 ? level === 1 : level <= levels[i - 1]! + 1));
});

Deno.test("nothing from a file becomes markup", () => {
  const evil = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;
  const { profile, journal } = sampleReport(150, 12);
  const device = { ...profile.device, gpu: { ...profile.device.gpu!, description: evil }, os: evil };
  const renamed = journal.map((record) => record.kind === "run" ? { ...record, device } : record);
  const named: Profile = {
    ...profile,
    device,
    tool: { name: evil, version: evil },
    entries: profile.entries.map((entry) => ({
      ...entry,
      verification: { ...entry.verification, against: evil },
    })),
  };
  const { page } = buildReport(named, { journal: renamed, warnings: [evil] });
  assert(!page.includes("<script>alert") && !page.includes("<img") && !page.includes("<b>message"));
  assert(wordsOf(page).includes(evil.replace(/<[^>]*>/g, "")) || page.includes(escapeHtml(evil)));
  assertEquals(jsonBlock("x", "</script>\u2028").text.match(/<\/script>/g)?.length, 1);
  assertEquals(JSON.parse(jsonBlock("x", "</script>\u2028").text.replace(/<[^>]*>/g, "")), "</script>\u2028");
});

Deno.test("5,000 measurements: charts of spots, rows as data, a page of a few megabytes", () => {
  const { profile, journal } = sampleReport(5000, 7);
  const { page, measurements } = buildReport(profile, { journal });
  assertEquals(measurements, 5003);
  assert(page.length < 2e6, `${page.length} characters`);
  const document = parse(page.replace(/<script type="application\/json"[\s\S]*?<\/script>/, ""));
  assert(document.querySelectorAll("*").length < 12_000, `${document.querySelectorAll("*").length} elements`);
  const json = /<script type="application\/json" id="entry-1-rows">([\s\S]*?)<\/script>/.exec(page)![1]!;
  const { rows, columns } = JSON.parse(json);
  assertEquals([rows.length, rows[0].length], [5003, columns.length]);
  assertStringIncludes(wordsOf(page), "1 other configuration ties with it");
  assertStringIncludes(page, "7 failures");
});

Deno.test("a profile without its journal says so, and shows what it has", () => {
  const { page, measurements } = buildReport(PROFILE, { journal: [] });
  assertEquals(measurements, 1);
  const words = wordsOf(page);
  assertStringIncludes(words, "There is no journal for this problem");
  assertStringIncludes(words, "The CPU takes 4 of 100 slices");
  assertStringIncludes(words, "It is 3.4× as fast as the best plain kernel");
  assertStringIncludes(
    words,
    "Roofline cannot be drawn: Facet does not know how many bytes these kernels move",
  );
});

Deno.test("a cost model is drawn with its curve and its measurements", () => {
  const curve = [1, 2, 4, 8, 16, 32].map((exchangeEvery) => ({
    exchangeEvery,
    cpuSlices: 10,
    predictedNs: 1e6 / exchangeEvery + 2e4 * exchangeEvery,
    measuredNs: exchangeEvery % 4 === 0 ? 1e6 / exchangeEvery + 2.1e4 * exchangeEvery : null,
  }));
  const entry = { ...ENTRY, costModel: { ...ENTRY.costModel!, curve } };
  const { page } = buildReport({ ...PROFILE, entries: [entry] }, { journal: [] });
  const words = wordsOf(page);
  assertStringIncludes(words, "The model has its minimum at R = 8.");
  assertStringIncludes(words, "CPU computes");
  assertStringIncludes(page, "4 values of R were measured.");
});

Deno.test("an imported profile is not said to be verified", () => {
  const verification = {
    maxError: 0,
    bound: 0,
    against: "nothing by Facet: the file says that the result is correct",
  };
  const problem = { ...ENTRY.problem, stencil: "convolution-kernel", order: undefined, boundary: "unknown" };
  const { page } = buildReport({ ...PROFILE, entries: [{ ...ENTRY, problem, verification }] }, {
    journal: [],
  });
  const words = wordsOf(page);
  assertStringIncludes(words, "Facet did not verify it");
  assert(!words.includes("Its result is right"));
});

Deno.test("of many problems the first are drawn, all are listed", () => {
  const entries = Array.from(
    { length: MAX_ENTRIES + 3 },
    (_, i) => ({ ...ENTRY, problem: { ...ENTRY.problem, steps: i + 1 } }),
  );
  const { page } = buildReport({ ...PROFILE, entries }, { journal: [] });
  const document = parse(page);
  assertEquals(document.querySelectorAll("nav tbody tr").length, MAX_ENTRIES + 3);
  assertEquals(document.querySelectorAll("section h2[id^=entry]").length, MAX_ENTRIES);
  assertStringIncludes(wordsOf(page), "3 problems are listed only");
  const only = parse(buildReport({ ...PROFILE, entries }, { journal: [], entries: [MAX_ENTRIES + 1] }).page);
  assertEquals([...only.querySelectorAll("section h2[id^=entry]")].map((h2) => h2.id), [
    `entry-${MAX_ENTRIES + 2}`,
  ]);
});

Deno.test("neighbours differ from the winner in one parameter exactly", () => {
  const view = viewEntry(WAVE, 0, JOURNAL);
  const own = view.winner.configuration.parameters;
  const neighbours = neighboursOf(view);
  assert(neighbours.length >= 4);
  for (const { name, from, to, point } of neighbours) {
    const { parameters } = point.configuration;
    assertEquals([from, to], [own[name], parameters[name]]);
    assertEquals({ ...parameters, [name]: from }, { ...own });
    assert(from !== to);
  }
});

Deno.test("the charts show what was measured: every mark, every best rate, every count", () => {
  const { points } = viewEntry(WAVE, 0, JOURNAL);
  const section = parse(buildReport(WAVE, { journal: JOURNAL, entries: [0] }).page).querySelector(
    "main > section",
  );
  const drawing = section.querySelector("figure .wide svg");
  const marks = [...drawing.querySelectorAll("g")].filter((group) =>
    /^var\(--series-\d\)$/.test(group.getAttribute("fill"))
  )
    .map((group) => group.children.length);
  const bySeries = [...Map.groupBy(points, ({ series }) => series).values()].map((group) => group.length);
  assertEquals(marks, bySeries);
  const rowsOf = (caption: string): string[][] => {
    const table = [...section.querySelectorAll("table")].find((table) =>
      table.querySelector("caption").textContent === caption
    );
    return [...table.querySelectorAll("tbody tr")].map((row) =>
      [...row.children].map((cell) => cell.textContent)
    );
  };
  const best = new Map<string, number>();
  for (const { series, cellsPerSecond, configuration: { parameters: { dts, nt } } } of points) {
    if (series !== "diamond-torre") continue;
    best.set(`${dts} ${nt}`, Math.max(cellsPerSecond, best.get(`${dts} ${nt}`) ?? 0));
  }
  const map = rowsOf("diamond-torre: best rate by dts and nt");
  assertEquals(map.length, best.size);
  for (const [dts, nt, rate] of map) assertEquals(rate, formatRate(best.get(`${dts} ${nt}`)!));
  const counts = rowsOf("Configurations by rate").map(([, count]) => Number(count));
  assertEquals(counts.reduce((sum, count) => sum + count, 0), points.length);
  assertEquals(rowsOf("Balance of CPU and GPU").length, WAVE.entries[0]!.balance.length);
});

Deno.test("colours and symbols mean the same in a legend and in its chart", () => {
  // the CPU is the fastest and has no place in the roofline
  const share = { cpuSlices: 100, gpuSlices: 0, exchangeEvery: 96, cpuWorkers: 1 };
  const { profile, journal } = sampleReport(50);
  const configuration = { traversal: "stepwise", parameters: {}, share };
  const entry = profile.entries[0]!;
  const result = {
    ...entry.result,
    cellsPerSecond: 1e12,
    confidence95: [1e12, 1e12] as const,
    samples: [1e12],
    roofFraction: null,
  };
  const { page } = buildReport({ ...profile, entries: [{ ...entry, configuration, result, tieSet: [] }] }, {
    journal,
  });
  const roofline = parse(page).querySelector("main > section figure");
  const colours = [...roofline.querySelectorAll(".legend path")].map((path) => path.getAttribute("fill"));
  const drawn = [...roofline.querySelectorAll(".wide g")].map((group) => group.getAttribute("fill"))
    .filter((fill) => /^var\(--series/.test(fill));
  assertEquals(colours, ["var(--series-1)", "var(--series-2)"]);
  assertEquals(drawn, colours);
  const words = wordsOf(page);
  assert(!words.includes("A ring marks"), "there is nothing to ring");
  for (
    const text of [
      "The CPU computes alone: 1 worker was faster",
      "Not in it: 1 with the CPU",
      "It is 3.4× as fast",
    ]
  ) {
    assertStringIncludes(words, text);
  }
});

/** The rows of a table, as texts. */
function rowsBehind(page: string, caption: string): string[][] {
  const tables = [...parse(page).querySelectorAll("table")];
  const table = tables.find((table) => table.querySelector("caption").textContent === caption);
  return [...table.querySelectorAll("tbody tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent)
  );
}

Deno.test("the locality chart: the paper's formula over DTS, the bandwidth's roof, the best rate of each DTS", () => {
  const { page } = buildReport(WAVE, { journal: JOURNAL, entries: [0] });
  const rows = rowsBehind(page, "Locality of the torres");
  // DTS, locality of a row (Eq. 6), its roof, roof of one torre (Eq. 5), roof of one step at a time, best measured
  assertEquals(rows.find(([dts]) => dts === "6"), [
    "6",
    (6 * 8 / (8 * (4 - 1 / 6) + 2 - 2 / 6 + 1 / 36)).toFixed(3),
    "1,116 Gcells/s",
    "1,072 Gcells/s",
    "251 Gcells/s",
    "804 Gcells/s",
  ]);
  assertEquals(rows.find(([dts]) => dts === "1")?.at(-1), "–");
  assertStringIncludes(wordsOf(page), "With Nt = 96, DTS = 6 has a locality of 1.48, 4.4 times that");
  const without = { ...WAVE, device: { ...WAVE.device, measured: { copyBytesPerSecond: null } } };
  assert(!buildReport(without, { journal: [], entries: [0] }).page.includes("Locality of the torres"));
});

Deno.test("the locality chart leaves out torres that Facet would not write", () => {
  const { profile } = sampleReport(10);
  const entry = profile.entries[0]!;
  for (
    const parameters of [{ dts: 65_536, nt: 8 }, { dts: 0, nt: 8 }, { dts: 2.5, nt: 8 }, { dts: 2, nt: 0 }]
  ) {
    const configuration = { ...entry.configuration, parameters };
    const { page } = buildReport({ ...profile, entries: [{ ...entry, configuration, tieSet: [] }] }, {
      journal: [],
    });
    assert(!page.includes("Locality of the torres"), JSON.stringify(parameters));
  }
});

Deno.test("the parts of a step over R: computing on both devices and copies, each for one step", () => {
  const coefficients = {
    ...ENTRY.costModel!.coefficients,
    cpu: { updateNs: 2, stepNs: 0, missNs: 0, cachedCells: 0 },
    gpu: { updateNs: 1, stepNs: 0, passNs: 0, byteNs: 0 },
    unpack: { a: 0, b: 3e6 },
    pack: { a: 0, b: 5e6 },
  };
  const curve = [1, 4].map((exchangeEvery) => ({
    exchangeEvery,
    cpuSlices: 10,
    predictedNs: 1e7,
    measuredNs: null,
  }));
  const entry = { ...ENTRY, costModel: { ...ENTRY.costModel!, coefficients, curve } };
  const { page } = buildReport({ ...PROFILE, entries: [entry] }, { journal: [] });
  // 90 × 80 cells a slice; R = 4: the CPU computes 13 + 12 + 11 + 10 slices, the GPU four times 94; copies take 8 ms
  assertEquals(rowsBehind(page, "Time per step over R"), [
    ["1", "10.0 ms", "655 µs", "144 µs", "8.00 ms"],
    ["4", "10.0 ms", "677 µs", "166 µs", "2.00 ms"],
  ]);
});
