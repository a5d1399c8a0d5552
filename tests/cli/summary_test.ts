import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { describeModel, nextSteps, renderSummary, summaryRecord } from "../../tuner/cli/summary.ts";
import { fitLines } from "../../tuner/cli/terminal.ts";
import { describeConfiguration } from "../../tuner/profile/describe.ts";
import type { Configuration, Measurement } from "../../tuner/configuration.ts";
import type { TuneOutcome } from "../../tuner/tune/tune.ts";
import { DEVICE, ENTRY } from "../profile/sample_profile.ts";

const PROBLEM: Problem = { stencil: wave(2), grid: [100, 90, 80], boundary: "zero", steps: 96 };

const alone = { cpuSlices: 0, gpuSlices: 100, exchangeEvery: 96, cpuWorkers: 0 };

function measure(configuration: Configuration, cellsPerSecond: number): Measurement {
  return {
    configuration,
    cellsPerSecond,
    confidence95: [0.99 * cellsPerSecond, 1.01 * cellsPerSecond],
    samples: [cellsPerSecond],
    spread: 0,
    verification: ENTRY.verification,
    compileNs: 1e6,
  };
}

const STEPWISE = measure({ traversal: "stepwise", parameters: { threadsZ: 256 }, share: alone }, 226e9);
const TORRE = measure({ traversal: "diamond-torre", parameters: { dts: 5, nt: 96 }, share: alone }, 741e9);
const CPU = measure({
  traversal: "stepwise",
  parameters: {},
  share: { cpuSlices: 100, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 8 },
}, 9.5e9);
const TOGETHER = measure(ENTRY.configuration, 770e9);

const OUTCOME: TuneOutcome = {
  problem: PROBLEM,
  copyBytesPerSecond: 2995e9,
  space: { candidates: [], refused: [], combinations: 0, infeasible: [] },
  entry: ENTRY,
  gpuAlone: TORRE,
  cpuAlone: CPU,
  together: TOGETHER,
  cpuMessage: undefined,
  balanceMessage: "the times agree within 5%",
  costModel: undefined,
  bestOfEach: new Map([["stepwise", STEPWISE], ["diamond-torre", TORRE], ["cpu stepwise", CPU]]),
  finalists: [],
  evaluated: 96,
  recalled: 0,
  failed: { compile: 1, "device-lost": 2 },
  interrupted: false,
  elapsedNs: 60e9,
};

const CONTEXT = {
  device: DEVICE,
  written: "profiles/test.json",
  highest: undefined,
  hasBars: true,
};

/** The summary as a terminal of this width shows it. */
function summaryOf(
  outcome: TuneOutcome,
  context: Partial<Parameters<typeof renderSummary>[1]> = {},
  width = Infinity,
) {
  const all = { ...CONTEXT, ...context };
  return fitLines([...renderSummary(outcome, all), ...nextSteps(all.written, "deno task")], width);
}

Deno.test("the summary says what is fastest, how it was verified, how the others did, and what to do next", () => {
  assertEquals(
    summaryOf(OUTCOME, {}, 79),
    `acoustic wave equation, order 2, grid 100x90x80, zero boundary, f32, 96 steps
Test GPU 80GB, copies 2,995 GB/s, Test CPU (8 cores)

Fastest: diamond-torre dts=5 nt=96, 96 slices; CPU, 8 workers,
  diamond-wavefront, 4 slices; exchange every 4 steps
  770 Gcells/s (95% between 760 Gcells/s and 780 Gcells/s), 82% of its roof
  3.4 times the plain kernel
  verified against gpu stepwise 64x4x1: largest error 1.0e-6, bound 1.0e-4

The best of each traversal, in Gcells/s:
  GPU and CPU         770  ████████████████  the fastest
  GPU diamond-torre   741  ███████████████▍  96% of the fastest
  GPU stepwise        226  ████▊             29% of the fastest
  CPU stepwise       9.50  ▎                 1.2% of the fastest

96 evaluations, in 1 min 00 s; the search space has 400 configurations; 3
  failures: 1 did not compile, 2 lost the device
Balance: the times agree within 5%

Profile: profiles/test.json
What to do with it:
  deno task report --profile profiles/test.json   one page of charts
  deno task qualify --profile profiles/test.json  check a device with it
  await readProfile("profiles/test.json")         in your own program`,
  );
});

