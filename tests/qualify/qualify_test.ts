import { assert, assertAlmostEquals, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import {
  type EntryResult,
  qualifyOn,
  type QualifyOptions,
  type QualifyProgress,
} from "../../tuner/qualify/qualify.ts";
import { qualify } from "../../tuner/qualify/qualify.ts";
import { detectDevice } from "../../tuner/devices/device.ts";
import { mergeProfiles } from "../../tuner/profile/merge.ts";
import type { Profile } from "../../tuner/profile/schema.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { miscompiled } from "../devices/miscompiled.ts";
import { answerOf } from "../../tuner/qualify/verdict.ts";
import type { Behaviour } from "../measuring/fake_runner.ts";
import { DEVICE } from "../profile/sample_profile.ts";
import {
  failing,
  inTurn,
  SIMULATED_DEVICE as HERE,
  SimulatedSession,
  WRONG,
} from "../devices/simulated_session.ts";
import { BEST_OF_EACH, CPU_ALONE, entryOf, profileOf, slowedBy } from "./sample_entries.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";
import { describeConfiguration } from "../../tuner/profile/describe.ts";

/** Qualifies one entry, whose preparations behave in turn as given. */
async function one(behaviours: readonly Behaviour[], options: QualifyOptions = {}, device = HERE) {
  const session = new SimulatedSession({ behave: inTurn(...behaviours), device });
  const { answer, results: [result] } = await qualifyOn(session, profileOf([entryOf()]), options);
  return { session, answer, result: result! };
}

Deno.test("the recorded rate passes, measured once, with enough samples for its interval", async () => {
  const { session, answer, result } = await one([{}]);
  assertEquals([answer, result.verdict, result.attempts], ["yes", "pass", 1]);
  assertEquals(result.measured!.samples.length, 6);
  assertAlmostEquals(result.ratio!, 1);
  assertAlmostEquals(result.leastCellsPerSecond!, 0.9 * 0.98e9, 1);
  assertEquals([result.reason, result.failure, session.pausesNs], [null, null, []]);
  assert(result.verification!.maxError <= result.verification!.bound);
});

Deno.test("what is slower is measured again before it is said, and then said by how much", async () => {
  const { session, answer, result } = await one([slowedBy(3)]);
  assertEquals([answer, result.verdict], ["no", "slower"]);
  assertAlmostEquals(result.ratio!, 1 / 3);
  assertEquals([result.attempts, session.prepared.length, session.pausesNs.length], [3, 3, 2]);
  // a software device is measured more often: it shares the CPU
  const software = { ...HERE, gpu: { ...HERE.gpu!, isFallback: true } };
  const recorded = { ...DEVICE, gpu: { ...DEVICE.gpu!, isFallback: true } };
  const noisy = new SimulatedSession({ behave: inTurn(slowedBy(3)), device: software });
  const { results } = await qualifyOn(noisy, profileOf([entryOf()], recorded));
  assertEquals([results[0]!.verdict, results[0]!.attempts], ["slower", 10]);
  // but not where no other program explains so much
  const hopeless = await qualifyOn(
    new SimulatedSession({ behave: inTurn(slowedBy(9)), device: software }),
    profileOf([entryOf()], recorded),
  );
  assertEquals([hopeless.results[0]!.verdict, hopeless.results[0]!.attempts], ["slower", 3]);
});

Deno.test("the best of several measurements counts, and one that passes ends them", async () => {
  const passes = await one([slowedBy(3), slowedBy(1), slowedBy(1)]);
  assertEquals([passes.answer, passes.result.verdict, passes.result.attempts], ["yes", "pass", 2]);
  const slower = await one([slowedBy(3), slowedBy(2), slowedBy(4)]);
  assertAlmostEquals(slower.result.ratio!, 1 / 2);
  // what cannot be run again takes nothing back
  const full: Behaviour = { fails: { at: "initialise", with: new RunFailure("out-of-memory", "full") } };
  const once = await one([slowedBy(3), full]);
  assertEquals([once.answer, once.result.verdict, once.result.reason], ["no", "slower", null]);
});

Deno.test("the tolerance decides", async () => {
  assertEquals((await one([slowedBy(1.05)])).result.verdict, "pass");
  assertEquals((await one([slowedBy(1.05)], { tolerance: 0 })).result.verdict, "slower");
  assertEquals((await one([slowedBy(1.5)], { tolerance: 0.5 })).result.verdict, "pass");
  const faster = await one([slowedBy(0.5)]);
  assertEquals([faster.answer, faster.result.verdict, faster.result.attempts], ["yes", "faster", 1]);
  await assertRejects(() => one([{}], { tolerance: 1 }), RangeError, "tolerance");
});

Deno.test("a wrong result is wrong, be it fast, or wrong only the second time", async () => {
  const wrong: Behaviour = { ...slowedBy(0.1), ...WRONG };
  const first = await one([wrong]);
  assertEquals([first.answer, first.result.verdict, first.result.attempts], ["no", "wrong", 1]);
  assertStringIncludes(first.result.reason!, "differs from gpu stepwise 64x4x1 by 1.00");
  assertEquals(first.result.measured, null);
  const second = await one([slowedBy(3), wrong]);
  assertEquals([second.answer, second.result.verdict, second.result.attempts], ["no", "wrong", 2]);
  assertEquals((await one([{ verification: { maxError: NaN } }])).result.verdict, "wrong");
});

Deno.test("a device that is lost or hangs is opened anew for the entries that follow", async () => {
  for (const reason of ["device-lost", "timeout"] as const) {
    const session = new SimulatedSession({ behave: inTurn(failing(reason, "gone"), {}) });
    const { answer, results } = await qualifyOn(session, profileOf([entryOf(), entryOf()]));
    assertEquals(results.map(({ verdict }) => verdict), ["failed", "pass"]);
    assertEquals([answer, results[0]!.failure, session.recoveries], ["device failed", reason, 1]);
    assertEquals(results[0]!.reason, `${reason}: gone`);
  }
});

Deno.test("a kernel that no longer compiles is a no, one that no memory is left for is not run", async () => {
  const failing = (reason: "compile" | "out-of-memory"): Behaviour => ({
    fails: { at: "initialise", with: new RunFailure(reason, "told so") },
  });
  const compile = await one([failing("compile")]);
  assertEquals([compile.answer, compile.result.verdict], ["no", "failed"]);
  const memory = await one([failing("out-of-memory")]);
  assertEquals([memory.answer, memory.result.verdict], ["unanswered", "not run"]);
  assertEquals(memory.result.reason, "out-of-memory: told so");
});

Deno.test("an error that is no device's is not taken for a verdict", async () => {
  await assertRejects(
    () => one([{ fails: { at: "run", with: new TypeError("a bug") } }]),
    TypeError,
    "a bug",
  );
});

Deno.test("on another device results are verified and rates are not compared", async () => {
  const other = { ...HERE, gpu: { ...HERE.gpu!, description: "Other" } };
  const { session, answer, result } = await one([slowedBy(3)], {}, other);
  assertEquals([answer, result.verdict, result.ratio], ["unanswered", "not comparable", null]);
  assertStringIncludes(result.reason!, "another GPU: was Test GPU 80GB, is Other");
  assert(result.measured!.cellsPerSecond > 0 && result.verification !== null);
  assertEquals([result.attempts, session.copies], [1, 1]);
  const wrong = await one([WRONG], {}, other);
  assertEquals([wrong.answer, wrong.result.verdict], ["no", "wrong"]);
});

Deno.test("half the rate of an interval too wide to compare with does not pass: not comparable, but verified", async () => {
  const whether = async (confidence95: [number, number] | null, options: QualifyOptions = {}) => {
    const entry = entryOf();
    const session = new SimulatedSession({ behave: inTurn(slowedBy(2)), device: HERE });
    const profile = profileOf([{ ...entry, result: { ...entry.result, confidence95 } }]);
    const { answer, results: [result] } = await qualifyOn(session, profile, options);
    return [answer, result!.verdict, result!.attempts];
  };
  assertEquals(await whether([0.15e9, 15e9]), ["unanswered", "not comparable", 1]);
  assertEquals(await whether([0.7e9, 1e9]), ["unanswered", "not comparable", 1]);
  assertEquals(await whether(null), ["unanswered", "not comparable", 1]);
  assertEquals(await whether([0.81e9, 1.19e9]), ["no", "slower", 3]);
  assertEquals(await whether([0.15e9, 15e9], { numericsOnly: true }), ["yes", "right", 1]);
});

Deno.test("numerics alone are right or wrong, wherever", async () => {
  const other = { ...HERE, gpu: { ...HERE.gpu!, description: "Other" } };
  for (const device of [HERE, other]) {
    const { answer, result } = await one([slowedBy(30)], { numericsOnly: true }, device);
    assertEquals([answer, result.verdict, result.measured], ["yes", "right", null]);
  }
  const wrong = await one([WRONG], { numericsOnly: true });
  assertEquals([wrong.answer, wrong.result.verdict], ["no", "wrong"]);
});

Deno.test("what this device or this Facet cannot run is said, and the rest is run", async () => {
  const entries = [
    entryOf({ problem: { stencil: "navier" } }),
    entryOf({ problem: { order: 3 } }),
    entryOf({ problem: { stencil: "acoustic" } }),
    entryOf({ problem: { grid: [100, 6000, 3500] } }),
    entryOf(),
  ];
  const session = new SimulatedSession({
    behave: inTurn({}),
    device: {
      ...HERE,
      gpu: { ...HERE.gpu!, limits: { ...HERE.gpu!.limits, maxStorageBufferBindingSize: 2 ** 26 } },
    },
  });
  const profile = profileOf(entries, { ...DEVICE, deno: "1.0.0" });
  const { answer, results, note } = await qualifyOn(session, profile);
  assertEquals(results.map(({ verdict }) => verdict), [...Array(4).fill("not run"), "pass"]);
  const reasons = ['no stencil "navier"', "wave, order 3", "another formula of acoustic", "does not fit"];
  reasons.forEach((reason, i) => assertStringIncludes(results[i]!.reason!, reason));
  assertEquals([answer, note], ["unanswered", "recorded with Deno 1.0.0, this is 2.9.6"]);
});

Deno.test("a profile without entries, or with a configuration that cannot be, is refused before any work", async () => {
  const session = new SimulatedSession();
  const refused = (entries: Parameters<typeof profileOf>[0]) => qualifyOn(session, profileOf(entries));
  await assertRejects(() => refused([]), ProfileError, "found none");
  const error = await assertRejects(
    () => refused([entryOf(), entryOf({ parameters: { threadsZ: 64, threadsY: 4, threadsX: 100 } })]),
    ProfileError,
    "Cannot qualify entry 2 (wave, order 2, grid 100x100x10, zero boundary, 10 steps; stepwise threadsZ=64 ",
  );
  assert(!error.message.includes("\n"));
  assertEquals(session.prepared, []);
});

Deno.test("the tie set is verified too: one wrong among the right makes the entry wrong", async () => {
  const profile = profileOf([entryOf({ ties: [64, 32, 16] })]); // the first is the chosen one
  const right = new SimulatedSession();
  const { answer, results: [result] } = await qualifyOn(right, profile);
  assertEquals([answer, result?.verdict, result?.othersVerified, right.prepared.length], [
    "yes",
    "pass",
    2,
    3,
  ]);
  const bad = await qualifyOn(new SimulatedSession({ behave: inTurn({}, {}, WRONG) }), profile);
  assertEquals([bad.answer, bad.results[0]!.verdict, bad.results[0]!.othersVerified], ["no", "wrong", 1]);
  assertStringIncludes(bad.results[0]!.reason!, "not the chosen one, but stepwise threadsZ=16 threadsY=4");
  // one that cannot be run leaves the question open
  const full: Behaviour = { fails: { at: "initialise", with: new RunFailure("out-of-memory", "full") } };
  const small = await qualifyOn(new SimulatedSession({ behave: inTurn({}, full, {}) }), profile);
  assertEquals([small.answer, small.results[0]!.othersVerified], ["unanswered", 1]);
  await assertRejects(
    () => qualifyOn(new SimulatedSession(), profileOf([entryOf({ ties: [3000] })])),
    ProfileError,
    "stepwise threadsZ=3000",
  );
});

/** An entry whose winner is the CPU, with the best of each traversal on both devices. */
const CPU_WINS = entryOf({
  traversal: "diamond-wavefront",
  parameters: { tiles: 2, levels: 5, block: 2 },
  share: CPU_ALONE,
  best: BEST_OF_EACH,
});

/** Qualifies {@linkcode CPU_WINS} where one configuration behaves in another way. */
async function besideTheCpu(behaviours: Readonly<Record<string, Behaviour>>, options: QualifyOptions = {}) {
  const session = new SimulatedSession({
    behave: (_, { traversal, share }) =>
      behaviours[`${share.gpuSlices > 0 ? "GPU" : "CPU"} ${traversal}`] ?? {},
  });
  const { answer, results: [result] } = await qualifyOn(session, profileOf([CPU_WINS]), options);
  return { session, answer, result: result! };
}

Deno.test("whichever configuration won, the best of each traversal on each device must be right", async () => {
  let runs = 0;
  const counted: Behaviour = { batchNs: (repetitions) => (runs++, 1e6 * repetitions) };
  const right = await besideTheCpu({ "GPU marching": counted });
  assertEquals([right.answer, right.result.verdict, right.result.othersVerified], ["yes", "pass", 3]);
  // each is run once and not timed, though it is far slower than what was recorded
  assertEquals([right.session.prepared.length, runs], [4, 1]);
  assertEquals((await besideTheCpu({ "GPU marching": slowedBy(50) })).answer, "yes");
  for (const [place, name] of ["GPU marching", "GPU stepwise", "CPU stepwise"].entries()) {
    const { answer, result } = await besideTheCpu({ [name]: WRONG });
    assertEquals([answer, result.verdict, result.othersVerified], ["no", "wrong", place]);
    const named = describeConfiguration(BEST_OF_EACH[place]!);
    assertStringIncludes(result.reason!, `not the chosen one, but ${named}: incorrect: differs from`);
    assert(result.measured !== null && result.leastCellsPerSecond !== null);
  }
  const gone = await besideTheCpu({ "GPU stepwise": failing("device-lost", "gone") });
  assertEquals([gone.answer, gone.result.verdict, gone.session.recoveries], ["device failed", "failed", 1]);
});

Deno.test("the best of a traversal that this version no longer has is passed over", async () => {
  const former = { ...BEST_OF_EACH[1]!, traversal: "hybrid", parameters: {} };
  const session = new SimulatedSession({});
  const { answer, results: [result] } = await qualifyOn(session, profileOf([entryOf({ best: [former] })]));
  assertEquals([answer, result?.verdict, result?.othersVerified], ["yes", "pass", 0]);
});

Deno.test("what could not be verified is no pass: without the GPU, without time, interrupted", async () => {
  const noGpu = new SimulatedSession({ device: { ...HERE, gpu: null } });
  const missing = await qualifyOn(noGpu, profileOf([CPU_WINS]));
  const [result] = missing.results;
  assertEquals([missing.answer, result?.verdict, result?.othersVerified], ["unanswered", "not run", 1]);
  assertStringIncludes(result!.reason!, "there is no WebGPU adapter here");
  // a slower winner stays slower, whatever could not be run beside it
  const slow = new SimulatedSession({ device: { ...HERE, gpu: null }, behave: () => slowedBy(3) });
  assertEquals((await qualifyOn(slow, profileOf([CPU_WINS]))).results[0]!.verdict, "slower");

  const long = {
    ...CPU_WINS,
    bestOfEach: CPU_WINS.bestOfEach!.map((one) => ({ ...one, cellsPerSecond: 2e4 })),
  };
  const hasty = await qualifyOn(new SimulatedSession(), profileOf([long]), { quick: true });
  assertEquals([hasty.answer, hasty.results[0]!.verdict], ["unanswered", "not run"]);
  assertStringIncludes(hasty.results[0]!.reason!, "no time: it takes 50.0 s");

  const stop = new AbortController();
  const behave = (): Behaviour => ({ batchNs: (n) => (stop.abort(), 1e6 * n) });
  const ended = await qualifyOn(new SimulatedSession({ behave }), profileOf([CPU_WINS]), {
    signal: stop.signal,
  });
  assertEquals([ended.interrupted, ended.results[0]!.verdict], [true, "not run"]);
  assertStringIncludes(ended.results[0]!.reason!, "interrupted");
});

Deno.test("a quick qualification ends in time, and says what there was none for", async () => {
  const entries = Array.from({ length: 12 }, () => entryOf({ rate: 1e6 })); // a run takes 1 s
  const session = new SimulatedSession({ behave: inTurn(slowedBy(3000)) }); // and now 3 s
  const { answer, results, elapsedNs } = await qualifyOn(session, profileOf(entries), { quick: true });
  assert(elapsedNs < 60e9, `${elapsedNs / 1e9} s`);
  const verdicts = new Set(results.map(({ verdict }) => verdict));
  assertEquals([answer, verdicts], ["no", new Set(["slower", "not run"])]);
  assertStringIncludes(results.at(-1)!.reason!, "no time: it takes 3.00 s and more");
  // without hurry all are run, but nobody waits for days
  const patient = await qualifyOn(
    new SimulatedSession({ behave: inTurn(slowedBy(1000)) }),
    profileOf(entries),
  );
  assertEquals(new Set(patient.results.map(({ verdict }) => verdict)), new Set(["pass"]));
  const endless = [entryOf({ problem: { steps: 1e9 } })];
  const { results: [days] } = await qualifyOn(new SimulatedSession(), profileOf(endless));
  assertEquals(days!.verdict, "not run");
  assertStringIncludes(days!.reason!, "no time: it takes 3.5 days");
});

Deno.test("a device far slower by its copies is not asked for what would take it too long", async () => {
  const other = { ...HERE, gpu: { ...HERE.gpu!, description: "Other" } }; // copies ten times slower
  const entries = [entryOf({ rate: 5e5 })]; // three runs of 2 s there
  const { results: [result] } = await qualifyOn(
    new SimulatedSession({ behave: inTurn({}), device: other }),
    profileOf(entries),
    {
      quick: true,
    },
  );
  assertStringIncludes(result!.reason!, "no time: it takes 1 min 00 s and more, 45.0 s are left");
});

Deno.test("an interruption keeps what is known", async () => {
  const stop = new AbortController();
  const seen: QualifyProgress[] = [];
  const session = new SimulatedSession({ behave: inTurn(slowedBy(3)) });
  const qualification = await qualifyOn(session, profileOf([entryOf(), entryOf(), entryOf()]), {
    signal: stop.signal,
    onProgress: (progress) => {
      seen.push(progress);
      if (progress.done === 1) stop.abort();
    },
  });
  assertEquals(qualification.interrupted, true);
  assertEquals(qualification.results.map(({ verdict }) => verdict), ["slower", "not run", "not run"]);
  assertEquals([qualification.results[2]!.reason, session.prepared.length], ["interrupted", 1]);
  const [{ entry, ...first }] = seen as [QualifyProgress];
  assertEquals([first, entry], [{ stage: "measure", done: 0, total: 3 }, qualification.results[0]!.entry]);
});

Deno.test("the answer: a no outweighs a failure, a failure what is open, and only passes are a yes", () => {
  type Outcome = Pick<EntryResult, "verdict" | "failure">;
  const of = (verdict: EntryResult["verdict"], failure: EntryResult["failure"] = null): Outcome => ({
    verdict,
    failure,
  });
  const ranks: [answer: string, outcomes: Outcome[]][] = [
    ["yes", [of("pass"), of("faster"), of("right")]],
    ["unanswered", [of("not comparable"), of("not run"), of("not run", "limits")]],
    ["device failed", [of("failed", "device-lost"), of("failed", "timeout")]],
    ["no", [of("slower"), of("wrong"), of("wrong", "incorrect"), of("failed", "compile")]],
  ];
  const outcome = fc.nat(ranks.length - 1).chain((rank) =>
    fc.constantFrom(...ranks[rank]![1]).map((outcome) => ({ rank, outcome }))
  );
  fc.assert(fc.property(fc.array(outcome, { minLength: 1 }), (drawn) => {
    const worst = Math.max(...drawn.map(({ rank }) => rank));
    assertEquals(answerOf(drawn.map(({ outcome }) => outcome)), ranks[worst]![0]);
  }));
});

/** A profile of this machine, with entries so slow that any device passes, small enough for a software device. */
async function profileHere(changes: readonly NonNullable<Parameters<typeof entryOf>[0]>[]): Promise<Profile> {
  const entries = changes.map((one) =>
    entryOf({
      rate: 1e4,
      ...one,
      problem: { grid: [20, 12, 10], steps: 8, ...one.problem },
      share: { gpuSlices: 20, ...one.share },
    })
  );
  return profileOf(entries, { ...await detectDevice(), measured: { copyBytesPerSecond: 1e9 } });
}

const SMALL_CPU_ALONE = { ...CPU_ALONE, cpuSlices: 20 };

testOnGpu("on real devices the GPU, the CPU and both together are verified and measured", async () => {
  const profile = await profileHere([
    {},
    { share: SMALL_CPU_ALONE },
    { share: { cpuSlices: 12, gpuSlices: 8, exchangeEvery: 2, cpuWorkers: 1 } },
    { problem: { boundary: "periodic" } },
  ]);
  const { answer, results } = await qualify(profile, { quick: true, numericsOnly: true });
  for (const { verdict, reason } of results) assertEquals([verdict, reason], ["right", null]);
  assertEquals(answer, "yes");
  const against = results.map(({ verification }) => verification!.against);
  assertEquals(new Set(against), new Set(["gpu stepwise 64x4x1"]));
});

testOnGpu("a driver that gets all kernels wrong alike does not qualify", async () => {
  await miscompiled(/^stepwise/, async () => {
    const { answer, results: [result] } = await qualify(await profileHere([{}]));
    assertEquals([answer, result?.verdict], ["no", "wrong"]);
    assertStringIncludes(
      result!.reason!,
      "the reference is wrong: gpu stepwise 64x4x1 differs from oracle f32 by",
    );
  });
});

testOnGpu("a GPU that gets one kernel wrong does not qualify, though the CPU won", async () => {
  const share = { cpuSlices: 0, gpuSlices: 20, exchangeEvery: 8, cpuWorkers: 0 };
  const best = BEST_OF_EACH.slice(0, 1).map((one) => ({ ...one, share }));
  const profile = await profileHere([{ share: SMALL_CPU_ALONE, best }]);
  const verdictOf = async (): Promise<string> => {
    const { results: [result] } = await qualify(profile, { numericsOnly: true });
    return `${result!.verdict} ${result!.reason?.match(/but (\w+)/)?.[1]}`;
  };
  assertEquals(await verdictOf(), "right undefined");
  const changed = await miscompiled(/^marching/, async () => {
    assertEquals(await verdictOf(), "wrong marching");
  });
  assert(changed > 0);
});

Deno.test("a profile of the CPU alone qualifies without a GPU", async () => {
  const profile = await profileHere([{ share: SMALL_CPU_ALONE }]);
  const { answer, results: [result] } = await qualify(profile, { numericsOnly: true });
  assertEquals([answer, result?.verification?.against, result?.verification?.maxError], [
    "yes",
    "oracle f32",
    0,
  ]);
});

Deno.test("of a merged profile the entries of this device count; where it has none, the devices are named", async () => {
  const here = profileOf([entryOf()]);
  const elsewhere = profileOf([entryOf({ rate: 5e9 }), entryOf({ rate: 6e9 })], {
    ...DEVICE,
    gpu: { ...DEVICE.gpu!, description: "Another GPU" },
  });
  const session = new SimulatedSession({ behave: inTurn({}) });
  const { answer, recorded, results } = await qualifyOn(session, mergeProfiles(elsewhere, here));
  assertEquals([answer, recorded, results.length], ["yes", DEVICE, 1]);
  // of a machine with the same GPU and another CPU, the GPU's entries still say something
  const cpu = { ...HERE.cpu, cores: 3 };
  const beside = new SimulatedSession({ behave: inTurn({}), device: { ...HERE, cpu } });
  assertEquals((await qualifyOn(beside, mergeProfiles(elsewhere, here))).answer, "yes");
  const third = new SimulatedSession({ device: { ...HERE, gpu: { ...HERE.gpu!, description: "A third" } } });
  await assertRejects(
    () => qualifyOn(third, mergeProfiles(elsewhere, here)),
    ProfileError,
    "Cannot qualify: wanted one of the profile's 2 devices (Another GPU",
  );
});
