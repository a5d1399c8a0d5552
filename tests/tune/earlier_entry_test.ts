/**
 * Runs over a profile that has an entry for the problem: on a simulated session, where rates and failures are the test's.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { type Configuration, configurationKey } from "../../tuner/configuration.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";
import type { ProfileEntry } from "../../tuner/profile/schema.ts";
import { exhaustive } from "../../tuner/search/baselines.ts";
import { isShared } from "../../tuner/shares.ts";
import { runTuning, type TuneEnvironment, type TuneRequest } from "../../tuner/tune/tune.ts";
import {
  atRate,
  failing,
  SIMULATED_DEVICE,
  SimulatedSession,
  type Simulation,
  WRONG,
} from "../devices/simulated_session.ts";
import type { Behaviour } from "../measuring/fake_runner.ts";

const REQUEST: TuneRequest = {
  stencil: wave(2),
  grid: [24, 20, 16],
  boundary: "zero",
  steps: 12,
  traversals: [stepwise],
  strategy: exhaustive,
  budget: { evaluations: 8 },
  cpuWorkers: 0,
  seed: 1,
  startShare: 0.1,
};

/** A run of `tune` over these entries; what was prepared tells what was measured. */
async function tuneOver(
  earlier: readonly ProfileEntry[],
  rateOf: (configuration: Configuration) => number | Behaviour,
  { request = {}, environment = {}, simulation = {} }: {
    request?: Partial<TuneRequest>;
    environment?: Partial<TuneEnvironment>;
    simulation?: Simulation;
  } = {},
) {
  const session = new SimulatedSession({
    behave: (_, configuration, problem) => {
      const what = rateOf(configuration);
      return typeof what === "number" ? atRate(what, problem) : what;
    },
    ...simulation,
  });
  const outcome = await runTuning({ ...REQUEST, ...request, earlier }, {
    session,
    signal: new AbortController().signal,
    onProgress() {},
    onEvaluation() {},
    ...environment,
  });
  return { ...outcome, prepared: session.prepared };
}

const keyOf = ({ configuration }: { configuration: Configuration }): string =>
  configurationKey(configuration);

/** The rate of an entry in Gcells/s, without what rounding adds. */
const gcellsOf = (entry: ProfileEntry | undefined): number =>
  Number((entry!.result.cellsPerSecond / 1e9).toFixed(3));

/** A rate for each of the first eight configurations, the last one far above the others. */
function ranked(space: readonly Configuration[]) {
  const places = new Map(space.map((one, place) => [configurationKey(one), place]));
  return (one: Configuration): number => {
    const place = places.get(configurationKey(one)) ?? 0;
    return place === 7 ? 2e9 : 1e9 * (1 - 0.05 * place);
  };
}

/** What a run of eight evaluations leaves, whose last one is the fastest, and the rates that it ran at. */
async function tuneFirst() {
  const { space } = await tuneOver([], () => 1e9);
  const rateOf = ranked(space.candidates.map(({ configuration }) => configuration));
  const { entry } = await tuneOver([], rateOf);
  assertEquals(gcellsOf(entry), 2);
  return { entry: entry!, rateOf };
}

const SHORT = { request: { budget: { evaluations: 1 } } };

Deno.test("a shorter run measures the profile's configuration again and leaves it, with what was found beside it", async () => {
  const { entry: first, rateOf } = await tuneFirst();
  const { entry, earlierMessage, evaluated, prepared } = await tuneOver([first], rateOf, SHORT);
  assertEquals([keyOf(entry!), evaluated], [keyOf(first), 1]);
  assert(prepared.filter((configuration) => keyOf({ configuration }) === keyOf(first)).length >= 5);
  assertEquals(entry!.result.samples.length >= 10, true);
  // the search of eight evaluations says more than that of one
  const { tieSet, bestOfEach, search } = first;
  assertEquals([entry!.search, entry!.tieSet.length, entry!.bestOfEach], [search, tieSet.length, bestOfEach]);
  assertEquals(entry!.result.speedupOverStepwise, first.result.speedupOverStepwise);
  assertMatch(
    earlierMessage!,
    /^stepwise .* at 2\.00 Gcells\/s, which stays: measured again it runs at 2\.00 Gcells/,
  );
  const { entry: longer } = await tuneOver([first], rateOf, { request: { budget: { evaluations: 9 } } });
  assertEquals([keyOf(longer!), longer!.search.evaluated], [keyOf(first), 9]);
  // without it, one evaluation finds less
  const alone = await tuneOver([], rateOf, SHORT);
  assertEquals([gcellsOf(alone.entry), alone.earlierMessage], [1, undefined]);
});

Deno.test("its rate may fall, and then nothing of the earlier run is taken for granted", async () => {
  const { entry: first, rateOf } = await tuneFirst();
  const { entry } = await tuneOver([first], (one) => 0.7 * rateOf(one), SHORT);
  assertEquals(keyOf(entry!), keyOf(first));
  assertEquals([gcellsOf(entry), entry!.search.evaluated], [1.4, 1]);
});

Deno.test("what is significantly faster replaces it, what ties does not, and both are said", async () => {
  const { entry: first } = await tuneFirst();
  const own = keyOf(first);
  const over = (rate: number) =>
    tuneOver([first], (configuration) => keyOf({ configuration }) === own ? 2e9 : rate);
  const faster = await over(2.2e9);
  assert(keyOf(faster.entry!) !== own);
  assertMatch(faster.earlierMessage!, /is replaced: .* at 2\.00 Gcells\/s; 2\.20 Gcells\/s is significantly/);
  const tie = await over(2.005e9);
  assertEquals([keyOf(tie.entry!), tie.entry!.tieSet.length > 1], [own, true]);
  assertMatch(tie.earlierMessage!, /stays: measured again it runs at 2\.00 Gcells\/s, and nothing is/);
});

