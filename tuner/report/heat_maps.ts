import * as Plot from "@observablehq/plot";
import { formatCount, formatRate } from "../format.ts";
import { drawChart, figure, type Layout, WIDTHS } from "./chart.ts";
import { type EntryView, type Point, variedParameters } from "./entry_view.ts";
import { type Html, markup, numbers, table, tableBehind } from "./html.ts";
import { gcells as gcellsOf, parameterTitle } from "./words.ts";

/** Steps of the colour scale. */
const STEPS = 8;

/** Widths of the small maps. */
const SMALL: Readonly<Record<Layout, number>> = { wide: 410, narrow: 360 };

/** Cells with more columns than this have no room for their rate. */
const MAX_COLUMNS: Readonly<Record<Layout, number>> = { wide: 18, narrow: 7 };

/** Maps of the winner's traversal that are open from the start. */
const OPEN_MAPS = 5;

interface Cell {
  readonly x: number;
  readonly y: number;
  readonly gcells: number;
  readonly count: number;
  readonly isWinner: boolean;
}

/**
 * Maps over pairs of parameters, of all traversals that have such pairs, the winner's first. Each cell shows the best
 * rate of all configurations with these two values.
 */
export function heatMaps(view: EntryView): Html {
  const own = view.winner.series;
  const names = [own, ...view.series.filter((name) => name !== own)];
  const parts = names.map((name) => ({
    name,
    maps: mapsOf(view.points.filter(({ series }) => series === name), name),
  })).filter(({ maps }) => maps.length > 0);
  if (parts.length === 0) {
    return figure("Heat maps", "need two parameters with more than one measured value each: there are none.");
  }
  return markup`${
    parts.map(({ name, maps }, i) => {
      if (i > 0) return closed(`Heat maps of ${name}`, maps);
      const shown = maps.slice(0, OPEN_MAPS), rest = maps.slice(OPEN_MAPS);
      return markup`<div class="maps">${shown}</div>${
        rest.length > 0 ? closed("Heat maps of the other pairs of parameters", rest) : ""
      }`;
    })
  }`;
}

function closed(summary: string, maps: readonly Html[]): Html {
  return markup`
    <details class="more">
      <summary>${summary} (${maps.length})</summary>
      <div class="maps">${maps}</div>
    </details>
  `;
}

/** Every pair of a traversal's varied parameters; DTS × Nt comes first. */
function mapsOf(points: readonly Point[], name: string): Html[] {
  const varied = variedParameters(points);
  const names = [...varied.keys()].sort((a, b) => rank(a) - rank(b));
  const pairs = names.flatMap((one, i) => names.slice(i + 1).map((other) => [one, other] as const));
  return pairs.map(([one, other], i) => {
    // more values along x, where there is more room; DTS stays above Nt, as the paper has it
    const [y, x] = i > 0 && varied.get(one)!.length > varied.get(other)!.length ? [other, one] : [one, other];
    return map(points, { name, x, y, xs: varied.get(x)!, ys: varied.get(y)!, isLarge: i === 0 });
  });
}

function rank(name: string): number {
  return name === "dts" ? 0 : name === "nt" ? 1 : 2;
}