Deno.test("the rates of a slow device have the unit of the fastest", () => {
  const slow = { ...CPU, cellsPerSecond: 250e3 }, slower = { ...STEPWISE, cellsPerSecond: 4e3 };
  const bestOfEach = new Map([["cpu stepwise", slow], ["stepwise", slower]]);
  const text = summaryOf({ ...OUTCOME, together: undefined, bestOfEach });
  assertMatch(text, /traversal, in Mcells\/s:\n {2}CPU stepwise {4}0\.250 .*\n {2}GPU stepwise {2}0\.00400 /);
});

Deno.test("the rate by the host's clock is said, and a clock that stayed low", () => {
  const byHost = { cellsPerSecond: 750e9, steps: 2016 };
  const text = (clock: number): string =>
    summaryOf({ ...OUTCOME, entry: { ...ENTRY, result: { ...ENTRY.result, clock, byHost } } });
  assertStringIncludes(text(0.98), "\n  by the host's clock 750 Gcells/s in a run of 2,016 steps\n");
  assert(!text(0.98).includes("the GPU's clock"));
  assertStringIncludes(text(0.85), "\n  the GPU's clock stayed at 85% of its highest: under this work");
});

Deno.test("in a pipe no bars are drawn", () => {
  const text = summaryOf(OUTCOME, { hasBars: false });
  assert(!/[█▏▎▍▌▋▊▉]/.test(text));
  assertStringIncludes(text, "\n  GPU stepwise        226  29% of the fastest\n");
});

Deno.test("the path can be typed as it is shown", () => {
  const text = fitLines(nextSteps("my runs/it's.json", "npx -y deno@2.9.6 task"), Infinity);
  assertStringIncludes(text, `\n  npx -y deno@2.9.6 task report --profile 'my runs/it'\\''s.json' `);
  assertStringIncludes(text, `\n  await readProfile("my runs/it's.json") `);
});

Deno.test("a rate that the final round corrected is explained, one that it confirmed is not", () => {
  const text = summaryOf(OUTCOME, { highest: 791.4e9 });
  assertStringIncludes(
    text,
    "\n  during the search the best was 791 Gcells/s; measured again, the chosen one runs at 770 Gcells/s\n",
  );
  assert(!summaryOf(OUTCOME, { highest: 770.1e9 }).includes("measured again"));
});

Deno.test("the summary of a CPU alone, of one evaluation that has no interval", () => {
  const result = { ...ENTRY.result, cellsPerSecond: 9.5e9, roofFraction: null, speedupOverStepwise: null };
  const entry = { ...ENTRY, configuration: CPU.configuration, result: { ...result, confidence95: null } };
  const text = summaryOf({
    ...OUTCOME,
    copyBytesPerSecond: null,
    entry,
    gpuAlone: undefined,
    together: undefined,
    bestOfEach: new Map([["cpu stepwise", CPU]]),
    balanceMessage: "the CPU computes alone: there is no GPU",
    evaluated: 1,
    failed: {},
  }, { device: { ...DEVICE, gpu: null }, written: "p.json" });
  const [, device, , winner, rate, meaning] = text.split("\n");
  assertEquals(device, "no GPU, Test CPU (8 cores)");
  assertEquals(winner, "Fastest: CPU, 8 workers, stepwise");
  assertEquals(rate, "  9.50 Gcells/s");
  const why = "No GPU was found, so this tuned your CPU; on an H100 the wave equation gains a factor of 4.2";
  assertEquals(meaning, `  the plain kernel: no other order gains anything here. ${why}`);
  const lucky = { ...STEPWISE, cellsPerSecond: 10e9 };
  const bestOfEach = new Map([["cpu stepwise", CPU], ["stepwise", lucky]]);
  assertMatch(
    summaryOf({ ...OUTCOME, entry, bestOfEach }),
    /GPU stepwise +10.0 .* not measured in turns\n/,
  );
  const before = { before: lucky, measurement: lucky, blocks: [], standing: undefined };
  const raced = summaryOf({ ...OUTCOME, entry, bestOfEach, finalists: [before] });
  assertMatch(raced, /GPU stepwise +10.0 .* slower when measured in turns\n/);
  // what reads lower than another is not called the fastest
  assertMatch(raced, /^Chosen: CPU, 8 workers, stepwise$/m);
  assert(!/fastest/i.test(raced), raced);
  assertStringIncludes(text, "\n1 evaluation, in 1 min 00 s; the search space has 400 configurations\n");
  assertStringIncludes(text, "\n  CPU stepwise  9.50  ████████████████  the fastest\n");
});

