/**
 * A rank whose GPU is lost while it computes, in `lost_rank_test.ts`: the device is destroyed under it.
 *
 * @module
 */
import { onRanks } from "../../tuner/cli/on_ranks.ts";
import { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { openRank } from "./local_world.ts";
import { life } from "../../kernels/stencils/life.ts";
import { planOf } from "../../models/rank_part.ts";
import type { World } from "../../tuner/devices/world.ts";

async function work(world: World): Promise<number> {
  const gpu = (await GpuDevice.open())!;
  const problem = { stencil: life(), grid: [8, 16, 16], boundary: "zero", steps: 8 } as const;
  const plan = planOf(problem, { parts: [1, world.size, 1], exchangeEvery: 2, rates: [1, 1] })!;
  using solver = await openRank(world, { gpu, cpuPool: undefined }, problem, [], { plan });
  await solver.initialise("binary");
  await solver.run(20);
  if (world.rank === 1) gpu.device.destroy();
  await solver.run(100_000);
  return 0;
}

Deno.exit(
  await onRanks("solve", [], {
    usage: "",
    about: "",
    options: {},
    read: () => Promise.resolve({ request: {}, check: () => Promise.resolve(), values: { cpuWorkers: 1 } }),
    work,
  }),
);
