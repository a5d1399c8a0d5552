/**
 * Rates of `volume-torre` on a GPU by the device's clock, one configuration after another, the most telling first: waves with
 * a velocity in each cell, sound with absorbing edges, with and without a survey, periodic ends, plain waves and heat.
 *
 *     deno run -A bench/volume_rates.ts --seconds 115
 *
 * Each line has the problem, the cells of an edge, the parameters and Gcells/s, or why there is no rate.
 *
 * @module
 */
import { parseArgs } from "@std/cli";
import { acoustic, add, equation, heat, laplacian, multiply, type Problem, subtract, wave } from "../mod.ts";
import { volumeTorre } from "../kernels/traversals/volume_torre/volume_torre.ts";
import { detectDevice } from "../tuner/devices/device.ts";
import { DeviceSession } from "../tuner/devices/session.ts";
import { evaluateOn } from "../tuner/measuring/evaluate.ts";
import { plannedProblem } from "../kernels/planned_problem.ts";

const velocity = (order: number) =>
  equation({
    name: "velocity",
    fields: { p: [-1, 1] },
    materials: { v: { values: [0.1, 0.05, 0.08, 0.06, 0.04, 0.07, 0.09, 0.03] } },
    step({ p, v }) {
      const pull = multiply(v, laplacian(p, { order }));
      return { p: add(subtract(multiply(2, p), p.before()), pull) };
    },
  });
const sound = (order: number) => acoustic({ order, edges: 30 });
const survey = { sources: 1, receivers: 1000 };

/** A problem's equation, and what it has beside zeros around it. */
const PROBLEMS: Readonly<Record<string, Pick<Problem, "stencil"> & Partial<Problem>>> = {
  "velocity 2": { stencil: velocity(2) },
  "velocity 4": { stencil: velocity(4) },
  "survey 2": { stencil: sound(2), survey },
  "survey 4": { stencil: sound(4), survey },
  "edges 2": { stencil: sound(2) },
  "edges 4": { stencil: sound(4) },
  "periodic wave 2": { stencil: wave(2), boundary: "periodic" },
  "wave 2": { stencil: wave(2) },
  "wave 4": { stencil: wave(4) },
  "heat 1": { stencil: heat(1) },
  "heat 2": { stencil: heat(2) },
};

const NAMES = ["side", "patchA", "patchB", "patchC", "phases", "ahead", "nt", "bands"];
const JOBS: readonly (readonly [problem: string, edge: number, steps: number, parameters: string])[] = [
  ["survey 2", 572, 960, "16 4 2 2 2 2 80 12"],
  ["survey 2", 572, 960, "16 4 2 2 2 1 80 12"],
  ["survey 4", 572, 960, "16 4 2 2 2 2 80 6"],
  ["survey 4", 572, 960, "16 4 2 2 2 1 48 12"],
  ["velocity 2", 512, 960, "16 4 2 2 2 2 80 12"],
  ["velocity 4", 512, 960, "16 4 2 2 2 2 80 6"],
  ["periodic wave 2", 512, 960, "16 2 4 4 2 2 16 1"],
  ["edges 2", 572, 960, "16 4 2 2 2 2 80 12"],
  ["edges 4", 572, 960, "16 4 2 2 2 2 80 6"],
  ["edges 4", 572, 960, "16 4 2 2 2 1 48 12"],
  ["survey 4", 1144, 192, "16 4 2 2 2 1 48 3"],
  ["velocity 2", 1024, 256, "16 4 2 2 2 2 64 3"],
  ["periodic wave 2", 512, 960, "20 2 4 4 2 2 16 1"],
  ["velocity 2", 512, 960, "16 2 2 4 2 2 64 12"],
  ["velocity 4", 512, 960, "16 2 2 4 2 2 48 12"],
  ["wave 2", 512, 960, "16 4 4 2 2 2 80 12"],
  ["wave 4", 512, 960, "16 2 2 4 2 4 80 8"],
  ["heat 1", 512, 960, "16 2 4 4 2 2 64 12"],
  ["heat 2", 512, 960, "16 2 2 4 2 4 80 8"],
  ["wave 2", 256, 1920, "16 4 2 4 2 2 32 12"],
  ["wave 2", 1024, 320, "16 2 4 4 2 2 64 3"],
  ["wave 4", 1024, 192, "16 2 2 4 1 4 32 3"],
];

const { seconds = "115", edge } = parseArgs(Deno.args, { string: ["seconds", "edge"] });
const device = await detectDevice();
if (!device.gpu) throw new Error("a GPU is wanted");
console.log(device.gpu.description);
const session = new DeviceSession({ device, checksReference: false }), began = performance.now();
for (const [name, usual, steps, values] of JOBS) {
  if (performance.now() - began > 1000 * Number(seconds)) break;
  const n = Number(edge ?? usual), { boundary = "zero", ...given } = PROBLEMS[name]!;
  const problem = plannedProblem({ ...given, grid: [n, n, n], boundary, steps });
  const parameters = Object.fromEntries(values.split(" ").map((value, i) => [NAMES[i]!, Number(value)]));
  const refused = volumeTorre.infeasible(problem, parameters, device.gpu.limits);
  const share = { cpuSlices: 0, gpuSlices: n, exchangeEvery: steps, cpuWorkers: 0 };
  const found = refused ??
    await evaluateOn(session, { traversal: "volume-torre", parameters, share }, {
      problem,
      samplingNs: 8e8,
      minSamples: 2,
    });
  const result = "measurement" in found && found.measurement
    ? (found.measurement.cellsPerSecond / 1e9).toFixed(1)
    : JSON.stringify("failure" in found ? found.failure : found);
  console.log(name.padEnd(16), `${n}`.padStart(5), values.padEnd(22), result);
}
Deno.exit(0);
