import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { isFarBehind, whySharingIsFutile } from "../../tuner/tune/cpu_worth.ts";

Deno.test("what nobody has measured rules nothing out", () => {
  for (const isFallback of [false, true]) {
    assertEquals(whySharingIsFutile({ cpu: undefined, gpu: 1e9 }, { isFallback }), undefined);
  }
  assertEquals(whySharingIsFutile({ cpu: 1e9, gpu: undefined }, { isFallback: false }), undefined);
  assertEquals([isFarBehind({ cpu: 1, gpu: undefined }), isFarBehind({ cpu: undefined, gpu: 1 })], [
    false,
    false,
  ]);
});

Deno.test("sharing is tried where the sum of both is more than one percent above the GPU alone", () => {
  const rate = fc.double({ min: 1e6, max: 1e12, noNaN: true });
  fc.assert(fc.property(rate, rate, (cpu, gpu) => {
    const why = whySharingIsFutile({ cpu, gpu }, { isFallback: false });
    assertEquals(why === undefined, cpu >= 0.01 * gpu, why);
    // a CPU that may win is always measured
    assertEquals(isFarBehind({ cpu, gpu }) && cpu > gpu, false);
  }));
});

Deno.test("cores that compute as a GPU in software are shared with it only while that is faster", () => {
  const why = (cpu: number): string | undefined =>
    whySharingIsFutile({ cpu, gpu: 1e9 }, { isFallback: true });
  assertEquals(why(0.9e9), undefined);
  assertEquals(why(1e9), "the GPU is software, and the same cores are faster without it");
});
