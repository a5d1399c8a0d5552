import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { cellsOf, planned, type Problem } from "../../kernels/stencils/stencil.ts";
import { life } from "../../kernels/stencils/life.ts";
import { dampedSound } from "../kernels/damped_sound.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import { H100 as RECORD, measuredRecord } from "../../models/gpu_record.ts";
import type { Demand } from "../../kernels/traversals/traversal.ts";
import { type DeviceModel, predictRate, registerPressure, roofOf } from "../../models/roofline.ts";
import { parseJournal } from "../../tuner/profile/journal_format.ts";

/** NVIDIA H100 80GB HBM3: copy bandwidth measured through Deno's WebGPU on 2026-11-21. */
const H100: DeviceModel = { copyBytesPerSecond: 2995e9 };

/** NVIDIA H200, measured in the same way on 2026-11-23: the same chip with faster memory. */
const H200: DeviceModel = { copyBytesPerSecond: 4270e9, record: measuredRecord(4270e9, {}) };

/** The grid on which the H100 was measured. */
const GRID = [384, 5280, 256] as const;
const CELLS = GRID[0] * GRID[1] * GRID[2];

/** What a torre of order 2 asks for. */
function torre({ dts, zPerThread, ...others }: { dts: number; zPerThread: 1 | 2; threads?: number }): Demand {
  const problem: Problem = { stencil: wave(2), grid: GRID, boundary: "zero", steps: 96 };
  const usual = { nt: 96, bands: 1, threads: GRID[2] / zPerThread, chunk: 8, unroll: 2, loads: "tier start" };
  return traversalNamed("diamond-torre").demand(problem, { ...usual, dts, zPerThread, ...others });
}

/** What stepwise asks for. */
function stepwise(s: number): Demand {
  const problem: Problem = { stencil: wave(2 * s), grid: GRID, boundary: "zero", steps: 96 };
  return traversalNamed("stepwise").demand(problem, { threadsZ: 256, threadsY: 1, threadsX: 1 });
}

function gcells(demand: Demand, device: DeviceModel = H100): number {
  return predictRate(demand, device, { cells: CELLS }) / 1e9;
}

interface Recorded {
  readonly predicted: number;
  readonly measured: number;
  readonly traversal: string;
  readonly pressure: number;
}

/** What was measured on an H100, order by order, with the traversals' own demands: fixtures/README.md. */
async function recorded(): Promise<
  Map<number, Recorded[]>
> {
  const path = new URL("../../fixtures/h100/wave.json.journal.jsonl", import.meta.url);
  const { records } = parseJournal(await Deno.readFile(path));
  const runs = new Map<number, Recorded[]>();
  let problem: Problem | undefined;
  for (const record of records) {
    if (record.kind === "run") {
      const { order, grid, steps } = record.problem;
      problem = { stencil: wave(order!), grid: planned(wave(2), grid, 1), boundary: "zero", steps };
      runs.set(order!, []);
    } else if (record.kind === "measurement" && record.measurement.configuration.share.gpuSlices > 0) {
      const { configuration: { traversal, parameters }, cellsPerSecond } = record.measurement;
      const demand = traversalNamed(traversal).demand(problem!, parameters);
      const predicted = predictRate(demand, H100, { cells: cellsOf(problem!.grid) });
      runs.get(Number(problem!.stencil.variant.order))!.push({
        predicted,
        measured: cellsPerSecond,
        traversal,
        pressure: registerPressure(demand, H100),
      });
    }
  }
  return runs;
}

Deno.test("of the three that the roofline likes best one is nearly the best of what was measured on the H100", async () => {
  const runs = await recorded();
  assertEquals([...runs.keys()], [2, 4, 6, 8]);
  for (const [order, run] of runs) {
    const first = run.toSorted((a, b) => b.predicted - a.predicted).slice(0, 3);
    const liked = Math.max(...first.map(({ measured }) => measured));
    const best = Math.max(...run.map(({ measured }) => measured));
    assert(liked > 0.85 * best, `order ${order}: ${liked} of ${best}`);
  }
});

Deno.test("roofline is within two fifths of most of what was measured on the H100, within a factor 2.6 of all that hardly spills", async () => {
  for (const [order, run] of await recorded()) {
    const ratios = run.map(({ predicted, measured }) => predicted / measured);
    for (const [i, ratio] of ratios.entries()) {
      // what needs many more registers than there are is slower by any factor
      assert(
        ratio > 0.5 && (ratio < 2.6 || run[i]!.pressure > 1.2),
        `order ${order}: ${ratio} ${JSON.stringify(run[i])}`,
      );
    }
    const near = ratios.filter((ratio) => ratio > 0.6 && ratio < 1.4).length;
    assert(near >= 0.85 * ratios.length, `order ${order}: ${near} of ${ratios.length}`);
  }
});

