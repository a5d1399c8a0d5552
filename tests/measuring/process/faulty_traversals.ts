import { stepwise } from "../../../kernels/traversals/stepwise/stepwise.ts";
import type { GpuPlan, Traversal } from "../../../kernels/traversals/traversal.ts";

/**
 * Loops within loops, with a long body: software drivers cut them after 65,535 turns of all. No optimiser sees how
 * they end.
 */
const HANG = `
  var mix = u32(id.x) + 1u;
  for (var a = 0u; a < 60000u; a++) {
    for (var b = 0u; b < 60000u; b++) {
      for (var c = 0u; c < 60000u; c++) {
        ${"mix = mix * 1664525u + (mix >> 3u) + c;\n".repeat(1000)}
      }
    }
  }
  if (mix == 12345u) { return; }
`;

/** Stepwise kernels with something wrong with them; they are found by their names. */
export function FAULTY({ loseDevice }: { loseDevice: () => void }): Traversal[] {
  const variant = (name: string, change: (plan: GpuPlan) => GpuPlan): Traversal => ({
    ...stepwise,
    name,
    plan: (problem, parameters) => change(stepwise.plan(problem, parameters)),
  });
  return [
    variant("hangs", (plan) => ({
      ...plan,
      shaders: plan.shaders.map((shader) => ({
        ...shader,
        code: shader.code.replace(/fn main([^{]*)\{/, `fn main$1{${HANG}`),
      })),
    })),
    variant("crashes", () => Deno.exit(139)),
    variant("loses", (plan) => {
      loseDevice();
      return plan;
    }),
  ];
}
