/**
 * Samples of a device that lowers its clock while it waits: work and idle time move the clock of a simulated one, and
 * the host learns of an end 10 ms late.
 *
 * @module
 */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { Runner } from "../../tuner/configuration.ts";
import { STEADY_BATCH_NS } from "../../tuner/devices/gpu/gpu_clock.ts";
import { steadySampler } from "../../tuner/measuring/steady_sampler.ts";
import { evaluateOn, type EvaluateOptions } from "../../tuner/measuring/evaluate.ts";
import { configurationNamed, FakeRunner, PROBLEM, workbench } from "./fake_runner.ts";

/** Full clock and the lowest, in GHz, and how often it is set: of an H100 (2026-11-22). */
const FULL = 1.98, LOWEST = 0.345, EVERY_NS = 200e6;

/** A device on a simulated timeline. What it was doing since its clock was last set decides how it is set next. */
class MovingClock {
  readonly time = { nowNs: 0 };
  /** The highest clock that this work allows. */
  highest = FULL;
  #clock = LOWEST;
  /** When the device is done with all that it was given, when its clock was set, and how long it worked since then. */
  #doneNs = 0;
  #setNs = 0;
  #busyNs = 0;

  /** Hands over work of so many nanoseconds at full clock. */
  give(workNs: number): { endNs: number; timeNs: number; clock: number } {
    while (this.#doneNs < this.time.nowNs) this.#pass(Math.min(1e6, this.time.nowNs - this.#doneNs), false);
    const begunNs = this.#doneNs, begunClock = this.#clock;
    for (let leftNs = workNs; leftNs > 0;) {
      const passedNs = Math.min(1e6, leftNs * FULL / this.#clock);
      leftNs -= passedNs * this.#clock / FULL;
      this.#pass(passedNs, true);
    }
    return {
      endNs: this.#doneNs,
      timeNs: this.#doneNs - begunNs,
      clock: Math.min(begunClock, this.#clock) / FULL,
    };
  }

  /** As Deno 2.9.6 does: the host is blocked until the device is done, and learns it 10 ms later. */
  async wait(endNs: number): Promise<void> {
    this.time.nowNs = Math.max(this.time.nowNs, endNs);
    await Promise.resolve();
    await Promise.resolve();
    this.time.nowNs += 10e6;
  }

  #pass(timeNs: number, isBusy: boolean): void {
    this.#doneNs += timeNs;
    if (isBusy) this.#busyNs += timeNs;
    if (this.#doneNs - this.#setNs < EVERY_NS) return;
    const factor = this.#busyNs / (this.#doneNs - this.#setNs) > 0.8 ? 2.2 : 0.7;
    this.#clock = Math.min(this.highest, Math.max(LOWEST, factor * this.#clock));
    this.#setNs = this.#doneNs;
    this.#busyNs = 0;
  }
}

/** A configuration whose run takes so long at full clock. */
function runnerOn(device: MovingClock, runNs: number, isSteady = true): Runner {
  const name = configurationNamed("fake");
  const fake = new FakeRunner(name, {}, device.time);
  const begin = (repetitions: number) => {
    const { endNs, ...found } = device.give(repetitions * runNs);
    return Promise.resolve({
      finish: async () => (await device.wait(endNs), found),
    });
  };
  fake.run = async (repetitions = 1) => (await (await begin(repetitions)).finish()).timeNs;
  return isSteady ? Object.assign(fake, { begin }) : fake;
}

async function rateOf(device: MovingClock, runner: Runner, options: Partial<EvaluateOptions> = {}) {
  const session = workbench(device.time, () => runner);
  const evaluation = await evaluateOn(session, runner.configuration, { problem: PROBLEM, ...options });
  assert("measurement" in evaluation, JSON.stringify(evaluation));
  return evaluation.measurement;
}

/** The rate of a run of 1 ms at full clock. */
const RATE = 1e9;

Deno.test("a device that lowers its clock while it waits is measured at its full clock", async () => {
  const waiting = new MovingClock();
  const { cellsPerSecond: found } = await rateOf(waiting, runnerOn(waiting, 1e6, false));
  assert(found < 0.5 * RATE, `${found}: the simulated clock does not fall`);
  // a run of 1 ms, whose first batches take as long as each other at a clock that is about to rise, and one of 70 ms
  for (const runNs of [1e6, 70e6]) {
    const device = new MovingClock(), rate = RATE * 1e6 / runNs;
    const { cellsPerSecond, confidence95: [low, high], clock } = await rateOf(
      device,
      runnerOn(device, runNs),
    );
    assertAlmostEquals(cellsPerSecond, rate, 0.01 * rate);
    assert(low > 0.95 * rate && high < 1.05 * rate, `${low} to ${high}`);
    assert(clock! > 0.98);
  }
});

Deno.test("the run that is verified is a sample at a full clock: the only one of a long run or a slow one", async () => {
  const runsOf = async (runNs: number, options: Partial<EvaluateOptions>, isUp = true) => {
    const device = new MovingClock(), batches: number[] = [];
    const runner = runnerOn(device, runNs), begin = runner.begin!;
    if (isUp) await begin(Math.ceil(2e9 / runNs)); // its clock is up
    runner.begin = (runs) => (batches.push(runs), begin(runs));
    const found = await rateOf(device, runner, options);
    assertAlmostEquals(found.cellsPerSecond, RATE * 1e6 / runNs, 0.01 * found.cellsPerSecond);
    return [found.samples.length, batches.reduce((sum, runs) => sum + runs)];
  };
  assertEquals(await runsOf(70e6, {}), [3, 3]);
  assertEquals(await runsOf(70e6, { best: RATE / 66 }), [1, 1]); // slower by more than a twentieth
  assertEquals(await runsOf(70e6, { best: RATE / 67 }), [3, 3]);
  assertEquals(await runsOf(2e9, { samplingNs: 0.7e9 }), [1, 1]);
  assertEquals(await runsOf(2e9, { minSamples: 2, samplingNs: 0.4e9, isReported: true }), [1, 1]);
  // what will not be followed by another sample is not begun in vain
  assertEquals(await runsOf(90e6, { samplingNs: 0.15e9 }), [2, 2]);
  // as long as what the final round reports
  assertEquals(await runsOf(110e6, {}), [1, 1]);
  assert((await runsOf(110e6, { isReported: true }))[0]! > 1);
  // a short run times nothing, and a low clock does not count
  assertEquals((await runsOf(1e6, { best: RATE * 2 }))[0], 2);
  const [samples, runs] = await runsOf(70e6, { best: RATE / 50 }, false);
  assert(samples === 2 && runs! > 3, `${samples} of ${runs} runs`);
});

Deno.test("a clock that stays lower under heavy work is said, once it does not rise any more", async () => {
  const device = new MovingClock();
  device.highest = 0.8 * FULL;
  const { cellsPerSecond, clock } = await rateOf(device, runnerOn(device, 1e6));
  assertAlmostEquals(cellsPerSecond, 0.8 * RATE, 0.01 * RATE);
  assertAlmostEquals(clock!, 0.8, 0.001);
});

Deno.test("batches of a device that must not wait last longer than the host's wait", async () => {
  assert(STEADY_BATCH_NS >= 2 * 11e6);
  const batches: number[] = [], device = new MovingClock();
  const runner = runnerOn(device, 1e5), { begin } = runner;
  runner.begin = (repetitions) => (batches.push(repetitions), begin!(repetitions));
  await rateOf(device, runner);
  assert(batches.at(-1)! * 1e5 >= 0.9 * STEADY_BATCH_NS, batches.join());
  assertEquals(batches.toSorted((a, b) => a - b), batches);
});

Deno.test("a rate that is reported is that of whole long runs", async () => {
  const batches: number[] = [], device = new MovingClock();
  const runner = runnerOn(device, 30e6), { begin } = runner;
  const long = Object.assign(runner, {
    longRun: 4,
    begin: (runs: number) => (batches.push(runs), begin!(runs)),
  });
  const session = workbench(device.time, () => long), evaluated = { problem: PROBLEM };
  await begin!(100); // its clock is up
  await evaluateOn(session, runner.configuration, { ...evaluated, isReported: true });
  const batchesAfterFirst = () => new Set(batches.splice(0).slice(1));
  assertEquals(batchesAfterFirst(), new Set([4])); // three would last 90 ms
  await evaluateOn(session, runner.configuration, evaluated);
  assertEquals(batchesAfterFirst(), new Set([1]));
  long.longRun = 9; // too long to be waited for
  await evaluateOn(session, runner.configuration, { ...evaluated, isReported: true });
  assertEquals(batchesAfterFirst(), new Set([4]));
});

Deno.test("a clock that never stays the same is waited for a second, or until runs take the same", async () => {
  const waitedNs = async (times: readonly [number, number, number]): Promise<number> => {
    const time = { nowNs: 0 };
    let batches = 0;
    const begin = () => {
      const at = batches++ % 3, timeNs = times[at]!;
      time.nowNs += timeNs;
      return Promise.resolve({ finish: () => Promise.resolve({ timeNs, clock: [0.5, 0.6, 0.7][at]! }) });
    };
    const options = { firstNs: 25e6, firstClock: 0.8, minBatchNs: STEADY_BATCH_NS, now: () => time.nowNs };
    await steadySampler(begin, options).sample(false);
    return time.nowNs;
  };
  const [moving, same] = [await waitedNs([28e6, 26e6, 24e6]), await waitedNs([25e6, 25e6, 25e6])];
  assert(moving >= 1e9 && moving < 1.2e9, `${moving}`);
  assert(same >= 0.3e9 && same < 0.5e9, `${same}`);
});