Deno.test("registers lie in four parts: of nine SIMD groups one part holds three, which get 168 registers a thread", () => {
  const asked = { ...torre({ dts: 3, zPerThread: 1 }), registers: { plain: 168 } };
  const pressure = (threadsPerWorkgroup: number): number =>
    registerPressure({ ...asked, threadsPerWorkgroup }, H100);
  assertEquals([256, 257, 288, 384].map(pressure), [168 / 255, 1, 1, 1]);
  assert(pressure(385) > 1);
});

Deno.test("threads of a torre that have no cells cost time", () => {
  const problem: Problem = { stencil: wave(2), grid: [300, 900, 100], boundary: "zero", steps: 96 };
  const parameters = { dts: 4, nt: 16, bands: 8, zPerThread: 1, chunk: 8, unroll: 1, loads: "tier start" };
  const rate = (threads: number): number =>
    predictRate(traversalNamed("diamond-torre").demand(problem, { ...parameters, threads }), H100, {
      cells: cellsOf(problem.grid),
    });
  // measured on 900x900x100: 5 to 9%
  assert(rate(128) < 0.97 * rate(100) && rate(128) > 0.9 * rate(100), `${rate(128) / rate(100)}`);
});

Deno.test("roofline drops a torre that spills: 308 Gcells/s where DTS = 6 with 1 z reached 803", () => {
  const spilling = torre({ dts: 6, zPerThread: 2 });
  assert(gcells(spilling) < 0.7 * gcells(torre({ dts: 6, zPerThread: 1 })));
  // with more registers, of which more workgroups fit, it would gain more than a torre that does not spill
  const record = { ...RECORD, registersPerThread: 1e4, registersPerMultiprocessor: 1e7 };
  const gain = (demand: Demand): number => gcells(demand, { ...H100, record }) / gcells(demand);
  assert(gain(spilling) > 1.3 * gain(torre({ dts: 5, zPerThread: 1 })));
});

Deno.test("materials that a torre holds beyond its registers cost little: acoustic waves on 572³ on an H200, 2026-11-24", () => {
  const problem: Problem = {
    stencil: dampedSound(4),
    grid: [572, 572, 572],
    boundary: "zero",
    steps: 384,
  };
  const rate = (held: number, rest: number): number => {
    const of = { dts: 1.5, nt: 16, bands: 16, zPerThread: 2, threads: 286, chunk: 4, unroll: 1 };
    const demand = traversalNamed("diamond-torre").demand(problem, {
      ...of,
      rest,
      loads: "tier start",
      packed: 0,
      held,
    });
    return predictRate(demand, H200, { cells: cellsOf(problem.grid) }) / 1e9;
  };
  const again = rate(0, 1), held = rate(1, 1);
  assert(held > again, `held has 253, read again 237: ${held} and ${again} predicted`);
  const other = rate(1, 0);
  assert(other > 0.8 * held, `251 with F(t − 1) in registers, too: ${other} and ${held} predicted`);
});

Deno.test("what a march adds up once for a slice is counted once: Life on 512³, two steps a pass, on an H100, 2026-11-24", () => {
  const problem: Problem = { stencil: life(), grid: [512, 512, 512], boundary: "zero", steps: 384 };
  const measured: [gcells: number, zPerThread: number, threadsZ: number, threadsY: number, pieces: number][] =
    [
      [457, 4, 34, 15, 8],
      [455, 4, 18, 14, 8],
      [393, 2, 32, 15, 8],
      [261, 1, 32, 8, 4],
    ];
  for (const [gcells, zPerThread, threadsZ, threadsY, pieces] of measured) {
    const of = { depth: 2, zPerThread, threadsZ, threadsY, pieces, tile: 0, ahead: 1 };
    const rate = predictRate(traversalNamed("marching").demand(problem, of), H100, {
      cells: cellsOf(problem.grid),
    }) / 1e9;
    assert(rate > 0.7 * gcells && rate < 1.3 * gcells, `${rate} predicted, ${gcells} measured`);
  }
});

