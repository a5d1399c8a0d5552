import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { constant, tap } from "../../kernels/expression.ts";
import { add, multiply, subtract } from "../../kernels/operations.ts";
import { layOut } from "../../kernels/layout.ts";
import type { AxisBoundaries, Grid } from "../../kernels/stencils/stencil.ts";
import { wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { GUARD_BYTES, writeWasm } from "../../kernels/wasm/write_wasm.ts";
import type { WasmExports } from "../../kernels/wasm/write_wasm.ts";
import { type Update, updateOf } from "../../kernels/update.ts";

/** A module with both arrays in a small memory of its own, the field all of one value outside the cells. */
async function instantiate(
  update: Update,
  { grid, boundaries, pad }: { grid: Grid; boundaries: AxisBoundaries; pad: Grid },
) {
  const layout = layOut(grid, { pad });
  const bytes = 4 * layout.length, next = 64 + bytes + GUARD_BYTES;
  const pages = Math.ceil((next + bytes + GUARD_BYTES) / 65536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: 65536, shared: true });
  const { instance } = await WebAssembly.instantiate(writeWasm({ update, layout, boundaries }), {
    facet: { memory },
  });
  return {
    layout,
    addresses: [64, next] as const,
    current: new Float32Array(memory.buffer, 64, layout.length),
    next: new Float32Array(memory.buffer, next, layout.length),
    exports: instance.exports as unknown as WasmExports,
  };
}

Deno.test("step writes the cells of its box and nothing else", async () => {
  const zero: AxisBoundaries = ["zero", "zero", "zero"];
  for (const nz of [1, 2, 3, 4, 5, 7, 8, 11, 16, 23, 37]) {
    const grid: Grid = [3, 4, nz];
    const m = await instantiate(updateOf(tap(0, 0, 0)), { grid, boundaries: zero, pad: [1, 1, 1] });
    m.current.fill(1);
    m.next.fill(-7);
    m.exports.step0!(m.addresses[0], m.addresses[1], 0, 1, 2, 1, 3);
    const { origin, slice, pitch } = m.layout;
    const inside = (index: number): boolean =>
      [1, 2].some((y) => index >= origin + slice + y * pitch && index < origin + slice + y * pitch + nz);
    assertEquals([...m.next], [...m.next].map((_, index) => inside(index) ? 1 : -7), `row of ${nz} cells`);
  }
});

Deno.test("an empty box is no work", async () => {
  const m = await instantiate(updateOf(tap(0, 0, 0)), {
    grid: [2, 2, 5],
    boundaries: ["zero", "zero", "zero"],
    pad: [1, 1, 1],
  });
  m.current.fill(1);
  for (const [x0, x1, y0, y1] of [[0, 0, 0, 2], [0, 2, 1, 1], [2, 1, 0, 2], [0, 2, 2, 0]] as const) {
    m.exports.step0!(m.addresses[0], m.addresses[1], 0, x0, x1, y0, y1);
  }
  assert(m.next.every((value) => value === 0));
});

Deno.test("every operation, in the expression's order, rounds once to f32", async () => {
  // ((a + b) − c)·d + 0.1 with large and small terms: any other order or a fused product shows
  const update = add(
    multiply(subtract(add(tap(0, 0, -1), tap(0, 0, 0)), tap(0, 0, 1)), tap(0, 1, 0)),
    constant(0.1),
  );
  const grid: Grid = [1, 1, 6];
  const m = await instantiate(updateOf(update), {
    grid,
    boundaries: ["zero", "zero", "zero"],
    pad: [1, 1, 1],
  });
  const { origin, pitch } = m.layout;
  const a = Float32Array.of(1e8, 1.5, 3.25e-3, -1e8, 7.77, 12345.678);
  const d = Float32Array.of(0.3, 1e-7, -3.3, 1.1, 0.7, 1 / 3);
  m.current.set(a, origin);
  m.current.set(d, origin + pitch);
  m.exports.step0!(m.addresses[0], m.addresses[1], 0, 0, 1, 0, 1);
  const f = Math.fround;
  const expected = [...a].map((value, z) =>
    f(f(f(f((a[z - 1] ?? 0) + value) - (a[z + 1] ?? 0)) * d[z]!) + f(0.1))
  );
  assertEquals([...m.next.subarray(origin, origin + 6)], expected);
});

