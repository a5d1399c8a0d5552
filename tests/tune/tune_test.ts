/**
 * Whole runs: on a simulated session, where times and failures are the test's; a few on real devices.
 *
 * @module
 */
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { heat } from "../../kernels/stencils/heat.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import type { Grid } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { marching } from "../../kernels/traversals/marching/marching.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import type { Traversal } from "../../kernels/traversals/traversal.ts";
import { type Configuration, configurationKey, type Failure } from "../../tuner/configuration.ts";
import { detectDevice } from "../../tuner/devices/device.ts";
import { DeviceError } from "../../tuner/devices/device_error.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";
import { DeviceSession, type Session } from "../../tuner/devices/session.ts";
import { evaluateOn, type Evaluation } from "../../tuner/measuring/evaluate.ts";
import type { Evaluator } from "../../tuner/measuring/evaluator.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { defaultGrid } from "../../tuner/problem/default_problem.ts";
import { knownOf } from "../../tuner/profile/merge.ts";
import { profileOfRun } from "../../tuner/tune/library_tune.ts";
import { exhaustive } from "../../tuner/search/baselines.ts";
import type { Candidate } from "../../tuner/search/enumeration.ts";
import type { SearchPoint, Strategy } from "../../tuner/search/strategy.ts";
import {
  type Evaluators,
  runTuning,
  type TuneEnvironment,
  type TuneOutcome,
  type TuneProgress,
  type TuneRequest,
} from "../../tuner/tune/tune.ts";
import { miscompiled } from "../devices/miscompiled.ts";
import {
  atRate,
  failing,
  SIMULATED_DEVICE,
  SimulatedSession,
  type Simulation,
  WRONG,
} from "../devices/simulated_session.ts";
import type { Behaviour } from "../measuring/fake_runner.ts";
import { testOnGpu } from "../test_on_gpu.ts";

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

/** A run, and everything that it reported. */
async function tuneOn(
  session: Session,
  request: Partial<TuneRequest> = {},
  environment: Partial<TuneEnvironment> = {},
) {
  const evaluations: Evaluation[] = [], stages: TuneProgress[] = [];
  const outcome = await runTuning({ ...REQUEST, ...request }, {
    session,
    signal: new AbortController().signal,
    ...environment,
    onProgress: (progress) => void stages.push(progress),
    async onEvaluation(evaluation) {
      evaluations.push(evaluation);
      await environment.onEvaluation?.(evaluation);
    },
  });
  return { outcome, evaluations, stages, session };
}

/** A run on a simulated session. */
function simulate(
  simulation: Simulation = {},
  request: Partial<TuneRequest> = {},
  environment: Partial<TuneEnvironment> = {},
) {
  return tuneOn(new SimulatedSession(simulation), request, environment);
}

const failuresOf = (evaluations: readonly Evaluation[]): Failure[] =>
  evaluations.flatMap((evaluation) => "failure" in evaluation ? [evaluation.failure] : []);

/** Tries candidates of these traversals of the GPU first, then the rest of the space. */
function first(...added: readonly Traversal[]): Strategy {
  return {
    ...exhaustive,
    begin(candidates, options) {
      const [model] = candidates as readonly SearchPoint[] as readonly Candidate[];
      const parameters = { threadsZ: 16, threadsY: 4, threadsX: 1 };
      const isGpu = model?.demand !== undefined;
      const more = isGpu
        ? added.map((traversal): Candidate => {
          const configuration = { ...model.configuration, traversal: traversal.name, parameters };
          return { ...model, traversal, parameters, configuration };
        })
        : [];
      return exhaustive.begin(
        [...more as readonly SearchPoint[] as typeof candidates, ...candidates],
        options,
      );
    },
  };
}

/** Traversals of these names, which a simulated session never looks up. */
const named = (...names: readonly string[]): Traversal[] => names.map((name) => ({ ...stepwise, name }));

/** What configurations of each traversal do; the others run at 1 Gcell/s. */
function fates(of: Readonly<Record<string, Behaviour>>): NonNullable<Simulation["behave"]> {
  return (_, { traversal }, problem) => of[traversal] ?? atRate(1e9, problem);
}

/** The winner is stepwise. */
function assertWon({ entry, gpuAlone }: TuneOutcome): void {
  assertEquals(entry?.configuration.traversal, "stepwise");
  assertEquals(entry?.configuration, gpuAlone?.configuration);
  assert(entry!.result.cellsPerSecond > 0);
}

Deno.test("an entry keeps what copies moved in its run, on each device that was measured", async () => {
  const copies = { copyBytesPerSecond: 4e11, cpuCopyBytesPerSecond: 3e10 };
  for (const [cpuWorkers, expected] of [[2, { gpu: 4e11, cpu: 3e10 }], [0, { gpu: 4e11 }]] as const) {
    const { outcome } = await simulate(copies, { cpuWorkers, budget: { evaluations: 4 } });
    assertEquals(outcome.entry!.copyBytesPerSecond, expected);
  }
});

