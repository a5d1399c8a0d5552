import { assert, assertEquals, assertMatch } from "@std/assert";
import { describeDisturbance } from "../../tuner/measuring/disturbance.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { normal } from "./simulated_device.ts";

/** Samples around a rate in Gcells/s, whose logarithms have this standard deviation. */
function around(rate: number, count: number, { draw, deviation = 0.03 }: {
  draw: () => number;
  deviation?: number;
}): number[] {
  return Array.from({ length: count }, () => 1e9 * rate * Math.exp(deviation * normal(draw)));
}

Deno.test("samples of two groups are said to be, wherever the median falls", () => {
  const draw = seededRandom(1);
  for (const [slow, fast] of [[5, 5], [4, 10], [18, 12], [40, 20]] as const) {
    const samples = [...around(4.2, fast, { draw }), ...around(2.3, slow, { draw })];
    const said = describeDisturbance(samples) ?? "";
    assertMatch(
      said,
      new RegExp(
        `^${slow} of ${slow + fast} samples are near 2\\.[1234]\\d Gcells/s, the others near 4\\.[01234]`,
      ),
    );
    assertMatch(said, /: other programs or a clock that changes may have .*; try an idle machine, or/);
  }
});

Deno.test("a few samples far from the others are outliers, on either side", () => {
  const draw = seededRandom(2);
  const slow = [...around(4.2, 20, { draw }), 1.1e9, 2.2e9];
  assertMatch(
    describeDisturbance(slow)!,
    /^outliers: 2 of 22 samples, the farthest at 1\.10 Gcells\/s: other/,
  );
  const fast = [...around(4.2, 20, { draw }), 9e9];
  assertMatch(
    describeDisturbance(fast)!,
    /^outliers: 1 of 21 samples, the farthest at 9\.00 Gcells\/s: other/,
  );
});

Deno.test("noise is no disturbance, nor are differences that nobody minds, nor too few samples", () => {
  const draw = seededRandom(3);
  let said = 0;
  for (let run = 0; run < 1000; run++) {
    const samples = around(4.2, 10 + Math.floor(50 * draw()), { draw, deviation: 0.05 });
    if (describeDisturbance(samples) !== undefined) said++;
  }
  assert(said < 20, `${said} of 1,000`);
  const steady = around(4.2, 30, { draw, deviation: 1e-4 });
  assertEquals(describeDisturbance([...steady, 4e9, 4.4e9]), undefined);
  assertEquals(describeDisturbance([...steady.slice(0, 20), ...Array(20).fill(4.1e9)]), undefined);
  assertEquals(describeDisturbance([1e9, 1e9, 1e9, 9e9, 9e9, 9e9]), undefined);
  assertEquals(describeDisturbance(Array(20).fill(1e9)), undefined);
});
