import * as Plot from "@observablehq/plot";
import { drawSvg } from "../report/chart.ts";
import type { Scaling, ScalingPoint } from "../ranks/measure_scaling.ts";

/** A panel of the drawing: its title, what is along x, and its points. */
interface Panel {
  readonly title: string;
  readonly x: (point: ScalingPoint) => number;
  readonly points: readonly ScalingPoint[];
}

const INK = "#1f2937", ACCENT = "#c2410c";

/**
 * The time of a step over R, over the ranks of a growing grid, and of one that stays (B2R, Fig. 6 to 11): a line where it
 * is predicted, dots where it was measured.
 */
export function drawScaling({ periods, weak, strong }: Scaling): string {
  const ranks = (point: ScalingPoint): number => point.ranks;
  const all: Panel[] = [
    { title: "R, steps between exchanges", x: (point) => point.exchangeEvery, points: periods },
    { title: "ranks, the grid grows with them", x: ranks, points: weak },
    { title: "ranks, the grid stays", x: ranks, points: strong },
  ];
  const panels = all.filter(({ points }) => points.length > 0);
  const data = panels.flatMap(({ title, x, points }) =>
    points.map((point) => ({ title, x: x(point), ...point }))
  );
  const ms = (timeNs: number): number => timeNs / 1e6;
  const at = { fx: "title", x: "x" } as const;
  return drawSvg("Time of a step: predicted (line) and measured (dots)", {
    width: 320 * panels.length,
    height: 300,
    marginLeft: 55,
    marginBottom: 40,
    insetTop: 8,
    fx: { label: null, domain: panels.map(({ title }) => title) },
    x: { type: "log", base: 2, label: null, tickFormat: "~g", ticks: 6 },
    y: { type: "log", label: "↑ ms a step: line predicted, dots measured", grid: true, tickFormat: "~g" },
    marks: [
      Plot.frame({ stroke: "#d1d5db" }),
      Plot.line(data, { ...at, y: ({ predictedNs }) => ms(predictedNs), stroke: INK, strokeWidth: 2 }),
      Plot.dot(data.filter(({ measuredNs }) => measuredNs !== null), {
        ...at,
        y: ({ measuredNs }) => ms(measuredNs!),
        fill: ACCENT,
        r: 5,
      }),
    ],
  });
}
