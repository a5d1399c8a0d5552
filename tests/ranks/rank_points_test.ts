import type { FloatArray } from "../../kernels/precision.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { along, equation } from "../../kernels/equation.ts";
import { add, divide, multiply, subtract } from "../../kernels/operations.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { GpuPoints } from "../../tuner/devices/gpu/gpu_points.ts";
import { openDevice } from "../../tuner/devices/open_device.ts";
import type { Position } from "../../tuner/devices/survey.ts";
import type { FieldSolver } from "../../tuner/solver/field_solver.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { onRanks, problemOfCase, type RankCase } from "./rank_case.ts";
import "../own_thread.ts";
import { SMALL_TORRE } from "../kernels/small_torre.ts";

/** A wave whose source counts by a material and a profile along y; its signature is added within a product. */
const sound = equation({
  name: "sound",
  fields: { p: [-1, 1] },
  materials: { m: [0.05, 0.2], d: along("y", [0, 0.1]) },
  sources: { s: [-1, 1] },
  step({ p, m, d, s }) {
    const around = add(p.at(1), p.at(-1), p.at(0, 1), p.at(0, -1), p.at(0, 0, 1), p.at(0, 0, -1));
    const next = add(
      subtract(multiply(2, p), p.before()),
      multiply(m, add(around, multiply(-6, p), s)),
    );
    return { p: divide(next, add(1, d)) };
  },
});
const grid = [13, 11, 20] as const;
const mAt = (x: number, y: number, z: number): number => 0.05 + 0.01 * ((3 * x + 5 * y + 7 * z) % 13);
const dAt = (y: number): number => 0.01 * (y % 7);

/** Where parts meet, at corners, in ghost zones, and between cells of eight ranks. */
const SOURCES: readonly Position[] = [[6.5, 5.25, 9.5], [0, 0, 0], [12, 10, 19], [5, 4, 8], [7, 10, 0], [
  0.4,
  5.5,
  19,
]];
const RECEIVERS: readonly Position[] = [
  ...SOURCES,
  [6, 5, 10],
  [6.2, 5.9, 9.3],
  [4, 5.5, 11],
  [12, 0, 10],
  [6.5, 0, 18.5],
];
const signatureOf = (i: number): number[] => Array.from({ length: 9 }, (_, t) => Math.sin(i + 0.7 * t));

const survey = { sources: 1, receivers: 1 }, SOUND = { stencil: sound, grid, survey };
const CASES: readonly RankCase[] = [
  { ...SOUND, boundary: "zero", parts: [2, 2, 2], exchangeEvery: 2, runs: [3, 5] },
  {
    ...SOUND,
    boundary: "periodic",
    parts: [3, 1, 2],
    exchangeEvery: 1,
    runs: [4, 3],
    rates: [1, 3],
  },
  {
    ...SOUND,
    boundary: ["periodic", "zero", "insulated"],
    parts: [2, 2, 1],
    exchangeEvery: 5,
    runs: [2, 7],
  },
];

/** The calls that a solver and ranks have in common. */
interface Surveyed {
  readonly step: number;
  addSources: Solver["addSources"];
  addReceivers: Solver["addReceivers"];
  traces(): Promise<FloatArray[] | undefined>;
  spectra(): Promise<Float64Array[] | undefined>;
  run(steps: number): Promise<unknown>;
  reset(): Promise<void>;
  noise(): Promise<void>;
  put(name: "m" | "d", value: (x: number, y: number, z: number) => number): Promise<void>;
}

/** Everything that was recorded. */
async function recordOn(solver: Surveyed, [first, second]: readonly number[]): Promise<unknown[]> {
  const found: unknown[] = [];
  const signatures = SOURCES.map((_, i) => signatureOf(i));
  await solver.put("m", mAt);
  await solver.addSources("s", SOURCES, signatures);
  await solver.addReceivers("p", RECEIVERS.slice(0, 7), { every: 2 });
  await solver.put("d", dAt);
  await solver.run(first!);
  // those that come later have zeros before
  await solver.addReceivers("p", RECEIVERS.slice(7), { every: 2, interpolation: "sinc" });
  await solver.run(1);
  found.push(await solver.traces());
  await solver.put("m", (x, y, z) => mAt(z, x, y));
  for (const steps of [second!, 2]) await solver.run(steps);
  found.push(await solver.traces());
  await solver.reset();
  found.push(solver.step, await solver.traces());
  await solver.addReceivers("p", RECEIVERS);
  await solver.addSources("s", [[6.5, 5.5, 9.5]], [1, 0, 0, 0, 1]);
  await solver.run(5);
  found.push(await solver.traces());
  // a record begins anew with the fields
  await solver.run(1);
  await solver.noise();
  await solver.run(3);
  found.push(await solver.traces());
  // other forms of the record
  const streamed: number[] = [];
  await solver.reset();
  await solver.noise();
  await solver.addReceivers("p", RECEIVERS, { frequencies: [0.1, 0.25] });
  await solver.addReceivers("p", RECEIVERS, { onSamples: (_, values) => void streamed.push(...values) });
  await solver.run(5);
  found.push(await solver.spectra(), streamed);
  return found;
}

