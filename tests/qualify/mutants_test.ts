/**
 * Kernels that are wrong where a small check does not look, in the commands that people run: `tune` and `qualify` must refuse
 * each. Where the reference is wrong itself, they say so, and not that every configuration is.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { inPrecision } from "../../kernels/planned_problem.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { marching } from "../../kernels/traversals/marching/marching.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import type { Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import { detectDevice } from "../../tuner/devices/device.ts";
import { DeviceSession } from "../../tuner/devices/session.ts";
import { isFailure } from "../../tuner/devices/run_failure.ts";
import { describeProblem } from "../../tuner/profile/profile_problem.ts";
import { qualify } from "../../tuner/qualify/qualify.ts";
import { exhaustive } from "../../tuner/search/baselines.ts";
import type { Candidate } from "../../tuner/search/enumeration.ts";
import type { SearchPoint, Strategy } from "../../tuner/search/strategy.ts";
import { runTuning } from "../../tuner/tune/tune.ts";
import { type Change, miscompiled } from "../devices/miscompiled.ts";
import { DRIVEN } from "../kernels/driven.ts";
import { SUBGROUP_SIZE, testOnGpu } from "../test_on_gpu.ts";
import { entryOf, profileOf } from "./sample_entries.ts";
import { SMALL_TORRE } from "../kernels/small_torre.ts";

interface Way {
  readonly problem: Problem;
  readonly traversal: Traversal;
  readonly parameters: Parameters;
}

const STEPS: Way = {
  problem: DRIVEN,
  traversal: stepwise,
  parameters: { threadsZ: 16, threadsY: 4, threadsX: 1 },
};
const MARCH: Way = {
  problem: DRIVEN,
  traversal: marching,
  parameters: { zPerThread: 1, threadsZ: 16, threadsY: 4, pieces: 2, tile: 0, ahead: 0 },
};
const TORRE: Way = {
  problem: DRIVEN,
  traversal: diamondTorre,
  parameters: { ...SMALL_TORRE, nt: 4, bands: 2, threads: 13 },
};
/** Three steps a pass, in rows of one SIMD group that overlap. */
const SHUFFLES: Way = {
  problem: { stencil: wave(2, { dimensions: 2 }), grid: [17, 1, 67], boundary: "zero", steps: 7 },
  traversal: marching,
  parameters: {
    ...{ zPerThread: 4, threadsZ: SUBGROUP_SIZE ?? 8, threadsY: 1, pieces: 2, tile: 0, ahead: 1 },
    ...{ depth: 3, exchange: 1 },
  },
};
/** More than the oracle has time for. */
const LARGE: Way = {
  ...STEPS,
  problem: { stencil: wave(2), grid: [90, 91, 97], boundary: "zero", steps: 9 },
};
/** Recorded only in the last steps. */
const LARGE_DRIVEN: Way = {
  ...STEPS,
  problem: { ...DRIVEN, grid: [90, 91, 97], survey: { ...DRIVEN.survey, every: 8 } },
};
const PRECISE: Problem = { ...DRIVEN, stencil: inPrecision(DRIVEN.stencil, "f64") };
const RING: Way = { ...LARGE, problem: { ...LARGE.problem, boundary: "periodic" } };

/** What is wrong: in which shaders, and how their text changes. */
interface Mutant {
  readonly way: Way;
  readonly label: RegExp;
  readonly change: readonly [pattern: string | RegExp, replacement: string];
  readonly isReference: boolean;
}

const ofPoints = (way: Way, ...change: Mutant["change"]): Mutant => ({
  way,
  label: /: points$/,
  change,
  isReference: true,
});
/** Every step's result is wrong where this holds. */
const wrongWhere = (where: string, way = LARGE): Mutant => ({
  way,
  label: /: step /,
  change: [/before\[cell\] = (.*);/g, `before[cell] = select($1, 0.9f * ($1), ${where});`],
  isReference: true,
});
const ofTorre = (...change: Mutant["change"]): Mutant => ({
  way: TORRE,
  label: /: torre/,
  change,
  isReference: false,
});

const ofShuffles = (...change: Mutant["change"]): Mutant => ({
  way: SHUFFLES,
  label: /: march/,
  change,
  isReference: false,
});

