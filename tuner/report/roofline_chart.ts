import { precisionOf } from "../../kernels/precision.ts";
import * as Plot from "@observablehq/plot";
import { coordinatesOf } from "../../kernels/traversals/all.ts";
import { readsPrevious } from "../../kernels/update.ts";
import { stepwiseLocality, torreLocality } from "../../models/locality.ts";
import { formatBandwidth, formatCount, formatPercent, formatRate } from "../format.ts";
import { dotsOf, drawChart, GCELLS, logTicks, type PageFormat, ringsOf, WIDTHS } from "./chart.ts";
import { deviceName, type EntryView, type Mark, roofFraction } from "./entry_view.ts";
import { figure, type Html, numbers, table, tableBehind } from "./html.ts";
import { legend, lookOf } from "./series.ts";
import { ABOVE_ROOF, bytesWords } from "./words.ts";

/**
 * The roofline: rate over the bytes that a cell update moves, both logarithmic, with the line that the copy bandwidth
 * allows (Williams, Waterman, Patterson, CACM 2009, 52(4)). On the line lie the localities of DiamondTorre, as in Fig. 7
 * of Levchenko et al. (2016). Nothing where no roof is known.
 */
export function rooflineFigure(view: EntryView): Html | "" {
  const { points, best, bandwidths, winner } = view;
  const isPlaced = (point: Mark): boolean =>
    point.bytes !== undefined && bandwidths[deviceName(point)] !== null;
  const placed = points.filter(isPlaced);
  if (placed.length === 0) return "";
  const left = points.length - placed.length, localities = localitiesOf(view);
  const lines = linesOf(placed, bandwidths)
    .map(([device, line]) => `${formatBandwidth(line)} on the ${device}`).join(" and ");
  const fraction = placed.includes(winner) ? roofFraction(winner) : undefined;
  const above = fraction !== undefined && fraction > 1 ? `: ${ABOVE_ROOF}` : "";
  const reached = fraction === undefined
    ? ""
    : ` The chosen one reaches ${formatPercent(fraction)} of its roof${above}.`;
  const label =
    `Roofline: ${formatCount(placed.length)} configurations, rate over bytes moved per cell update, ` +
    `below what copies of ${lines} allow.${reached}`;
  const onLine = localities.length === 0
    ? ""
    : " The rings on the line are the localities of stepwise and of torres by tile size (DTS) on an endless grid: Eq. 4 and 6 and Fig. 7 of Levchenko et al., 2016.";
  const others = left === 0
    ? ""
    : ` Not in it: ${formatCount(left)} whose traffic or bandwidth is not known.`;
  return figure(
    "Roofline.",
    `A line is the rate that copies allow: ${lines}. Farther right: fewer bytes per cell update. Farther below the line: memory limits less, and something else more.${reached}${onLine}${others}`,
    legend(best.filter(isPlaced).map(({ series }) => series)),
    drawChart(label, (format) => options(placed, { view, format, localities })),
    localities.length === 0 ? "" : tableBehind("Localities as a table", localityTable(view)),
  );
}

function options(
  placed: readonly Mark[],
  { view, format, localities }: { view: EntryView; format: PageFormat; localities: readonly Locality[] },
): Plot.PlotOptions {
  const lines = linesOf(placed, view.bandwidths).map(([, line]) => Math.log10(line * GCELLS));
  const wide = format === "wide";
  const width = WIDTHS[format], height = wide ? 440 : 340;
  // both axes are logarithms: Plot leaves some ticks of its own logarithmic axes without a label
  const at = {
    x: ({ bytes }: Pick<Mark, "bytes">) => -Math.log10(bytes!),
    y: (point: Mark) => Math.log10(point.cellsPerSecond * GCELLS),
  };
  const onLine = { x: at.x, y: (of: Locality) => at.x(of) + Math.log10(view.bandwidths.GPU! * GCELLS) };
  const traffic = placed.map(at.x).sort((a, b) => a - b), rates = placed.map(at.y);
  // on the right there is room for what is said of the chosen one
  const x = [traffic[0]! - 0.15, traffic.at(-1)! + (wide ? 0.25 : 0.4)] as const;
  const y = [rates.at(-1)! - 0.1, Math.max(x[1] + Math.max(...lines), rates[0]!) + 0.05] as const;
  const pixels = (point: Mark) =>
    [(at.x(point) - x[0]) / (x[1] - x[0]) * width, (at.y(point) - y[0]) / (y[1] - y[0]) * height] as const;
  const chosen = placed.filter(({ isWinner, roof }) => isWinner && roof !== undefined);
  const inside = localities.filter((locality) => at.x(locality) > x[0] && at.x(locality) < x[1]);
  const named = inside.filter(({ isKey }) => wide || isKey);
  const halo = { stroke: "var(--panel)", strokeWidth: 4 } as const;
  const names = { ...onLine, ...halo, text: "name", fill: "var(--ink)" } as const;
  return {
    height,
    marginLeft: 52,
    marginBottom: 42,
    marginRight: 16,
    marginTop: 26,
    x: {
      domain: [...x],
      label: "bytes moved per cell update, fewer →",
      ticks: logTicks([10 ** -x[1], 10 ** -x[0]], wide ? 12 : 6).map((bytes) => -Math.log10(bytes)),
      tickFormat: (tick: number) => tickWords(-tick),
    },
    y: {
      domain: [...y],
      label: "↑ Gcells/s",
      ticks: logTicks([10 ** y[0], 10 ** y[1]], wide ? 10 : 8).map(Math.log10),
      tickFormat: tickWords,
      grid: true,
    },
    color: { type: "identity" },
    marks: [
      ...lines.map((line) =>
        Plot.line(x.map((at) => [at, at + line]), { stroke: "var(--ink)", strokeWidth: 2 })
      ),
      Plot.text(lines.length > 1 ? linesOf(placed, view.bandwidths) : [], {
        x: x[0],
        y: ([, line]: [string, number]) => x[0] + Math.log10(line * GCELLS),
        text: ([device]: [string, number]) => device,
        textAnchor: "start",
        dx: 4,
        dy: -14,
      }),
      Plot.dot(inside, {
        ...onLine,
        r: 4,
        fill: "var(--panel)",
        stroke: ({ series }: Locality) => lookOf(series).color,
        strokeWidth: 2,
      }),
      Plot.text(named.slice(0, 1), { ...names, textAnchor: "start", dx: 8, dy: 12 }),
      Plot.text(named.slice(1), { ...names, textAnchor: "end", dx: -8, dy: -8 }),
      ...dotsOf(placed, at, pixels),
      Plot.link(chosen, {
        x: at.x,
        y1: at.y,
        y2: ({ roof }: Mark) => Math.log10(roof! * GCELLS),
        stroke: "var(--accent)",
        strokeWidth: 2,
        strokeDasharray: "4,3",
      }),
      ringsOf(placed, at),
      Plot.text(chosen, {
        y: at.y,
        frameAnchor: "right",
        fill: "var(--accent)",
        fontWeight: 600,
        ...halo,
        text: (point: Mark) =>
          `${formatRate(point.cellsPerSecond)},\n${formatPercent(roofFraction(point)!)} of its roof`,
      }),
    ],
  };
}

