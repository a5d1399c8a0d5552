import { assert, assertEquals, assertRejects } from "@std/assert";
import { heat } from "../../kernels/stencils/heat.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { openDevice } from "../../tuner/devices/open_device.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import type { Snapshot } from "../../tuner/solver/snapshots.ts";
import "../own_thread.ts";

const grid = [13, 11, 20] as const;
const problem: Problem = {
  stencil: heat(1, { fourier: 0.1 }),
  grid,
  boundary: "zero",
  steps: 6,
};
const CONFIGURATIONS: Readonly<Record<string, Configuration>> = {
  "CPU in diamonds": {
    traversal: "diamond-wavefront",
    parameters: { tiles: 1, levels: 4, block: 4 },
    share: { cpuSlices: 13, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 },
  },
  "GPU and CPU": {
    traversal: "stepwise",
    parameters: { threadsZ: 8, threadsY: 4, threadsX: 1 },
    share: { cpuSlices: 5, gpuSlices: 8, exchangeEvery: 3, cpuWorkers: 1 },
  },
};

/** Fields at t = 0, 1, … by plain loops in f64: a cell becomes itself and 0.1 of its differences to the six around it. */
function fieldsOf(start: Float32Array, steps: number): Float64Array[] {
  const [nx, ny, nz] = grid, all = [Float64Array.from(start)];
  for (let t = 0; t < steps; t++) {
    const now = all[t]!;
    const at = (x: number, y: number, z: number): number => {
      const isInside = x >= 0 && y >= 0 && z >= 0 && x < nx && y < ny && z < nz;
      return isInside ? now[(x * ny + y) * nz + z]! : 0;
    };
    all.push(now.map((value, i) => {
      const x = Math.floor(i / (ny * nz)),
        y = Math.floor(i / nz) % ny,
        z = i % nz;
      const sides = at(x + 1, y, z) + at(x - 1, y, z) + at(x, y + 1, z) +
        at(x, y - 1, z) + at(x, y, z + 1) +
        at(x, y, z - 1);
      return value + 0.1 * (sides - 6 * value);
    }));
  }
  return all;
}

for (const [name, configuration] of Object.entries(CONFIGURATIONS)) {
  Deno.test(`snapshots of a box with a stride equal loops in f64, whatever the runs: ${name}`, async () => {
    const device = configuration.share.gpuSlices > 0 ? await openDevice() : null;
    {
      await using solver = await createSolver(device, problem, configuration);
      await solver.initialise("noise");
      const field = solver.problem.stencil.update.fields[0]!,
        start = await solver.read();
      const some: Snapshot[] = [], whole: Snapshot[] = [];
      const box = { low: [2, 1, 3], size: [9, 8, 16] } as const;
      await solver.addSnapshots(field, {
        every: 4,
        box,
        stride: 3,
        onSnapshot: (one) => void some.push(one),
      });
      for (const steps of [0, 3, 1]) await solver.run(steps);
      await solver.addSnapshots(field, {
        every: 5,
        onSnapshot: async (one) => {
          await Promise.resolve();
          whole.push(one);
        },
      });
      await solver.run(9);
      const expected = fieldsOf(start, 13);
      assertEquals(some.map(({ step }) => step), [0, 4, 8, 12]);
      for (const { step, size, values } of some) {
        assertEquals(size, [3, 3, 6]);
        assertEquals(values.length, 54);
        values.forEach((value, i) => {
          const [x, y, z] = [
            2 + 3 * Math.floor(i / 18),
            1 + 3 * (Math.floor(i / 6) % 3),
            3 + 3 * (i % 6),
          ];
          assert(
            Math.abs(value - expected[step]![(x * 11 + y) * 20 + z]!) < 1e-5,
            `${step}: ${x}, ${y}, ${z}`,
          );
        });
      }
      assertEquals(whole.map(({ step, size }) => [step, ...size]), [[
        5,
        ...grid,
      ], [10, ...grid]]);
      for (const { step, values } of whole) {
        values.forEach((value, i) => assert(Math.abs(value - expected[step]![i]!) < 1e-5, `${step}: ${i}`));
      }
      await solver.initialise("noise", 2);
      await solver.run(0);
      assertEquals([some.at(-1)!.step, whole.at(-1)!.step], [0, 0]);
      await solver.reset();
      await solver.run(1);
      assertEquals([some.length, whole.length], [5, 3]);
    }
    device?.destroy();
  });
}

Deno.test("what cannot be a snapshot is refused in one line, and a callback that throws ends the run there", async () => {
  await using solver = await createSolver(
    null,
    problem,
    CONFIGURATIONS["CPU in diamonds"]!,
  );
  const field = problem.stencil.update.fields[0]!, onSnapshot = (): void => {};
  const refusals: [() => Promise<void>, string][] = [
    [
      () => solver.addSnapshots("q", { every: 1, onSnapshot }),
      `must be one of ${field}: found "q"`,
    ],
    [
      () => solver.addSnapshots(field, { every: 0, onSnapshot }),
      "every must be a whole number from 1 up: found 0",
    ],
    [
      () => solver.addSnapshots(field, { every: 1, stride: 1.5, onSnapshot }),
      "stride must be a whole number",
    ],
    [
      () =>
        solver.addSnapshots(field, {
          every: 1,
          box: { low: [5, 0, 0], size: [9, 1, 1] },
          onSnapshot,
        }),
      "the box must lie within the 13 × 11 × 20 cells",
    ],
    [
      () => solver.addSnapshots(field, { every: 1 } as never),
      "onSnapshot must be a function",
    ],
  ];
  for (const [ask, message] of refusals) {
    await assertRejects(ask, RangeError, message);
  }
  await solver.addSnapshots(field, {
    every: 2,
    onSnapshot({ step }) {
      if (step === 4) throw new Error("the disk is full");
    },
  });
  await assertRejects(() => solver.run(9), Error, "the disk is full");
  assertEquals(solver.step, 4);
  await solver.run(1);
  assertEquals(solver.step, 5);
});
