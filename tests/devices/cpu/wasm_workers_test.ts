import type { FloatArray } from "../../../kernels/precision.ts";
import { assert, assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { constant, tap } from "../../../kernels/expression.ts";
import { add, multiply } from "../../../kernels/operations.ts";
import type { InitialField } from "../../../kernels/initial_field.ts";
import { initialValue } from "../../kernels/initial_value.ts";
import { reweighted } from "../../kernels/reweighted.ts";
import { indexOf, type Layout, layOut } from "../../../kernels/layout.ts";
import { runReference } from "../../../kernels/reference.ts";
import {
  type AxisBoundaries,
  BOUNDARIES,
  type Boundaries,
  type Boundary,
  type Grid,
} from "../../../kernels/stencils/stencil.ts";
import { cellsOf } from "../../../kernels/stencils/stencil.ts";
import { wave, WAVE_ORDERS } from "../../../kernels/stencils/wave.ts";
import { reachOf, type Update, updateOf } from "../../../kernels/update.ts";
import { errorBound } from "../../../models/error_bound.ts";
import type { CpuField } from "../../../tuner/devices/cpu/cpu_field.ts";
import { Barrier, BARRIER_BYTES, endBarrier } from "../../../tuner/devices/cpu/barrier.ts";
import { CpuPool } from "../../../tuner/devices/cpu/wasm_workers.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";

/** Primes, single cells, thinner than a vector, than the reach, than the workers; rows of 4k, 4k + 1, 2, 3. */
const GRIDS: readonly Grid[] = [[1, 1, 1], [7, 5, 3], [2, 3, 17], [3, 1, 13], [1, 11, 8], [5, 4, 30]];

function layoutOf(grid: Grid, update: Update): Layout {
  const { x, y, z } = reachOf(update);
  return layOut(grid, { pad: [x, y, z] });
}

/** The grid's own cells, without pads. */
function dense(padded: FloatArray, layout: Layout, [from, to] = [0, layout.grid[0]]): FloatArray {
  const [, ny, nz] = layout.grid;
  const cells = new Float32Array((to - from) * ny * nz);
  for (let x = from; x < to; x++) {
    for (let y = 0; y < ny; y++) {
      const row = indexOf(layout, [x, y, 0]);
      cells.set(padded.subarray(row, row + nz), ((x - from) * ny + y) * nz);
    }
  }
  return cells;
}

function initialCells(kind: InitialField, [nx, ny, nz]: Grid, seed: number): FloatArray {
  return Float32Array.from(
    { length: nx * ny * nz },
    (_, i) => initialValue(kind, [Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz], seed),
  );
}

/** Bits, so that −0 and NaN count. */
function bits(cells: FloatArray): Uint32Array {
  return new Uint32Array(cells.slice().buffer);
}

/** One case against the f32 oracle: both levels, bit for bit. */
interface Case {
  readonly update: Update;
  readonly grid: Grid;
  readonly boundary: Boundaries;
  /** Steps of runs one after another. */
  readonly runs: readonly number[];
  readonly kind: InitialField;
}

async function assertEqualsOracle(
  pool: CpuPool,
  { update, grid, boundary, runs, kind }: Case,
): Promise<void> {
  const layout = layoutOf(grid, update);
  const field = await pool.load({ update, layout, boundary });
  await field.initialise({ kind, seed: 5 });
  for (const steps of runs) await field.run({ steps });
  const initial = initialCells(kind, grid, 5);
  const steps = runs.reduce((sum, n) => sum + n, 0);
  const expected = runReference({ current: initial, previous: initial }, { update, grid, boundary, steps });
  const what = `${grid.join("x")} ${boundary}, steps ${runs}, ${pool.workers} workers`;
  assertEquals(bits(dense(field.current, layout)), bits(expected.current), `F(t), ${what}`);
  assertEquals(bits(dense(field.previous, layout)), bits(expected.previous), `F(t−1), ${what}`);
  await field.dispose();
}

for (const workers of [1, 3]) {
  Deno.test(`waves of every order on ${workers} workers equal the f32 oracle bit for bit`, async () => {
    const pool = await CpuPool.create({ workers });
    // workers share rows alike whatever the order: the lowest and the highest on every number of workers are enough
    const orders = WAVE_ORDERS.filter((order) =>
      order === 2 || order === 14 || (order / 2) % 2 === (workers - 1) / 2
    );
    for (const order of orders) {
      for (const grid of GRIDS) {
        for (const boundary of ["zero", "periodic"] as const) {
          const { update } = wave(order);
          await assertEqualsOracle(pool, { update, grid, boundary, runs: [2, 3], kind: "noise" });
        }
      }
    }
    pool.dispose();
  });
}

Deno.test("a grid visited in strips equals the f32 oracle bit for bit", async () => {
  const pool = await CpuPool.create({ workers: 2 });
  const update = reweighted(wave(8).update, [-3, 0, 0, 0, 1]), grid: Grid = [3, 67, 301];
  await assertEqualsOracle(pool, { update, grid, boundary: "zero", runs: [2], kind: "integers" });
  pool.dispose();
});

Deno.test("any grid, steps, workers and weights equal the f32 oracle bit for bit", async () => {
  const pools = await Promise.all([1, 2, 3].map((workers) => CpuPool.create({ workers })));
  const side = (max: number) => fc.integer({ min: 1, max });
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        pool: fc.constantFrom(...pools),
        grid: fc.tuple(side(9), side(9), side(40)),
        boundary: fc.tuple(...[0, 1, 2].map(() => fc.constantFrom(...BOUNDARIES))),
        runs: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
        sides: fc.array(fc.integer({ min: -2, max: 2 }), { minLength: 1, maxLength: 4 }),
      }),
      ({ pool, grid, boundary, runs, sides }) =>
        assertEqualsOracle(pool, {
          update: reweighted(wave(2 * sides.length).update, [-3, ...sides]),
          grid,
          boundary: boundary as unknown as AxisBoundaries,
          runs,
          kind: "integers",
        }),
    ),
    { seed: 20261121, numRuns: 60 },
  );
  pools.forEach((pool) => pool.dispose());
});

