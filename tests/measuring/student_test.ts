import { assert, assertAlmostEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { studentQuantile } from "../../tuner/measuring/student.ts";

Deno.test("quantiles are those of the printed tables", () => {
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2
  const table: Readonly<Record<number, readonly number[]>> = {
    1: [3.078, 12.706, 31.821, 63.657],
    2: [1.886, 4.303, 6.965, 9.925],
    3: [1.638, 3.182, 4.541, 5.841],
    7: [1.415, 2.365, 2.998, 3.499],
    30: [1.310, 2.042, 2.457, 2.750],
    99: [1.290, 1.984, 2.365, 2.626],
  };
  for (const [degrees, wanted] of Object.entries(table)) {
    [0.9, 0.975, 0.99, 0.995].forEach((probability, i) =>
      assertAlmostEquals(studentQuantile(probability, Number(degrees)), wanted[i]!, 6e-4, degrees)
    );
  }
});

Deno.test("more probability lies below a larger t, and more degrees of freedom need less of it", () => {
  const property = fc.property(
    fc.double({ min: 0.501, max: 0.9999, noNaN: true }),
    fc.integer({ min: 1, max: 200 }),
    (probability, degrees) => {
      const t = studentQuantile(probability, degrees);
      assert(studentQuantile((1 + probability) / 2, degrees) > t);
      assert(studentQuantile(probability, degrees + 1) < t);
      // 1, 2 degrees in closed form: Cauchy's, and 2 p − 1 = t / √(2 + t²)
      const central = 2 * probability - 1;
      assertAlmostEquals(studentQuantile(probability, 1) / Math.tan(Math.PI / 2 * central), 1, 1e-9);
      assertAlmostEquals(
        studentQuantile(probability, 2) / (central * Math.sqrt(2 / (1 - central ** 2))),
        1,
        1e-9,
      );
    },
  );
  fc.assert(property, { seed: 1 });
});

Deno.test("what is no probability or no number of degrees is refused", () => {
  for (const wrong of [0.4, 1, NaN]) {
    assertThrows(() => studentQuantile(wrong, 3), RangeError, `it is ${wrong}`);
  }
  for (const wrong of [0, 1.5, NaN, Infinity]) {
    assertThrows(() => studentQuantile(0.9, wrong), RangeError, `it is ${wrong}`);
  }
});
