import { formatPercent, formatPlural } from "../format.ts";
import type { EntryView, Point } from "./entry_view.ts";
import { type Html, markup, table } from "./html.ts";
import { parameterMeaning, parameterTitle, parameterValue } from "./words.ts";

/** A measured configuration that differs from the chosen one in one parameter. */
interface Neighbour {
  readonly name: string;
  readonly value: number;
  readonly point: Point;
}

/** The chosen configuration: its parameters in words, what changing one of them does, and its JSON to copy. */
export function configurationCard(view: EntryView): Html {
  const { entry: { configuration }, id, winner: { series, cellsPerSecond, parameters } } = view;
  const { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers, cpu } = configuration.share;
  const neighbours = Map.groupBy(neighboursOf(view), ({ name }) => name);
  const rows = Object.entries(parameters).map(([name, value]) => [
    parameterTitle(name, series),
    parameterValue(name, value, series),
    parameterMeaning(name, series),
    (neighbours.get(name) ?? []).map(({ value, point }) => {
      const change = point.cellsPerSecond / cellsPerSecond - 1;
      const percent = `${change < 0 ? "−" : "+"}${formatPercent(Math.abs(change))}`;
      return `${parameterValue(name, value, series)}: ${percent}`;
    }).join("; "),
  ]);
  const shares = cpuSlices === 0 || gpuSlices === 0 ? [] : [
    [
      "CPU workers",
      String(cpuWorkers),
      `threads that compute the CPU's slices, ${cpu?.traversal ?? "stepwise"}`,
    ],
    ["Slices of the CPU", `${cpuSlices} of ${cpuSlices + gpuSlices}`, "y–z planes; the GPU has the others"],
    [
      "Exchange (R)",
      `every ${formatPlural(exchangeEvery, "step")}`,
      "how often the ghost zones are exchanged",
    ],
  ];
  const columns = ["parameter", "value", "meaning"];
  const parametersTable = neighbours.size === 0
    ? table(`Parameters of ${series}`, columns, [...rows.map((row) => row.slice(0, 3)), ...shares])
    : table(
      `Parameters of ${series}, and what another value of one of them does to the rate`,
      [...columns, "instead"],
      [...rows, ...shares.map((row) => [...row, ""])],
    );
  return markup`
    ${parametersTable}
    <p class="use"><button type="button" class="copy" hidden data-copy="${id}-json">Copy as JSON</button>
    A program runs it with <code>createSolver(device, problem, configuration)</code>; <code>chooseConfiguration(profile, problem, device)</code> reads it from the profile.</p>
    <details class="behind"><summary>The configuration as JSON</summary><pre id="${id}-json" tabindex="0">${
    JSON.stringify(configuration, null, 2)
  }</pre></details>
  `;
}

/** The measured configurations of the winner's traversal that differ from it in exactly one parameter. */
export function neighboursOf({ winner, points }: EntryView): Neighbour[] {
  const names = Object.keys(winner.parameters);
  return points.flatMap((point): Neighbour[] => {
    const [one, ...others] = differences(winner, point);
    return one === undefined || others.length > 0 ? [] : [{ ...one, point }];
  }).sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name) || a.value - b.value);
}

/** The parameters in which another configuration of the same traversal differs; none for any other. */
export function differences(winner: Point, { series, parameters }: Point): { name: string; value: number }[] {
  const names = Object.keys(winner.parameters);
  const isAlike = series === winner.series && Object.keys(parameters).length === names.length &&
    names.every((name) => parameters[name] !== undefined);
  return names.filter((name) => isAlike && winner.parameters[name] !== parameters[name])
    .map((name) => ({ name, value: parameters[name]! }));
}
