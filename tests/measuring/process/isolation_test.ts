/**
 * Configurations that hang, crash or lose the device, in a process of their own. The run goes on.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { wave } from "../../../kernels/stencils/wave.ts";
import { stepwise } from "../../../kernels/traversals/stepwise/stepwise.ts";
import { DeviceSession } from "../../../tuner/devices/session.ts";
import { ProcessEvaluator } from "../../../tuner/measuring/process/process_evaluator.ts";
import { detectDevice } from "../../../tuner/devices/device.ts";
import type { Evaluation } from "../../../tuner/measuring/evaluate.ts";
import { configurationKey } from "../../../tuner/configuration.ts";
import { exhaustive } from "../../../tuner/search/baselines.ts";
import type { Candidate } from "../../../tuner/search/enumeration.ts";
import type { SearchPoint, Strategy } from "../../../tuner/search/strategy.ts";
import { runTuning, type TuneRequest } from "../../../tuner/tune/tune.ts";
import { testOnGpu } from "../../test_on_gpu.ts";
import { FAULTY } from "./faulty_traversals.ts";

const GRID = [24, 20, 16] as const;

/** Tries what is faulty first, then the rest of the space. */
const faultyFirst: Strategy = {
  ...exhaustive,
  begin(candidates, options) {
    const [first] = candidates as readonly SearchPoint[] as readonly Candidate[];
    const faulty = FAULTY({ loseDevice: () => {} }).map((traversal): Candidate => ({
      ...first!,
      traversal,
      configuration: { ...first!.configuration, traversal: traversal.name },
    }));
    return exhaustive.begin(
      [...faulty as readonly SearchPoint[] as typeof candidates, ...candidates],
      options,
    );
  },
};

const REQUEST: TuneRequest = {
  stencil: wave(2),
  grid: GRID,
  boundary: "zero",
  steps: 12,
  traversals: [stepwise],
  strategy: faultyFirst,
  budget: { evaluations: 5 },
  cpuWorkers: 0,
  seed: 1,
  startShare: 0.1,
};

/** The program that stands in for `evaluator_main.ts`. */
const COMMAND: [string, ...string[]] = [
  Deno.execPath(),
  "run",
  "--allow-env",
  "--allow-read",
  "--allow-run",
  new URL("./faulty_evaluator.ts", import.meta.url).href,
];

testOnGpu(
  "what hangs, crashes or loses the device costs one process, is on record, and the run goes on",
  async () => {
    const evaluations: Evaluation[] = [];
    let starts = 0;
    using session = new DeviceSession({ device: await detectDevice(), timeoutMs: 60_000 });
    const outcome = await runTuning(REQUEST, {
      session,
      signal: new AbortController().signal,
      onProgress: () => {},
      onEvaluation: (evaluation) => void evaluations.push(evaluation),
      evaluators: {
        workersFor: () => 1,
        start(_, { turn }) {
          starts++;
          return ProcessEvaluator.start({
            problem: { stencil: wave(2), grid: GRID, boundary: "zero", steps: 12 },
            // the first process is given what hangs, on any machine for longer than this; the others take their time
            limitMs: starts === 1 ? 2000 : 120_000,
            turn,
            command: COMMAND,
          });
        },
      },
    });
    const [hangs, crashes, loses, ...rest] = evaluations;
    assert("failure" in hangs! && "failure" in crashes! && "failure" in loses!);
    assertEquals(hangs.failure, { reason: "timeout", message: "did not end within 2.00 s" });
    assertEquals(crashes.failure, { reason: "device-lost", message: "the process that measured it ended" });
    assertEquals(loses.failure.reason, "device-lost");
    assertMatch(loses.failure.message, /lost|destroyed/);
    assert(rest.every((one) => "measurement" in one));
    assertEquals([outcome.evaluated, outcome.failed], [5, { timeout: 1, "device-lost": 2 }]);
    assertEquals(starts, 4);
    assertEquals(outcome.entry?.configuration.traversal, "stepwise");
    assertEquals(new Set(evaluations.slice(0, 5).map((one) => configurationKey(one.configuration))).size, 5);
  },
);

testOnGpu("a process that is stuck in the driver ends when the one that started it is killed", async () => {
  const starter = `
    import { ProcessEvaluator } from ${
    JSON.stringify(new URL("../../../tuner/measuring/process/process_evaluator.ts", import.meta.url).href)
  };
    import { takeTurns } from ${
    JSON.stringify(new URL("../../../tuner/measuring/evaluator.ts", import.meta.url).href)
  };
    import { wave } from ${
    JSON.stringify(new URL("../../../kernels/stencils/wave.ts", import.meta.url).href)
  };
    const turn = takeTurns();
    const evaluator = await ProcessEvaluator.start({
      problem: { stencil: wave(2), grid: [24, 20, 16], boundary: "zero", steps: 12 },
      limitMs: 600_000,
      turn,
      command: ${JSON.stringify(COMMAND)},
    });
    setTimeout(() => console.log(evaluator.pid), 1500);
    const share = { cpuSlices: 0, gpuSlices: 24, exchangeEvery: 12, cpuWorkers: 0 };
    const parameters = { threadsZ: 16, threadsY: 4, threadsX: 1 };
    await evaluator.evaluate({ traversal: "hangs", parameters, share }, { best: 0, turn });`;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, starter);
  const args = ["run", "-A", "--no-check", "--config", "tuner/deno.json", file];
  const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "null" }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const pid = Number((await reader.read()).value);
  assert(pid > 0);
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  const isThere = (): boolean => {
    try {
      Deno.kill(pid, "SIGCONT"); // asks only
      return true;
    } catch {
      return false;
    }
  };
  assert(isThere());
  for (let waits = 0; isThere(); waits++) {
    assert(waits < 600, "it is still there");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await Deno.remove(file);
});
