import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parseHTML } from "linkedom";
import { formatBandwidth, formatFactor, formatPercent, formatRate } from "../../tuner/format.ts";
import { describeConfiguration } from "../../tuner/profile/describe.ts";
import { type JournalRecord, parseJournal } from "../../tuner/profile/journal_format.ts";
import { mergeProfiles } from "../../tuner/profile/merge.ts";
import {
  parseProfile,
  type Profile,
  type ProfileEntry,
  type ProfileRated,
} from "../../tuner/profile/schema.ts";
import { neighboursOf } from "../../tuner/report/configuration_card.ts";
import { type Mark, viewEntry } from "../../tuner/report/entry_view.ts";
import { logTicks } from "../../tuner/report/chart.ts";
import { heatMaps } from "../../tuner/report/heat_maps.ts";
import { escapeHtml } from "../../tuner/report/html.ts";
import { buildReport, MAX_ENTRIES } from "../../tuner/report/page.ts";
import { lookOf } from "../../tuner/report/series.ts";
import { whySentence } from "../../tuner/report/explain.ts";
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
  const [one, again] = [1, 2].map(() => buildReport(WAVE, { journal: JOURNAL, only: 0 }).page);
  assertEquals(one, again);
  // in the order of the page
  const views = [0, 3, 1, 2].map((i) => viewEntry(WAVE, i, JOURNAL));
  assertEquals(measurements, views.reduce((sum, { points }) => sum + points.length, 0));
  const tables = [...parse(page).querySelectorAll("details.all table")];
  assertEquals(
    tables.map((table) =>
      [...table.querySelectorAll("tbody td:nth-child(2)")].map((cell) => cell.textContent)
    ),
    views.map(({ points }) => points.map((point) => formatRate(point.cellsPerSecond).split(" ")[0]!)),
  );
  const words = wordsOf(page), { result, balance } = WAVE.entries[0]!;
  for (
    const text of [
      `It reaches ${formatPercent(result.roofFraction!)} of its roof.`,
      `which allows ${formatRate(result.cellsPerSecond / result.roofFraction!)} for its traffic.`,
      "compared with gpu stepwise 64x4x1, cell by cell: largest error 2.6e-6",
      balance.length === 1 ? "Sharing with the CPU was tried once" : `tried ${balance.length} times`,
    ]
  ) assertStringIncludes(words, text);
});

Deno.test("the page opens with a sentence that says why; of several problems each has its own", () => {
  const first = wordsOf(buildReport(WAVE, { journal: JOURNAL, only: 0 }).page);
  const { winner, stepwise } = viewEntry(WAVE, 0, JOURNAL);
  const factor = formatFactor(WAVE.entries[0]!.result.speedupOverStepwise!).replace("×", "");
  const rate = formatRate(WAVE.entries[0]!.result.cellsPerSecond);
  const why = `diamond-torre is ${factor} times as fast as stepwise because it moves ` +
    `${winner.bytes!.toPrecision(2)} instead of ${stepwise!.bytes!.toFixed(0)} bytes per cell`;
  assertStringIncludes(
    first,
    `tuning report ${WAVE.device.gpu!.description} Best: ${rate} on the GPU. ${why}`,
  );
  const document = parse(REPORT.page);
  assertStringIncludes(document.querySelector("header .lead").textContent, "On 4 problems the chosen");
  assertStringIncludes(document.querySelector(".problem .lead").textContent, why);
  const sections = [...document.querySelectorAll("main > section > details.problem")];
  assertEquals(sections.map((details) => details.hasAttribute("open")), [true, false, false, false]);
});

Deno.test("the report of a windowed grid offers a program for it, and names what limits the rate", () => {
  const [entry] = WAVE.entries, { share } = entry!.configuration;
  const configuration = { ...entry!.configuration, share: { ...share, deviceMemory: 2 ** 32 } };
  const tieSet = [{ ...entry!.tieSet[0]!, configuration }];
  const words = wordsOf(
    buildReport({ ...WAVE, entries: [{ ...entry!, configuration, tieSet }] }, { journal: [] }).page,
  );
  assertStringIncludes(words, "through a window of 4 GiB of the GPU's memory");
  assertStringIncludes(words, "The time to move slices between the host and the GPU comes on top.");
  assertStringIncludes(words, "A program runs it");
});