Deno.test("what fails is on record with its reason, and the run goes on", async () => {
  const behave = fates({
    compiles: failing("compile"),
    wrong: WRONG,
    large: failing("limits"),
    memory: failing("out-of-memory"),
  });
  const strategy = first(...named("compiles", "wrong", "large", "memory"));
  const { outcome, evaluations } = await simulate({ behave }, { strategy, budget: { evaluations: 6 } });
  const reasons = failuresOf(evaluations).map(({ reason }) => reason);
  assertEquals(reasons, ["compile", "incorrect", "limits", "out-of-memory"]);
  assertStringIncludes(failuresOf(evaluations)[1]!.message, "rounding explains");
  assertEquals(outcome.failed, { compile: 1, incorrect: 1, limits: 1, "out-of-memory": 1 });
  assertEquals([outcome.evaluated, outcome.entry?.search.failed], [6, outcome.failed]);
  assertWon(outcome);
});

Deno.test("a device that is lost or hangs is opened anew with its reference, and the run goes on", async () => {
  for (const reason of ["device-lost", "timeout"] as const) {
    const session = new SimulatedSession({ behave: fates({ loses: failing(reason) }) });
    const { outcome } = await tuneOn(session, { strategy: first(...named("loses")) });
    assertEquals([outcome.failed, session.recoveries, session.references], [{ [reason]: 1 }, 1, 2]);
    assertWon(outcome);
  }
});

Deno.test("a GPU that cannot be opened again is left out, and the CPU goes on alone", async () => {
  const gone = new RunFailure("device-lost", "gone");
  const session: SimulatedSession = new SimulatedSession({
    behave: fates({ loses: failing("device-lost") }),
    whyNoReference: (computed) => computed > 0 && session.hasGpu ? gone : undefined,
  });
  const strategy = first(...named("loses"));
  const { outcome, evaluations } = await tuneOn(session, { strategy, cpuWorkers: 1 });
  const evaluated = new Set(evaluations.map(({ configuration }) => configurationKey(configuration)));
  assertEquals([session.hasGpu, outcome.evaluated], [false, evaluated.size]);
  assertEquals(outcome.gpuAlone, undefined);
  assertEquals(outcome.entry?.configuration.share.gpuSlices, 0);
  assertEquals(outcome.balanceMessage, "the CPU computes alone: there is no GPU");
});

Deno.test("what is right in the search and wrong in the final round does not win", async () => {
  let runs = 0;
  const behave: Simulation["behave"] = (_, { traversal }, problem) =>
    traversal === "flaky" ? runs++ === 0 ? atRate(2e9, problem) : WRONG : atRate(1e9, problem);
  const strategy = first(...named("flaky"));
  const { outcome } = await simulate({ behave }, { strategy });
  assertEquals(outcome.failed, { incorrect: 1 });
  assertEquals([...outcome.bestOfEach.keys()], ["stepwise"]);
  assertWon(outcome);
  // alone, it leaves nothing that counts
  runs = 0;
  const alone = await simulate({ behave }, { strategy, budget: { evaluations: 1 } });
  assertEquals([alone.outcome.entry, alone.outcome.bestOfEach.size], [undefined, 0]);
});

Deno.test("of configurations that tie the chosen one stands for its traversal, and only a faster CPU wins", async () => {
  // larger workgroups are faster, by less than rates distinguish
  const rate = ({ parameters: { threadsZ = 1, threadsY = 1 } }: Configuration): number =>
    1e9 * (1 + Number(threadsZ) * Number(threadsY) / 1e7);
  const tuneBeside = async (cpuRate: number): Promise<TuneOutcome> => {
    const behave: Simulation["behave"] = (_, configuration, problem) =>
      atRate(configuration.share.gpuSlices > 0 ? rate(configuration) : cpuRate, problem);
    return (await simulate({ behave }, { budget: { evaluations: 6 }, cpuWorkers: 1 })).outcome;
  };
  const { entry, bestOfEach, finalists, gpuAlone } = await tuneBeside(1e8);
  const rates = entry!.tieSet.map(({ cellsPerSecond }) => cellsPerSecond);
  const [fastest] = finalists;
  assert(rates.length > 1 && entry!.result.cellsPerSecond < Math.max(...rates), `${rates}`);
  assertEquals(Math.max(...rates), fastest?.measurement.cellsPerSecond);
  assertEquals(bestOfEach.get("stepwise"), gpuAlone);
  // the entry keeps the best of each way, on either device, whichever won
  const kept = entry!.bestOfEach!.map(({ configuration: { traversal, share: { cpuWorkers } } }) =>
    `${traversal} ${cpuWorkers}`
  );
  assertEquals(kept.sort(), ["diamond-wavefront 1", "stepwise 0", "stepwise 1"]);
  assertEquals(entry!.bestOfEach![0]!.configuration, gpuAlone?.configuration);
  // a CPU that is slower than one of the ties does not win
  const between = (entry!.result.cellsPerSecond + Math.max(...rates)) / 2;
  assertEquals((await tuneBeside(between)).entry?.configuration, entry?.configuration);
  assertEquals((await tuneBeside(1.1e9)).entry?.configuration.share.gpuSlices, 0);
});

Deno.test("what a profile cannot store is refused before any work", async () => {
  const refused: [change: object, message: string][] = [
    [{ name: "my own" }, "stencil"],
    [{ variant: { flavour: NaN } }, "flavour"],
  ];
  for (const [change, message] of refused) {
    const session = new SimulatedSession();
    const run = () => tuneOn(session, { stencil: { ...wave(2), ...change } });
    const error = await assertRejects(run, RequestError, message);
    assert(
      error.message.startsWith("Cannot tune: a profile ") && !error.message.includes("\n"),
      error.message,
    );
    assertEquals([session.references, session.copies], [0, 0]);
  }
});