Deno.test("neighbours along z drift apart as those along y do: of narrow rows more is read from memory twice", () => {
  const problem: Problem = { stencil: wave(8), grid: [96, 4001, 160], boundary: "zero", steps: 96 };
  const lost = (threadsZ: number, threadsY: number): number => {
    const of = { zPerThread: 4, threadsZ, threadsY, pieces: 1, tile: 1, ahead: 1 };
    return traversalNamed("marching").demand(problem, of).rounds.again!.bytesPerUpdate.drift!;
  };
  // of 4 bytes each: rows before and behind, and at both ends of a row two sectors of 8 values
  assertAlmostEquals(lost(8, 32), 4 * (8 / 32 + 4 * 8 / 32));
  assertAlmostEquals(lost(40, 8), 4 * (8 / 8 + 4 * 8 / 160));
});

Deno.test("roofline sees stepwise fall further below its roof with every order", () => {
  const fractions = [1, 2, 3, 4].map((s) => gcells(stepwise(s)) * 1e9 / roofOf(stepwise(s), 2995e9));
  for (let i = 1; i < 4; i++) assert(fractions[i]! < fractions[i - 1]!);
  assert(fractions[0]! > 0.7 && fractions[3]! < 0.5);
});

Deno.test("roofline is bandwidth over traffic", () => {
  assertAlmostEquals(roofOf({ bytesPerUpdate: 12 }, 3e12), 2.5e11, 1);
  assertAlmostEquals(roofOf(stepwise(1), H100.copyBytesPerSecond) / 1e9, 249.6, 0.1);
});

Deno.test("each penalty lowers the rate, none lifts it above the roof", () => {
  const control: Demand = torre({ dts: 4, zPerThread: 1 });
  const { rounds } = control, [dispatch] = rounds.dispatches;
  const again = { bytesPerUpdate: { drift: 4 }, workgroups: 1e4, workgroupBytes: 1e6 };
  const deviations: Partial<Demand>[] = [
    { bytesPerUpdate: 8 },
    { registers: { plain: 400 } },
    { threadsPerWorkgroup: 264 },
    { threadsPerWorkgroup: 1024 },
    { workgroupBytes: 100_000 },
    { loopInstructions: 20_000 },
    ...[
      { instructions: 2 * rounds.instructions },
      { barriers: 2 * rounds.barriers },
      { rows: 2 * rounds.rows },
      { exchanges: 2 * rounds.exchanges },
      { hits: rounds.rows },
      { waits: { spreadWaitNs: 1 } },
      { nearWaits: 2 },
      { nearBytes: 3 * rounds.nearBytes },
      { strays: { sliceBytes: 2 } },
      { again },
      { dispatches: [...rounds.dispatches, { count: 1, workgroups: 0, rounds: 0 }] },
      { dispatches: rounds.dispatches.with(0, { ...dispatch!, fills: 10 }) },
    ].map((changed) => ({ rounds: { ...rounds, ...changed } })),
  ];
  const rate = gcells(control);
  assert(rate * 1e9 < roofOf(control, H100.copyBytesPerSecond));
  for (const deviation of deviations) {
    const demand = { ...control, ...deviation };
    assert(gcells(demand) < rate, JSON.stringify(deviation));
  }
});

Deno.test("roofline stays positive and finite for a slow device and a tiny grid", () => {
  const tiny = predictRate(
    stepwise(1),
    { copyBytesPerSecond: 8e9 },
    { cells: 1 },
  );
  assert(tiny > 0 && Number.isFinite(tiny));
});

Deno.test("short marches cost little where a layer of them fits the cache; narrow rows and one row of workgroups cost time", () => {
  const usual = { zPerThread: 4, threadsZ: 32, threadsY: 8, pieces: 64, tile: 0, ahead: 1, depth: 1 };
  const rateOf = (grid: readonly [number, number, number], changed: Partial<typeof usual>): number => {
    const problem: Problem = { stencil: wave(8), grid, boundary: "zero", steps: 96 };
    const demand = traversalNamed("marching").demand(problem, { ...usual, ...changed });
    return predictRate(demand, H100, { cells: cellsOf(grid) }) / 1e9;
  };
  // measured on 512³: 204 in pieces of 8 slices, 135 in rows of 16 cells and pieces of 64
  const cube = [512, 512, 512] as const;
  assert(rateOf(cube, {}) > 0.95 * rateOf(cube, { pieces: 16 }));
  assert(rateOf(cube, { threadsZ: 4, pieces: 8 }) < 0.8 * rateOf(cube, {}));
  // measured on 128³: 22 with eight workgroups, 188 with 256 of half as many cells a thread
  const small = [128, 128, 128] as const, few = { threadsY: 32, pieces: 2, ahead: 0 };
  assert(rateOf(small, few) < 0.3 * rateOf(small, { zPerThread: 2, threadsZ: 64, pieces: 16 }));
});