for (const order of WAVE_ORDERS) {
  Deno.test(`wave order ${order}: a plane wave stays within the rounding bound of the exact solution`, async () => {
    const stencil = wave(order), grid: Grid = [10, 9, 21], steps = 40;
    const { update } = stencil;
    const layout = layoutOf(grid, update);
    const exact = stencil.planeWave!(grid, [1, -2, 1]);
    const pool = await CpuPool.create({ workers: 2 });
    const field = await pool.load({ update, layout, boundary: "periodic" });
    forEachCell(grid, (cell) => {
      field.current[indexOf(layout, cell)] = exact.at(cell, 0);
      field.previous[indexOf(layout, cell)] = exact.at(cell, -1);
    });
    await field.run({ steps });
    // the two initial levels are rounded like results of two more steps
    const bound = errorBound({ stencil, grid, boundary: "periodic", steps: steps + 2 }, 1);
    let error = 0, signal = 0;
    forEachCell(grid, (cell) => {
      error += (field.current[indexOf(layout, cell)]! - exact.at(cell, steps)) ** 2;
      signal += (exact.at(cell, steps) - exact.at(cell, steps - 3)) ** 2;
    });
    error = Math.sqrt(error / cellsOf(grid)), signal = Math.sqrt(signal / cellsOf(grid));
    assert(error <= bound, `error ${error}, bound ${bound}`);
    assert(
      signal > 50 * bound,
      `the wave must move for the test to mean anything: ${signal}, bound ${bound}`,
    );
    pool.dispose();
  });
}

function forEachCell([nx, ny, nz]: Grid, visit: (cell: Grid) => void): void {
  for (let i = 0; i < nx * ny * nz; i++) {
    visit([Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz]);
  }
}

/** A share of `own` slices from `first` on, with ghost slices, after the steps beside the whole grid's. */
async function runShare(
  pool: CpuPool,
  { boundary, own, ghosts, first, steps, update }: {
    boundary: Boundary;
    own: number;
    ghosts: readonly [low: number, high: number];
    first: number;
    steps: number;
    update: Update;
  },
): Promise<{ share: Uint32Array; whole: Uint32Array }> {
  const grid: Grid = [12, 5, 9];
  const part: Grid = [ghosts[0] + own + ghosts[1], grid[1], grid[2]];
  const layout = layoutOf(part, update);
  const field = await pool.load({ update, layout, boundary: ["zero", boundary, boundary] });
  await field.initialise({ kind: "integers", seed: 3, first: [first - ghosts[0], 0, 0], whole: grid });
  await field.run({ steps, ghost: { low: ghosts[0] > 0, high: ghosts[1] > 0 } });
  const share = bits(dense(field.current, layout, [ghosts[0], ghosts[0] + own]));
  await field.dispose();
  const initial = initialCells("integers", grid, 3);
  const run = { update, grid, boundary, steps };
  const { current } = runReference({ current: initial, previous: initial }, run);
  const slice = grid[1] * grid[2];
  return { share, whole: bits(current.slice(first * slice, (first + own) * slice)) };
}