Deno.test("pads become the periodic images, corners too, in grids thinner than the reach", async () => {
  for (const grid of [[1, 1, 1], [2, 3, 1], [5, 4, 3], [1, 2, 9]] as Grid[]) {
    const [nx, ny, nz] = grid, reach = 3;
    const update = add(tap(reach, 0, 0), tap(0, reach, 0), tap(0, 0, reach));
    const m = await instantiate(updateOf(update), {
      grid,
      boundaries: ["periodic", "periodic", "periodic"],
      pad: [reach, reach, reach],
    });
    const { origin, slice, pitch } = m.layout;
    const index = (x: number, y: number, z: number): number => origin + x * slice + y * pitch + z;
    const wrap = (i: number, n: number): number => ((i % n) + n) % n;
    const name = (x: number, y: number, z: number): number => 1 + (x * 10 + y) * 10 + z;
    for (let x = 0; x < nx; x++) {
      for (let y = 0; y < ny; y++) {
        for (let z = 0; z < nz; z++) m.current[index(x, y, z)] = name(x, y, z);
      }
    }
    m.exports.wrapRows(m.addresses[0], 0, nx, 0, ny);
    m.exports.copyRows(m.addresses[0], 0, nx, -reach, 0);
    m.exports.copyRows(m.addresses[0], 0, nx, ny, ny + reach);
    m.exports.copyRows(m.addresses[0], -reach, 0, -reach, ny + reach);
    m.exports.copyRows(m.addresses[0], nx, nx + reach, -reach, ny + reach);
    for (let x = -reach; x < nx + reach; x++) {
      for (let y = -reach; y < ny + reach; y++) {
        for (let z = -reach; z < nz + reach; z++) {
          const image = name(wrap(x, nx), wrap(y, ny), wrap(z, nz));
          assertEquals(m.current[index(x, y, z)], image, `${grid} at ${x}, ${y}, ${z}`);
        }
      }
    }
  }
});

Deno.test("modules of all orders are valid and small", () => {
  for (const order of WAVE_ORDERS) {
    const reach = order / 2;
    const layout = layOut([64, 64, 101], { pad: [reach, reach, reach] });
    const bytes = writeWasm({
      update: wave(order).update,
      layout,
      boundaries: ["zero", "periodic", "periodic"],
    });
    assert(WebAssembly.validate(bytes));
    assert(bytes.length < 32768, `order ${order}: ${bytes.length} bytes`);
  }
});

Deno.test("pads thinner than the reach and neighbours of F(t−1) are refused", () => {
  const boundaries: AxisBoundaries = ["zero", "zero", "zero"];
  const layout = layOut([4, 4, 4], { pad: [2, 1, 2] });
  assertThrows(
    () => writeWasm({ update: wave(4).update, layout, boundaries }),
    RangeError,
    "reach 2, 2, 2",
  );
  assertThrows(
    () => writeWasm({ update: updateOf(add(tap(0, 0, 0), tap(0, 1, 0, 1))), layout, boundaries }),
    RangeError,
    "current tap is at 0, 1, 0",
  );
});

Deno.test("a module wants as much memory as a turn's offsets reach, and never more than both arrays take", async () => {
  for (const order of WAVE_ORDERS) {
    for (const nx of [1, 2, 3]) {
      const { update } = wave(order), reach = order / 2;
      const grid: Grid = [nx, 90, 120], boundaries: AxisBoundaries = ["zero", "zero", "zero"];
      await instantiate(update, { grid, boundaries, pad: [reach, reach, reach] });
      const layout = layOut(grid, { pad: [reach, reach, reach] });
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
      const bytes = writeWasm({ update, layout, boundaries });
      await assertRejects(
        () => WebAssembly.instantiate(bytes, { facet: { memory } }),
        WebAssembly.LinkError,
        "smaller than the declared initial",
      );
    }
  }
});