Deno.test("one that is wrong now, fails or cannot run at all goes, and why is said", async () => {
  const { entry: first, rateOf } = await tuneFirst();
  const own = keyOf(first);
  for (const [what, why] of [[WRONG, "incorrect: "], [failing("compile"), "compile: injected"]] as const) {
    const { entry, earlierMessage } = await tuneOver(
      [first],
      (configuration) => keyOf({ configuration }) === own ? what : rateOf(configuration),
      SHORT,
    );
    assert(entry !== undefined && keyOf(entry) !== own);
    assertStringIncludes(earlierMessage!, `does not run any more: ${why}`);
  }
  const none = await tuneOver([first], () => WRONG, SHORT);
  assertEquals(none.entry, undefined);
  assertMatch(
    none.earlierMessage!,
    /does not run any more: incorrect: .*; the profile keeps it, since nothing/,
  );
  const configuration = { ...first.configuration, traversal: "zigzag" };
  const odd = await tuneOver([{ ...first, configuration }], rateOf, SHORT);
  assert(!odd.prepared.some(({ traversal }) => traversal === "zigzag"));
  assertStringIncludes(odd.earlierMessage!, "there is no traversal zigzag");
});

Deno.test("memory that others use, and a GPU that is gone, leave the entry as it was", async () => {
  const { entry: first, rateOf } = await tuneFirst();
  const own = keyOf(first);
  const full = await tuneOver(
    [first],
    (configuration) => keyOf({ configuration }) === own ? failing("out-of-memory") : rateOf(configuration),
    SHORT,
  );
  assertEquals(full.entry, first);
  assertStringIncludes(full.earlierMessage!, "stays: not measured again (out-of-memory: injected)");
  const gone = new RunFailure("device-lost", "gone");
  const lost = await tuneOver([first], ({ share }) => share.gpuSlices > 0 ? failing("device-lost") : 1e9, {
    request: { cpuWorkers: 1, budget: { evaluations: 4 } },
    simulation: { whyNoReference: (computed) => computed === 1 || computed === 2 ? gone : undefined },
  });
  assert(lost.cpuAlone !== undefined);
  assertEquals(lost.entry, first);
});

Deno.test("a run that is interrupted leaves the entry, unless what it has seen is far above", async () => {
  const { entry: first, rateOf } = await tuneFirst();
  const after = async (rate: number) => {
    const stop = new AbortController();
    return await tuneOver([first], () => rate, {
      environment: { signal: stop.signal, onEvaluation: () => stop.abort() },
    });
  };
  assertEquals((await after(2e9)).entry, first);
  assertEquals(gcellsOf((await after(4e9)).entry), 4);
  const before = await tuneOver([first], rateOf, { environment: { signal: AbortSignal.abort() } });
  assertEquals([before.entry, before.evaluated], [first, 0]);
  assertMatch(before.earlierMessage!, /stays: not measured again, and nothing is significantly faster$/);
});

Deno.test("options that restrict the search do not restrict it, but the memory that a run may use does", async () => {
  const { entry: first, rateOf } = await tuneFirst();
  const marching = { ...stepwise, name: "marching" };
  const other = await tuneOver([first], rateOf, {
    request: { traversals: [marching], budget: { evaluations: 1 } },
  });
  assertEquals(keyOf(other.entry!), keyOf(first));
  const { gpu } = SIMULATED_DEVICE;
  const device = { ...SIMULATED_DEVICE, gpu: { ...gpu!, limits: { ...gpu!.limits, windowBytes: 2 ** 16 } } };
  const { entry, earlierMessage, prepared } = await tuneOver([first], () => 1e9, {
    ...SHORT,
    simulation: { device },
  });
  assert(!prepared.some((configuration) => keyOf({ configuration }) === keyOf(first)));
  assertEquals(entry, first);
  assertStringIncludes(earlierMessage!, "more of the GPU's memory than this run may");
});

Deno.test("an entry that both devices compute takes part, too, and counts as neither alone", async () => {
  const { entry: first } = await tuneFirst();
  const share = { cpuSlices: 8, gpuSlices: 16, exchangeEvery: 1, cpuWorkers: 2 };
  const shared = { ...first, configuration: { ...first.configuration, share }, tieSet: [] };
  const update = { updateNs: 10, stepNs: 0, passNs: 0, byteNs: 0 };
  const costs = {
    cpu: update,
    gpu: update,
    unpack: { a: 0, b: 1 },
    pack: { a: 0, b: 1 },
    schedule: { waitNs: 0, starvation: 0 },
  };
  const fast = await tuneOver([shared], () => 1e7, { simulation: { costs } });
  assertEquals(fast.entry!.configuration, shared.configuration);
  assert(fast.entry!.result.cellsPerSecond > 1e8);
  assert(
    [...fast.bestOfEach.values(), fast.gpuAlone!].every(({ configuration }) =>
      !isShared(configuration.share)
    ),
  );
  const slow = await tuneOver([shared], () => 1e9);
  assert(!isShared(slow.entry!.configuration.share), "it waits for the host");
});

Deno.test("an entry of another problem is left alone", async () => {
  const { entry: first, rateOf } = await tuneFirst();
  const others = [
    { ...first, problem: { ...first.problem, steps: 13 } },
    { ...first, problem: { ...first.problem, order: 4 } },
  ];
  const { entry, earlierMessage } = await tuneOver(others, rateOf, SHORT);
  assertEquals([gcellsOf(entry), earlierMessage], [1, undefined]);
});