Deno.test("a share with R·reach ghost slices runs R steps like the whole grid; one slice fewer is caught", async () => {
  const pool = await CpuPool.create({ workers: 2 });
  for (const sides of [[1], [1, -1], [1, 0, 2]]) {
    const reach = sides.length, update = reweighted(wave(2 * reach).update, [-4, ...sides]);
    for (const steps of [1, 2, 3]) {
      const width = steps * reach;
      // zero boundary: the first slices of the grid, ghosts at high x only, and the last slices
      const low = { boundary: "zero", own: 3, ghosts: [0, width], first: 0, steps, update } as const;
      const high = { boundary: "zero", own: 3, ghosts: [width, 0], first: 9, steps, update } as const;
      // periodic: ghosts at both sides, across the seam
      const both = { boundary: "periodic", own: 2, ghosts: [width, width], first: 0, steps, update } as const;
      for (const share of [low, high, both]) {
        const right = await runShare(pool, share);
        assertEquals(right.share, right.whole, JSON.stringify(share));
        const [before, after] = share.ghosts;
        const thin = { ...share, ghosts: [Math.max(0, before - 1), before > 0 ? after : after - 1] as const };
        const wrong = await runShare(pool, thin);
        assertNotEquals(wrong.share, wrong.whole, JSON.stringify(thin));
      }
    }
  }
  pool.dispose();
});

Deno.test("ghost sides leave out reach more slices at every step", async () => {
  // 7 wherever it is computed, reach 2
  const update = updateOf(add(multiply(constant(0), tap(2, 0, 0)), constant(7)));
  const layout = layoutOf([13, 3, 4], update);
  const pool = await CpuPool.create({ workers: 2 });
  for (const [low, high] of [[true, false], [false, true], [true, true]] as const) {
    const field = await pool.load({ update, layout, boundary: "zero" });
    await field.run({ steps: 2, ghost: { low, high } });
    const computed = (level: FloatArray): boolean[] =>
      Array.from({ length: 13 }, (_, x) => level[indexOf(layout, [x, 1, 1])] === 7);
    const inside = (cut: number): boolean[] =>
      Array.from({ length: 13 }, (_, x) => (!low || x >= cut) && (!high || x < 13 - cut));
    assertEquals(computed(field.previous), inside(2), `step 1, ${low}, ${high}`);
    assertEquals(computed(field.current), inside(4), `step 2, ${low}, ${high}`);
    await field.dispose();
  }
  pool.dispose();
});

Deno.test("taps at corners see the images too", async () => {
  const corners = [-2, 2].flatMap((x) => [-2, 2].flatMap((y) => [-2, 2].map((z) => tap(x, y, z))));
  const update = updateOf(add(tap(0, 0, 0, 1), tap(1, 1, 0), ...corners));
  const pool = await CpuPool.create({ workers: 3 });
  for (const grid of GRIDS) {
    for (const boundary of ["periodic", "insulated", ["insulated", "zero", "periodic"]] as const) {
      await assertEqualsOracle(pool, { update, grid, boundary, runs: [1, 2], kind: "integers" });
    }
  }
  pool.dispose();
});

Deno.test("copied slices need no pads of their own: periodic pads are filled before a run", async () => {
  const update = wave(4).update, grid: Grid = [4, 3, 6];
  const layout = layoutOf(grid, update);
  const pool = await CpuPool.create({ workers: 2 });
  const field = await pool.load({ update, layout, boundary: "periodic" });
  const initial = initialCells("noise", grid, 1);
  forEachCell(grid, ([x, y, z]) => {
    const value = initial[(x * grid[1] + y) * grid[2] + z]!;
    field.current[indexOf(layout, [x, y, z])] = value;
    field.previous[indexOf(layout, [x, y, z])] = value;
  });
  await field.run({ steps: 3 });
  const run = { update, grid, boundary: "periodic", steps: 3 } as const;
  const expected = runReference({ current: initial, previous: initial }, run);
  assertEquals(bits(dense(field.current, layout)), bits(expected.current));
  pool.dispose();
});

