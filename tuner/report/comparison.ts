import { formatRate } from "../format.ts";
import { describeProfileProblem } from "../profile/describe.ts";
import type { ProfileEntry } from "../profile/schema.ts";
import { figure, type Html, markup } from "./html.ts";
import { FAR_APART } from "./rates_chart.ts";
import { legend, lookOf, seriesOf } from "./series.ts";

/** Entries with the names of their devices as bars, in their order: those of one problem lie side by side. */
export function comparison(all: readonly (ProfileEntry & { readonly title: string })[]): Html {
  const most = Math.max(...all.map(({ result }) => result.cellsPerSecond));
  const least = Math.min(...all.map(({ result }) => result.cellsPerSecond)), isLog = most > FAR_APART * least;
  const partOf = (rate: number): number =>
    isLog ? Math.log(2 * rate / least) / Math.log(2 * most / least) : rate / most;
  const names = all.map(({ problem }) => describeProfileProblem(problem));
  const bars = all.map(({ title, configuration, result: { cellsPerSecond } }, i) => {
    const rate = formatRate(cellsPerSecond), part = (100 * partOf(cellsPerSecond)).toFixed(1);
    const { color } = lookOf(seriesOf(configuration));
    return markup`${names[i] === names[i - 1] ? "" : markup`<dt>${names[i]}</dt>`}
      <dd>${title}<b>${rate}</b><span style="--part: ${part}%; --bar: ${color}"></span></dd>\n`;
  });
  return figure(
    "The rates compared.",
    `The chosen configuration of each problem on each device, the fastest first${
      isLog ? ", on a logarithmic scale" : ""
    }.`,
    legend([...new Set(all.map(({ configuration }) => seriesOf(configuration)))]),
    markup`<dl class="bars">${bars}</dl>`,
  );
}