Deno.test("where nothing verified, the summary says so, and why", () => {
  const text = summaryOf({
    ...OUTCOME,
    entry: undefined,
    gpuAlone: undefined,
    cpuAlone: undefined,
    together: undefined,
    bestOfEach: new Map(),
    cpuMessage: "not measured: it has no workers",
    space: { ...OUTCOME.space, refused: [{ traversal: "diamond-torre", reason: "no end to start from" }] },
    failed: { incorrect: 96 },
    interrupted: true,
    budgetMessage: "a budget of 1.0 s is too short",
  }, { written: undefined });
  assertEquals(text.split("\n").slice(3), [
    "No configuration verified: no profile was written.",
    "Warning: the budget was exceeded: a budget of 1.0 s is too short",
    "Warning: interrupted: these are the results so far",
    "",
    "96 evaluations, in 1 min 00 s; 96 failures: 96 gave a wrong result",
    "CPU: not measured: it has no workers",
    "Balance: the times agree within 5%",
    "Not tried: diamond-torre: no end to start from",
  ]);
});

Deno.test("the summary explains ties, also where the chosen configuration was not measured fastest", () => {
  const [chosen] = ENTRY.tieSet;
  const tied = { ...chosen!, configuration: TORRE.configuration, cellsPerSecond: 775e9 };
  const torre = { ...TORRE, cellsPerSecond: 775e9 };
  const outcome = {
    ...OUTCOME,
    entry: { ...ENTRY, tieSet: [chosen!, tied] },
    bestOfEach: new Map([["diamond-torre", torre]]),
  };
  const text = summaryOf(outcome), tie = "\n  2 configurations are equally fast (up to 775 Gcells/s); ";
  assertStringIncludes(text, `${tie}the simplest is taken\n`);
  const onCpu = { ...outcome, entry: { ...outcome.entry, configuration: CPU.configuration } };
  assertStringIncludes(summaryOf(onCpu), `${tie}the one that measured fastest is taken\n`);
  assertStringIncludes(
    summaryOf({ ...outcome, earlierMessage: "another, which is replaced" }),
    `${tie}the profile's is kept if it is one of them, else the simplest is taken\n`,
  );
  assertMatch(text, /^Chosen: diamond-torre /m);
  assert(!/fastest/i.test(text), text);
  assertMatch(text, /^ {2}GPU diamond-torre +775 +█+ +equally fast$/m);
  assertMatch(text, /^ {2}GPU and CPU +770 +█+[^ ]* +the chosen one$/m);
});

Deno.test("a tie is called equally fast within 1%, or within the noise; a slower configuration has its percentage alone", () => {
  const chosen = { ...ENTRY.tieSet[0]!, cellsPerSecond: 5.75e9, confidence95: [5.5e9, 6e9] as const };
  const rated = (rate: number, interval: readonly [number, number]) => {
    const torre = { ...TORRE, cellsPerSecond: rate, confidence95: interval };
    const tied = {
      ...chosen,
      configuration: TORRE.configuration,
      cellsPerSecond: rate,
      confidence95: interval,
    };
    const result = { ...ENTRY.result, cellsPerSecond: 5.75e9, confidence95: chosen.confidence95 };
    const entry = { ...ENTRY, result, tieSet: [chosen, tied] };
    const text = summaryOf({ ...OUTCOME, entry, bestOfEach: new Map([["diamond-torre", torre]]) });
    return [/^ {2}GPU diamond-torre +\S+ +\S+ +(.*)$/m, /^ {2}(.*2 config.*);/m].map((what) =>
      what.exec(text)?.[1]
    );
  };
  const both = "2 configurations are equally fast";
  assertEquals(rated(5.7e9, [5.6e9, 5.8e9]), ["equally fast", both]);
  assertEquals(rated(4.61e9, [4.4e9, 4.8e9]), ["80% of the chosen one", undefined]);
  assertEquals(rated(4.61e9, [3.5e9, 5.7e9]), [
    "80% of the chosen one, within the noise",
    `within the noise ${both}`,
  ]);
});

