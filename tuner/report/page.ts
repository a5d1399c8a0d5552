import { formatCount, formatFactor, formatPercent, formatPlural, formatRate } from "../format.ts";
import type { JournalRecord } from "../profile/journal_format.ts";
import { hashOf } from "../../kernels/definition.ts";
import { isComparable, WIDEST } from "../measuring/statistics.ts";
import { samplesOf } from "../profile/samples.ts";
import { compareProblems, describeProfileProblem, tiesWithStepwise } from "../profile/describe.ts";
import {
  describeLoss,
  LEAST_SIZES,
  leaveOneOut,
  type MeasuredProblem,
  type UnseenProblem,
} from "../profile/leave_one_out.ts";
import { problemOf } from "../profile/profile_problem.ts";
import { deviceModelOf } from "../devices/device_model.ts";
import { devicesOf } from "../profile/merge.ts";
import type { Profile, ProfileEntry } from "../profile/schema.ts";
import { allMeasurements } from "./all_measurements.ts";
import { comparison } from "./comparison.ts";
import { configurationCard } from "./configuration_card.ts";
import { convergenceFigure } from "./convergence_chart.ts";
import { deviceCard, deviceTitle } from "./device_card.ts";
import { type EntryView, roofFraction, viewEntry } from "./entry_view.ts";
import { explain, overviewSentence, stepwiseName, whySentence } from "./explain.ts";
import { heatMaps } from "./heat_maps.ts";
import { Html, markup, numbers, table } from "./html.ts";
import { ratesFigure } from "./rates_chart.ts";
import { rooflineFigure } from "./roofline_chart.ts";
import { SCRIPT } from "./script.ts";
import { lookOf, markKey, seriesOf } from "./series.ts";
import { sharing } from "./sharing_charts.ts";
import { STYLE } from "./style.ts";
import { ABOVE_ROOF, intervalWords } from "./words.ts";

/** Entries that are drawn; a profile of more is listed whole, and the others are drawn with `--entry`. */
export const MAX_ENTRIES = 16;

const NO_JOURNAL =
  markup`<p class="warning">There is no journal: the charts show what the profile keeps.</p>`;

/** A profile and its evaluations; none where there is no journal. */
interface Measured {
  readonly profile: Profile;
  readonly journal: readonly JournalRecord[];
}

/** What a page is made of, beside a profile. */
interface ReportOptions extends Pick<Measured, "journal"> {
  /** Further profiles on the same page, also of the same device. @default {[]} */
  readonly others?: readonly Measured[];
  /** The only entry to draw, counted from 0 over all devices. @default {undefined} the first {@linkcode MAX_ENTRIES} */
  readonly only?: number | undefined;
  /** Warnings about the files, one line each. @default {[]} */
  readonly warnings?: readonly string[];
}

/** An entry of the page; not drawn, it has no view. */
interface Listed {
  readonly entry: ProfileEntry;
  /** What `--entry` calls it. */
  readonly number: number;
  readonly view: EntryView | undefined;
}

/** A device of a profile, and its entries, by equation and size. */
interface DevicePart {
  readonly title: string;
  readonly profile: Profile;
  readonly entries: readonly Listed[];
  readonly views: readonly EntryView[];
}

/**
 * Makes the report of profiles with at least one entry: the text of an HTML file that needs nothing else, and how many
 * measurements it shows. Each device of each profile has a section. Pure: the same profiles and journals give the same
 * text.
 */