/** What one solver records. */
async function recordAlone(device: GPUDevice | null, one: RankCase, configuration: Configuration) {
  await using solver = await createSolver(device, problemOfCase(one), configuration);
  return await recordOn(
    Object.assign(solver, {
      put: (name: string, value: typeof mAt) => solver.write(name, value),
      noise: () => solver.initialise("noise", 5),
    }),
    one.runs,
  );
}

/** What ranks record: rank 0 all, others nothing. */
async function recordOnRanks(solvers: readonly FieldSolver[], { runs }: RankCase): Promise<unknown[]> {
  const all = await Promise.all(solvers.map((solver) =>
    recordOn(
      Object.assign(solver, {
        put: (name: string, value: typeof mAt) => solver.write(name, value),
        noise: () => solver.initialise("noise", 5),
      }),
      runs,
    )
  ));
  for (const others of all.slice(1)) {
    assertEquals(others, [[], [], 0, [], [], [], [], []]);
  }
  return all[0]!;
}

const onCpu = ({ grid: [cpuSlices] }: Pick<Problem, "grid">): Configuration => {
  const share = { cpuSlices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  return { traversal: "stepwise", parameters: {}, share };
};

for (const one of CASES) {
  const { parts, boundary, exchangeEvery } = one;
  Deno.test(
    `traces of ${parts.join("x")} ranks, ${boundary} ends, R = ${exchangeEvery}: the bits of one solver`,
    async () => {
      const cpuPool = await CpuPool.create({ workers: 1 });
      try {
        const expected = await recordAlone(null, one, onCpu(one));
        const [, traces] = expected as Float32Array[][];
        assertEquals((expected[7] as number[]).length, 6 * RECEIVERS.length);
        assertEquals([traces!.length, expected[2], expected[3]], [RECEIVERS.length, 0, []]);
        const reached = traces!.filter((trace) => trace.some((value) => Math.abs(value) > 1e-3));
        assert(reached.length >= 9, `${reached.length}`);
        await onRanks(one, { gpu: undefined, cpuPool }, async (solvers) => {
          assertEquals(await recordOnRanks(solvers, one), expected);
        }, onCpu);
      } finally {
        cpuPool.dispose();
      }
    },
  );
}

/** Exact on whole numbers. */
const whole = equation({
  name: "whole",
  fields: { u: [-1, 1] },
  sources: { s: [-1, 1] },
  step: ({ u, s }) => ({ u: subtract(add(u.at(1), u.at(0, -1), u.at(0, 0, 1), u.at(-1), s), u.before()) }),
});

testOnGpu(
  "traces of ranks on a GPU, those of torres too, are one solver's bits; wrong calls are refused",
  async (gpu) => {
    const one: RankCase = {
      stencil: whole,
      survey,
      grid: [9, 16, 8],
      boundary: "zero",
      parts: [1, 2, 1],
      exchangeEvery: 4,
      runs: [7],
    };
    const choose =
      (traversal: string) => ({ grid: [gpuSlices, , nz] }: Pick<Problem, "grid">): Configuration => ({
        traversal,
        parameters: traversal === "stepwise"
          ? { threadsZ: 8, threadsY: 2, threadsX: 1 }
          : traversal === "volume-torre"
          ? { side: 2, patchA: 1, patchB: 1, patchC: 1, phases: 2, ahead: 1, nt: 2, bands: 1 }
          : { ...SMALL_TORRE, threads: nz },
        share: { cpuSlices: 0, gpuSlices, exchangeEvery: 1, cpuWorkers: 0 },
      });
    const record = async (solver: Pick<Surveyed, "addSources" | "addReceivers" | "run" | "traces">) => {
      await solver.run(1);
      await solver.addSources("s", [[4, 7, 3], [4, 8, 3], [8, 10, 7], [0, 15, 0]], [
        1,
        3,
        -2,
        0,
        1,
        5,
        2,
        1,
        4,
      ]);
      await solver.addReceivers("u", [[4, 7, 4], [4, 8, 4], [3.5, 7.5, 3.5], [8, 11, 7], [1, 15, 0]]);
      for (const steps of [2, 5]) await solver.run(steps);
      return await solver.traces();
    };
    const device = await openDevice();
    const alone = await createSolver(device, problemOfCase(one), choose("stepwise")(one));
    await alone.initialise("integers", 3);
    const expected = await record(alone);
    await alone[Symbol.asyncDispose]();
    device?.destroy();
    const { create } = GpuPoints;
    for (const traversal of ["stepwise", "diamond-torre", "volume-torre"]) {
      // as if points left no memory for the four steps of a round
      const most = traversal === "diamond-torre" ? Infinity : 3;
      GpuPoints.create = (gpu, made, watched, steps) =>
        create.call(GpuPoints, gpu, made, watched, Math.min(most, steps));
      await onRanks(one, { gpu, cpuPool: undefined }, async (solvers) => {
        await Promise.all(solvers.map((solver) => solver.initialise("integers", 3)));
        const [traces] = await Promise.all(solvers.map(record));
        assertEquals(traces, expected, traversal);
        for (const solver of solvers) {
          await assertRejects(
            () => solver.addSources("u", [[1, 1, 1]], [1]),
            RangeError,
            'must be one of s: found "u"',
          );
          await assertRejects(
            () => solver.addReceivers("u", [[9, 1, 1]]),
            RangeError,
            "positions must lie within 0 to 8",
          );
        }
      }, choose(traversal)).finally(() => GpuPoints.create = create);
    }
  },
);