Deno.test("the entry has the final round's samples", async () => {
  const { outcome, evaluations } = await simulate({}, { budget: { evaluations: 1 } });
  const [, ...again] = evaluations;
  const samples = again.flatMap((one) => "measurement" in one ? one.measurement.samples : []);
  assert(samples.length >= 3);
  assertEquals(outcome.entry?.result.samples, samples);
});

Deno.test(
  "what earlier runs evaluated is not evaluated again, counts, and takes part in the final round",
  async () => {
    const earlier = await simulate({}, { budget: { evaluations: 3 } });
    const [one, two, three] = earlier.evaluations.map(({ configuration }) => configuration);
    const known = new Map(
      earlier.evaluations.slice(0, 2).map((each) => [configurationKey(each.configuration), each]),
    );
    const failure = { reason: "device-lost", message: "the process that measured it ended" } as const;
    known.set(configurationKey(three!), { configuration: three!, failure });
    const { outcome, evaluations } = await simulate({}, { budget: { evaluations: 5 } }, {
      onStart: () => Promise.resolve(known),
    });
    assertEquals([outcome.evaluated, outcome.recalled, outcome.entry?.search.evaluated], [5, 3, 5]);
    assertEquals(outcome.failed, { "device-lost": 1 });
    const keys = evaluations.map(({ configuration }) => configurationKey(configuration));
    assert(keys.slice(0, 2).every((key) => !known.has(key)));
    assert(!keys.includes(configurationKey(three!)), "what is quarantined was tried");
    // all run at one rate: all four are finalists
    for (const finalist of [one, two]) assert(keys.slice(2).includes(configurationKey(finalist!)));
    const all = await simulate({}, { budget: { evaluations: 3 } }, { onStart: () => Promise.resolve(known) });
    assertEquals([all.outcome.evaluated, all.outcome.recalled], [3, 3]);
    assertWon(all.outcome);
  },
);

/**
 * One evaluator beside the run, as a process that is killed at its limit.
 *
 * @param waitNs what an evaluation waits for, before it compiles and runs
 */
function beside(session: SimulatedSession, waitNs: (call: number) => number) {
  const asked: string[] = [];
  const start: Evaluators["start"] = (problem) => {
    const evaluator: Evaluator = {
      alive: true,
      close: () => {},
      async evaluate(configuration, { best, limitNs = Infinity }) {
        const neededNs = waitNs(asked.push(configurationKey(configuration)) - 1);
        session.time.nowNs += Math.min(neededNs, limitNs);
        if (neededNs > limitNs) return undefined;
        const beganNs = session.now();
        const evaluation = await evaluateOn(session, configuration, { problem, best });
        return { evaluation, evaluationNs: session.now() - beganNs };
      },
    };
    return Promise.resolve(evaluator);
  };
  return { asked, evaluators: { workersFor: () => 1, start } };
}

Deno.test("a GPU in software computes its reference once; another gives its memory to those that evaluate", async () => {
  const gpu = { ...SIMULATED_DEVICE.gpu!, isFallback: true };
  for (const device of [SIMULATED_DEVICE, { ...SIMULATED_DEVICE, gpu }]) {
    const session = new SimulatedSession({ device });
    const { asked, evaluators } = beside(session, () => 11e9);
    const { outcome } = await tuneOn(session, { budget: { evaluations: 4 } }, { evaluators });
    assertEquals([outcome.evaluated, asked.length], [4, 4]);
    assertEquals(session.references, device.gpu!.isFallback ? 1 : 2);
  }
});

Deno.test("evaluators that cannot start end the search, and the run goes on with what is there", async () => {
  let starts = 0;
  const start = () => {
    starts++;
    return Promise.reject(new RunFailure("compile", "no program"));
  };
  const { outcome } = await simulate({}, { cpuWorkers: 1, budget: { evaluations: 4 } }, {
    evaluators: { workersFor: () => 2, start },
  });
  assertEquals([outcome.gpuAlone, starts], [undefined, 2]);
  assertEquals(outcome.searchVerdict, "the process that measures cannot start: compile: no program");
  assert(outcome.entry !== undefined && outcome.cpuAlone !== undefined);
});

Deno.test("a driver that has just crashed is given a moment to start an evaluator", async () => {
  const session = new SimulatedSession();
  const { evaluators } = beside(session, () => 0);
  let starts = 0;
  const start: Evaluators["start"] = (problem, options) =>
    ++starts < 3
      ? Promise.reject(new RunFailure("device-lost", "no device yet"))
      : evaluators.start(problem, options);
  const { outcome } = await tuneOn(session, {}, { evaluators: { workersFor: () => 1, start } });
  assertEquals([starts, session.pausesNs, outcome.evaluated], [3, [1e9, 1e9], 2]);
  assertWon(outcome);
});

