import type { Problem } from "../../kernels/stencils/stencil.ts";
import { roundTimes, roundWork, sharedGridOf } from "../../models/shared_step.ts";
import { formatCount, formatDuration, formatPercent } from "../format.ts";
import type { ProfileCostModel } from "../profile/schema.ts";
import { figure } from "./chart.ts";
import { type Curve, curvesFigure } from "./curves.ts";
import type { EntryView } from "./entry_view.ts";
import { type Html, markup } from "./html.ts";

const MS = { label: "ms for the same steps", unit: 1e6, format: formatDuration };
const US = { label: "µs a step", unit: 1e3, format: formatDuration };

/** The iterations of Eq. 8 of Zheng et al. (B2R). */
export function balanceFigure({ entry: { balance } }: EntryView): Html {
  const title = "Balance of CPU and GPU";
  const last = balance.at(-1);
  if (last === undefined) return figure(title, "was not tried in this run: there are no iterations.");
  const timesOf = (key: "gpuTimeNs" | "cpuTimeNs") => balance.map((step, i) => ({ x: i + 1, y: step[key] }));
  const slicesOf = (key: "gpuSlices" | "cpuSlices") => (x: number) => formatCount(balance[x - 1]?.[key] ?? 0);
  const total = last.cpuSlices + last.gpuSlices;
  const part = `${formatCount(last.cpuSlices)} of ${formatCount(total)} slices`;
  const verdict = last.cpuSlices === 0
    ? "It ended with all slices on the GPU: no share of the CPU would have paid."
    : last.gpuSlices === 0
    ? "It ended with all slices on the CPU: no share of the GPU would have paid."
    : `It ended with ${part} on the CPU (${formatPercent(last.cpuSlices / total)}).`;
  return curvesFigure([
    { name: "GPU time", kind: "line", series: 0, points: timesOf("gpuTimeNs") },
    { name: "CPU time", kind: "dashed", series: 1, points: timesOf("cpuTimeNs") },
  ], {
    title,
    caption: `Slices move until both devices take equally long (B2R, Eq. 8). ${verdict}`,
    label: `Times of CPU and GPU in ${balance.length} iterations; at the end the CPU has ${last.cpuSlices} ` +
      `slices, the GPU ${last.gpuSlices}.`,
    x: { label: "iteration" },
    y: MS,
    columns: [["GPU slices", slicesOf("gpuSlices")], ["CPU slices", slicesOf("cpuSlices")]],
  });
}

/** The time of a step over R, the steps between two exchanges, and the parts that the model adds up. */
export function costFigure({ entry: { costModel }, problem }: EntryView): Html {
  const title = "Time per step over R";
  const curve = costModel?.curve.toSorted((a, b) => a.exchangeEvery - b.exchangeEvery) ?? [];
  const [first] = curve;
  if (costModel === undefined || first === undefined) {
    return figure(title, "is not known: this run did not measure what an exchange costs.");
  }
  const best = curve.reduce((one, other) => other.predictedNs < one.predictedNs ? other : one);
  const measured = curve.flatMap(({ exchangeEvery, measuredNs }) =>
    measuredNs === null ? [] : [{ x: exchangeEvery, y: measuredNs }]
  );
  const model = curve.map(({ exchangeEvery, predictedNs }) => ({ x: exchangeEvery, y: predictedNs }));
  const parts = problem === undefined ? [] : partsOf(costModel, problem);
  const curves: Curve[] = [
    { name: "model", kind: "line", series: 0, points: model },
    { name: "measured", kind: "marks", series: 1, points: measured },
    ...parts,
  ];
  return curvesFigure(curves.filter(({ points }) => points.length > 0), {
    title,
    caption:
      markup`Few exchanges cost little, but ghost zones of R steps are computed twice. The model has its minimum at R = ${best.exchangeEvery}.${
        parts.length > 0
          ? " The parts (B2R, Eq. 2 to 4): both devices compute at once, then they exchange copies; the rest is waiting."
          : ""
      }`,
    label: `Time of one step over R: the model has its minimum of ${formatDuration(best.predictedNs)} at ` +
      `R = ${best.exchangeEvery}; ${measured.length} values of R were measured.`,
    x: {
      label: "R, steps between two exchanges",
      isLogarithmic: curve.at(-1)!.exchangeEvery > 16 * first.exchangeEvery,
    },
    y: US,
    markedX: best.exchangeEvery,
  });
}

/** What a step spends on computing (B2R, Eq. 2 and 3) and on copies (Eq. 4), at the best share of each R. */
function partsOf({ coefficients, curve }: ProfileCostModel, problem: Problem): Curve[] {
  const shared = sharedGridOf(problem);
  const rounds = curve.map((point) => ({
    x: point.exchangeEvery,
    ...roundTimes(roundWork(shared, point), coefficients),
  }));
  const pointsOf = (timeNs: (round: typeof rounds[number]) => number) =>
    rounds.map((round) => ({ x: round.x, y: timeNs(round) / round.x }));
  const cpu = pointsOf(({ cpuNs, copyNs }) => cpuNs - copyNs);
  return [
    { name: "GPU computes", kind: "dashed", series: 0, points: pointsOf(({ gpuNs }) => gpuNs) },
    { name: "CPU computes", kind: "dashed", series: 1, points: cpu },
    { name: "copies", kind: "dotted", series: 2, points: pointsOf(({ copyNs }) => copyNs) },
  ];
}