Deno.test("the zero frame stays zero, and run gives the time", async () => {
  const update = wave(6).update, layout = layoutOf([5, 6, 7], update);
  const pool = await CpuPool.create({ workers: 2 });
  const field = await pool.load({ update, layout, boundary: "zero" });
  await field.initialise({ kind: "noise", seed: 0 });
  const timeNs = await field.run({ steps: 5 });
  assert(timeNs > 0 && timeNs < 1e9, `${timeNs} ns`);
  for (const level of [field.current, field.previous]) {
    const own = dense(level, layout).filter((value) => value !== 0).length;
    assertEquals(level.filter((value) => value !== 0).length, own);
  }
  pool.dispose();
});

Deno.test("memory is reused, and fields side by side do not touch", async () => {
  const pool = await CpuPool.create({ workers: 1 });
  const update = wave(2).update, layout = layoutOf([20, 20, 20], update);
  const load = (): Promise<CpuField> => pool.load({ update, layout, boundary: "zero" });
  const first = await load(), second = await load();
  const bytes = second.current.buffer.byteLength;
  await first.initialise({ kind: "noise", seed: 1 });
  await second.initialise({ kind: "noise", seed: 2 });
  const before = bits(second.current);
  await first.run({ steps: 4 });
  assertEquals(bits(second.current), before);
  await first.dispose();
  for (let i = 0; i < 5; i++) {
    const field = await load();
    assert(field.current.every((value) => value === 0), "a new field starts at zero");
    await field.initialise({ kind: "noise", seed: 0 });
    await field.dispose();
    await field.dispose();
  }
  assertEquals(second.current.buffer.byteLength, bytes);
  pool.dispose();
});

Deno.test("a field that does not fit is refused with the reason, and the pool goes on", async () => {
  const pool = await CpuPool.create({ workers: 1, memoryBytes: 2 ** 22 });
  const update = wave(2).update;
  const tooLarge = pool.load({ update, layout: layoutOf([128, 128, 128], update), boundary: "zero" });
  const failure = await assertRejects(() => tooLarge, RunFailure);
  assertEquals([failure.reason, failure.message], [
    "limits",
    "The field needs 19 MiB of CPU memory: 4 MiB can be had",
  ]);
  const beyond = pool.load({ update, layout: layoutOf([99999, 99999, 99999], update), boundary: "zero" });
  assertEquals((await assertRejects(() => beyond, RunFailure)).reason, "limits");
  await assertEqualsOracle(pool, { update, grid: [3, 4, 5], boundary: "zero", runs: [2], kind: "noise" });
  pool.dispose();
});

Deno.test("wrong requests are refused", async () => {
  for (const workers of [0, 1.5, 10_000]) {
    await assertRejects(() => CpuPool.create({ workers }), RangeError, `current value is ${workers}`);
  }
  const pool = await CpuPool.create({ workers: 1 });
  const update = wave(2).update, layout = layoutOf([4, 4, 4], update);
  const field = await pool.load({ update, layout, boundary: "zero" });
  await assertRejects(() => field.run({ steps: 1.5 }), RangeError, "current value is 1.5");
  await assertRejects(
    () => field.run({ steps: 3, ghost: { low: true, high: true } }),
    RangeError,
    "6 ghost slices",
  );
  const periodic = await pool.load({ update, layout, boundary: "periodic" });
  await assertRejects(() => periodic.run({ steps: 1, ghost: { low: true } }), RangeError, "it is periodic");
  await assertRejects(
    () => pool.load({ update: updateOf(tap(0, 0, 9)), layout, boundary: "zero" }),
    RangeError,
    "reach",
  );
  pool.dispose();
});

Deno.test("a worker that does not start rejects create", async () => {
  const workerUrl = new URL("./broken_worker.ts", import.meta.url);
  const failure = await assertRejects(() => CpuPool.create({ workers: 2, workerUrl }), RunFailure);
  assertEquals(failure.reason, "device-lost");
  assert(
    failure.message.includes("injected fault at start") && !failure.message.includes("\n"),
    failure.message,
  );
});

