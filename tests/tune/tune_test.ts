/**
 * A whole run on the real GPU (a software one will do), with traversals among the candidates that are broken on
 * purpose.
 *
 * @module
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import type { GpuPlan, Traversal } from "../../kernels/traversals/traversal.ts";
import { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import type { Configuration, Failure } from "../../tuner/configuration.ts";
import { detectDevice } from "../../tuner/devices/device.ts";
import { DeviceError } from "../../tuner/devices/device_error.ts";
import type { Evaluation } from "../../tuner/measuring/evaluate.ts";
import { configurationKey } from "../../tuner/configuration_key.ts";
import { exhaustive } from "../../tuner/search/exhaustive.ts";
import type { Candidate } from "../../tuner/search/space.ts";
import type { Point, Search, SearchOptions, Strategy } from "../../tuner/search/strategy.ts";
import {
  tune,
  type TuneEnvironment,
  type TuneOutcome,
  type TuneProgress,
  type TuneRequest,
} from "../../tuner/tune/tune.ts";
import { measurementNamed } from "../measuring/fake_runner.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";

const SHAPE = { threadsZ: 16, threadsY: 4, threadsX: 1 };

const REQUEST: TuneRequest = {
  stencil: wave(2),
  grid: [24, 20, 16],
  boundary: "zero",
  steps: 12,
  traversals: [stepwise],
  strategy: exhaustive,
  budget: { evaluations: 2 },
  cpuWorkers: 0,
  seed: 1,
  startShare: 0.1,
};

/** A run, and everything it told. */
async function record(request: Partial<TuneRequest> = {}, environment: Partial<TuneEnvironment> = {}) {
  const evaluations: Evaluation[] = [], stages: TuneProgress[] = [];
  const detected = await detectDevice();
  const gpu = "gpu" in environment ? environment.gpu : await GpuDevice.open({ timeoutMs: 60_000 });
  const device = gpu === undefined ? { ...detected, gpu: null } : detected;
  const outcome = await tune({ ...REQUEST, ...request }, {
    gpu,
    device,
    now: () => performance.now() * 1e6,
    signal: new AbortController().signal,
    onStart: () => {},
    ...environment,
    onProgress(progress) {
      stages.push(progress);
      environment.onProgress?.(progress);
    },
    async onEvaluation(evaluation) {
      evaluations.push(evaluation);
      await environment.onEvaluation?.(evaluation);
    },
  });
  return { outcome, evaluations, stages };
}

const failuresOf = (evaluations: readonly Evaluation[]): Failure[] =>
  evaluations.flatMap((evaluation) => "failure" in evaluation ? [evaluation.failure] : []);

/** The number of search evaluations, which come before those of the final round. */
const searched = (stages: readonly TuneProgress[]): number =>
  stages.filter(({ stage }) => stage === "search").length;

/** Stepwise with a change to its plan. */
function variant(name: string, change: (plan: GpuPlan) => GpuPlan): Traversal {
  return { ...stepwise, name, plan: (problem, parameters) => change(stepwise.plan(problem, parameters)) };
}

/** Replaces text in the first shader. */
const rewrite = (from: RegExp, to: string) => (plan: GpuPlan): GpuPlan => ({
  ...plan,
  shaders: plan.shaders.map((shader) => ({ ...shader, code: shader.code.replace(from, to) })),
});

/** Tries these before the rest of the space; while `test` runs, they can be found by their names. */
async function withTraversals(added: readonly Traversal[], test: (strategy: Strategy) => Promise<void>) {
  const all = TRAVERSALS as Traversal[];
  all.push(...added);
  const strategy: Strategy = {
    ...exhaustive,
    begin<P extends Point>(candidates: readonly P[], options: SearchOptions): Search<P> {
      const [{ demand, predicted, roof }] = candidates as readonly Point[] as readonly Candidate[];
      const broken = added.map((traversal): Candidate => ({
        traversal,
        parameters: SHAPE,
        demand,
        predicted,
        roof,
      }));
      return exhaustive.begin([...broken as readonly Point[] as readonly P[], ...candidates], options);
    },
  };
  try {
    await test(strategy);
  } finally {
    all.splice(all.length - added.length, added.length);
  }
}

