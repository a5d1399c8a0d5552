import { assertEquals, assertRejects } from "@std/assert";
import {
  block,
  branch,
  branchIf,
  type Code,
  FLOATS,
  i32,
  Local,
  loop,
  select,
  v128,
  when,
  writeModule,
} from "../../kernels/wasm/instructions.ts";

const { f32 } = FLOATS;

/** Runs a function's body once on a memory of some pages; returns the memory. */
async function run(body: readonly Code[], locals: readonly Local[] = [], pages = 1): Promise<DataView> {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: 65536, shared: true });
  const bytes = writeModule([{ name: "run", parameters: [], locals, body }], pages * 65536);
  const { instance } = await WebAssembly.instantiate(bytes, { facet: { memory } });
  (instance.exports.run as () => void)();
  return new DataView(memory.buffer);
}

/** Numbers about each length of their encoding. */
const LENGTHS = [6, 7, 13, 14, 20, 21, 27, 28].flatMap((bits) => [2 ** bits - 1, 2 ** bits]);

Deno.test("whole numbers of every length keep their value and sign", async () => {
  for (const value of [0, 1, ...LENGTHS, 2 ** 31 - 1].flatMap((value) => [value, -value, ~value])) {
    // value − (value − 8) = 8, whatever the value
    const address = i32.sub(i32.const(value), i32.const(value - 8 | 0));
    const isNegative = i32.lt_s(i32.const(value), i32.const(0));
    const memory = await run([
      f32.store(0, address, f32.const(1.5)),
      when(isNegative, [f32.store(4, address, f32.const(2))], [f32.store(4, address, f32.const(3))]),
    ]);
    assertEquals(
      [memory.getFloat32(8, true), memory.getFloat32(12, true)],
      [1.5, value < 0 ? 2 : 3],
      `${value}`,
    );
  }
});

Deno.test("offsets of every length", async () => {
  for (const offset of LENGTHS.filter((value) => value < 2 ** 22)) {
    const memory = await run([f32.store(offset, i32.const(4), f32.const(-0.1))], [], 65);
    assertEquals(memory.getFloat32(offset + 4, true), Math.fround(-0.1), `${offset}`);
  }
});

Deno.test("locals of several types, declared in any order, are different ones", async () => {
  const numbers = Array.from({ length: 300 }, (_, i) => new Local(i % 3 === 0 ? "i32" : "f32"));
  const memory = await run([
    ...numbers.map((local, i) => local.set(local.type === "i32" ? i32.const(i) : f32.const(i))),
    ...numbers.map((local, i) => {
      if (local.type === "f32") return f32.store(4 * i, i32.const(0), local.get());
      // a byte offset, where it keeps its own number
      return f32.store(4, i32.mul(local.get(), i32.const(4)), f32.const(0));
    }),
  ], numbers);
  // every third clears the one behind it, before that is stored
  const wanted = numbers.map(({ type }, i) => type === "f32" ? i : 0);
  assertEquals(numbers.map((_, i) => memory.getFloat32(4 * i, true)), wanted);
});

Deno.test("a loop ends where its branch leaves it, and a choice takes the value that is meant", async () => {
  const i = new Local("i32"), at = (): Code => i32.shl(i.get(), i32.const(2));
  const memory = await run([
    block([loop([
      branchIf(1, i32.ge_s(i.get(), i32.const(5))),
      f32.store(0, at(), f32.const(7)),
      i.set(i32.add(i.get(), i32.const(1))),
      branch(0),
    ])]),
    f32.store(0, select(i32.const(40), i32.const(44), i32.const(0)), f32.const(9)),
  ], [i]);
  const values = Array.from({ length: 12 }, (_, cell) => memory.getFloat32(4 * cell, true));
  assertEquals(values, [7, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 9]);
});

Deno.test("a function that is no valid one is refused when it is compiled", async () => {
  await assertRejects(() => run([v128.load(0, i32.const(0))]), WebAssembly.CompileError);
});
