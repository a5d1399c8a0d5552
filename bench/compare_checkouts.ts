/**
 * Measures the CPU's workers of several checkouts of this repository in turns, beside the loops in C:
 *
 * ```sh
 * git worktree add /tmp/before COMMIT
 * deno run -A bench/compare_checkouts.ts 6 2 wave:2:256 /tmp/before native . '.{"tiles":8,"band":16,"block":4}'
 * ```
 *
 * Seconds, workers, equation with its variant and the cube's side; then the ways: a checkout with or without a shape, `c`
 * or `native`. Prints rates in Gcells/s and the median ratio, turn by turn, to the first way.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Stencil } from "../kernels/stencils/stencil.ts";
import type { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { median } from "../tuner/measuring/statistics.ts";
import { C_COMPILER, NATIVE_COMPILER, NativeLoops } from "./native_loops.ts";
import { medianRatio, takeTurns, WARM_UP_TURNS } from "./take_turns.ts";

/** Steps of a sample: whole diamonds. */
const STEPS = 32;

const [seconds, workerText, equationText, ...ways] = Deno.args;
const workers = Number(workerText), [name, variant, side] = equationText!.split(":");
const n = Number(side);

/** The equation as a checkout has it. */
async function equationOf(root: string) {
  const { layOut } = await import(`${root}/kernels/layout.ts`) as typeof import("../kernels/layout.ts");
  const { planesOf, reachOf } = await import(
    `${root}/kernels/update.ts`
  ) as typeof import("../kernels/update.ts");
  const stencils = await import(`${root}/kernels/stencils/${name}.ts`);
  const { update } = stencils[name!](Number(variant)) as Stencil, { x, y, z } = reachOf(update);
  return { update, layout: layOut([n, n, n], { pad: [x, y, z], planes: planesOf(update) }) };
}

/** A way's nanoseconds of a run. */
async function open(way: string): Promise<() => Promise<number>> {
  if (way === "c" || way === "native") {
    const compiler = way === "c" ? C_COMPILER : NATIVE_COMPILER;
    const loops = await NativeLoops.create(await equationOf(resolve(".")), { compiler, threads: workers });
    if (loops === undefined) throw new Error("Cannot run the loops in C: there is no gcc");
    return () => loops.run(STEPS);
  }
  const [path, shape] = way.includes("{")
    ? [way.slice(0, way.indexOf("{")), way.slice(way.indexOf("{"))]
    : [way];
  const root = resolve(path!);
  // where the workers are, and where they were
  const files = ["devices/cpu", "backends"].map((folder) => `${root}/tuner/${folder}/wasm_workers.ts`);
  const file = files.find((one) => existsSync(one))!;
  const { CpuPool: Pool } = await import(file) as { CpuPool: typeof CpuPool };
  const pool = await Pool.create({ workers });
  const order = shape === undefined ? {} : { shape: JSON.parse(shape) };
  const field = await pool.load({ ...await equationOf(root), boundary: "zero", ...order });
  await field.initialise({ kind: "noise", seed: 0 });
  return () => field.run({ steps: STEPS });
}

const runs = [];
for (const way of ways) runs.push(await open(way));
const samples = await takeTurns(runs, {
  untilMs: performance.now() + Number(seconds) * 1e3,
  warmUp: WARM_UP_TURNS,
});
for (const [i, way] of ways.entries()) {
  const rate = STEPS * n ** 3 / median(samples[i]!), ratio = medianRatio(samples[0]!, samples[i]!);
  console.log(`${way}: ${rate.toFixed(2)} Gcells/s, ${ratio.toFixed(2)} of the first`);
}
Deno.exit();