/** A tick of a logarithmic axis. */
function tickWords(tick: number): string {
  const value = Number((10 ** tick).toPrecision(2));
  return value >= 1000 ? formatCount(value) : String(value);
}

/** The devices of these points, with the bandwidth of their copies. */
function linesOf(
  placed: readonly Mark[],
  bandwidths: EntryView["bandwidths"],
): [device: string, line: number][] {
  return [...new Set(placed.map(deviceName))].map((device) => [device, bandwidths[device]!]);
}

/** No torre of Facet is larger. */
const LARGEST_DTS = 64;

/** The locality of a traversal: cell updates for each value moved to or from memory, on an endless grid. */
interface Locality {
  readonly name: string;
  readonly series: string;
  readonly locality: number;
  /** The locality of one torre without its neighbours in the row (Eq. 5). */
  readonly alone?: number;
  /** Bytes that a cell update moves. */
  readonly bytes: number;
  readonly measured: Mark | undefined;
  /** Whether a narrow chart names it. */
  readonly isKey: boolean;
}

/**
 * The localities of stepwise (Eq. 4) and of rows of torres (Eq. 6) of each tile size up to one more than was
 * measured, after Levchenko, Perepelkina, Zakirov, Computation 2016, 4(3), 29; none if no torre was measured.
 */
function localitiesOf({ points, problem, best, bandwidths }: EntryView): Locality[] {
  const bySize = Map.groupBy(points.filter(torreOf), (point) => torreOf(point)!.dts);
  const [[fastest] = []] = bySize.values();
  if (fastest === undefined || problem === undefined || bandwidths.GPU === null) return [];
  const { dts: own, nt } = torreOf(fastest)!;
  const levelsRead = readsPrevious(problem.stencil.update) ? 2 : 1;
  const stepwise = {
    name: "stepwise",
    series: "stepwise",
    locality: stepwiseLocality(levelsRead),
    measured: best.find(({ series }) => series === "stepwise"),
    isKey: true,
  };
  const sizes = Array.from({ length: Math.max(...bySize.keys()) + 1 }, (_, i) => i + 1);
  const torres = sizes.map((dts) => ({
    name: `DTS ${dts}`,
    series: "diamond-torre",
    locality: torreLocality(dts, nt, { levelsRead }),
    alone: torreLocality(dts, nt, { levelsRead, inRow: false }),
    measured: bySize.get(dts)?.[0],
    isKey: dts === own,
  }));
  return [stepwise, ...torres].map((locality) => ({
    ...locality,
    bytes: precisionOf(problem.stencil.update).bytes / locality.locality,
  }));
}

/** The tile size and the height of a torre as Facet writes them; undefined of all else. */
function torreOf({ series, parameters }: Mark): { readonly dts: number; readonly nt: number } | undefined {
  const { dts = 0, nt = 0 } = coordinatesOf(series, parameters);
  const isTorre = series === "diamond-torre" && Number.isInteger(dts) && nt >= 1;
  return isTorre && dts >= 1 && dts <= LARGEST_DTS ? { dts, nt } : undefined;
}

/** The localities with their roofs, and what was reached. */
function localityTable(view: EntryView): Html {
  const { bytes } = precisionOf(view.problem!.stencil.update);
  const roof = (locality = 0): string =>
    locality && formatRate(locality * view.bandwidths.GPU! / bytes) || "";
  const rows = localitiesOf(view).map(({ name, locality, alone, bytes, measured }) => [
    name,
    locality.toFixed(3),
    bytesWords(bytes),
    roof(locality),
    alone && roof(alone),
    measured && formatRate(measured.cellsPerSecond),
  ]);
  const columns = ["locality", "bytes per cell", "roof (Eq. 4, 6)", "one torre (Eq. 5)", "best measured"];
  return table("Localities and roofs by tile size", ["tile size", ...numbers(...columns)], rows);
}
