import { assertEquals, assertStringIncludes } from "@std/assert";
import { constant, type Expression, fold, NUMBERS, type Tap, tap } from "../../kernels/expression.ts";
import { add, exponential, multiply, subtract } from "../../kernels/operations.ts";
import { PRECISIONS } from "../../kernels/precision.ts";
import { updateWriter } from "../../kernels/wgsl/write_update.ts";

const A = tap(0, 0, 0), B = tap(1, 0, 0), C = tap(2, 0, 0), D = tap(3, 0, 0);
const nameOf = ({ offset: [x] }: Tap): string => "abcd".charAt(x);

function written(update: Expression): string {
  return updateWriter([update], {}).write({ tap: nameOf }).values[0]!;
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
  const { constants, write } = updateWriter([update], {});
  assertEquals(constants, "const W0 = 0.10000000149011612f;\nconst W1 = -2.0f;");
  assertEquals(write({ tap: nameOf }).values, ["W0 * a + W1 * b + W0 * c"]);
});

Deno.test("a literal is read back as the nearest number of its precision", () => {
  const { f32, f64 } = PRECISIONS;
  assertEquals([1, -3, 0.5, 1e-9, 1e30].map(f32.literal), [
    "1.0f",
    "-3.0f",
    "0.5f",
    "9.999999717180685e-10f",
    "1.0000000150474662e+30f",
  ]);
  assertEquals([1, -3, 0.1, 1e-9, 1e300].map(f64.literal), [
    "1.0lf",
    "-3.0lf",
    "0.1lf",
    "1e-9lf",
    "1e+300lf",
  ]);
  for (const value of [1 / 3, Math.PI, 1e-40, 2 ** 24 + 1, 16777217.5]) {
    assertEquals(Math.fround(Number(f32.literal(value).slice(0, -1))), Math.fround(value));
    assertEquals(Number(f64.literal(value).slice(0, -2)), value);
  }
});

Deno.test("constants, powers of two and exponents are those of f64 where the update's values are", () => {
  const update = add(multiply(constant(0.1), A), exponential(B));
  const { constants, write } = updateWriter([update], { precision: "f64" });
  assertStringIncludes(constants, "const W0 = 0.1lf;");
  const shift = "bitcast<vec2f>(bitcast<vec2<u64>>(";
  assertStringIncludes(write({ tap: nameOf, type: "vec2f" }).values[0]!, shift);
});
