import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { indexOf, layOut } from "../../../kernels/layout.ts";
import { elastic } from "../../../kernels/stencils/elastic.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { planesOf, reachOf } from "../../../kernels/update.ts";
import type { AxisBoundaries } from "../../../kernels/stencils/stencil.ts";
import { compileOnce } from "../../../tuner/devices/cpu/compiled_modules.ts";
import { measureCpuCopy } from "../../../tuner/devices/cpu/cpu_bandwidth.ts";
import { CpuPool } from "../../../tuner/devices/cpu/wasm_workers.ts";

Deno.test("workers compare every cell of the slices asked for, and of no others", async () => {
  const { update } = elastic(), { x, y, z } = reachOf(update);
  const planes = planesOf(update), fields = update.fields.length;
  const layout = layOut([7, 4, 5], { pad: [x, y, z], planes, fields });
  const pools = await Promise.all([1, 3, 9].map((workers) => CpuPool.create({ workers })));
  const expected = await pools[0]!.load({ update, layout, boundary: "zero" });
  await expected.initialise({ kind: "noise", seed: 4 });
  for (const pool of pools) {
    const field = await pool.load({ update, layout, boundary: "zero" });
    await field.initialise({ kind: "noise", seed: 4 });
    const compare = (slice: number, slices: number) =>
      field.compare(expected.slices()(1, slice), { ago: 1, slice, slices });
    const same = await compare(0, 7);
    assertEquals([same.maxError, same.notFinite, same.cells], [0, 0, 7 * planesOf(update) * 20]);
    assert(same.maxValue > 8 && same.maxValue <= 9, `${same.maxValue}`);
    // materials, which may be far larger than any field, do not count as its size
    for (const each of [field, expected]) each.previous[indexOf(layout, [2, 2, 2], fields)]! += 4000;
    assertEquals(await compare(0, 7), same);
    for (const each of [field, expected]) each.previous[indexOf(layout, [2, 2, 2], fields)]! -= 4000;
    const last = indexOf(layout, [5, 3, 4], planesOf(update) - 1), first = indexOf(layout, [0, 0, 0]);
    field.previous[last]! += 0.5;
    field.previous[first] = NaN;
    assertEquals((await compare(1, 6)).maxError, 0.5);
    assertEquals([(await compare(1, 4)).maxError, (await compare(6, 1)).maxError], [0, 0]);
    assertEquals([(await compare(0, 7)).notFinite, (await compare(1, 6)).notFinite], [1, 0]);
    await field.dispose();
  }
  pools.forEach((pool) => pool.dispose());
});

Deno.test("a module is compiled once for an update and the slices' layout, fused or not", async () => {
  const { update } = wave(2), work = { strip: 0 };
  const compile = (slices: number, x: "zero" | "periodic", fused = false) => {
    const boundaries: AxisBoundaries = [x, "periodic", "zero"];
    return compileOnce({
      update,
      layout: layOut([slices, 3, 4], { pad: [1, 1, 1] }),
      boundaries,
      fused,
      work,
    });
  };
  const module = await compile(5, "zero");
  assertStrictEquals(await compile(8, "zero"), module);
  assert(await compile(5, "zero", true) !== module);
  const periodic = await compile(5, "periodic");
  assert(await compile(8, "periodic") !== periodic, "images along x depend on the slices");
});

Deno.test("how fast workers move data is measured on arrays of the problem's size", async () => {
  const pool = await CpuPool.create({ workers: 2 });
  for (const workers of [1, 2]) {
    const problem = { stencil: wave(2), grid: [20, 30, 40], boundary: "zero", steps: 1 } as const;
    const bytesPerSecond = await measureCpuCopy(pool, problem, workers);
    assert(bytesPerSecond > 1e7 && bytesPerSecond < 1e13, `${bytesPerSecond}`);
  }
  pool.dispose();
});