const MUTANTS: Readonly<Record<string, Mutant>> = {
  "receivers one sample late": ofPoints(MARCH, "(t / points[0].z - 1) *", "(t / points[0].z) *"),
  "receivers before the sources": ofPoints(MARCH, "= sum;", "= value;"),
  "sources doubled": ofPoints(MARCH, "sum += added", "sum += 2.0 * added"),
  "a receiver left out": ofPoints(
    LARGE_DRIVEN,
    "recordedRow >= 0",
    "recordedRow >= 0 && recordedRow != 5",
  ),
  "sources that end before a run does": {
    ...ofPoints(LARGE_DRIVEN, "addedRow >= 0", "addedRow >= 0 && step < 7"),
    isReference: false, // it runs in several lists of dispatches
  },
  "a torre's receivers before its sources": ofTorre("+ recordedRow] = sum;", "+ recordedRow] = value;"),
  "a torre without sources at the end": ofTorre(
    "addedRow >= 0",
    "addedRow >= 0 && addedRow < points[0].x - 1",
  ),
  "shuffles from the wrong side": ofShuffles("subgroupShuffleUp", "subgroupShuffleDown"),
  "a shuffle that misses a thread of the rim": ofShuffles(
    /(subgroupShuffleUp\((\w+), 1u\))/g,
    "select($1, $2, column == 1)",
  ),
  "steps wrong for x from 21 on": wrongWhere("x >= 21"),
  "steps wrong in the last cell of x": wrongWhere("x == NX - 1"),
  "steps wrong beyond the first workgroup along z": wrongWhere("z >= 64"),
  "steps wrong beyond many workgroups along y": wrongWhere("y >= 60 && x > 0 && z > 0"),
  "steps wrong in a corner": wrongWhere("x + y + z == NX + NY + NZ - 3"),
  "steps of f64 that round to f32": {
    ...wrongWhere("", { ...STEPS, problem: PRECISE }),
    change: [/before\[cell\] = (.*);/g, "before[cell] = f64(f32($1));"],
  },
  "a torre of f64 with a sum of f32": {
    ...ofTorre(/W0 \* f_0_0\)/g, "f64(f32(W0 * f_0_0)))"),
    way: { ...TORRE, problem: PRECISE },
  },
  "a ring that does not close at its end": {
    way: RING,
    label: /: wrap pads$/,
    change: ["now[", "now[select(0, 1, cell.y > 50) + "],
    isReference: true,
  },
};

/** Tries one configuration alone. */
function only({ traversal, parameters }: Way): Strategy {
  return {
    ...exhaustive,
    begin(candidates, options) {
      const [model] = candidates as readonly SearchPoint[] as readonly Candidate[];
      const configuration = { ...model!.configuration, traversal: traversal.name, parameters };
      const one: readonly Candidate[] = [{ ...model!, traversal, parameters, configuration }];
      return exhaustive.begin(one as readonly SearchPoint[] as typeof candidates, options);
    },
  };
}

/** What `tune` says of the one configuration that it tries; undefined where it is right. */
async function tuned(way: Way): Promise<string | undefined> {
  using session = new DeviceSession({
    device: await detectDevice(way.problem.stencil.update),
    timeoutMs: 120_000,
  });
  let said: string | undefined;
  const { problem, traversal } = way;
  try {
    const { entry } = await runTuning({
      ...problem,
      traversals: [traversal],
      strategy: only(way),
      budget: { evaluations: 1 },
      cpuWorkers: 0,
      seed: 1,
    }, {
      session,
      signal: new AbortController().signal,
      onProgress() {},
      onEvaluation(evaluation) {
        if ("failure" in evaluation) said = evaluation.failure.message;
        return Promise.resolve();
      },
    });
    assertEquals(entry === undefined, said !== undefined);
  } catch (error) {
    assert(error instanceof Error && !isFailure(error));
    said = error.message;
  }
  return said;
}

async function qualified({ problem, traversal, parameters }: Way): Promise<string | undefined> {
  const entry = entryOf({
    rate: 1e8, // so that it is expected to end in time
    problem: describeProblem(problem),
    traversal: traversal.name,
    parameters,
    share: { gpuSlices: problem.grid[0] },
  });
  const profile = profileOf([entry], {
    ...await detectDevice(problem.stencil.update),
    measured: { copyBytesPerSecond: 1e9 },
  });
  const { answer, results: [result] } = await qualify(profile, { numericsOnly: true });
  assertEquals([answer, result!.verdict], result!.reason === null ? ["yes", "right"] : ["no", "wrong"]);
  return result!.reason ?? undefined;
}

for (const way of [STEPS, MARCH, SHUFFLES, TORRE, LARGE, RING, { ...TORRE, problem: PRECISE }]) {
  const { traversal, problem: { boundary, stencil: { name, update: { precision } } } } = way;
  testOnGpu(
    `qualify accepts ${traversal.name} of ${name}, ${boundary}, ${precision ?? "f32"}`,
    async () => {
      assertEquals(await qualified(way), undefined);
    },
    { precision, shuffles: way === SHUFFLES },
  );
}

for (const [name, { way, label, change: [pattern, replacement], isReference }] of Object.entries(MUTANTS)) {
  testOnGpu(`tune and qualify refuse ${name}`, async () => {
    const change: Change = (code) => code.replaceAll(pattern, replacement);
    const changed = await miscompiled(label, async () => {
      for (const command of [tuned, qualified]) {
        const said = await command(way);
        assert(said !== undefined, `${command.name} accepts it`);
        assertStringIncludes(
          said,
          isReference ? "the reference is wrong: gpu stepwise" : "differs from gpu stepwise",
        );
      }
    }, change);
    assert(changed > 0, "nothing was changed");
  }, { precision: way.problem.stencil.update.precision, shuffles: way === SHUFFLES });
}
