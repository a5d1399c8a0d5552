import { assertEquals } from "@std/assert";
import { constant, type Expression, fold, NUMBERS, type Tap, tap } from "../../kernels/expression.ts";
import { add, multiply, subtract } from "../../kernels/operations.ts";
import { updateWriter, writeFloat } from "../../kernels/wgsl/write_update.ts";

const A = tap(0, 0, 0), B = tap(1, 0, 0), C = tap(2, 0, 0), D = tap(3, 0, 0);
const nameOf = ({ offset: [x] }: Tap): string => "abcd".charAt(x);

function written(update: Expression): string {
  return updateWriter([update]).write({ tap: nameOf }).values[0]!;
}

Deno.test("parentheses stand where the tree needs them, and nowhere else", () => {
  assertEquals(written(add(A, B, C)), "a + b + c");
  assertEquals(written(add(A, add(B, C))), "a + (b + c)");
  assertEquals(written(subtract(subtract(A, B), C)), "a - b - c");
  assertEquals(written(subtract(A, subtract(B, C))), "a - (b - c)");
  assertEquals(written(subtract(A, add(B, C))), "a - (b + c)");
  assertEquals(written(add(A, multiply(B, C))), "a + b * c");
  assertEquals(written(multiply(add(A, B), C)), "(a + b) * c");
  assertEquals(written(multiply(A, subtract(B, C))), "a * (b - c)");
  assertEquals(written(multiply(multiply(A, B), C)), "a * b * c");
  assertEquals(written(multiply(A, multiply(B, C))), "a * (b * c)");
});

Deno.test("what is written means the tree, for every tree of four taps", () => {
  const values: Record<string, number> = { a: 3, b: -5, c: 7, d: 11 };
  const evaluate = (update: Expression): number =>
    fold<number>(update, {
      ...NUMBERS,
      tap: (one) => values[nameOf(one)]!,
    });
  const trees = (taps: readonly Tap[]): Expression[] => {
    if (taps.length <= 1) return [...taps];
    return taps.slice(1).flatMap((_, i) =>
      trees(taps.slice(0, i + 1)).flatMap((left) =>
        trees(taps.slice(i + 1)).flatMap((
          right,
        ) => [add(left, right), subtract(left, right), multiply(left, right)])
      )
    );
  };
  const all = trees([A, B, C, D]);
  assertEquals(all.length, 5 * 27);
  for (const tree of all) {
    const text = written(tree);
    const meaning = new Function(...Object.keys(values), `return ${text};`)(...Object.values(values));
    assertEquals(meaning, evaluate(tree), text);
  }
});

Deno.test("constants are declared once, in order of appearance, as what f32 holds", () => {
  const update = add(multiply(constant(0.1), A), multiply(constant(-2), B), multiply(constant(0.1), C));
  const { constants, write } = updateWriter([update]);
  assertEquals(constants, "const W0 = 0.10000000149011612f;\nconst W1 = -2.0f;");
  assertEquals(write({ tap: nameOf }).values, ["W0 * a + W1 * b + W0 * c"]);
});

Deno.test("writeFloat writes an f32 literal that is read back as the nearest f32", () => {
  assertEquals([1, -3, 0.5, 1e-9, 1e30].map(writeFloat), [
    "1.0f",
    "-3.0f",
    "0.5f",
    "9.999999717180685e-10f",
    "1.0000000150474662e+30f",
  ]);
  for (const value of [1 / 3, Math.PI, 1e-40, 2 ** 24 + 1, 16777217.5]) {
    assertEquals(Math.fround(Number(writeFloat(value).slice(0, -1))), Math.fround(value));
  }
});