export function buildReport(
  profile: Profile,
  { journal, others = [], only, warnings = [] }: ReportOptions,
): { page: string; measurements: number } {
  let count = 0, drawn = 0;
  const partOf = (profile: Profile, journal: Measured["journal"]): DevicePart => {
    const before = count;
    count += profile.entries.length;
    const entries = profile.entries.map((entry, i) => ({ entry, i, number: before + i + 1 }))
      .sort((a, b) => compareProblems(a.entry.problem, b.entry.problem))
      .map(({ entry, i, number }): Listed => {
        const isDrawn = only === undefined ? drawn++ < MAX_ENTRIES : number === only + 1;
        return { entry, number, view: isDrawn ? viewEntry(profile, i, journal, number) : undefined };
      });
    const views = entries.flatMap(({ view }) => view ?? []);
    const title = deviceTitle(
      profile.device,
      (only === undefined ? entries : views).map(({ entry }) => entry),
    );
    // of one device there may be several
    const time = others.length > 0 ? `, ${profile.createdAt.slice(0, 16).replace("T", " ")}` : "";
    return { title: title + time, profile, entries, views };
  };
  const parts = [{ profile, journal }, ...others]
    .flatMap(({ profile, journal }) => devicesOf(profile).map((device) => partOf(device, journal)))
    .filter(({ views }) => only === undefined || views.length > 0);
  const views = parts.flatMap(({ views }) => views);
  const measurements = views.reduce((sum, { points }) => sum + points.length, 0);
  const isOne = parts.length === 1;
  const title = isOne
    ? parts[0]!.title
    : formatPlural(parts.length, others.length > 0 ? "profile" : "device");
  const page = markup`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
        <title>Facet: ${title}</title>
        <style>${new Html(STYLE)}</style>
      </head>
      <body>
    <a class="skip" href="#${views[0]!.id}">Skip to the first problem</a>
    <header>
    <p class="kind">Facet · tuning report</p>
    <h1>${title}</h1>
    ${isOne ? lead(views) : ""}
    ${warnings.map((warning) => markup`<p class="warning">${warning}</p>`)}
    </header>
    <main>
    ${overview(parts)}
    ${parts.map((part, i) => isOne ? deviceContent(part, i) : deviceSection(part, i))}
    </main>
    <footer><p>Made by <code>deno task report</code> from a profile and its journal. Rates count the grid's own cells per second. A <dfn>roof</dfn> is the highest rate that the measured copy bandwidth permits for a kernel's memory traffic. <dfn>Stepwise</dfn>, on a line <em>classic</em>, computes one time step per pass over memory: the baseline of speedups. Every rate was measured; every prediction is called one.</p></footer>
    <script>${new Html(SCRIPT)}</script>
      </body>
    </html>
  `;
  return { page: page.text.trimStart(), measurements };
}

/** The sentence that opens a page or a device. */
function lead(views: readonly EntryView[]): Html | "" {
  const [first] = views;
  if (first === undefined) return "";
  return markup`<p class="lead">${views.length === 1 ? whySentence(first) : overviewSentence(views)}</p>`;
}

function deviceSection(part: DevicePart, at: number): Html {
  const id = `device-${at + 1}`;
  return markup`<section aria-labelledby="${id}"><h2 id="${id}" class="device">${part.title}</h2>
    ${lead(part.views)}${deviceContent(part, at)}</section>`;
}

function deviceContent({ profile, views }: DevicePart, at: number): Html {
  const isAlone = views.length === 1, unseen = lossOf(profile);
  return markup`
    ${unseen.length > 0 ? markup`<p>${describeLoss(unseen)}.</p>` : ""}
    ${views.map((view, i) => problemSection(view, { isAlone, isOpen: at === 0 && i === 0 }))}
    <section><h2>The device</h2>${deviceCard(profile)}</section>
  `;
}

/** The table of contents: all problems on all devices, with links to those that are drawn; nothing for one alone. */
function overview(parts: readonly DevicePart[]): Html | "" {
  const listed = parts.flatMap((part) => part.entries.map((entry) => ({ ...entry, part })))
    .sort(({ entry: a }, { entry: b }) =>
      compareProblems(a.problem, b.problem) || b.result.cellsPerSecond - a.result.cellsPerSecond
    );
  if (listed.length < 2) return "";
  const isOne = parts.length === 1, others = listed.filter(({ view }) => view === undefined).length;
  const rows = listed.map(({ entry, number, view, part }) => {
    const { problem, configuration, result: { cellsPerSecond, roofFraction, speedupOverStepwise } } = entry;
    const name = describeProfileProblem(problem), series = seriesOf(configuration);
    return [
      view === undefined ? `${name} (--entry ${number})` : markup`<a href="#${view.id}">${name}</a>`,
      ...(isOne ? [] : [part.title]),
      markup`<span class="who">${markKey(lookOf(series))}${series}</span>`,
      formatRate(cellsPerSecond),
      tiesWithStepwise(entry) ? "ties" : speedupOverStepwise && formatFactor(speedupOverStepwise),
      roofFraction && formatPercent(roofFraction),
    ];
  });
  const columns = [
    "problem",
    ...(isOne ? [] : ["device"]),
    "chosen",
    ...numbers("rate", "over stepwise", "of its roof"),
  ];
  const isAbove = listed.some(({ entry: { result } }) => (result.roofFraction ?? 0) > 1);
  const problems = formatPlural(others, "problem is", "problems are");
  const undrawn = `${problems} listed only: --entry N draws another.`;
  return markup`<nav aria-labelledby="problems"><h2 id="problems">${isOne ? "Problems" : "Comparison"}</h2>
    ${table("The chosen configuration of every problem", columns, rows)}
    ${isAbove ? markup`<p>Above 100%: ${ABOVE_ROOF}.</p>` : ""}
    ${others > 0 ? markup`<p>${undrawn}</p>` : ""}
    ${isOne ? "" : comparison(listed.map(({ entry, part }) => ({ ...entry, title: part.title })))}
  </nav>`;
}