function map(
  points: readonly Point[],
  { name, x, y, xs, ys, isLarge }: Record<"name" | "x" | "y", string> & {
    readonly xs: readonly number[];
    readonly ys: readonly number[];
    readonly isLarge: boolean;
  },
): Html {
  const cells = cellsOf(points, x, y);
  const rates = cells.map(({ gcells }) => gcells);
  const low = Math.min(...rates), high = Math.max(...rates);
  const best = cells.find(({ gcells }) => gcells === high)!;
  const titles = { x: parameterTitle(x), y: parameterTitle(y) };
  const label = `Heat map of ${name}: best rate over ${titles.y} and ${titles.x}, ` +
    `${formatCount(cells.length)} cells from ${formatRate(low * 1e9)} to ${formatRate(high * 1e9)}; ` +
    `the best at ${y} ${best.y}, ${x} ${best.x}.`;
  const step = (gcells: number): number =>
    high === low ? STEPS - 1 : Math.min(STEPS - 1, Math.floor((gcells - low) / (high - low) * STEPS));
  const measured = new Set(cells.map((cell) => `${cell.x},${cell.y}`));
  const empty = xs.flatMap((x) => ys.map((y) => ({ x, y }))).filter(({ x, y }) => !measured.has(`${x},${y}`));
  const at = { x: "x", y: "y", rx: 3 } as const;
  const winners = cells.filter(({ isWinner }) => isWinner);
  const chart = drawChart(label, (layout) => {
    const size = isLarge ? 44 : 34;
    // the label stands beside the rows, upright
    const isLong = 7 * titles.y.length > size * ys.length;
    return {
      height: 48 + size * ys.length,
      marginLeft: 48,
      marginTop: 6,
      marginBottom: 38,
      padding: 0.04,
      x: { type: "band", domain: [...xs], label: `${titles.x} →`, tickFormat: String },
      y: { type: "band", domain: [...ys].reverse(), label: `↑ ${isLong ? y : titles.y}`, tickFormat: String },
      color: { type: "identity" },
      marks: [
        Plot.cell(empty, { ...at, stroke: "var(--line)", strokeDasharray: "2,3", inset: 0.5 }),
        Plot.cell(cells, { ...at, fill: ({ gcells }: Cell) => `var(--heat-${step(gcells)})` }),
        Plot.cell(winners, { ...at, stroke: "var(--accent)", strokeWidth: 3, inset: 1 }),
        ...(xs.length > MAX_COLUMNS[layout] * (isLarge || layout === "narrow" ? 1 : 0.5) ? [] : [
          Plot.text(cells, {
            x: "x",
            y: "y",
            text: ({ gcells }: Cell) => gcells >= 99.5 ? gcells.toFixed(0) : gcells.toPrecision(2),
            fill: ({ gcells }: Cell) => `var(--heat-ink-${step(gcells)})`,
            fontSize: 12,
          }),
        ]),
      ],
    };
  }, isLarge ? WIDTHS : SMALL);
  const rows = cells.toSorted((a, b) => a.y - b.y || a.x - b.x)
    .map(({ x, y, gcells, count }) => [y, x, formatRate(gcells * 1e9), formatCount(count)]);
  const columns = numbers(y, x, "best rate", "measured");
  const behind = tableBehind(
    `Table of ${y} × ${x}`,
    table(`${name}: best rate by ${y} and ${x}`, columns, rows),
  );
  const outlined = winners.length > 0 ? "; the outlined cell holds the fastest of all" : "";
  const caption = `the best rate of each pair${isLarge ? ` (${name})${outlined}` : ""}.`;
  return markup`<div class="${isLarge ? "map large" : "map"}">${
    figure(`${titles.y} × ${titles.x}:`, caption, scale(low, high), chart, behind)
  }</div>`;
}

/** What the colours mean. */
function scale(low: number, high: number): Html {
  const steps = Array.from({ length: STEPS }, (_, i) => i);
  const swatches = steps.map((i) => markup`<i style="background:var(--heat-${i})"></i>`);
  return markup`<p class="scale">${gcellsOf(low * 1e9)} <span aria-hidden="true">${swatches}</span>
    <span class="unseen">to</span> ${gcellsOf(high * 1e9)} Gcells/s</p>`;
}

function cellsOf(points: readonly Point[], x: string, y: string): Cell[] {
  const cells = new Map<string, Cell>();
  for (const { configuration: { parameters }, cellsPerSecond, isWinner } of points) {
    if (parameters[x] === undefined || parameters[y] === undefined) continue;
    const key = `${parameters[x]},${parameters[y]}`;
    const known = cells.get(key);
    cells.set(key, {
      x: parameters[x],
      y: parameters[y],
      gcells: Math.max(known?.gcells ?? 0, cellsPerSecond / 1e9),
      count: (known?.count ?? 0) + 1,
      isWinner: isWinner || (known?.isWinner ?? false),
    });
  }
  return [...cells.values()];
}
