import { assertLess } from "@std/assert";
import { ACCURACY_CASES, type AccuracyCase, measureAccuracy } from "../../bench/accuracy.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { THOROUGH } from "../thorough.ts";
import "../own_thread.ts";

/** Errors that random rounding explains grow to this; those of weights rounded one by one are ten times larger. */
async function assertKeeps(
  one: AccuracyCase,
  steps: number,
  most: Record<"constant" | "wave" | "sum", number>,
): Promise<void> {
  const pool = await CpuPool.create({ workers: 1 });
  try {
    const { constant, wave = 0, sum } = await measureAccuracy(pool, one, steps);
    assertLess(constant, most.constant, "a constant");
    assertLess(wave, most.wave, "a long wave");
    assertLess(sum, most.sum, "the sum");
  } finally {
    pool.dispose();
  }
}

for (const one of ACCURACY_CASES) {
  const { title, name, variant } = one.stencil;
  const isWave = name === "wave",
    isSmall = variant.order === 2 || variant.delta === 1 || variant.points === 5 ||
      name === "heat-1d";

  if (isSmall) {
    Deno.test(`${title}: constants, a long wave and the sum are kept for 1,000 steps`, async () => {
      const most = isWave
        ? { constant: 1e-4, wave: 2e-4, sum: 2e-4 }
        : { constant: 1e-6, wave: 2e-5, sum: 2e-6 };
      await assertKeeps(one, 1000, most);
    });
  }
  Deno.test({
    name: `${title}: constants, a long wave and the sum are kept for 10,000 steps`,
    ignore: !THOROUGH,
    fn: () =>
      assertKeeps(
        one,
        10_000,
        isWave ? { constant: 0.1, wave: 1e-3, sum: 4e-3 } : { constant: 1e-6, wave: 4e-5, sum: 2e-5 },
      ),
  });
}