Deno.test("where memory may not be shared one worker computes the same, and more say which headers are missing", async () => {
  const scope = globalThis as { SharedArrayBuffer?: unknown };
  const { SharedArrayBuffer } = scope, update = wave(4).update, layout = layoutOf([9, 7, 11], update);
  const compute = async (): Promise<FloatArray> => {
    const pool = await CpuPool.create({ workers: 1 });
    const field = await pool.load({ update, layout, boundary: "periodic" });
    await field.initialise({ kind: "noise", seed: 3 });
    await field.run({ steps: 5 });
    const cells = field.current.slice();
    pool.dispose();
    return cells;
  };
  const expected = await compute();
  try {
    delete scope.SharedArrayBuffer;
    assertEquals(await compute(), expected);
    const failure = await assertRejects(() => CpuPool.create({ workers: 2 }), RunFailure);
    assertEquals(failure.reason, "limits");
    assert(/Cross-Origin-Opener-Policy.*Cross-Origin-Embedder-Policy/.test(failure.message), failure.message);
  } finally {
    scope.SharedArrayBuffer = SharedArrayBuffer;
  }
});

Deno.test("a worker that throws between barriers rejects the run, and the others do not hang", async () => {
  const workerUrl = new URL("./faulty_worker.ts", import.meta.url);
  const pool = await CpuPool.create({ workers: 3, workerUrl });
  const update = wave(2).update, layout = layoutOf([4, 4, 4], update);
  const field = await pool.load({ update, layout, boundary: "zero" });
  await field.run({ steps: 2 });
  const failure = await assertRejects(() => field.run({ steps: 5 }), RunFailure);
  assertEquals([failure.reason, failure.message], ["device-lost", "A CPU worker failed: injected fault"]);
  await assertRejects(() => field.run({ steps: 1 }), RunFailure, "injected fault");
});

Deno.test("dispose rejects what still runs", async () => {
  const pool = await CpuPool.create({ workers: 2 });
  const update = wave(14).update, grid: Grid = [64, 64, 64];
  const field = await pool.load({ update, layout: layoutOf(grid, update), boundary: "zero" });
  const endless = field.run({ steps: 1e9 });
  const failure = assertRejects(() => endless, RunFailure, "disposed");
  await new Promise((resolve) => setTimeout(resolve, 50));
  pool.dispose();
  await failure;
});

Deno.test("a worker that closes itself is noticed", async () => {
  const pool = await CpuPool.create({
    workers: 2,
    workerUrl: new URL("./closing_worker.ts", import.meta.url),
  });
  const field = await pool.load({
    update: wave(2).update,
    layout: layOut([8, 8, 8], { pad: [1, 1, 1] }),
    boundary: "zero",
  });
  await assertRejects(() => field.run({ steps: 3 }), RunFailure, "CPU worker 1 failed: it ended");
  pool.dispose();
});

Deno.test("nobody passes a barrier that was ended: a disposed pool's workers stop, though Deno lets them go on", () => {
  for (const threads of [1, 2]) {
    const shared = new SharedArrayBuffer(BARRIER_BYTES);
    const [first, second] = [new Barrier(shared, threads), new Barrier(shared, threads)];
    if (threads === 1) first.wait();
    endBarrier(shared);
    assertThrows(() => first.wait(), Error, "the barrier was ended");
    assertThrows(() => second.wait(), Error, "the barrier was ended");
  }
});

Deno.test("workers of a disposed pool leave its memory alone", async () => {
  const pool = await CpuPool.create({ workers: 2 });
  const { update } = wave(2), grid: Grid = [8, 8, 8];
  const field = await pool.load({ update, layout: layoutOf(grid, update), boundary: "zero" });
  await field.initialise({ kind: "noise", seed: 1 });
  const cells = field.current,
    endless = assertRejects(() => field.run({ steps: 1e9 }), RunFailure, "disposed");
  const change = async (): Promise<boolean> => {
    const before = cells.slice();
    await new Promise((resolve) => setTimeout(resolve, 30));
    return bits(before).some((word, i) => word !== bits(cells)[i]);
  };
  while (!await change());
  pool.dispose();
  await endless;
  // a step that was under way ends
  while (await change());
});
