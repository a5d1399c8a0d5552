import { assert, assertEquals } from "@std/assert";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { HEAT_DELTAS } from "../../kernels/stencils/heat.ts";
import { KS_POINTS } from "../../kernels/stencils/ks.ts";
import { WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { describeConfiguration, describeProfileProblem, kernelNameOf } from "../../tuner/profile/describe.ts";
import { describeProblem } from "../../tuner/profile/profile_problem.ts";
import { junitOf, markdownOf } from "../../tuner/qualify/formats.ts";
import type { EntryResult, Qualification } from "../../tuner/qualify/verdict.ts";
import { titleOf } from "../../tuner/replay/replay_space.ts";
import { buildReport } from "../../tuner/report/page.ts";
import { ENTRY, PROFILE } from "./sample_profile.ts";

/** Several variants of every equation, on the same grid. */
const PROBLEMS = EQUATIONS.flatMap(({ name, create }) => {
  const variants: Readonly<Record<string, readonly (number | string)[]>> = {
    wave: WAVE_ORDERS,
    heat: HEAT_DELTAS,
    life: ["5/2-7", "4/4-5", "4/5", "4-5/5"],
    acoustic: WAVE_ORDERS,
    ks: KS_POINTS,
  };
  return (variants[name] ?? [undefined]).map((variant) =>
    describeProblem({ stencil: create(variant), grid: [100, 90, 80], boundary: "zero", steps: 96 })
  );
});

/** Whether each problem has a text of its own. */
function distinguishes(texts: readonly string[]): void {
  assertEquals(new Set(texts).size, PROBLEMS.length, texts.join("\n"));
}

Deno.test("different problems never look the same", () => {
  distinguishes(PROBLEMS.map(describeProfileProblem));
  distinguishes(PROBLEMS.map(kernelNameOf));
  distinguishes(PROBLEMS.map((problem) => titleOf(problem, PROFILE.device)));
  for (const name of PROBLEMS.map(kernelNameOf)) assert(/^[a-z0-9_-]+$/.test(name), name);
});

Deno.test("a problem in words", () => {
  const described = PROBLEMS.map((problem) => describeProfileProblem(problem).replace(/, grid.*/, ""));
  for (
    const text of [
      "wave, order 4",
      "heat, δ 2",
      "life, rule 4/4-5",
      "elastic",
      "heat-1d",
      "ks, 3 points",
    ]
  ) assert(described.includes(text), `${text}: ${described.join("; ")}`);
  const [wave] = PROBLEMS;
  assertEquals(
    describeProfileProblem({ ...wave!, steps: 1 }),
    "wave, order 2, grid 100x90x80, zero boundary, 1 step",
  );
});

Deno.test("a shared configuration in words names both devices' traversals", () => {
  const { traversal, parameters, share } = ENTRY.configuration;
  assertEquals(
    describeConfiguration(ENTRY.configuration),
    "diamond-torre dts=5 nt=96, 96 slices; CPU, 8 workers, diamond-wavefront tiles=8 levels=5 block=2, " +
      "4 slices; exchange every 4 steps",
  );
  const { cpu: _, ...stepwise } = share;
  assertEquals(
    describeConfiguration({ traversal, parameters, share: stepwise }),
    "diamond-torre dts=5 nt=96, 96 slices; CPU, 8 workers, 4 slices; exchange every 4 steps",
  );
  const window = { cpuSlices: 0, gpuSlices: 100, exchangeEvery: 1, cpuWorkers: 0, deviceMemory: 3 * 2 ** 20 };
  assertEquals(
    describeConfiguration({ traversal, parameters, share: window }),
    "diamond-torre dts=5 nt=96, through a window of 3 MiB",
  );
});

Deno.test("reports, JUnit and Markdown distinguish the variants", () => {
  const entries = PROBLEMS.map((problem) => ({ ...ENTRY, problem }));
  const profile = { ...PROFILE, entries };
  const { page } = buildReport(profile, { journal: [], only: 0 });
  distinguishes(
    [...page.matchAll(/<tr><th scope="row" class="text" data-label="problem">(.*?)<\/th>/g)].map(([, name]) =>
      name!
    )
      .filter((name) => name.includes("grid")).map((name) => name.replace(/<[^>]*>/g, "")),
  );
  const results = entries.map((entry): EntryResult => ({
    entry,
    verdict: "not run",
    reason: "there was no time",
    failure: null,
    verification: null,
    measured: null,
    leastCellsPerSecond: null,
    ratio: null,
    attempts: 0,
    othersVerified: 0,
    elapsedNs: 0,
  }));
  const qualification: Qualification = {
    answer: "unanswered",
    device: PROFILE.device,
    recorded: PROFILE.device,
    tolerance: null,
    note: null,
    results,
    interrupted: false,
    elapsedNs: 0,
  };
  const junit = junitOf(qualification, "2026-11-21T10:00:00Z");
  distinguishes([...junit.matchAll(/<testcase [^>]* name="([^"]*)"/g)].map(([, name]) => name!));
  distinguishes(markdownOf(qualification).split("\n").filter((line) => line.startsWith("| ❌")));
});
