import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Configuration } from "../../tuner/configuration.ts";
import type { Evaluation } from "../../tuner/measuring/evaluate.ts";
import {
  evaluateSideBySide,
  type Evaluator,
  takeTurns,
  type TimedEvaluation,
  type Turn,
} from "../../tuner/measuring/evaluator.ts";
import { measurementNamed } from "./fake_runner.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";

const share = { cpuSlices: 0, gpuSlices: 8, exchangeEvery: 1, cpuWorkers: 0 };

function configurations(count: number): Configuration[] {
  return Array.from({ length: count }, (_, n) => ({ traversal: "stepwise", parameters: { n }, share }));
}

/** What becomes of a configuration. */
type Fate = "rate" | "timeout" | "out-of-memory" | "compile";

/** Processes without processes, that say what happened. */
class Bench {
  started = 0;
  closed = 0;
  /** Evaluations on the device at this moment, and the most there were. */
  #measuring = 0;
  mostMeasuring = 0;
  /** Of an evaluation of 1 ms. */
  compileNs = 0.9e6;
  #compiling = 0;
  mostCompiling = 0;
  readonly evaluated: Evaluation[] = [];
  readonly bests: number[] = [];

  constructor(readonly fate: (n: number, alive: number) => Fate) {}

  readonly start = (_: Turn): Promise<Evaluator> => {
    this.started++;
    let alive = true;
    const evaluate = (configuration: Configuration, options: { best: number; turn: Turn }) =>
      this.#evaluate(configuration, options, () => alive = false);
    return Promise.resolve({
      get alive() {
        return alive;
      },
      evaluate,
      close: () => {
        alive = false;
        this.closed++;
      },
    });
  };

  async #evaluate(
    configuration: Configuration,
    { best, turn }: { best: number; turn: Turn },
    die: () => void,
  ): Promise<TimedEvaluation> {
    const n = Number(configuration.parameters.n);
    this.bests.push(best);
    this.mostCompiling = Math.max(this.mostCompiling, ++this.#compiling);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.#compiling--;
    const release = await turn();
    this.mostMeasuring = Math.max(this.mostMeasuring, ++this.#measuring);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.#measuring--;
    release();
    const fate = this.fate(n, this.started - this.closed);
    if (fate === "timeout") die();
    const evaluation: TimedEvaluation["evaluation"] = fate === "rate"
      ? {
        configuration,
        measurement: { ...measurementNamed("stepwise", 1e9 + n), configuration, compileNs: this.compileNs },
      }
      : { configuration, failure: { reason: fate, message: "" } };
    return { evaluation, evaluationNs: 1e6 };
  }

  async run(
    count: number,
    workers: number,
    { signal = new AbortController().signal, start = this.start }: {
      signal?: AbortSignal;
      start?: (turn: Turn) => Promise<Evaluator>;
    } = {},
  ) {
    const all = configurations(count).map((configuration) => ({ configuration }));
    let next = 0, best = 0;
    return await evaluateSideBySide<typeof all[number]>({
      workers,
      signal,
      start,
      next: () => all[next++],
      best: () => best,
      onEvaluated: (_, { evaluation }) => {
        this.evaluated.push(evaluation);
        if ("measurement" in evaluation) best = Math.max(best, evaluation.measurement.cellsPerSecond);
      },
    });
  }

  get numbers(): number[] {
    return this.evaluated.map(({ configuration: { parameters: { n } } }) => Number(n)).sort((a, b) => a - b);
  }

  /** `3 timeout` of all that failed. */
  get failures(): string[] {
    return this.evaluated.flatMap((one) =>
      "failure" in one ? `${one.configuration.parameters.n} ${one.failure.reason}` : []
    ).sort();
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

Deno.test("everything is evaluated once, several compile at once, one measures at a time", async () => {
  const bench = new Bench(() => "rate");
  assertEquals(await bench.run(20, 4), { workersGivenUp: 0 });
  assertEquals(bench.numbers, upTo(20));
  assertEquals([bench.started, bench.closed, bench.mostMeasuring], [4, 4, 1]);
  assert(bench.mostCompiling > 1);
  assert(bench.bests.some((best) => best > 1e9)); // the best so far is passed on
});

Deno.test("processes come one by one, as long as the device waits for those that compile", async () => {
  // of an evaluation of 1 ms
  for (
    const [compileNs, count, started] of [[0.9e6, 1, 1], [0.9e6, 30, 8], [0.7e6, 30, 4], [0, 30, 2]] as const
  ) {
    const bench = new Bench(() => "rate");
    bench.compileNs = compileNs;
    await bench.run(count, 8);
    assertEquals([bench.started, bench.closed], [started, started], `${compileNs}, ${count}`);
  }
});

Deno.test("a process that is too late is replaced, and costs only its configuration", async () => {
  const bench = new Bench((n) => n % 5 === 0 ? "timeout" : n === 3 ? "compile" : "rate");
  await bench.run(12, 2);
  assertEquals(bench.numbers, upTo(12));
  assertEquals(bench.failures, ["0 timeout", "10 timeout", "3 compile", "5 timeout"]);
  assert(bench.started >= 4 && bench.started === bench.closed, `${bench.started}, ${bench.closed}`);
});

Deno.test("where memory is short, processes are given up until the configuration fits or is alone", async () => {
  const fits = new Bench((n, alive) => n === 4 && alive > 2 ? "out-of-memory" : "rate");
  const { workersGivenUp } = await fits.run(30, 4);
  assert(workersGivenUp >= 1 && workersGivenUp <= 2);
  assertEquals(fits.numbers, upTo(30));
  assertEquals(fits.failures, []);
  const never = new Bench((n) => n === 4 ? "out-of-memory" : "rate");
  assert((await never.run(30, 3)).workersGivenUp <= 2);
  assertEquals(never.numbers, upTo(30));
  assertEquals(never.failures, ["4 out-of-memory"]);
});

Deno.test("an interrupted run keeps what it has", async () => {
  const stop = new AbortController();
  const bench = new Bench((n) => {
    if (n === 6) stop.abort();
    return "rate";
  });
  await bench.run(50, 2, { signal: stop.signal });
  assert(bench.evaluated.length >= 6 && bench.evaluated.length < 12, `${bench.evaluated.length}`);
  assertEquals(bench.started, bench.closed);
});

Deno.test("a process that cannot start ends the run, and the others with it", async () => {
  const bench = new Bench(() => "rate");
  let starts = 0;
  const start = (turn: Turn): Promise<Evaluator> => {
    if (++starts === 2) return Promise.reject(new RunFailure("device-lost", "no adapter"));
    return bench.start(turn);
  };
  await assertRejects(() => bench.run(50, 3, { start }), RunFailure, "no adapter");
  assertEquals(bench.started, bench.closed);
});

Deno.test("turns are taken in the order asked", async () => {
  const turn = takeTurns();
  const order: number[] = [];
  await Promise.all(
    upTo(5).map(async (n) => {
      const release = await turn();
      order.push(n);
      await new Promise((resolve) => setTimeout(resolve, 1));
      order.push(n);
      release();
    }),
  );
  assertEquals(order, upTo(5).flatMap((n) => [n, n]));
});
