import { type Refusal, refusalOf } from "../../kernels/capability.ts";
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { DeviceLimits, Traversal } from "../../kernels/traversals/traversal.ts";
import { leftOut } from "../problem/left_out.ts";
import { suitedSpace } from "../profile/learn.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import type { Candidate } from "../search/enumeration.ts";
import type { Space } from "../search/space.ts";
import { passageTimes } from "../../models/window.ts";
import { formatBytes, formatCount, formatPercent, formatPlural } from "../format.ts";
import { COMMON } from "./options.ts";
import { command } from "./parse_options.ts";
import { type Line, print } from "./terminal.ts";
import { PROBLEM, resolveOptions } from "./problem_options.ts";
import { describeWork } from "./summary.ts";

/** Copy bandwidth that predictions are made for where none was measured: 1 TB/s. */
const ASSUMED_BYTES_PER_SECOND = 1e12;

const ROWS = 30;

const { gpu: _, ...LISTED } = PROBLEM;

const WHY = {
  help: "say which traversals of the GPU and the CPU can run the problem, and why others cannot",
};

/** The options of `space`: those of `tune` that say which problem. */
export const OPTIONS = { ...LISTED, deviceMemory: COMMON.deviceMemory, why: WHY, json: COMMON.json } as const;

/** Predicts with an assumed copy bandwidth: the rates can be compared, not believed. */
export const run = command({
  usage: "deno task space [OPTIONS]",
  about: "Shows every configuration that tune would try, best prediction first. Nothing is measured.",
  options: OPTIONS,
}, async (options) => {
  const resolved = await resolveOptions("list the space", options), limits = resolved.device.gpu?.limits;
  if (options.why === true) {
    const answers = whichCan(resolved.problem, limits);
    return print(
      options.json
        ? { problem: describeProblem(resolved.problem), traversals: answers }
        : renderAnswers(resolved.problem, answers),
    );
  }
  const { problem, space } = suitedSpace(resolved, ASSUMED_BYTES_PER_SECOND);
  print(options.json ? spaceRecord(problem, space) : renderSpace(problem, space, limits));
});

/** Whether a traversal of a device can run a problem with some parameters; if not, why. */
interface Answer {
  readonly device: "gpu" | "cpu";
  readonly traversal: string;
  readonly refusal: Refusal | null;
}

type Asked = Pick<Traversal, "name" | "capabilities">;

/** The answers of all traversals; a window is the GPU's alone. */
export function whichCan(problem: Problem, limits?: DeviceLimits): Answer[] {
  const ask = (device: Answer["device"], all: readonly Asked[], limits?: DeviceLimits): Answer[] =>
    all.map((way) => ({ device, traversal: way.name, refusal: refusalOf(way, problem, limits) ?? null }));
  return [...ask("gpu", TRAVERSALS, limits), ...ask("cpu", CPU_TRAVERSALS)];
}

export function renderAnswers(problem: Problem, answers: readonly Answer[]): Line[] {
  const rows = answers.map(({ device, traversal, refusal }) => [
    device.toUpperCase(),
    traversal,
    refusal === null ? "yes" : `no: ${refusal.message}`,
  ]);
  return [describeWork(problem), "", { rows, indent: "  " }];
}

export function spaceRecord(problem: Problem, space: Space) {
  return {
    problem: describeProblem(problem),
    assumedCopyBytesPerSecond: ASSUMED_BYTES_PER_SECOND,
    combinations: space.combinations,
    refused: space.refused,
    infeasible: space.infeasible,
    candidates: space.candidates.map(({ traversal, parameters, predicted, roof, demand }) => ({
      traversal: traversal.name,
      parameters,
      predictedCellsPerSecond: predicted,
      roofCellsPerSecond: roof,
      demand,
    })),
  };
}

/** The space for people: what is left out and why, and the first to be tried. Without a GPU there are no limits. */
export function renderSpace(problem: Problem, space: Space, limits: DeviceLimits | undefined): Line[] {
  const { candidates, combinations, infeasible } = space;
  const missing = limits === undefined ? [] : leftOut(problem, space, limits);
  const partly = infeasible.filter(({ traversal }) =>
    missing.every((other) => other.traversal !== traversal)
  );
  const best = Math.max(...candidates.map(({ predicted }) => predicted), 0);
  const row = ({ traversal, parameters, predicted, demand }: Candidate, place: number): string[] => [
    `${place + 1}`,
    traversal.name,
    formatPercent(predicted / best),
    `${demand.bytesPerUpdate.toPrecision(3)} B`,
    Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" "),
  ];
  const header = ["", "traversal", "predicted", "traffic", "parameters"];
  return [
    describeWork(problem),
    `${formatPlural(candidates.length, "configuration")} of ${formatPlural(combinations, "combination")}`,
    ...missing.map(({ traversal, reason }) => `Left out: ${traversal}: ${reason}`),
    ...partly.map(({ traversal, count, example }) =>
      `Left out: ${formatCount(count)} of ${traversal}, for example: ${example}`
    ),
    ...(candidates[0]?.window === undefined ? [] : [describeWindow(candidates[0].window, best)]),
    ...(limits === undefined
      ? ["There is no GPU, so there is no space to search: tune measures the CPU alone."]
      : []),
    ...(candidates.length === 0 ? [] : [
      "",
      "The first to be tried (predicted rate against the best prediction; traffic per cell update):",
      { rows: [header, ...candidates.slice(0, ROWS).map(row)], right: [0, 2, 3], indent: "  " },
      ...(candidates.length > ROWS
        ? [`  … and ${formatCount(candidates.length - ROWS)} more: --json lists all`]
        : []),
    ]),
  ];
}

function describeWindow(
  { bytes, passage, resident }: NonNullable<Candidate["window"]>,
  best: number,
): string {
  const { compute, transfer } = passageTimes(passage, resident);
  const longer = compute > transfer ? "computing" : "moving slices between host and device";
  const steps = formatPlural(passage.steps, "step");
  return `A window of ${formatBytes(bytes)}: passages of ${steps}, limited by ${longer}: the best ` +
    `prediction is ${formatPercent(best / resident)} of the rate with all on the device`;
}