/** A made-up point. */
function pointOf(series: string, gcells: number, more: Partial<Mark> = {}): Mark {
  const cpu = { cpuSlices: 64, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const gpu = { ...cpu, cpuSlices: 0, gpuSlices: 64, cpuWorkers: 0 };
  const share = series.startsWith("CPU ") ? cpu : gpu;
  return {
    configuration: { traversal: series, parameters: {}, share },
    parameters: {},
    series,
    cellsPerSecond: gcells * 1e9,
    confidence95: null,
    samples: 1,
    compileNs: 0,
    bytes: undefined,
    roof: undefined,
    isWinner: false,
    isTied: false,
    isFinal: true,
    ...more,
  };
}

Deno.test("the sentence gives the reasons that hold, and no others", () => {
  const sentence = (
    winner: Mark,
    others: readonly Mark[],
    stepwise: Mark | undefined,
  ): string =>
    whySentence({
      ...viewEntry(PROFILE, 0, []),
      winner,
      stepwise,
      best: [winner, ...others],
      points: [winner, ...others],
      speedup: stepwise && winner.cellsPerSecond / stepwise.cellsPerSecond,
    });
  const stepwise = pointOf("stepwise", 100, { bytes: 12, roof: 200e9 });
  const onCpu = pointOf("CPU stepwise", 2);
  const cases: [winner: Mark, stepwise: Mark | undefined, sentence: string][] = [
    [
      pointOf("marching", 150, { bytes: 12, roof: 200e9 }),
      stepwise,
      "Best: 150 Gcells/s on the GPU. marching is 1.5 times as fast as stepwise because it reaches 75% instead of 50% of the memory bandwidth.",
    ],
    [
      pointOf("diamond-torre", 300, { bytes: 6, roof: 400e9 }),
      stepwise,
      "Best: 300 Gcells/s on the GPU. diamond-torre is 3.0 times as fast as stepwise because it moves 6 instead of 12 bytes per cell " +
      "and reaches 75% instead of 50% of the memory bandwidth.",
    ],
    [
      pointOf("CPU diamond-wavefront", 3),
      onCpu,
      "Best: 3.00 Gcells/s on the CPU. The CPU's diamond-wavefront is 1.5 times as fast as the CPU's stepwise.",
    ],
    [
      pointOf("CPU diamond-wavefront", 2.01),
      onCpu,
      "Best: 2.01 Gcells/s on the CPU, by diamond-wavefront; no order beats plain stepping here.",
    ],
    [
      stepwise,
      stepwise,
      "Best: 100 Gcells/s on the GPU; no order beats plain stepping here. The CPU's stepwise reaches 2.0% of that.",
    ],
    [
      pointOf("vector_add", 5),
      undefined,
      "Best: 5.00 Gcells/s on the GPU, by vector_add, the fastest of 2 measured ones.",
    ],
  ];
  for (const [winner, stepwise, text] of cases) assertEquals(sentence(winner, [onCpu], stepwise), text);
  const share = { cpuSlices: 10, gpuSlices: 54, exchangeEvery: 4, cpuWorkers: 2 };
  const together = pointOf("GPU + CPU", 6, {
    configuration: { traversal: "stepwise", parameters: {}, share },
  });
  assertEquals(
    sentence(together, [pointOf("marching", 4)], undefined),
    "Best: 6.00 Gcells/s on both devices. GPU and CPU together are 1.5 times as fast as marching alone: the CPU computes 10 of 64 slices (stepwise).",
  );
});

/** Numbers of the first path in a chart's group with this attribute. */
function pathIn(page: string, figure: number, attribute: string): number[] {
  const group = parse(page).querySelectorAll("section figure")[figure].querySelector(
    `.wide svg g[${attribute}]`,
  );
  return group.querySelector("path").getAttribute("d").match(/-?[\d.]+/g).map(Number);
}

Deno.test("the chosen configuration's distance ends on the line, its own roof, whatever later runs found", () => {
  const report = (device: Profile["device"], more: Partial<Profile["entries"][number]> = {}) => {
    const entries = WAVE.entries.map((entry) => ({ ...entry, ...more }));
    return buildReport({ ...WAVE, device, entries }, { journal: JOURNAL, only: 0 }).page;
  };
  const later = { ...WAVE.device, measured: { copyBytesPerSecond: 2e12 } };
  const { copyBytesPerSecond } = WAVE.device.measured;
  for (
    const page of [report(WAVE.device), report(later), report(later, { copyBytesPerSecond: { gpu: 3e12 } })]
  ) {
    const [x0, y0, x1, y1] = pathIn(page, 1, 'stroke="var(--ink)"') as [number, number, number, number];
    const link = pathIn(page, 1, 'stroke-dasharray="4,3"');
    const [x, y] = link.slice(-2) as [number, number];
    assert(
      Math.abs(y0 + (x - x0) / (x1 - x0) * (y1 - y0) - y) < 1,
      `${link} and the line at ${[x0, y0, x1, y1]}`,
    );
    assertStringIncludes(
      wordsOf(page),
      `reaches ${formatPercent(WAVE.entries[0]!.result.roofFraction!)} of its roof`,
    );
  }
  // an entry that keeps the bandwidth of its own run does not change with the device's
  const own = { copyBytesPerSecond: { gpu: copyBytesPerSecond! } };
  const figures = [WAVE.device, later].map((device) =>
    parse(report(device, own)).querySelector("main > section").outerHTML
  );
  assertEquals(figures[0], figures[1]);
});

Deno.test("both devices' roofs are drawn where the entry has the bandwidth of both", () => {
  const { journal, profile } = sampleReport(10);
  const share = { cpuSlices: 100, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 2 };
  const onCpu = { traversal: "stepwise", parameters: { strip: 0 }, share };
  const [entry] = profile.entries;
  const both: Profile = {
    ...profile,
    entries: [{
      ...entry!,
      copyBytesPerSecond: { gpu: 2e12, cpu: 5e12 },
      bestOfEach: [{ configuration: onCpu, cellsPerSecond: 2e9, confidence95: null }],
    }],
  };
  const { page } = buildReport(both, { journal });
  assertStringIncludes(
    wordsOf(page),
    "A line is the rate that copies allow: 2,000 GB/s on the GPU and 5,000 GB/s on the CPU.",
  );
  const texts = [...parse(page).querySelectorAll("section figure")[1].querySelectorAll(".wide text")];
  for (const device of ["GPU", "CPU"]) {
    assert(texts.some(({ textContent }) => textContent === device), device);
  }
  // localities are those of the GPU's kernels, below the CPU's line here
  const rings = [
    ...parse(page).querySelectorAll("section figure")[1].querySelectorAll(
      ".wide g[fill='var(--panel)'] circle",
    ),
  ];
  const ys = rings.map((ring) => Number(ring.getAttribute("cy")));
  const [x0, y0, x1, y1] = pathIn(page, 1, 'stroke="var(--ink)"') as [number, number, number, number];
  const lineAt = (x: number): number => y0 + (x - x0) / (x1 - x0) * (y1 - y0);
  assert(rings.length > 3);
  rings.forEach((ring, i) => assert(Math.abs(lineAt(Number(ring.getAttribute("cx"))) - ys[i]!) < 1));
});

Deno.test("what ties or reads lower is not called the fastest, and has no factor; disturbed samples are reported", () => {
  const [entry] = PROFILE.entries, [own] = entry!.tieSet;
  const view = viewEntry(PROFILE, 0, []);
  const stepwise = pointOf("stepwise", 770, { isWinner: true }), other = pointOf("marching", 800);
  const sentence = (
    tieSet: readonly ProfileRated[],
    points: readonly Mark[],
    plain = stepwise,
  ): string =>
    whySentence({
      ...view,
      entry: { ...entry!, tieSet },
      winner: stepwise,
      stepwise: plain,
      best: points,
      points,
      speedup: 0.84,
    });
  assertStringIncludes(sentence([own!], [stepwise]), "by stepwise. Nothing slower was measured");
  const slower = pointOf("marching", 700, { isFinal: false });
  assertStringIncludes(
    sentence([own!, own!], [other, stepwise, slower]),
    "here. 2 configurations are equally fast. The GPU's marching reaches 91% of that, measured once in the search.",
  );
  const tie = { ...own!, configuration: stepwise.configuration };
  assertStringIncludes(
    sentence([own!, tie], [other], pointOf("stepwise", 900)),
    "Best: 770 Gcells/s on the GPU, by stepwise; no order beats plain stepping here.",
  );
  const entries = [entry!, { ...entry!, problem: { ...entry!.problem, steps: 7 }, tieSet: [own!, tie] }];
  const overview = parse(buildReport({ ...PROFILE, entries }, { journal: [] }).page).querySelector("nav");
  const factors = [...overview.querySelectorAll("tr")].map((row) =>
    /ties|[\d.]+×/.exec(row.textContent)?.[0]
  );
  assertEquals(factors.slice(1).sort(), [formatFactor(entry!.result.speedupOverStepwise!), "ties"]);
  const samples = [...Array(6).fill(400e9), ...Array(12).fill(770e9)];
  const disturbed = { ...entry!, result: { ...entry!.result, samples } };
  const { page } = buildReport({ ...PROFILE, entries: [disturbed] }, { journal: [] });
  assertStringIncludes(
    page,
    "(6 of 18 samples are near 400 Gcells/s, the others near 770 Gcells/s: other programs",
  );
});

Deno.test("an interval is shown from three samples on", () => {
  for (const [count, isShown] of [[1, false], [2, false], [3, true]] as const) {
    const entry = PROFILE.entries[0]!;
    const samples = Array.from({ length: count }, () => entry.result.cellsPerSecond);
    const { page } = buildReport({
      ...PROFILE,
      entries: [{ ...entry, tieSet: [], result: { ...entry.result, samples } }],
    }, { journal: [] });
    assertEquals(/95% between \d|760–780/.test(page), isShown, `${count} samples`);
  }
});

Deno.test("a rate above its roof is explained where it is shown; each percentage is rounded once", () => {
  const [entry] = WAVE.entries;
  const { page } = buildReport({
    ...WAVE,
    entries: [{ ...entry!, result: { ...entry!.result, roofFraction: 1.094 } }, WAVE.entries[1]!],
  }, { journal: JOURNAL });
  const document = parse(page);
  for (const place of ["nav", ".tiles", "figure:nth-of-type(2) figcaption", ".reasons"]) {
    const text = document.querySelector(place).textContent;
    assertStringIncludes(text, "109%");
    assertStringIncludes(text, "caches");
  }
  const section = document.querySelector("section").textContent;
  assert(!/\b(?:108|110)%/.test(section), "another rounding of the same fraction");
});

Deno.test("where stepwise wins every problem, the page says so in the first sentence", () => {
  const { bestOfEach: _, calibration: __, ...entry } = WAVE.entries[0]!;
  const parameters = { threadsZ: 64, threadsY: 4, threadsX: 1 };
  const configuration = { ...entry.configuration, traversal: "stepwise", parameters };
  const result = { ...entry.result, speedupOverStepwise: 1 };
  const stepwise = { ...entry, result, configuration, tieSet: [{ ...entry.tieSet[0]!, configuration }] };
  const entries = [12, 24].map((steps) => ({ ...stepwise, problem: { ...entry.problem, steps } }));
  const { page } = buildReport({ ...WAVE, entries }, { journal: [] });
  assertStringIncludes(
    parse(page).querySelector("header .lead").textContent,
    "On 2 problems nothing is much faster than stepwise.",
  );
});

Deno.test("a page needs nothing from elsewhere", () => {
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
});

Deno.test("every chart has a name, a caption and a table behind it; ids are unique, headings in order", () => {
  const { page } = REPORT;
  const document = parse(page);
  const figures = [...document.querySelectorAll("figure")];
  assert(figures.length > 4 * 3);
  for (const figure of figures) {
    assert(figure.querySelector("figcaption strong") !== null);
    const drawings = [...figure.querySelectorAll("svg[role=img]")];
    const count = (format: string): number => figure.querySelectorAll(`.${format} svg[role=img]`).length;
    assertEquals(count("wide"), count("narrow"), "one for wide pages, one for phones");
    for (const svg of drawings) {
      assert(svg.getAttribute("aria-label").length > 40, svg.getAttribute("aria-label"));
    }
    if (drawings.length > 0) assert(figure.querySelector("details table caption") !== null);
  }
  for (const text of document.querySelectorAll("figure text")) {
    assert(text.textContent !== "", "a tick without a label");
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
});

Deno.test("5,000 measurements: charts of spots, the fastest rows, a page of a few megabytes", () => {
  const { profile, journal } = sampleReport(5000, 7);
  const { page, measurements } = buildReport(profile, { journal });
  assertEquals(measurements, 5003);
  assert(page.length < 2e6, `${page.length} characters`);
  const document = parse(page);
  assert(document.querySelectorAll("*").length < 12_000, `${document.querySelectorAll("*").length} elements`);
  assertEquals(document.querySelectorAll("details.all")[0].querySelectorAll("tbody tr").length, 300);
  assertStringIncludes(page, "The fastest 300 of 5,003 measurements");
  assertStringIncludes(wordsOf(page), "1 other configuration is equally fast");
  assertStringIncludes(page, "7 failures");
});

Deno.test("a profile without its journal says so, and shows what it has", () => {
  const { page, measurements } = buildReport(PROFILE, { journal: [] });
  assertEquals(measurements, 1);
  const words = wordsOf(page);
  assertStringIncludes(words, "There is no journal");
  assertStringIncludes(words, "the CPU computes 4 of 100 slices");
  assertStringIncludes(words, "3.4× stepwise");
  for (const missing of ["Roofline", "Pairs of parameters"]) assert(!words.includes(missing), missing);
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
  assertStringIncludes(words, "at R = 8.");
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
  const only = parse(buildReport({ ...PROFILE, entries }, { journal: [], only: MAX_ENTRIES + 1 }).page);
  assertEquals([...only.querySelectorAll("section h2[id^=entry]")].map((h2) => h2.id), [
    `entry-${MAX_ENTRIES + 2}`,
  ]);
});

Deno.test("the charts show what was measured: every mark, every best rate", () => {
  const { points, best } = viewEntry(WAVE, 0, JOURNAL);
  const { page } = buildReport(WAVE, { journal: JOURNAL, only: 0 });
  const section = parse(page).querySelector("main > section");
  const looks = best.map(({ series }) => lookOf(series).color).toSorted();
  const drawings = [...section.querySelectorAll("figure .wide svg")].slice(0, 2);
  for (const drawing of drawings) {
    const groups = [...drawing.querySelectorAll("g")].filter((group) =>
      /^var\(--series-\d\)$/.test(group.getAttribute("fill"))
    );
    assertEquals(groups.map((group) => group.getAttribute("fill")).toSorted(), looks);
    assertEquals(groups.reduce((sum, group) => sum + group.children.length, 0), points.length);
  }
  const cells = new Map<string, number>();
  for (const { series, cellsPerSecond, configuration: { parameters: { dts, nt } } } of points) {
    if (series !== "diamond-torre") continue;
    cells.set(`${dts} ${nt}`, Math.max(cellsPerSecond, cells.get(`${dts} ${nt}`) ?? 0));
  }
  const map = section.querySelector("table.map");
  const heads = [...map.querySelectorAll("thead th")].map((head) => head.textContent);
  const shown: string[] = [];
  for (const row of map.querySelectorAll("tbody tr")) {
    [...row.querySelectorAll("td")].forEach(({ textContent }, i) => {
      if (textContent !== "") {
        shown.push(`${row.querySelector("th").textContent} ${heads[i]}: ${textContent}`);
      }
    });
  }
  const rateOf = (rate: number): string => formatRate(rate).split(" ")[0]!;
  assertEquals(shown.toSorted(), [...cells].map(([key, rate]) => `${key}: ${rateOf(rate)}`).toSorted());
  assertEquals(map.querySelectorAll("td.chosen").length, 1);
  assertEquals(rowsBehind(page, "Balance of CPU and GPU").length, WAVE.entries[0]!.balance.length);
});

Deno.test("heat maps need three values of a parameter, and most of their cells", () => {
  const { points } = viewEntry(WAVE, 0, JOURNAL);
  const mapsWith = (cells: readonly (readonly [dts: number, nt: number])[]): number => {
    const [winner] = points;
    const some = cells.map(([dts, nt]): Mark => ({
      ...winner!,
      parameters: { dts, nt },
    }));
    const maps = heatMaps({
      ...viewEntry(WAVE, 0, JOURNAL),
      points: some,
      winner: some[0]!,
      best: [some[0]!],
    });
    return maps === "" ? 0 : maps.text.split('class="map"').length - 1;
  };
  assertEquals(mapsWith([[1, 8], [1, 16], [2, 8], [2, 16]]), 0, "2 × 2");
  assertEquals(mapsWith([[1, 8], [1, 16], [1, 24], [2, 8], [2, 16], [2, 24]]), 1, "2 × 3");
  assertEquals(mapsWith([[1, 8], [2, 16], [3, 24], [4, 32], [5, 40], [6, 48]]), 0, "mostly empty");
});

Deno.test("a traversal looks the same in every chart, and no other looks like it", () => {
  const colours = new Map<string, Set<string>>();
  for (const file of ["wave", "heat", "life_elastic"]) {
    const profile = parseProfile(Deno.readTextFileSync(`fixtures/h100/${file}.json`), file);
    const { records } = parseJournal(Deno.readFileSync(`fixtures/h100/${file}.json.journal.jsonl`));
    const document = parse(buildReport(profile, { journal: records }).page);
    for (const path of document.querySelectorAll(".key:not(.line) path")) {
      const look = `${path.getAttribute("fill")} ${path.getAttribute("d")}`;
      const name = path.parentElement.parentElement.textContent;
      colours.set(name, (colours.get(name) ?? new Set()).add(look));
    }
  }
  assert(colours.size >= 3);
  assertEquals([...colours.values()].map((looks) => looks.size), [...colours].map(() => 1));
  assertEquals(new Set([...colours.values()].flatMap((looks) => [...looks])).size, colours.size);
});

Deno.test("a CPU that computes alone: its traversal, and the GPU's best beside it", () => {
  const share = { cpuSlices: 100, gpuSlices: 0, exchangeEvery: 96, cpuWorkers: 2 };
  const { profile, journal } = sampleReport(50);
  const configuration = {
    traversal: "diamond-wavefront",
    parameters: { tiles: 4, levels: 12, block: 2 },
    share,
  };
  const entry = profile.entries[0]!;
  const result = {
    ...entry.result,
    cellsPerSecond: 1e12,
    confidence95: null,
    samples: [1e12],
    roofFraction: null,
    speedupOverStepwise: 5,
  };
  const { page } = buildReport({
    ...profile,
    entries: [{ ...entry, configuration, result, tieSet: [], balance: [], costModel: undefined }],
  }, { journal });
  const words = wordsOf(page);
  for (
    const text of [
      "The CPU's diamond-wavefront is 5.0 times as fast as stepwise on the GPU.",
      "The CPU computes alone, with 2 workers. The best of the GPU is",
      "Not in it: 1 whose traffic or bandwidth is not known",
      "1,000 Gcells/s, from 1 sample",
    ]
  ) assertStringIncludes(words, text);
  assert(!words.includes("Sharing with the CPU"), "an empty card");
  assertEquals(
    rowsBehind(page, "Parameters of CPU diamond-wavefront").map(([title, value]) => [title, value]),
    [
      ["Tiles along y", "4 tiles"],
      ["Growth of a tile", "12 levels"],
      ["Block", "2 slices"],
      ["CPU workers", "2 workers"],
    ],
  );
});

Deno.test("the CPU's roof is drawn where the profile has the fraction of it", () => {
  const share = { cpuSlices: 100, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 2 };
  const configuration = { traversal: "stepwise", parameters: { strip: 0 }, share };
  const result = { ...ENTRY.result, cellsPerSecond: 2e9, confidence95: null, roofFraction: 0.5 };
  const entry = { ...ENTRY, configuration, result: { ...result, speedupOverStepwise: 1 }, tieSet: [] };
  const bytes = viewEntry({ ...PROFILE, entries: [entry] }, 0, []).winner.bytes!;
  const { page } = buildReport({ ...PROFILE, entries: [entry] }, { journal: [] });
  const words = wordsOf(page);
  for (
    const text of [
      `A line is the rate that copies allow: ${formatBandwidth(bytes * 4e9)} on the CPU.`,
      "It reaches 50% of its roof.",
      "which allows 4.00 Gcells/s for its traffic",
    ]
  ) assertStringIncludes(words, text);
});

Deno.test("the profile's best of each traversal is shown where there is no journal", () => {
  const share = { cpuSlices: 100, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 2 };
  const bestOfEach = [
    {
      configuration: { traversal: "stepwise", parameters: { strip: 8 }, share },
      cellsPerSecond: 2e9,
      confidence95: null,
    },
  ];
  const { page } = buildReport({ ...PROFILE, entries: [{ ...ENTRY, bestOfEach }] }, { journal: [] });
  assertEquals(rowsBehind(page, "The fastest of each traversal").map(([name]) => name), [
    "GPU + CPU",
    "CPU stepwise",
  ]);
});

Deno.test("the configuration as JSON is the profile's, and the button copies it", () => {
  const document = parse(buildReport(WAVE, { journal: JOURNAL, only: 0 }).page);
  const button = document.querySelector("button.copy");
  const source = document.getElementById(button.dataset.copy);
  assertEquals(JSON.parse(source.textContent), WAVE.entries[0]!.configuration);
  assertStringIncludes(
    document.querySelector(".use").textContent,
    "createSolver(problem, { configuration })",
  );
});

Deno.test("logarithmic ticks label the whole range, and are not too many", () => {
  for (const range of [[0.9, 2.2], [3, 21], [150, 2100], [0.0012, 0.4], [1e-3, 2e3]] as const) {
    for (const most of [6, 12]) {
      const ticks = logTicks(range, most);
      assert(ticks.length >= 2 && ticks.length <= Math.max(most, 8), `${range}: ${ticks}`);
      const edges = [range[0], ...ticks, range[1]];
      const gaps = edges.slice(1).map((edge, i) =>
        Math.log(edge / edges[i]!) / Math.log(range[1] / range[0])
      );
      assert(Math.max(...gaps) < 0.51, `${range} with ${most}: ${ticks}`);
    }
  }
});

/** The rows of a table, as texts. */
function rowsBehind(page: string, caption: string): string[][] {
  const tables = [...parse(page).querySelectorAll("table")];
  const table = tables.find((table) => table.querySelector("caption")?.textContent === caption);
  return [...table.querySelectorAll("tbody tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent)
  );
}

Deno.test("localities on the roofline: the paper's formulas over DTS, and the best rate of each DTS", () => {
  const { page } = buildReport(WAVE, { journal: JOURNAL, only: 0 });
  const rows = rowsBehind(page, "Localities and roofs by tile size");
  const { points } = viewEntry(WAVE, 0, JOURNAL);
  const nt = Number(points[0]!.parameters.nt); // of the fastest
  const dts = Number(WAVE.entries[0]!.configuration.parameters.dts);
  const bandwidth = WAVE.device.measured.copyBytesPerSecond!;
  const ofTile = points.filter(({ parameters }) => parameters.dts === dts);
  const n = nt / (2 * dts), ends = 2 - 2 / dts + 1 / dts ** 2;
  const [inRow, alone] = [dts * n / (n * (4 - 1 / dts) + ends), dts * n / (4 * n + ends)];
  // DTS, locality of a row (Eq. 6), bytes, its roof, roof of one torre (Eq. 5), best measured
  assertEquals(rows.find(([name]) => name === `DTS ${dts}`), [
    `DTS ${dts}`,
    inRow.toFixed(3),
    (4 / inRow).toPrecision(2),
    formatRate(inRow * bandwidth / 4),
    formatRate(alone * bandwidth / 4),
    formatRate(Math.max(...ofTile.map(({ cellsPerSecond }) => cellsPerSecond))),
  ]);
  assertEquals(rows[0]!.slice(0, 3), ["stepwise", (1 / 3).toFixed(3), "12"]);
  assertEquals(rows[1]!.at(-1), "");
  const without = { ...WAVE, device: { ...WAVE.device, measured: { copyBytesPerSecond: null } } };
  assert(!buildReport(without, { journal: [], only: 0 }).page.includes("Localities"));
});

Deno.test("the localities leave out torres that Facet would not write", () => {
  const { profile } = sampleReport(10);
  const entry = profile.entries[0]!;
  for (
    const parameters of [{ dts: 65_536, nt: 8 }, { dts: 0, nt: 8 }, { dts: 2.5, nt: 8 }, { dts: 2, nt: 0 }]
  ) {
    const configuration = { ...entry.configuration, parameters };
    const { page } = buildReport({ ...profile, entries: [{ ...entry, configuration, tieSet: [] }] }, {
      journal: [],
    });
    assert(!page.includes("Localities"), JSON.stringify(parameters));
  }
});

Deno.test("every device of a merged profile has a section, and entries are counted over all of them", () => {
  const gpu = { ...PROFILE.device.gpu!, description: "Another GPU" };
  const other = { ...PROFILE, device: { ...PROFILE.device, gpu } };
  const merged = mergeProfiles(WAVE, other);
  const document = parse(buildReport(merged, { journal: [] }).page);
  const titles = [...document.querySelectorAll("main > section > h2.device")].map((h2) => h2.textContent);
  assertEquals(titles, [WAVE.device.gpu!.description, "Another GPU and Test CPU"]);
  assertEquals(document.querySelectorAll("section h2[id^=entry]").length, WAVE.entries.length + 1);
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  assertEquals(new Set(ids).size, ids.length);
  const only = parse(buildReport(merged, { journal: [], only: WAVE.entries.length }).page);
  assertEquals(only.querySelector("h1").textContent, "Another GPU and Test CPU");
});

Deno.test("neighbours differ from the winner in one parameter exactly", () => {
  const view = viewEntry(WAVE, 0, JOURNAL);
  const own = view.winner.configuration.parameters;
  const neighbours = neighboursOf(view);
  assert(neighbours.length >= 4);
  for (const { name, value, point } of neighbours) {
    const { parameters } = point.configuration;
    assertEquals(parameters[name], value);
    assert(own[name] !== value);
    assertEquals({ ...parameters, [name]: own[name]! }, { ...own });
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

Deno.test("a page is titled by what computed, whatever else the machine has", () => {
  const titleWith = (...slices: readonly (readonly [cpuSlices: number, gpuSlices: number])[]): string => {
    const entries = slices.map(([cpuSlices, gpuSlices], i) => {
      const share = { cpuSlices, gpuSlices, exchangeEvery: 1, cpuWorkers: cpuSlices === 0 ? 0 : 2 };
      const configuration = { traversal: "stepwise", parameters: {}, share };
      return { ...ENTRY, problem: { ...ENTRY.problem, steps: i + 1 }, configuration, tieSet: [] };
    });
    return parse(buildReport({ ...PROFILE, entries }, { journal: [] }).page).querySelector("h1").textContent;
  };
  assertEquals(titleWith([100, 0]), "Test CPU");
  assertEquals(titleWith([0, 100]), "Test GPU 80GB");
  for (const both of [[[4, 96]], [[100, 0], [0, 100]]] as [number, number][][]) {
    assertEquals(titleWith(...both), "Test GPU 80GB and Test CPU");
  }
});

Deno.test("problems come by order and size; what is not drawn says how to draw it", () => {
  const problems = ([[10, 64], [2, 128], [2, 64], [10, 32]] as const).map(([order, n]) => ({
    ...ENTRY.problem,
    order,
    grid: [100, n, n] as const,
  }));
  const profile = { ...PROFILE, entries: problems.map((problem) => ({ ...ENTRY, problem })) };
  const namesOf = (page: string): string[] =>
    rowsBehind(page, "The chosen configuration of every problem").map(([name]) =>
      name!.replace(/, zero.*steps/, "")
    );
  const { page } = buildReport(profile, { journal: [] });
  const names = ["2, grid 100x64x64", "2, grid 100x128x128", "10, grid 100x32x32", "10, grid 100x64x64"];
  assertEquals(namesOf(page), names.map((name) => `wave, order ${name}`));
  assertEquals(
    [...parse(page).querySelectorAll("main > section h2[id^=entry]")].map((h2) => h2.id),
    ["entry-3", "entry-2", "entry-4", "entry-1"],
  );
  assertEquals(
    namesOf(buildReport(profile, { journal: [], only: 3 }).page)[0],
    `wave, order ${names[0]} (--entry 3)`,
  );
});

Deno.test("every tie says in what it differs, one of another traversal all that it is", () => {
  const { journal, profile } = sampleReport(10);
  const [entry] = profile.entries, { configuration, result } = entry!;
  const tie = (traversal: string, parameters: Record<string, number>) => ({
    configuration: { ...configuration, traversal, parameters },
    cellsPerSecond: 0.99 * result.cellsPerSecond,
    confidence95: null,
  });
  const own = configuration.parameters as Record<string, number>;
  const tieSet = [
    entry!.tieSet[0]!,
    ...[90, 91, 92].map((chunk) => tie("diamond-torre", { ...own, chunk })),
    tie("stepwise", { threadsZ: 64, threadsY: 1, threadsX: 2 }),
  ];
  const words = wordsOf(buildReport({ ...profile, entries: [{ ...entry!, tieSet }] }, { journal }).page);
  assertStringIncludes(
    words,
    "4 other configurations are equally fast, not significantly slower, or too little slower to matter: " +
      "diamond-torre with Chunk: 90 cells; diamond-torre with Chunk: 91 cells; diamond-torre with Chunk: 92 cells; " +
      "stepwise with Workgroup along z: 64 threads, Workgroup along y: 1 thread, Workgroup along x: 2 threads.",
  );
});

Deno.test("every mark has its configuration's name and rate", () => {
  const { points } = viewEntry(WAVE, 0, JOURNAL);
  const figures = parse(buildReport(WAVE, { journal: JOURNAL, only: 0 }).page).querySelectorAll("figure");
  for (const figure of [figures[0], figures[1]]) {
    for (const format of ["wide", "narrow"]) {
      const names = [...figure.querySelectorAll(`.${format} [data-name]`)].map((mark) => mark.dataset.name);
      const expected = points.map(({ cellsPerSecond, configuration }) =>
        `${formatRate(cellsPerSecond)}: ${describeConfiguration(configuration)}`
      );
      assertEquals(names.toSorted(), expected.toSorted());
    }
  }
});

Deno.test("how the search converged: what was faster than all before, over evaluations and over seconds", () => {
  const { profile, journal } = sampleReport(2);
  const [run, ...measured] = journal, [first, second, third] = measured;
  const at = (record: JournalRecord | undefined, seconds: number, rate = 1): JournalRecord => {
    if (record?.kind !== "measurement") throw new TypeError("a measurement is wanted");
    const measurement = { ...record.measurement, cellsPerSecond: rate * 1e9 };
    return { ...record, at: `2026-11-21T10:00:0${seconds}.000Z`, measurement };
  };
  // the last one measures the first again: it is no further evaluation
  const records = [run!, at(first, 1, 5), at(second, 3, 4), at(third, 6, 7), at(first, 9, 8)];
  const { page } = buildReport(profile, { journal: records });
  assertEquals(rowsBehind(page, "Each rate that was faster than all before"), [
    ["stepwise", "5.00 Gcells/s", "1", "1.0"],
    ["stepwise", "7.00 Gcells/s", "3", "6.0"],
  ]);
  const [figure] = [...parse(page).querySelectorAll("figure")].filter((figure) =>
    figure.textContent.includes("How the search converged")
  );
  assertEquals([...figure.querySelectorAll(".wide svg")].map((svg) => svg.getAttribute("aria-label")), [
    "The best rate so far over evaluations: 7.00 Gcells/s after 3 of 5 evaluations.",
    "The best rate so far over seconds: 7.00 Gcells/s after 6 of 60 seconds.",
  ]);
  assert(!buildReport(profile, { journal: [] }).page.includes("converged"));
});

Deno.test("several profiles are compared in one table and one chart before the details", () => {
  const [entry] = PROFILE.entries, gpu = { ...PROFILE.device.gpu!, description: "Another GPU" };
  const slower = { ...entry!, result: { ...entry!.result, cellsPerSecond: 385e9, confidence95: null } };
  const another = { ...PROFILE, device: { ...PROFILE.device, gpu }, entries: [slower] };
  const again = { ...PROFILE, createdAt: "2026-11-22T12:30:00.000Z" };
  const others = [another, again].map((profile) => ({ profile, journal: [] }));
  const { page } = buildReport(PROFILE, { journal: [], others });
  const document = parse(page);
  assertEquals(document.querySelector("h1").textContent, "3 profiles");
  const devices = [
    ["Test GPU 80GB and Test CPU, 2026-11-21 10:00", "770 Gcells/s"],
    ["Test GPU 80GB and Test CPU, 2026-11-22 12:30", "770 Gcells/s"],
    ["Another GPU and Test CPU, 2026-11-21 10:00", "385 Gcells/s"],
  ];
  assertEquals(
    rowsBehind(page, "The chosen configuration of every problem").map(([, device, , rate]) => [device, rate]),
    devices,
  );
  const [nav, ...sections] = [...document.querySelectorAll("main > *")];
  assertEquals([nav.tagName, sections.length], ["NAV", 3]);
  assertEquals(
    nav.querySelector(".bars dt").textContent,
    "wave, order 2, grid 100x90x80, zero boundary, 96 steps",
  );
  const bars = [...nav.querySelectorAll(".bars dd")];
  assertEquals(bars.map((bar) => bar.textContent), devices.map((texts) => texts.join("")));
  // bars are as long as rates
  assertEquals(
    bars.map((bar) => bar.querySelector("span").getAttribute("style").match(/--part: [\d.]+%/)[0]),
    ["--part: 100.0%", "--part: 100.0%", "--part: 50.0%"],
  );
  for (const target of nav.querySelectorAll("a")) {
    assert(document.getElementById(target.getAttribute("href").slice(1)) !== null);
  }
});

Deno.test("rates far apart lie on a logarithmic scale, a wide interval has a badge, two sizes estimate no loss", () => {
  const [entry] = PROFILE.entries;
  const rated = (cellsPerSecond: number, part: number): ProfileEntry => {
    const confidence95 = [cellsPerSecond * (1 - part), cellsPerSecond * (1 + part)] as const;
    const own = { configuration: entry!.configuration, cellsPerSecond, confidence95 };
    return { ...entry!, result: { ...entry!.result, cellsPerSecond, confidence95 }, tieSet: [own] };
  };
  const slow = rated(9e9, 0.1), far = { ...slow, problem: { ...slow.problem, steps: 7 } };
  const pageOf = (entries: readonly ProfileEntry[]) =>
    buildReport({ ...PROFILE, entries: [entries[0]!] }, {
      journal: [],
      others: [{ profile: { ...PROFILE, entries: [entries[1]!] }, journal: [] }],
    }).page;
  const barsOf = (page: string) => [...page.matchAll(/--part: ([\d.]+)%/g)].map(([, part]) => Number(part));
  const near = pageOf([rated(90e9, 0.1), far]), apart = pageOf([rated(900e9, 0.3), far]);
  assertEquals(barsOf(near).toSorted((a, b) => a - b), [10, 100]);
  assert(Math.min(...barsOf(apart)) > 10 && wordsOf(apart).includes("on a logarithmic scale"));
  assert(!wordsOf(near).includes("on a logarithmic scale") && !near.includes('class="badge"'));
  assertEquals([...parse(apart).querySelectorAll(".badge")].map(({ textContent }) => textContent), ["±30%"]);
  assert(!wordsOf(REPORT.page).includes("Loss on unseen sizes"));
});

Deno.test("what the search alone measured is pale and has no factor over stepwise", () => {
  const { page } = buildReport(WAVE, { journal: JOURNAL, only: 0 }), view = viewEntry(WAVE, 0, JOURNAL);
  const once = view.best.filter(({ isFinal }) => !isFinal);
  assert(view.winner.isFinal && view.points.some(({ isFinal }) => !isFinal));
  assertStringIncludes(wordsOf(page), "what is pale was measured once, in the search");
  const opacities = new Set([...page.matchAll(/fill-opacity="([\d.]+)"/g)].map(([, one]) => Number(one)));
  assert(Math.min(...opacities) < 0.5 && Math.max(...opacities) > 0.9, `${[...opacities]}`);
  assertEquals(page.split("once, in the search</text>").length - 1, once.length);
});
