import * as Plot from "@observablehq/plot";
import { cellsOf, describeGrid, ownOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { formatDuration, formatFactor, formatPercent, formatPlural } from "../format.ts";
import { medianError } from "../../models/shared_fit.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import { refuserOf } from "../problem/request_error.ts";
import { checkFileWritable } from "../profile/store.ts";
import { chooseForRank } from "../solver/open_on_ranks.ts";
import { measureScaling, type Scaling, type ScalingPoint } from "../ranks/measure_scaling.ts";
import type { OpenedDevice } from "../ranks/open_rank_device.ts";
import type { World } from "../devices/world.ts";
import { drawSvg } from "../report/chart.ts";
import { onRanks } from "./on_ranks.ts";
import { type Options, output, type Values } from "./options.ts";
import { writeText } from "./read_inputs.ts";
import { EXIT } from "./report_error.ts";
import { RANK_OPTIONS, type RankWork, requestOf, workOf } from "./solve.ts";
import { describeWork, sharingLoss } from "./summary.ts";
import { type Line, print, type Table } from "./terminal.ts";

export const OPTIONS = {
  ...RANK_OPTIONS,
  out: { ...output("the drawing to write, as SVG"), default: "scaling.svg" },
} as const satisfies Options;

export const run = (args: string[]): Promise<number> =>
  onRanks("scaling", args, {
    usage: "mpirun -n N deno task scaling [OPTIONS]",
    about:
      "Measures how well a grid spreads over the ranks that mpirun started, and predicts it for up to 1,000.",
    options: OPTIONS,
    async read(options, world) {
      if (world.size === 1) refuserOf("measure scaling")("wanted 2 ranks or more, started by mpirun", "1");
      const work = await workOf("measure scaling", options);
      const check = () => checkFileWritable(options.out);
      return { request: requestOf(work.problem, {}), check, values: { ...options, ...work } };
    },
    work: scale,
  });

async function scale(
  world: World,
  device: OpenedDevice,
  { problem, profiles, ...options }: Values<typeof OPTIONS> & RankWork,
): Promise<number> {
  const choose = (part: Problem) => chooseForRank(profiles, part, device).configuration;
  const scaling = await measureScaling(world, device, problem, choose);
  const names = await world.shareAll(device.name);
  if (world.rank > 0) return EXIT.done;
  await writeText(options.out, drawScaling(scaling));
  print(
    options.json
      ? { problem: describeProblem(problem), devices: names, ...scaling }
      : renderScaling(problem, scaling, { names, out: options.out }),
  );
  return EXIT.done;
}

export function renderScaling(
  problem: Problem,
  { periods, weak, strong }: Scaling,
  { names, out }: { readonly names: readonly string[]; readonly out: string },
): Line[] {
  const measured = [...periods, ...weak, ...strong].filter(({ measuredNs }) => measuredNs !== null);
  const errors = measured.map(({ predictedNs, measuredNs }) => predictedNs / measuredNs! - 1);
  const [alone, most] = [strong[0]!, strong.findLast(({ measuredNs }) => measuredNs !== null)!];
  const rateOf = ({ grid, measuredNs }: ScalingPoint): number => cellsOf(grid) / measuredNs! * 1e9;
  const growing = gainsOf(weak), staying = gainsOf(strong, ({ ranks }) => ranks);
  const isAbove = [...growing, ...staying].some((gain) => gain >= 1.005);
  return [
    describeWork(problem),
    `${formatPlural(names.length, "rank")}: ${[...new Set(names)].join(", ")}`,
    "",
    "Over R, steps between two exchanges",
    tableOf(problem, periods, "speedup", gainsOf(periods).map(formatFactor)),
    "",
    "Weak scaling: the grid grows with the ranks",
    tableOf(problem, weak, "efficiency", growing.map(formatPercent)),
    "",
    "Strong scaling: the grid stays",
    tableOf(problem, strong, "efficiency", staying.map(formatPercent)),
    ...(isAbove
      ? ["Above 100%: a rank's smaller part fits its caches better, or the first time was disturbed."]
      : []),
    "",
    ...sharingLoss(rateOf(most), rateOf(alone), `one rank alone, measured on ${describeGrid(problem)},`),
    `Measured on up to ${formatPlural(names.length, "rank")}; what has no measured time is predicted. ` +
    `The predictions of what was measured are off by ${formatPercent(medianError(errors))} in the median.`,
    `Drawing: ${out}`,
  ];
}

/**
 * How much faster points are than the first one, measured against measured and predicted against predicted.
 *
 * @param effort by what a gain is divided. @default {nothing}
 */
function gainsOf(
  points: readonly ScalingPoint[],
  effort: (point: ScalingPoint) => number = () => 1,
): number[] {
  return points.map((point) => {
    const kind = point.measuredNs === null ? "predictedNs" : "measuredNs", first = points[0]!;
    return first[kind]! / point[kind]! * effort(first) / effort(point);
  });
}

function tableOf(
  { stencil }: Problem,
  points: readonly ScalingPoint[],
  gain: string,
  gains: readonly string[],
): Table {
  const rows = points.map((point, i) => [
    `${point.ranks}`,
    ownOf(stencil, point.grid).join("x"),
    ownOf(stencil, point.parts).join("x"),
    `${point.exchangeEvery}`,
    formatDuration(point.predictedNs),
    point.measuredNs === null ? "predicted only" : formatDuration(point.measuredNs),
    gains[i]!,
  ]);
  const header = ["ranks", "grid", "parts", "R", "predicted", "measured", gain];
  return { rows: [header, ...rows], right: [0, 3, 4, 5, 6], indent: "  " };
}

const INK = "#1f2937", ACCENT = "#c2410c";

/**
 * The time of a step over R, over the ranks of a growing grid, and of one that stays (B2R, Fig. 6 to 11): a line where it
 * is predicted, dots where it was measured.
 */
export function drawScaling({ periods, weak, strong }: Scaling): string {
  const ranks = (point: ScalingPoint): number => point.ranks;
  const panels = [
    {
      title: "R, steps between exchanges",
      x: (point: ScalingPoint): number => point.exchangeEvery,
      points: periods,
    },
    { title: "ranks, the grid grows with them", x: ranks, points: weak },
    { title: "ranks, the grid stays", x: ranks, points: strong },
  ];
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