Deno.test("where stepwise ties no factor over it is given, and disturbed samples are a warning", () => {
  const [chosen] = ENTRY.tieSet, stepwise = { ...chosen!, configuration: STEPWISE.configuration };
  const samples = [...Array(6).fill(700e9), ...Array(6).fill(770e9), ...Array(6).fill(400e9)];
  const result = { ...ENTRY.result, samples, speedupOverStepwise: 0.84 };
  const disturbed = { ...OUTCOME, entry: { ...ENTRY, result, tieSet: [chosen!, stepwise] } };
  const text = summaryOf(disturbed);
  assertStringIncludes(text, " of its roof\n  as fast as the plain kernel: no other order");
  assert(!text.includes("0.84"), text);
  assertStringIncludes(
    text,
    "\nWarning: 6 of 18 samples are near 400 Gcells/s, the others near 735 Gcells/s: ",
  );
  assertMatch(summaryRecord(disturbed, CONTEXT).warning!, /^6 of 18 samples /);
  assertEquals(summaryRecord(OUTCOME, CONTEXT).warning, null);
  const wide = {
    ...OUTCOME,
    entry: { ...ENTRY, result: { ...ENTRY.result, confidence95: [77e9, 7.7e12] as const } },
  };
  const said = "no 95% interval within ±20%: qualify cannot compare with this rate; try an idle machine";
  assertStringIncludes(summaryOf(wide), `\nWarning: ${said}`);
  assert(summaryRecord(wide, CONTEXT).warning!.startsWith(said));
});

Deno.test("the record for machines survives JSON, and has null for what is not there", () => {
  const record = summaryRecord(OUTCOME, CONTEXT);
  assertEquals(JSON.parse(JSON.stringify(record)), record);
  assertEquals(record.profile, "profiles/test.json");
  assertEquals(record.bestOfEach["diamond-torre"]?.cellsPerSecond, 741e9);
  assertEquals(record.device.measured.copyBytesPerSecond, 2995e9);
  const empty = summaryRecord({ ...OUTCOME, entry: undefined, together: undefined }, {
    ...CONTEXT,
    written: undefined,
  });
  assertEquals([empty.profile, empty.entry, empty.together, empty.cpuMessage], [null, null, null, null]);
});

Deno.test("a configuration in one line", () => {
  const share = { cpuSlices: 100, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  assertEquals(describeConfiguration({ ...CPU.configuration, share }), "CPU, 1 worker, stepwise");
  assertEquals(describeConfiguration(TORRE.configuration), "diamond-torre dts=5 nt=96");
  assert(!describeConfiguration({ ...TORRE.configuration, parameters: {} }).endsWith(" "));
});

Deno.test("the cost model is one line: the best predicted R, and how far it was off", () => {
  const curve = [
    { exchangeEvery: 4, cpuSlices: 4, predictedNs: 2.1e6, measuredNs: 2e6 },
    { exchangeEvery: 8, cpuSlices: 8, predictedNs: 1.2e6, measuredNs: null },
  ];
  const residuals = { cpu: [0.5], gpu: [0.5], unpack: [], pack: [], together: [0.02, -0.01, 0.03] };
  assertEquals(
    describeModel({ curve, residuals }),
    "Cost model: expects 1.20 ms a step exchanging every 8 steps, 8 slices on the CPU (not measured); " +
      "the fit is within 2.0%, later measurements are within 5.0%",
  );
  assertEquals(
    describeModel({ curve: curve.slice(1), residuals }),
    "Cost model: expects 1.20 ms a step exchanging every 8 steps, 8 slices on the CPU (not measured); " +
      "the fit is within 2.0%",
  );
  assertStringIncludes(describeModel({ curve: curve.slice(0, 1), residuals }), "CPU (measured: 2.00 ms);");
});

Deno.test("what sharing would cost is said where it loses; parameters of the CPU only with --verbose", () => {
  const entry = { ...ENTRY, configuration: CPU.configuration };
  const outcome = {
    ...OUTCOME,
    entry: { ...entry, result: { ...ENTRY.result, cellsPerSecond: 9.5e9 } },
    together: { ...TOGETHER, cellsPerSecond: 0.95e9 },
    space: { ...OUTCOME.space, refused: [{ traversal: "diamond-torre", reason: "no end to start from" }] },
  };
  const brief = summaryOf(outcome), whole = summaryOf(outcome, { isVerbose: true });
  const cost = "Sharing with the GPU would be 10 times slower (758 µs a step; the CPU alone: 75.8 µs)";
  assertStringIncludes(brief, `\n${cost}\n`);
  assert(!brief.includes("Balance"), brief);
  assertStringIncludes(whole, "\nBalance: the times agree within 5%\nNot tried: diamond-torre: no end");
  assertStringIncludes(
    summaryOf(OUTCOME, { isVerbose: true }),
    "diamond-wavefront tiles=8 levels=5 block=2, 4",
  );
});