/** What choices for other sizes lose: each size of an equation chosen from its others. */
function lossOf({ entries, device }: Profile): UnseenProblem[] {
  const model = deviceModelOf(device);
  const measured = entries.flatMap((entry): MeasuredProblem[] => {
    const problem = entry.calibration && problemOf(entry.problem);
    return problem === undefined ? [] : [{ problem, samples: samplesOf(entry, problem, model) }];
  });
  const sizes = Map.groupBy(measured, ({ problem: { stencil } }) => hashOf(stencil.update));
  return leaveOneOut([...sizes.values()].filter(({ length }) => length >= LEAST_SIZES).flat(), model);
}

/** A problem; of several, one that can be closed, and that begins with its own sentence. */
function problemSection(view: EntryView, { isAlone, isOpen }: { isAlone: boolean; isOpen: boolean }): Html {
  const { id, entry } = view;
  const heading = markup`<h2 id="${id}">${describeProfileProblem(entry.problem)}</h2>`;
  return markup`<section>${
    isAlone ? [heading, content(view)] : markup`<details class="problem"${new Html(isOpen ? " open" : "")}>
      <summary>${heading}</summary><p class="lead">${whySentence(view)}</p>${content(view)}</details>`
  }</section>`;
}

function content(view: EntryView): Html {
  return markup`
    ${headline(view)}
    ${view.records.kernelSource === null ? NO_JOURNAL : ""}
    ${ratesFigure(view)}
    ${rooflineFigure(view)}
    <h3>The chosen configuration</h3>
    ${configurationCard(view)}
    ${explain(view)}
    ${convergenceFigure(view)}
    ${heatMaps(view)}
    ${sharing(view)}
    <h3>Every measurement</h3>
    ${allMeasurements(view)}
  `;
}

function headline({ entry, winner, speedup, stepwise }: EntryView): Html {
  const { result, tieSet } = entry;
  const [value = "", unit = ""] = formatRate(result.cellsPerSecond).split(" ");
  const interval = intervalWords(winner.confidence95, { to: " and ", like: result.cellsPerSecond });
  const samples = formatPlural(result.samples.length, "sample");
  const fraction = roofFraction(winner);
  const tile = (big: string, small: string, unit = "", badge: Html | "" = ""): Html =>
    markup`<li><span class="big">${big}</span> <span class="unit">${unit}</span>${badge}<span class="small">${small}</span></li>`;
  const far = Math.max(
    ...(winner.confidence95 ?? []).map((end) => Math.abs(end / result.cellsPerSecond - 1)),
  );
  const badge = isComparable({ ...result, confidence95: winner.confidence95 })
    ? ""
    : markup` <span class="badge">${far > WIDEST ? `±${formatPercent(far)}` : "too few samples"}</span>`;
  const tiles = [tile(value, interval === "" ? samples : `95% between ${interval}`, unit, badge)];
  if (speedup !== undefined && winner !== stepwise && !tiesWithStepwise(entry)) {
    tiles.push(tile(formatFactor(speedup), stepwiseName(stepwise, winner)));
  }
  if (fraction !== undefined) {
    const roof = `of its roof, ${formatRate(winner.roof!)}${fraction > 1 ? `: ${ABOVE_ROOF}` : ""}`;
    tiles.push(tile(formatPercent(fraction), roof));
  }
  if (result.byHost !== undefined) {
    const [rate = "", unit] = formatRate(result.byHost.cellsPerSecond).split(" ");
    tiles.push(
      tile(rate, `by the host's clock, in a run of ${formatPlural(result.byHost.steps, "step")}`, unit),
    );
  }
  const ties = formatCount(tieSet.length);
  if (tieSet.length > 1) tiles.push(tile(ties, "statistically indistinguishable configurations"));
  return markup`<ul class="tiles">${tiles}</ul>`;
}
