import { readsPrevious } from "../../kernels/update.ts";
import { stepwiseLocality, torreLocality } from "../../models/locality.ts";
import { formatBandwidth, formatRate } from "../format.ts";
import { type Curve, curvesFigure, type Place } from "./curves.ts";
import type { EntryView, Point } from "./entry_view.ts";
import { type Html, markup } from "./html.ts";

/** No torre is larger; what is, was not written by Facet. */
const LARGEST_DTS = 64;

/** Bytes of a value. */
const BYTES = 4;

/**
 * The roof of DiamondTorre over DTS, after Eq. 4–6 and Fig. 7 of Levchenko, Perepelkina, Zakirov, Computation 2016,
 * 4(3), 29, with the best measured rate of each DTS; nothing if no torre was measured or the bandwidth is unknown.
 */
export function localityFigure({ points, problem, copyBytesPerSecond }: EntryView): Html | "" {
  const best = bestByDts(points);
  const [fastest] = [...best.values()].sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  if (fastest === undefined || problem === undefined || copyBytesPerSecond === null) return "";
  const { dts: ownDts = 1, nt = 1 } = fastest.configuration.parameters;
  const levelsRead = readsPrevious(problem.stencil.update) ? 2 : 1;
  const roofOf = (locality: number): number => locality * copyBytesPerSecond / BYTES;
  const all = Array.from({ length: Math.max(...best.keys()) + 1 }, (_, i) => i + 1);
  const curveOf = (locality: (dts: number) => number): Place[] =>
    all.map((dts) => ({ x: dts, y: roofOf(locality(dts)) }));
  const row = (dts: number): number => torreLocality(dts, nt, { levelsRead });
  const curves: Curve[] = [
    { name: "roof of a row of torres", kind: "line", series: 0, points: curveOf(row) },
    {
      name: "roof of one torre",
      kind: "dashed",
      series: 3,
      points: curveOf((dts) => torreLocality(dts, nt, { levelsRead, inRow: false })),
    },
    {
      name: "roof of one step at a time",
      kind: "dotted",
      series: 2,
      points: curveOf(() => stepwiseLocality(levelsRead)),
    },
    {
      name: "best measured",
      kind: "marks",
      series: 1,
      points: [...best].sort(([a], [b]) => a - b).map(([x, point]) => ({ x, y: point.cellsPerSecond })),
    },
  ];
  const rate = formatRate(fastest.cellsPerSecond);
  const gain = row(ownDts) / stepwiseLocality(levelsRead);
  return curvesFigure(curves, {
    title: "Locality of the torres",
    caption:
      markup`Locality is the number of cell updates for each value moved to or from memory; locality times ${
        formatBandwidth(copyBytesPerSecond)
      } over ${BYTES} bytes is the roof. With Nt = ${nt}, DTS = ${ownDts} has a locality of ${
        row(ownDts).toFixed(2)
      }, ${gain.toFixed(1)} times that of one step after the other. A larger DTS needs more registers.`,
    label:
      `Roof by the locality of DiamondTorre over DTS, and the best measured rate of ${best.size} values of ` +
      `DTS; the fastest torre has DTS ${ownDts} and reaches ${rate}.`,
    x: { label: "DTS" },
    y: { label: "Gcells/s", unit: 1e9, format: formatRate },
    ring: { x: ownDts, y: fastest.cellsPerSecond, text: rate },
    columns: [["locality", (dts) => row(dts).toFixed(3)]],
  });
}

/** The fastest torre of each DTS. */
function bestByDts(points: readonly Point[]): Map<number, Point> {
  const best = new Map<number, Point>();
  for (const point of points) {
    const { dts = 0, nt = 0 } = point.configuration.parameters;
    const isTorre = point.series === "diamond-torre" && Number.isInteger(dts) && dts >= 1 && nt >= 1;
    if (!isTorre || dts > LARGEST_DTS) continue;
    if (point.cellsPerSecond > (best.get(dts)?.cellsPerSecond ?? 0)) best.set(dts, point);
  }
  return best;
}