/** A run on a GPU that takes so long for every evaluation and every turn of the final round. */
async function tuneSlowly(
  { timeNs, eachNs, hangs = () => false, ...request }:
    & { timeNs: number; eachNs: number; hangs?: (call: number) => boolean }
    & Partial<TuneRequest>,
) {
  const session = new SimulatedSession({
    referenceNs: eachNs / 3,
    behave: (prepared, { share }, problem) => ({
      ...atRate(1e9 + 1e6 * prepared, problem),
      ...(share.gpuSlices > 0 ? { compileNs: 0.2 * eachNs, setupNs: 0.4 * eachNs } : {}),
    }),
  });
  const { asked, evaluators } = beside(session, (call) => hangs(call) ? 100e9 : 0);
  const { outcome, evaluations } = await tuneOn(session, { budget: { timeNs }, ...request }, { evaluators });
  return { outcome, evaluations, spent: session.now() / timeNs, calls: asked.length };
}

Deno.test("a budget of time is kept however slow the device is, and most of it is used", async () => {
  for (const [seconds, each] of [[30, 0.5], [30, 3], [60, 2], [60, 5], [200, 9]] as const) {
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

Deno.test("a budget that is too small gets the minimum, and the outcome says so", async () => {
  // no time for another process, whose reference would take as long again, nor for a final round
  const { outcome, calls, spent } = await tuneSlowly({ timeNs: 10e9, eachNs: 11e9 });
  assertEquals([calls, outcome.evaluated, outcome.finalists], [0, 1, []]);
  assert(spent > 1.2);
  assertStringIncludes(outcome.budgetMessage!, "a budget of 10.0 s is too short");
  assertWon(outcome);
});

Deno.test("a budget is kept within a tenth or two seconds", async () => {
  for (const [seconds, each] of [[5, 0.2], [5, 1], [5, 2], [8, 3], [15, 6]] as const) {
    const { outcome, spent } = await tuneSlowly({ timeNs: seconds * 1e9, eachNs: each * 1e9, cpuWorkers: 1 });
    assert(spent * seconds <= seconds + 2, `${each} s each in ${seconds} s: ${spent * seconds} s`);
    assert(outcome.entry !== undefined && outcome.budgetMessage === undefined);
  }
});

Deno.test("where a run takes a good part of the budget, one is timed, not several", async () => {
  const runNs = 0.9e9, timed: number[] = [];
  const behave: Simulation["behave"] = () => ({
    batchNs: (repetitions) => runNs * timed.push(repetitions) / timed.length * repetitions,
  });
  const { evaluators } = beside(new SimulatedSession(), () => 0);
  const simulation = { referenceNs: 1.2e9, behave };
  const { outcome } = await simulate(simulation, { budget: { timeNs: 5e9 } }, { evaluators });
  assertEquals([outcome.evaluated, timed.length], [1, 2]);
  assert(outcome.elapsedNs < 5e9);
});

Deno.test("where references take much of the budget, what should be slow is not tried", async () => {
  const traversals = [stepwise, marching], grid = [512, 512, 512] as const;
  const behave: Simulation["behave"] = (_, __, problem) => atRate(1e10, problem);
  const kindsIn = async (referenceNs: number): Promise<string[]> => {
    const simulation = { referenceNs, copyBytesPerSecond: 4e12, behave };
    const request = { stencil: heat(3), grid, traversals, budget: { timeNs: 20e9 } };
    const { evaluations } = await simulate(simulation, request);
    return [...new Set(evaluations.map(({ configuration }) => configuration.traversal))];
  };
  assertEquals([await kindsIn(0.1e9), await kindsIn(1.5e9)], [["stepwise", "marching"], ["marching"]]);
});

Deno.test("a GPU too slow for the budget leaves it to the CPU, if there is one", async () => {
  const behave: Simulation["behave"] = (_, { share }, problem) =>
    share.gpuSlices > 0 ? { batchNs: (repetitions) => repetitions * 7e9 } : atRate(1e9, problem);
  const { outcome } = await simulate({ referenceNs: 7e9, behave }, {
    budget: { timeNs: 8e9 },
    cpuWorkers: 1,
  });
  assert(outcome.elapsedNs <= 10e9 && outcome.budgetMessage === undefined, `${outcome.elapsedNs}`);
  assertEquals([outcome.gpuAlone, outcome.entry?.configuration.share.gpuSlices], [undefined, 0]);
  assertMatch(outcome.searchVerdict!, /no configuration of the GPU would end within the budget/);
});

Deno.test("where a single run exceeds the budget, that is said before the search", async () => {
  const said: string[] = [], stages: string[] = [];
  const session = new SimulatedSession({ referenceNs: 6e9 });
  const onWarning = (text: string): void => void said.push(text);
  const onStart = (): Promise<void> => Promise.resolve(void stages.push(`${said.length}`));
  await tuneOn(session, { budget: { timeNs: 5e9 } }, { onWarning, onStart });
  assertEquals([said.length, stages], [1, ["1"]]);
  assertMatch(said[0]!, /^one run of this problem takes this device about 6.00 s: the budget of 5.00 s will/);
});

Deno.test("where a single run is known to exceed the budget, that is said before anything runs", async () => {
  const warningsOf = async (timeNs: number): Promise<string[]> => {
    const session = new SimulatedSession(), warnings: string[] = [];
    const onWarning = (text: string): void => {
      assertEquals([session.references, session.prepared.length], [0, 0]);
      warnings.push(text);
    };
    await tuneOn(session, { grid: [512, 512, 512], budget: { timeNs } }, { onWarning });
    return warnings;
  };
  const [warning] = await warningsOf(10e6);
  assertMatch(
    warning!,
    /^one run of this problem takes this device about [\d.]+ m?s: the budget of 10.0 ms will/,
  );
  assertEquals(await warningsOf(60e9), []);
  assertEquals(await warningsOf(1), ["the budget is spent: only the minimum is measured"]);
});

Deno.test("an evaluation that outlasts the search's time is given up, and is no failure", async () => {
  const { outcome, evaluations, calls, spent } = await tuneSlowly({
    timeNs: 60e9,
    eachNs: 1e9,
    hangs: (call) => call === 5,
  });
  assertEquals([calls, outcome.evaluated, outcome.failed], [6, 5, {}]);
  assert(spent <= 1.1, `${spent}`);
  assert(evaluations.every((one) => "measurement" in one));
});

Deno.test("the winner's rate by the host's clock is that of a run of a second, with what the host waits for", async () => {
  const behave: Simulation["behave"] = (_, __, problem) => ({
    ...atRate(1e9, problem),
    waitNs: 0.1e9, // a tenth of a long run, which the device's clock leaves out
  });
  const { outcome: { entry } } = await simulate({ behave });
  const { cellsPerSecond, byHost } = entry!.result, updates = 24 * 20 * 16 * 12;
  assertAlmostEquals(cellsPerSecond, 1e9, 1);
  assertEquals(byHost!.steps, 12 * Math.floor(1e9 / updates));
  assertAlmostEquals(byHost!.cellsPerSecond, 1e9 / 1.1, 1e6);
  // a device that became fifty times slower computes for some seconds, not for a minute
  let prepared = 0;
  await simulate({ behave: (count, _, problem) => (prepared = count, atRate(1e9, problem)) });
  const { outcome: { entry: slow } } = await simulate({
    behave: (count, _, problem) => atRate(count < prepared ? 1e9 : 2e7, problem),
  });
  const { cellsPerSecond: rate, steps } = slow!.result.byHost!;
  assertAlmostEquals(rate, 2e7, 1);
  assert(steps * updates / 12 / rate < 5, `${steps}`);
  const { outcome: { entry: hurried } } = await simulate({ behave }, { budget: { timeNs: 0.5e9 } });
  assertEquals(hurried!.result.byHost, undefined);
});

Deno.test("runs are longer where they are short on a GPU in hardware, if their length was left open", async () => {
  const stepsOf = async (request: Partial<TuneRequest>, simulation: Simulation = {}): Promise<number> =>
    (await simulate(simulation, { steps: 96, ...request })).outcome.problem.steps;
  const grid: Grid = [512, 512, 512]; // a step takes 5.4 ms at a tenth of an H100's bandwidth
  assertEquals(await stepsOf({ isDefaultSteps: true }), 1536);
  assertEquals(await stepsOf({ grid, isDefaultSteps: true }, { copyBytesPerSecond: 3e12 }), 768);
  assertEquals(await stepsOf({ grid, isDefaultSteps: true }), 96);
  assertEquals(await stepsOf({}), 96);
  const gpu = { ...SIMULATED_DEVICE.gpu!, isFallback: true };
  assertEquals(await stepsOf({ isDefaultSteps: true }, { device: { ...SIMULATED_DEVICE, gpu } }), 96);
});

Deno.test("a budget of evaluations is kept exactly", async () => {
  const { outcome, stages } = await simulate({}, { budget: { evaluations: 5 } });
  const searched = stages.filter(({ stage }) => stage === "GPU search").length;
  assertEquals([outcome.evaluated, searched], [5, 5]);
  // the CPU has two of them, or half of fewer
  for (const [all, onCpu] of [[1, 0], [2, 1], [3, 1], [5, 2]] as const) {
    const { outcome, stages } = await simulate({}, { budget: { evaluations: all }, cpuWorkers: 1 });
    const cpu = stages.filter(({ stage }) => stage === "CPU search").length;
    assertEquals([outcome.evaluated, cpu], [all, onCpu]);
    assertEquals(outcome.cpuMessage, all > 1 ? undefined : "not measured: the only evaluation was the GPU's");
    assertWon(outcome);
  }
});

Deno.test("an aborted run returns what it knows", async () => {
  const before = await simulate({}, { cpuWorkers: 1 }, { signal: AbortSignal.abort() });
  assertEquals([before.outcome.interrupted, before.evaluations], [true, []]);
  assertEquals([before.outcome.entry, before.outcome.evaluated], [undefined, 0]);

  const stop = new AbortController();
  const within = await simulate({}, { cpuWorkers: 1, budget: { evaluations: 100 } }, {
    signal: stop.signal,
    onEvaluation: () => stop.abort(),
  });
  assertEquals([within.outcome.interrupted, within.evaluations.length], [true, 1]);
  assertWon(within.outcome);
  assertStringIncludes(within.outcome.balanceMessage, "interrupted");
});

const SOFTWARE = { ...SIMULATED_DEVICE, gpu: { ...SIMULATED_DEVICE.gpu!, isFallback: true } };

Deno.test("before a GPU in software the CPU is searched, and an interrupted run keeps what it found", async () => {
  const simulation = { device: SOFTWARE }, request = { cpuWorkers: 1, budget: { timeNs: 60e9 } };
  const { outcome, stages } = await simulate(simulation, request);
  const order = stages.map(({ stage }) => stage).filter((stage, i, all) => stage !== all[i - 1]);
  assertEquals(order.slice(0, 4), ["device", "CPU search", "GPU search", "final round"]);
  assert(outcome.gpuAlone !== undefined && outcome.entry!.balance.length >= 1, outcome.balanceMessage);
  const stop = new AbortController();
  const { outcome: { entry, interrupted, evaluated } } = await simulate(simulation, request, {
    signal: stop.signal,
    onEvaluation: () => stop.abort(),
  });
  assertEquals([interrupted, evaluated, entry?.configuration.share.gpuSlices], [true, 1, 0]);
});

Deno.test("a GPU in software gets what the CPU leaves, in time and in evaluations", async () => {
  // a run takes 2 s on the GPU, and 0.2 s on the CPU: its ways need more than there is
  const behave: Simulation["behave"] = (_, { share }) => ({
    batchNs: (repetitions) => repetitions * (share.gpuSlices > 0 ? 2e9 : 0.2e9),
  });
  const simulation = {
    device: SOFTWARE,
    behave,
    referenceNs: 2e9,
    cpuCellsPerSecond: 24 * 20 * 16 * 12 / 0.2,
  };
  const { outcome } = await simulate(simulation, { cpuWorkers: 1, budget: { timeNs: 20e9 } });
  assertEquals([outcome.gpuAlone, outcome.budgetMessage, outcome.cpuMessage], [
    undefined,
    undefined,
    undefined,
  ]);
  assertMatch(outcome.searchVerdict!, /no configuration of the GPU would end within the budget/);
  assert(outcome.evaluated > 5 && outcome.elapsedNs <= 22e9, `${outcome.evaluated} in ${outcome.elapsedNs}`);
  for (const [all, onGpu] of [[1, 0], [2, 1], [5, 2], [40, 18]] as const) {
    const { outcome, stages } = await simulate({ device: SOFTWARE }, {
      cpuWorkers: 1,
      budget: { evaluations: all },
    });
    const searched = stages.filter(({ stage }) => stage === "GPU search").length;
    assertEquals([outcome.evaluated, searched], [all, onGpu]);
    assertEquals(outcome.searchVerdict, all > 1 ? undefined : "the only evaluation was the CPU's");
  }
  // what an earlier run found of the CPU is not taken off the GPU's part
  const request = (evaluations: number) => ({ cpuWorkers: 1, budget: { evaluations } });
  const { evaluations } = await simulate({ device: SOFTWARE }, request(5));
  const known = new Map(evaluations.map((one) => [configurationKey(one.configuration), one]));
  const resumed = await simulate({ device: SOFTWARE }, request(40), {
    onStart: () => Promise.resolve(known),
  });
  assertEquals([resumed.outcome.evaluated, resumed.outcome.recalled], [40, 5]);
});

const CPU_ONLY = { ...SIMULATED_DEVICE, gpu: null };

Deno.test("without a GPU the CPU alone is tuned", async () => {
  const { outcome, evaluations } = await simulate({ device: CPU_ONLY }, { cpuWorkers: 1 });
  const evaluated = new Set(evaluations.map(({ configuration }) => configurationKey(configuration)));
  assertEquals([outcome.evaluated, outcome.copyBytesPerSecond], [evaluated.size, null]);
  const traversals = new Set(evaluations.map(({ configuration }) => configuration.traversal));
  assertEquals([...traversals].sort(), ["diamond-wavefront", "stepwise"]);
  // with more of the budget, more ways to cut the grid
  const more = await simulate({ device: CPU_ONLY }, { cpuWorkers: 1, budget: { timeNs: 60e9 } });
  assert(more.evaluations.length >= 6, `${more.evaluations.length}`);
  const share = { cpuSlices: 24, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  assertEquals(outcome.entry?.configuration.share, share);
  // the best of stepwise on the CPU is the baseline
  const { cellsPerSecond, speedupOverStepwise } = outcome.entry!.result;
  assertEquals(speedupOverStepwise, cellsPerSecond / outcome.bestOfEach.get("cpu stepwise")!.cellsPerSecond);
  assertEquals(outcome.space.candidates, []);
});

Deno.test("where time is short, the CPU computes a line in the most promising of its ways, and in the plain one", async () => {
  const line = { stencil: heat1d(), grid: [1, 1, 2048], boundary: "insulated", steps: 64 } as const;
  const request = { ...line, cpuWorkers: 1, budget: { timeNs: 1 } };
  const { evaluations } = await simulate({ device: CPU_ONLY }, request);
  const tried = new Set(evaluations.map(({ configuration }) => configurationKey(configuration)));
  const [{ configuration: { traversal, parameters } }] = evaluations as [Evaluation];
  assertEquals([tried.size, traversal, parameters], [2, "swept", { points: 2048 }]);
});

Deno.test("the speedup is over stepwise on the winner's own device, which is measured for it", async () => {
  const request = { grid: [96, 96, 64] as Grid, cpuWorkers: 2 };
  for (const timeNs of [1, 60e9]) {
    const behave: Simulation["behave"] = (_, { traversal, share }, problem) =>
      atRate(share.gpuSlices > 0 ? 1e8 : traversal === "stepwise" ? 4e9 : 1e10, problem);
    const { entry } = (await simulate({ behave }, { ...request, budget: { timeNs } })).outcome;
    assertEquals(entry!.configuration.traversal, "diamond-wavefront");
    assertAlmostEquals(entry!.result.speedupOverStepwise!, 2.5, 1e-6);
  }
});

Deno.test("a CPU far behind the GPU is left out where there is no time for it, and the outcome says so", async () => {
  const simulation: Simulation = {
    behave: (_, { share }, problem) => atRate(share.gpuSlices > 0 ? 500e9 : 1e6, problem),
    cpuCellsPerSecond: 1e6,
  };
  const grid: Grid = [256, 256, 256];
  const { outcome } = await simulate(simulation, { cpuWorkers: 2, grid, budget: { timeNs: 60e9 } });
  assertEquals(outcome.cpuAlone, undefined);
  assertStringIncludes(outcome.cpuMessage!, "not measured: a probe ran at 1.00 Mcells/s");
  assert(outcome.entry!.balance.length >= 1);
  assertMatch(
    outcome.balanceMessage,
    /^sharing with the CPU would take \d+× as long \(10.\d ms a step; the GPU alone: 33.6 µs\)$/,
  );
  assertWon(outcome);
});

/** A machine whose CPU and GPU both compute a tenth of 10 Gcells/s, and share without waiting if they share. */
function pair(cpuRate: number, waitNs: number): Simulation {
  return {
    behave: (_, { share }, problem) => atRate(share.gpuSlices > 0 ? 1e9 : cpuRate, problem),
    cpuCellsPerSecond: cpuRate,
    costs: {
      cpu: { updateNs: 1e9 / cpuRate, stepNs: 0 },
      gpu: { updateNs: 1, stepNs: 0, passNs: 0, byteNs: 0 },
      unpack: { a: 0, b: 1 },
      pack: { a: 0, b: 1 },
      schedule: { waitNs, starvation: 0 },
    },
  };
}

Deno.test("a GPU and workers are always balanced, however little time there is and whoever wins", async () => {
  const grid: Grid = [96, 96, 64];
  for (const timeNs of [1, 20e9, 60e9]) {
    for (const cpuRate of [1e8, 1e9, 1e12]) {
      for (const waitNs of [0, 10e6]) {
        const { outcome } = await simulate(pair(cpuRate, waitNs), {
          grid,
          budget: { timeNs },
          cpuWorkers: 2,
        });
        const what = `${timeNs / 1e9} s, CPU ${cpuRate / 1e9}, ${waitNs}: ${outcome.balanceMessage}`;
        const { balance } = outcome.entry!;
        assert(balance.length >= 1, what);
        for (const { cpuSlices, gpuSlices, cpuTimeNs, gpuTimeNs } of balance) {
          assertEquals(cpuSlices + gpuSlices, 96, what);
          assertEquals([cpuTimeNs > 0, gpuTimeNs > 0], [cpuSlices > 0, gpuSlices > 0], what);
        }
        if (timeNs > 1) assert(outcome.elapsedNs <= 1.1 * timeNs, `${outcome.elapsedNs / 1e9} of ${what}`);
      }
    }
  }
});

Deno.test("both together win where they are faster than either, each in the best of its ways", async () => {
  const grid: Grid = [96, 96, 64];
  const { outcome } = await simulate(pair(1e9, 0), { grid, budget: { timeNs: 60e9 }, cpuWorkers: 2 });
  const { share, traversal } = outcome.entry!.configuration;
  assertEquals([traversal, share.cpuSlices + share.gpuSlices, share.cpuWorkers], ["stepwise", 96, 2]);
  assert(Math.abs(share.cpuSlices - 48) <= 4, `${share.cpuSlices}`);
  const { traversal: name, parameters } = outcome.cpuAlone!.configuration;
  assertEquals(share.cpu, { traversal: name, parameters });
  assert(outcome.entry!.result.cellsPerSecond > 1.5e9);
});

Deno.test("a configuration that cannot compute a share, or compiles too long, leaves the balance to another", async () => {
  const { behave, ...simulation } = pair(1e9, 0);
  for (const trouble of [failing("limits"), failing("device-lost"), { compileNs: 60e9 }]) {
    const session = new SimulatedSession({
      ...simulation,
      behave: (prepared, configuration, problem) => ({
        ...behave!(prepared, configuration, problem),
        ...(configuration.traversal === "troubled" && {
          ...atRate(3e9, problem),
          ...(configuration.share.cpuSlices > 0 || "compileNs" in trouble ? trouble : {}),
        }),
      }),
    });
    const request = { strategy: first(...named("troubled")), budget: { timeNs: 300e9 }, cpuWorkers: 2 };
    const { outcome } = await tuneOn(session, request);
    assertEquals(outcome.gpuAlone?.configuration.traversal, "troubled");
    assert(outcome.entry!.balance.length >= 1, outcome.balanceMessage);
    const shared = session.prepared.filter(({ share }) => share.cpuSlices > 0 && share.gpuSlices > 0);
    const troubled = shared.filter(({ traversal }) => traversal === "troubled").length;
    assertEquals(troubled, "compileNs" in trouble ? 0 : 1);
    assertEquals(session.recoveries, outcome.failed["device-lost"] ?? 0);
  }
});

Deno.test("a default grid shrinks until the reference fits the memory; nothing else is forgiven", async () => {
  const full = new RunFailure("out-of-memory", "full"), lost = new RunFailure("device-lost", "gone");
  const { gpu } = new SimulatedSession().device;
  const grid = defaultGrid(REQUEST.stencil, gpu);
  const free: TuneRequest = { ...REQUEST, grid, isDefaultGrid: true };
  const gridAfter = async (failures: number): Promise<Grid> => {
    const session = new SimulatedSession({ whyNoReference: (tries) => tries < failures ? full : undefined });
    const environment = {
      session,
      signal: AbortSignal.abort(),
      onProgress() {},
      onEvaluation() {},
    };
    return (await runTuning(free, environment)).problem.grid;
  };
  const [whole, halved] = [await gridAfter(0), await gridAfter(1)];
  assert(halved[0] < whole[0], `${whole} and ${halved}`);
  for (const failure of [full, lost]) {
    await assertRejects(
      () => simulate({ whyNoReference: () => failure }),
      DeviceError,
      `Cannot compute the reference: ${failure.reason}: ${failure.message}`,
    );
  }
});

/** The devices of this machine. */
async function devices(): Promise<DeviceSession> {
  return new DeviceSession({ device: await detectDevice(), timeoutMs: 120_000 });
}

testOnGpu("on a real device broken kernels fail, and GPU, CPU and balance are measured", async () => {
  const rewritten = (name: string, from: RegExp, to: string): Traversal => ({
    ...stepwise,
    name,
    plan(problem, parameters) {
      const plan = stepwise.plan(problem, parameters);
      return {
        ...plan,
        shaders: plan.shaders.map((shader) => ({ ...shader, code: shader.code.replace(from, to) })),
      };
    },
  });
  const broken = [
    rewritten("no-wgsl", /fn main/, "fun main"),
    rewritten("wrong", /before\[cell\] = /, "before[cell] = 1e-3f + "),
  ];
  const all = TRAVERSALS as Traversal[];
  all.push(...broken);
  try {
    using session = await devices();
    const { outcome, evaluations } = await tuneOn(session, {
      strategy: first(...broken),
      grid: [24, 4, 16],
      budget: { evaluations: 14 }, // the CPU has ten ways
      cpuWorkers: 1,
    });
    assertEquals(failuresOf(evaluations).slice(0, 2).map(({ reason }) => reason), ["compile", "incorrect"]);
    assertEquals(outcome.gpuAlone?.configuration.traversal, "stepwise");
    assert(outcome.cpuAlone !== undefined && outcome.entry !== undefined);
    assert(outcome.entry.balance.length >= 1, outcome.balanceMessage);
    for (const { cpuSlices, gpuSlices } of outcome.entry.balance) assertEquals(cpuSlices + gpuSlices, 24);
  } finally {
    all.splice(-broken.length);
  }
});

testOnGpu("a device that is lost between two evaluations costs one of them", async () => {
  using session = await devices();
  let count = 0;
  const { outcome } = await tuneOn(session, { budget: { evaluations: 3 } }, {
    async onEvaluation() {
      if (++count === 1) (await session.openGpu()).device.destroy();
    },
  });
  assertEquals(outcome.failed, { "device-lost": 1 });
  assertWon(outcome);
});

testOnGpu("a driver that gets all kernels wrong alike ends the run", async () => {
  const changed = await miscompiled(/^stepwise/, async () => {
    using session = await devices();
    const error = await assertRejects(() => tuneOn(session), DeviceError);
    assertStringIncludes(
      error.message,
      "Cannot compute the reference: incorrect: the reference is wrong: gpu stepwise 64x4x1 differs from oracle f32",
    );
    assert(!error.message.includes("\n"));
  });
  assert(changed > 0);
});

Deno.test("what is measured of a GPU without a record orders the space, and the profile keeps it", async () => {
  const constants = { arithmeticNs: 1e3, exchangeNs: 1e5, cacheNs: 1e3, barrierNs: 1e3, dispatchNs: 1e3 };
  const behave: Simulation["behave"] = (_, __, problem) => atRate(1e9, problem);
  const [with_, without] = [
    (await simulate({ behave, constants }, { budget: { evaluations: 1 } })).outcome,
    (await simulate({ behave }, { budget: { evaluations: 1 } })).outcome,
  ];
  assertEquals([with_.constants, without.constants], [constants, {}]);
  const profile = profileOfRun(with_, SIMULATED_DEVICE)!, { measured } = profile.device;
  assertEquals(measured, { copyBytesPerSecond: with_.copyBytesPerSecond, ...constants });
  const again = await simulate({ behave }, {
    budget: { evaluations: 1 },
    ...knownOf(profile, SIMULATED_DEVICE),
  });
  assertEquals(again.outcome.constants, constants, "measured again");
  const withDouble = { ...constants, doubleNs: 1e5 };
  const inDouble = await simulate({ behave, constants: withDouble }, {
    ...{ budget: { evaluations: 1 }, precision: "f64" },
    ...knownOf(profile, SIMULATED_DEVICE),
  });
  assertEquals(inDouble.outcome.constants, withDouble, "what f64 takes is not known from f32");
  const orderOf = ({ space: { candidates } }: TuneOutcome) =>
    candidates.map(({ parameters }) => JSON.stringify(parameters));
  assertEquals(orderOf(with_).toSorted(), orderOf(without).toSorted());
  assert(orderOf(with_).join() !== orderOf(without).join(), "the same order");
});
