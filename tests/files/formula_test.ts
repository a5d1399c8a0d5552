import { assertAlmostEquals, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { readFormula } from "../../tuner/files/formula.ts";

Deno.test("formulas have the values that mathematics gives them", () => {
  const x = 0.3, y = -1.25, { exp, sin, cos, sqrt, abs, tanh, log, PI } = Math;
  const cases: readonly (readonly [string, number])[] = [
    ["1 + 2*3", 7],
    ["2 - 3 - 4", -5],
    ["2 / 4 / 8", 1 / 16],
    ["2^3^2", 512],
    ["-2^2", -4],
    ["2^-2", 0.25],
    ["2**3", 8],
    ["-x*y", -x * y],
    ["1 - -x", 1 + x],
    ["+x - +y", x - y],
    ["(1 + x) * (1 - y)", (1 + x) * (1 - y)],
    ["exp(-((x-.5)^2+(y-.5)^2)*200)", exp(-((x - .5) ** 2 + (y - .5) ** 2) * 200)],
    ["sine(2*pi*x) + sin(y) * cosine(x)", sin(2 * PI * x) + sin(y) * cos(x)],
    ["sqrt(abs(y)) / squareRoot(2e1)", sqrt(abs(y)) / sqrt(20)],
    ["max(x, y) - min(x, y)", x - y],
    ["choose(greater(x, y), 1.5e-3, 2)", 1.5e-3],
    ["choose(atLeast(y, x), 1, floor(y))", -2],
    ["tanh(x) + log(x) + power(x, 3)", tanh(x) + log(x) + x ** 3],
  ];
  for (const [text, value] of cases) {
    const formula = readFormula(text, ["x", "y"]), found = formula([x, y]) as number;
    assertAlmostEquals(found, value, 1e-14, text);
    // the last of a row is as it is alone
    const row = formula([x, Float64Array.of(0.5, 2, y)]);
    assertEquals(typeof row === "number" ? row : row.at(-1), found);
  }
});

Deno.test("a formula with a mistake is refused in a line that says where, and nothing is run", () => {
  const wrong = [
    "",
    "1 +",
    "(1",
    "1)",
    "x y",
    "z",
    "x.y",
    "sin x",
    "sin()",
    "sin(1, 2)",
    "max(1)",
    "1..2",
    "0x10",
  ]
    .concat(["constructor(1)", "toString()", "globalThis", "x = 1", "1; 2", "`x`", "x[0]", "'x'", "=>", "."])
    .concat(["(".repeat(9000), "-".repeat(9000), "2^".repeat(9000)]);
  for (const text of wrong) {
    const { message } = assertThrows(() => readFormula(text, ["x", "y"]), RequestError);
    assertStringIncludes(message, "Cannot read the formula");
    assertStringIncludes(message, "is wanted: found ");
    if (message.includes("\n") || message.length > 500) throw new Error(message);
  }
});