/** The entry is there, and its winner is none of those that are broken. */
function assertWon({ entry, gpuAlone }: TuneOutcome, traversal = "stepwise"): void {
  assert(entry !== undefined && gpuAlone !== undefined);
  assertEquals(entry.configuration.traversal, traversal);
  assert(entry.result.cellsPerSecond > 0);
}

testOnGpu(
  "what does not compile, is wrong or exceeds a limit is on record, and the run goes on",
  async () => {
    const broken = [
      variant("no-wgsl", rewrite(/fn main/, "fun main")),
      variant("wrong", rewrite(/before\[cell\] = /, "before[cell] = 1e-3f + ")),
      {
        ...stepwise,
        name: "large",
        infeasible: () => "1000000 bytes of workgroup memory, maxComputeWorkgroupStorageSize is 32768",
      },
      variant(
        "large-unnoticed",
        rewrite(
          /fn main([^{]*)\{/,
          "var<workgroup> large: array<f32, 250000>;\nfn main$1{ large[id.x] = 0.0f;",
        ),
      ),
    ];
    await withTraversals(broken, async (strategy) => {
      const { outcome, evaluations } = await record({ strategy, budget: { evaluations: 6 } });
      const [noWgsl, wrong, large, unnoticed] = failuresOf(evaluations);
      assertEquals(noWgsl.reason, "compile");
      assertEquals(wrong.reason, "incorrect");
      assertStringIncludes(wrong.message, "rounding explains");
      assertEquals(large.reason, "limits");
      assert(["compile", "limits"].includes(unnoticed.reason), unnoticed.reason);
      assertEquals(evaluations.slice(0, 6).map((one) => "failure" in one), [
        true,
        true,
        true,
        true,
        false,
        false,
      ]);
      assertEquals(Object.values(outcome.failed).reduce((a, b) => a + b), 4);
      assertEquals([outcome.evaluated, outcome.entry?.search.failed], [6, outcome.failed]);
      assertWon(outcome);
    });
  },
);

testOnGpu("a device that is lost is opened anew, and the run goes on", async () => {
  let held: GpuDevice | undefined = await GpuDevice.open({ timeoutMs: 60_000 });
  const gpu = held!;
  const loses = variant("loses", (plan) => {
    held?.device.destroy();
    held = undefined;
    return plan;
  });
  await withTraversals([loses], async (strategy) => {
    const { outcome, evaluations } = await record({ strategy, budget: { evaluations: 3 } }, { gpu });
    assertEquals(failuresOf(evaluations).map(({ reason }) => reason), ["device-lost"]);
    assertEquals(outcome.failed, { "device-lost": 1 });
    assertWon(outcome);
  });
});

testOnGpu("a device that is lost between two evaluations costs one of them", async () => {
  const gpu = (await GpuDevice.open({ timeoutMs: 60_000 }))!;
  let count = 0;
  const onEvaluation = (): void => {
    if (++count === 1) gpu.device.destroy();
  };
  const { outcome } = await record({ budget: { evaluations: 3 } }, { gpu, onEvaluation });
  assertEquals(outcome.failed, { "device-lost": 1 });
  assertWon(outcome);
});

testOnGpu("what is right in the search and wrong in the final round does not win", async () => {
  let plans = 0;
  const flaky = variant(
    "flaky",
    (plan) => plans++ === 0 ? plan : rewrite(/before\[cell\] = /, "before[cell] = 1e-3f + ")(plan),
  );
  await withTraversals([flaky], async (strategy) => {
    const { outcome, evaluations } = await record({ strategy, budget: { evaluations: 2 } });
    const [first, second] = evaluations;
    assert("measurement" in first && "measurement" in second);
    assertEquals(first.configuration.traversal, "flaky");
    // one that is far slower is no finalist
    if (evaluations.slice(2).some(({ configuration }) => configuration.traversal === "flaky")) {
      assertEquals(outcome.failed, { incorrect: 1 });
      assertEquals([...outcome.bestOfEach.keys()], ["stepwise"]);
    }
    assertWon(outcome);
    // alone, it leaves nothing that counts
    plans = 0;
    const alone = await record({ strategy, budget: { evaluations: 1 } });
    assertEquals([alone.outcome.entry, alone.outcome.bestOfEach.size], [undefined, 0]);
  });
});

testOnGpu("the entry tells the final round's samples", async () => {
  const { outcome, evaluations } = await record({ budget: { evaluations: 1 } });
  const [, ...again] = evaluations;
  const samples = again.flatMap((one) => "measurement" in one ? one.measurement.samples : []);
  assert(samples.length >= 3);
  assertEquals(outcome.entry?.result.samples, samples);
});

testOnGpu(
  "what earlier runs evaluated is not evaluated again, counts, and takes part in the final round",
  async () => {
    const first = await record({ budget: { evaluations: 3 } });
    const searched = first.evaluations.slice(0, 3);
    const [one, two, three] = searched.map(({ configuration }) => configuration);
    const known = new Map(searched.slice(0, 2).map((each) => [configurationKey(each.configuration), each]));
    const failure = { reason: "device-lost", message: "the process that measured it ended" } as const;
    known.set(configurationKey(three), { configuration: three, failure });
    let recalledBeforeStart = false;
    const { outcome, evaluations } = await record({ budget: { evaluations: 5 } }, {
      recall: () => Promise.resolve(known),
      onStart: () => void (recalledBeforeStart = true),
    });
    assert(recalledBeforeStart);
    assertEquals([outcome.evaluated, outcome.recalled, outcome.entry?.search.evaluated], [5, 3, 5]);
    assertEquals(outcome.failed, { "device-lost": 1 });
    const keys = evaluations.map(({ configuration }) => configurationKey(configuration));
    assert(evaluations.slice(0, 2).every(({ configuration }) => !known.has(configurationKey(configuration))));
    assert(!keys.includes(configurationKey(three)), "what is quarantined was tried");
    // four have a rate: all are finalists but what is far slower
    const rates = [...searched.slice(0, 2), ...evaluations.slice(0, 2)]
      .map((each) => "measurement" in each ? each.measurement.cellsPerSecond : 0);
    for (const [i, finalist] of [one, two].entries()) {
      if (rates[i] > 0.8 * Math.max(...rates)) assert(keys.slice(2).includes(configurationKey(finalist)));
    }
    const all = await record({ budget: { evaluations: 3 } }, { recall: () => Promise.resolve(known) });
    assertEquals([all.outcome.evaluated, all.outcome.recalled], [3, 3]);
    assertWon(all.outcome);
  },
);

/** Rates without a device: 1e9, or less while it is slow; every evaluation takes 11 s on the clock. */
function fakeEvaluators(time: { nowNs: number }, isSlow: (call: number) => boolean) {
  const asked: string[] = [];
  const evaluate = (configuration: Configuration) => {
    const rate = isSlow(asked.length) ? 0.7e9 : 1e9;
    asked.push(configurationKey(configuration));
    time.nowNs += 11e9;
    const measurement = {
      ...measurementNamed("stepwise", rate, [0.99 * rate, 1.01 * rate]),
      configuration,
      verification: { maxError: 0, bound: 1, against: "nothing" },
    };
    return Promise.resolve({ evaluation: { configuration, measurement }, evaluationNs: 1e6 });
  };
  const start = () => Promise.resolve({ alive: true, evaluate, close: () => {} });
  return { asked, evaluators: { workersFor: () => 1, start } };
}

testOnGpu(
  "the sentinel is measured now and then; what a drift affected is measured again, and does not count twice",
  async () => {
    const time = { nowNs: 0 };
    const stop = new AbortController();
    // the third candidate and the look after it find the device slow
    const { asked, evaluators } = fakeEvaluators(time, (call) => call === 3 || call === 4);
    const { outcome, evaluations } = await record({ budget: { evaluations: 4 } }, {
      evaluators,
      now: () => time.nowNs,
      signal: stop.signal,
      onEvaluation: () => asked.length === 10 ? stop.abort() : undefined,
    });
    const names = [...new Set(asked)];
    assertEquals(asked.slice(0, 9).map((key) => names.indexOf(key)), [0, 1, 0, 2, 0, 0, 2, 0, 3]);
    assertEquals([outcome.evaluated, outcome.drifts, names.length], [4, 1, 4]);
    const rates = evaluations.slice(0, 9).flatMap((one) =>
      "measurement" in one ? one.measurement.cellsPerSecond : []
    );
    assertEquals(rates, [1e9, 1e9, 1e9, 0.7e9, 0.7e9, 1e9, 1e9, 1e9, 1e9]);
  },
);

testOnGpu("evaluators that cannot start end the search, and the run goes on with what is there", async () => {
  let starts = 0;
  const start = () => {
    starts++;
    return Promise.reject(new RunFailure("compile", "no program"));
  };
  const { outcome } = await record({ cpuWorkers: 1 }, { evaluators: { workersFor: () => 2, start } });
  assertEquals([outcome.gpuAlone, starts], [undefined, 2]);
  assertEquals(outcome.searchVerdict, "the process that measures cannot start: compile: no program");
  assert(outcome.entry !== undefined && outcome.cpuAlone !== undefined);
});

/** A device that takes so long for everything: the clock is the test's, and moves with evaluations and turns. */
async function tuneSlowly(
  { timeNs, eachNs, hangs = () => false, ...request }:
    & { timeNs: number; eachNs: number; hangs?: (call: number) => boolean }
    & Partial<TuneRequest>,
) {
  const time = { nowNs: 0 };
  let calls = 0;
  const evaluate = (configuration: Configuration, { limitNs = Infinity }: { limitNs?: number }) => {
    const call = calls++;
    const isGivenUp = (hangs(call) ? 100e9 : eachNs) > limitNs;
    time.nowNs += isGivenUp ? limitNs : eachNs;
    if (isGivenUp) return Promise.resolve(undefined);
    const measurement = { ...measurementNamed("stepwise", 1e9 + call, [0.99e9, 1.01e9]), configuration };
    return Promise.resolve({ evaluation: { configuration, measurement }, evaluationNs: eachNs });
  };
  const start = () => Promise.resolve({ alive: true, evaluate, close: () => {} });
  const recorded = await record({ strategy: exhaustive, budget: { timeNs }, ...request }, {
    evaluators: { workersFor: () => 1, start },
    now: () => time.nowNs,
    onProgress: ({ stage }) => {
      if (stage === "final round") time.nowNs += eachNs;
    },
  });
  return { ...recorded, spent: time.nowNs / timeNs, calls };
}

testOnGpu("a budget of time is kept however slow the device is, and most of it is used", async () => {
  for (const [seconds, each] of [[30, 0.5], [30, 3], [60, 2], [60, 5], [200, 9]]) {
    const { outcome, spent } = await tuneSlowly({ timeNs: seconds * 1e9, eachNs: each * 1e9 });
    const said = `${each} s each in ${seconds} s: ${spent}`;
    assert(spent <= 1.1, said);
    // one that is fast has tried everything
    assert(spent >= 0.5 || outcome.evaluated === outcome.space.candidates.length, said);
    assert(outcome.evaluated >= 3, `${said}, ${outcome.evaluated} evaluations`);
    const turns = outcome.finalists.map(({ blocks }) => blocks.filter((one) => one !== undefined).length);
    assert(turns.length >= 1 && turns.every((count) => count >= 2), `${said}: ${turns}`);
    assertEquals(outcome.budgetMessage, undefined);
  }
});

testOnGpu("a budget that is too small for the least gets the least, and that is said", async () => {
  const { outcome, calls, spent } = await tuneSlowly({ timeNs: 10e9, eachNs: 9e9 });
  assertEquals([calls, outcome.evaluated], [1, 1]);
  assertEquals(outcome.finalists.map(({ blocks }) => blocks.length), [2]);
  assert(spent > 1.1);
  assertStringIncludes(outcome.budgetMessage!, "a budget of 10.0 s is too short");
  assertWon(outcome);
});

testOnGpu("an evaluation that lasts beyond the search's time is given up, and is no failure", async () => {
  const { outcome, evaluations, calls, spent } = await tuneSlowly({
    timeNs: 60e9,
    eachNs: 1e9,
    hangs: (call) => call === 5,
  });
  assertEquals([calls, outcome.evaluated, outcome.failed], [6, 5, {}]);
  assert(spent <= 1.1, `${spent}`);
  assert(evaluations.every((one) => "measurement" in one));
});

testOnGpu("a budget of evaluations is kept exactly, one of time roughly", async () => {
  const exactly = await record({ budget: { evaluations: 5 } });
  assertEquals([exactly.outcome.evaluated, searched(exactly.stages)], [5, 5]);
  const started = performance.now();
  const roughly = await record({ budget: { timeNs: 1e9 } });
  assert(performance.now() - started < 20_000); // the first candidates are always tried
  assert(roughly.outcome.evaluated >= 1);
  assertWon(roughly.outcome);
});

testOnGpu("an aborted run returns what it knows", async () => {
  const before = await record({ cpuWorkers: 1 }, { signal: AbortSignal.abort() });
  assertEquals([before.outcome.interrupted, before.evaluations], [true, []]);
  assertEquals([before.outcome.entry, before.outcome.evaluated], [undefined, 0]);

  const stop = new AbortController();
  const within = await record({ cpuWorkers: 1, budget: { evaluations: 100 } }, {
    signal: stop.signal,
    onEvaluation: () => stop.abort(),
  });
  assertEquals([within.outcome.interrupted, within.evaluations.length], [true, 1]);
  assertWon(within.outcome);
  assertStringIncludes(within.outcome.balanceMessage, "interrupted");
});

Deno.test("without a GPU the CPU alone is tuned", async () => {
  const { outcome, evaluations } = await record({ cpuWorkers: 1 }, { gpu: undefined });
  assertEquals([outcome.evaluated, evaluations.length, outcome.copyBytesPerSecond], [1, 1, null]);
  assertEquals(outcome.entry?.configuration.share, {
    cpuSlices: 24,
    gpuSlices: 0,
    exchangeEvery: 1,
    cpuWorkers: 1,
  });
  assertEquals([outcome.entry?.result.roofFraction, outcome.entry?.result.speedupOverStepwise], [null, null]);
  assertEquals(outcome.space.candidates, []);
});

testOnGpu("a device that can't compute the reference ends the run", async () => {
  const gpu = (await GpuDevice.open())!;
  gpu.device.destroy();
  await gpu.device.lost;
  await assertRejects(() => record({}, { gpu }), DeviceError, "The GPU failed: device-lost");
});

Deno.test("where time is short, the CPU computes a line in the most promising of its ways", async () => {
  const line = { stencil: heat1d(), grid: [1, 1, 2048], boundary: "insulated", steps: 64 } as const;
  const request = { ...line, cpuWorkers: 1, budget: { timeNs: 1 } };
  const { evaluations } = await record(request, { gpu: undefined });
  assertEquals(evaluations.map(({ configuration: { traversal, parameters } }) => [traversal, parameters]), [
    ["swept", { points: 2048 }],
  ]);
});
