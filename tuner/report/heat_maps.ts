import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { formatRate } from "../format.ts";
import type { EntryView, Mark } from "./entry_view.ts";
import { figure, type Html, markup } from "./html.ts";
import { gcells, parameterWords } from "./words.ts";

/** Steps of the colour scale. */
const STEPS = 8;

/** Fewer values, or fewer measured pairs of them, are read better as numbers; so are maps that are mostly empty. */
const LEAST_VALUES = 3, LEAST_CELLS = 6, LEAST_FILLED = 0.5;

/** The rates over two parameters of a traversal. */
interface Pair {
  readonly series: string;
  /** Names of the parameters, with their values by size. */
  readonly rows: readonly [name: string, values: readonly Parameters[string][]];
  readonly columns: Pair["rows"];
  /** The best of all configurations with these two values, by `row,column`. */
  readonly best: ReadonlyMap<string, Mark>;
}

/**
 * Maps over pairs of parameters, of all traversals that have such pairs, the winner's first: tables whose cells are
 * coloured by the best rate of all configurations with these two values.
 */
export function heatMaps({ points, best, winner }: EntryView): Html | "" {
  const names = [winner.series, ...best.map(({ series }) => series).filter((name) => name !== winner.series)];
  const groups = names.map((name) => [name, pairsOf(points.filter(({ series }) => series === name))] as const)
    .filter(([, pairs]) => pairs.length > 0);
  if (groups.length === 0) return "";
  return markup`<h3>Pairs of parameters</h3>${
    groups.map(([name, pairs]) => {
      const shown = name === winner.series ? pairs.slice(0, 1) : [], rest = pairs.slice(shown.length);
      const title = `${shown.length > 0 ? "Other pairs" : "Pairs"} of ${name}`;
      return markup`${shown.map(heatMap)}${
        rest.length === 0 ? "" : markup`<details class="more"><summary>${title} (${rest.length})</summary>
        <div class="maps">${rest.map(heatMap)}</div></details>`
      }`;
    })
  }`;
}

/** The pairs of a traversal's varied parameters that fill a map; DTS × Nt comes first. */
function pairsOf(points: readonly Mark[]): Pair[] {
  const values = Map.groupBy(
    points.flatMap(({ parameters }) => Object.entries(parameters)),
    ([name]) => name,
  );
  const varied = [...values].map(([name, pairs]) => [name, new Set(pairs.map(([, value]) => value))] as const)
    .map(([name, values]) => {
      const { placeOf } = parameterWords(name, points[0]!.series);
      return [name, [...values].sort((a, b) => placeOf(a) - placeOf(b))] as const;
    })
    .filter(([, values]) => values.length > 1);
  const pairs = varied.flatMap((rows, i) =>
    varied.slice(i + 1).map((columns): Pair => {
      const best = new Map<string, Mark>();
      // the fastest come first
      for (const point of points) {
        const { [rows[0]]: row, [columns[0]]: column } = point.parameters;
        const key = `${row},${column}`;
        if (row !== undefined && column !== undefined && !best.has(key)) best.set(key, point);
      }
      return { series: points[0]!.series, rows, columns, best };
    })
  );
  return pairs.filter(({ rows: [, rows], columns: [, columns], best }) =>
    Math.max(rows.length, columns.length) >= LEAST_VALUES &&
    best.size >= Math.max(LEAST_CELLS, LEAST_FILLED * rows.length * columns.length)
  );
}

function heatMap({ series, rows, columns, best }: Pair): Html {
  const rates = [...best.values()].map(({ cellsPerSecond }) => cellsPerSecond);
  const low = Math.min(...rates), high = Math.max(...rates);
  const step = (rate: number): number =>
    Math.min(STEPS - 1, Math.floor((rate - low) / (high - low || 1) * STEPS));
  const down = parameterWords(rows[0], series), across = parameterWords(columns[0], series);
  const plain = { hasUnit: false };
  const head = columns[1].map((value) => markup`<th scope="col">${across.valueOf(value, plain)}</th>`);
  const cellOf = (point: Mark | undefined): Html => {
    if (point === undefined) return markup`<td class="none"></td>`;
    const look = `heat-${step(point.cellsPerSecond)}${point.isWinner ? " chosen" : ""}`;
    return markup`<td class="${look}">${gcells(point.cellsPerSecond)}</td>`;
  };
  const body = rows[1].map((row) => {
    const cells = columns[1].map((column) => cellOf(best.get(`${row},${column}`)));
    return markup`<tr><th scope="row">${down.valueOf(row, plain)}</th>${cells}</tr>\n`;
  });
  return figure(
    `${down.title} ↓ × ${across.title} →`,
    `The best rate of ${series} with each pair, from ${formatRate(low)} to ${formatRate(high)}.`,
    markup`<div class="scroll" role="group" tabindex="0" aria-label="${down.title} × ${across.title}"><table class="map">
      <thead><tr><td></td>${head}</tr></thead>
      <tbody>${body}</tbody></table></div>`,
  );
}
