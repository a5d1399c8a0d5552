/**
 * Records the shaders of 400 configurations, and compares them with those of another checkout: whether a change of how
 * kernels are written changes what they say.
 *
 *     deno run -A bench/record_shaders.ts BEFORE
 *     deno run -A bench/record_shaders.ts AFTER BEFORE
 *
 * Configurations are drawn from the lists that `tune` searches, always the same; with a second folder they are those of that
 * recording. Bindings are compared by what they bind: their numbers, the names of buffers and the places of declarations
 * are taken out of the texts. Dispatches are compared as a hash. Prints what differs, and exits with 1 if anything does.
 *
 * @module
 */
import { refusalOf } from "../kernels/capability.ts";
import type { DeviceLimits } from "../kernels/device_limits.ts";
import { equation } from "../kernels/equation.ts";
import { add, multiply, subtract } from "../kernels/operations.ts";
import { plannedProblem } from "../kernels/planned_problem.ts";
import { acoustic } from "../kernels/stencils/acoustic.ts";
import { elastic } from "../kernels/stencils/elastic.ts";
import { heat } from "../kernels/stencils/heat.ts";
import { heat1d } from "../kernels/stencils/heat_1d.ts";
import { ks } from "../kernels/stencils/ks.ts";
import { life } from "../kernels/stencils/life.ts";
import { maxwell } from "../kernels/stencils/maxwell.ts";
import type { Problem, Stencil } from "../kernels/stencils/stencil.ts";
import { wave } from "../kernels/stencils/wave.ts";
import { traversalNamed, TRAVERSALS } from "../kernels/traversals/all.ts";
import { scratchNamed, shadersOf, type Storage } from "../kernels/traversals/storage.ts";
import type { Dispatch, GpuPlan, Parameters } from "../kernels/traversals/traversal.ts";
import type { Shader } from "../kernels/wgsl/shader.ts";
import { renamed } from "../tuner/profile/former_files.ts";
import grayScott from "../examples/gray_scott.ts";
import grayScott2d from "../examples/gray_scott_2d.ts";
import shallowWater from "../examples/shallow_water.ts";

const LIMITS: DeviceLimits = {
  maxStorageBufferBindingSize: 2_147_483_644,
  maxBufferSize: 4_292_870_144,
  maxComputeWorkgroupStorageSize: 49_152,
  maxComputeInvocationsPerWorkgroup: 1024,
  maxComputeWorkgroupSizeX: 1024,
  maxComputeWorkgroupSizeY: 1024,
  maxComputeWorkgroupSizeZ: 64,
  maxComputeWorkgroupsPerDimension: 65_535,
};

/** Configurations, and the steps whose dispatches are compared. */
const COUNT = 400, STEPS = 27;

/** Loops beyond this take seconds to write. */
const MOST_INSTRUCTIONS = 12_000;

const plane = { dimensions: 2 } as const, water = { spacing: 5, velocity: [1500, 4000] } as const;
const solid = { velocity: [1500, 4000], spacing: 5 } as const;

/** One field through a packed medium. */
const scattering = equation({
  name: "scattering",
  fields: { u: [-1, 1] },
  materials: { speed: { packed: [0.1, 0.3] } },
  step: ({ u, speed }) => ({
    u: add(
      subtract(multiply(2, u), u.before()),
      multiply(
        speed,
        subtract(
          add(u.at(-1), u.at(1), u.at(0, -1), u.at(0, 1), u.at(0, 0, -1), u.at(0, 0, 1)),
          multiply(6, u),
        ),
      ),
    ),
  }),
});

/** Equations with grids along their own axes. */
const EQUATIONS: readonly (readonly [string, Stencil, readonly number[]])[] = [
  ["wave 2", wave(2), [90, 70, 96]],
  ["wave 4", wave(4), [70, 60, 200]],
  ["wave 8", wave(8), [60, 50, 64]],
  ["wave 4 in a plane", wave(4, plane), [400, 300]],
  ["heat 1", heat(1), [90, 70, 96]],
  ["heat 2", heat(2), [60, 50, 64]],
  ["heat 1 in a plane", heat(1, plane), [640, 512]],
  ["life", life(), [50, 40, 64]],
  ["life in a plane", life(undefined, plane), [300, 256]],
  ["acoustic", acoustic({ ...water, edges: 10 }), [80, 70, 64]],
  ["acoustic, density, surface", acoustic({ ...water, density: [1000, 2500], edges: 8, surface: "free" }), [
    60,
    60,
    48,
  ]],
  ["acoustic, packed", acoustic({ ...water, density: [1000, 2500], packed: true, edges: 8 }), [60, 60, 48]],
  ["scattering", scattering, [48, 40, 64]],
  ["acoustic in a plane", acoustic({ ...water, edges: 10, dimensions: 2 }), [300, 200]],
  ["elastic", elastic({ ...solid, edges: 8 }), [60, 50, 48]],
  ["elastic, surface", elastic({ ...solid, edges: 8, surface: "free" }), [50, 40, 32]],
  ["elastic in a plane", elastic({ ...solid, edges: 8, dimensions: 2 }), [200, 150]],
  ["maxwell", maxwell({ edges: 0 }), [60, 50, 48]],
  ["maxwell, pml", maxwell({ edges: 6, absorber: "pml" }), [60, 50, 48]],
  [
    "maxwell, pml, materials",
    maxwell({ edges: 4, absorber: "pml", permittivity: [1, 9], conductivity: [0, 1] }),
    [
      48,
      40,
      32,
    ],
  ],
  ["maxwell, matched", maxwell({ edges: 6, absorber: "matched", permittivity: [1, 4] }), [48, 40, 32]],
  ["maxwell tm, pml", maxwell({ mode: "tm", edges: 8, absorber: "pml" }), [200, 150]],
  ["maxwell te", maxwell({ mode: "te", edges: 0 }), [200, 150]],
  ["gray-scott", grayScott, [48, 40, 64]],
  ["gray-scott in a plane", grayScott2d, [256, 200]],
  ["shallow water", shallowWater, [200, 160]],
  ["heat 1d", heat1d(), [4096]],
  ["ks 5", ks(5), [4096]],
  ["ks 3", ks(3), [4096]],
];

/** Traversals, those more often that are seldom able or have more to write. */
const NAMES = [
  ...TRAVERSALS.map(({ name }) => name),
  ...["stepwise", "marching", "marching", "marching", "diamond-torre", "diamond-torre", "diamond-torre"],
];

/** A configuration as it is stored. */
interface Drawn {
  readonly equation: string;
  readonly boundary: Problem["boundary"];
  readonly hasPoints: boolean;
  readonly traversal: string;
  readonly parameters: Parameters;
  /** Bytes of a binding, and of a window: fewer than the device has. */
  readonly lower: Partial<DeviceLimits>;
}

/** Numbers in [0, 1), always the same (mulberry32). */
let state = 20_261_128;
function chance(): number {
  state = state + 0x6d2b79f5 | 0;
  let t = Math.imul(state ^ state >>> 15, 1 | state);
  t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
  return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
}
const oneOf = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!;

function problemOf(
  { equation, boundary, hasPoints }: Omit<Drawn, "traversal" | "parameters" | "lower">,
): Problem {
  const [, stencil, grid] = EQUATIONS.find(([name]) => name === equation)!;
  const own = grid.length === 1 ? [1, 1, ...grid] : grid;
  const planned = plannedProblem({ stencil, grid: own as never, boundary: boundary as never, steps: 64 });
  return hasPoints ? { ...planned, survey: { sources: 2, receivers: 2 } } : planned;
}

/** Draws a configuration that can run; undefined where a few attempts found none. */
function draw(): Drawn | undefined {
  const traversal = traversalNamed(oneOf(NAMES));
  const windowed = traversal.capabilities.can.includes("window") && chance() < 0.08;
  const limits = windowed ? { ...LIMITS, windowBytes: 2 ** 20 } : LIMITS;
  let base: Omit<Drawn, "traversal" | "parameters" | "lower">, problem: Problem, tries = 0;
  do {
    if (tries++ > 100) return undefined;
    const [equation, { surface }, grid] = oneOf(EQUATIONS);
    const around = grid.length === 1
      ? ["periodic", "insulated"] as const
      : ["zero", "periodic", "insulated"] as const;
    const boundary = surface !== undefined || (grid.length > 1 && chance() < 0.4) ? "zero" : oneOf(around);
    base = { equation, boundary, hasPoints: chance() < 0.35 };
    problem = problemOf(base);
  } while (refusalOf(traversal, problem, limits) !== undefined);
  const lists = Object.entries(traversal.parameterLists(problem, limits));
  if (lists.some(([, list]) => list.length === 0)) return undefined;
  const parameters: Record<string, Parameters[string]> = {};
  for (let i = 0; i < 400; i++) {
    const some = i % 40 === 0 ? lists : [oneOf(lists), oneOf(lists)];
    for (const [name, list] of some) parameters[name] = oneOf(list);
    if (traversal.infeasible(problem, parameters, limits) !== undefined) continue;
    const { loopInstructions = 0, rounds: { instructions } } = traversal.demand(problem, parameters);
    if (Math.max(loopInstructions, instructions) > MOST_INSTRUCTIONS) continue;
    const { layout } = traversal.plan(problem, parameters, limits).storage;
    const lower: Partial<DeviceLimits> = windowed ? { windowBytes: 2 ** 20 } : {};
    if (!windowed && chance() < 0.2) {
      const bytes = 256 * Math.ceil(4 * layout.length * (0.3 + 0.5 * chance()) / 256);
      const cut = { maxStorageBufferBindingSize: bytes, ...(chance() < 0.5 && { maxBufferSize: bytes }) };
      if (traversal.infeasible(problem, parameters, { ...LIMITS, ...cut }) === undefined) {
        Object.assign(lower, cut);
      }
    }
    return { ...base, traversal: traversal.name, parameters: { ...parameters }, lower };
  }
  return undefined;
}

/** What a buffer of a plan is, whatever its name: how long its content lives, which of these it is, and its values. */
function describe({ scratch = [] }: Storage, index: number): string {
  const { lives, length } = scratch[index]!;
  return `${lives} ${scratch.slice(0, index).filter((one) => one.lives === lives).length}, ${length}`;
}

/** What a binding of a shader binds, in words. */
function boundAt(storage: Storage, own: Shader, binding: number, flipped: boolean): string {
  if (binding < 3) return ["now", "before", "uniform"][binding]!;
  const { buffers } = own, name = buffers[binding - 3];
  return name === undefined
    ? `twin ${binding - 3 - buffers.length}`
    : describe(storage, scratchNamed(storage, name, flipped));
}

const BINDING = /^[ \t]*@group\(0\) @binding\((\d+)\) var<([^>]*)> (\w+): (.*);[ \t]*$/gm;

/** A shader's text without what may change, where its dispatch swaps levels and where it does not. */
function normalised(shader: Shader, storage: Storage, flipped: boolean): string {
  const bound = [...shader.code.matchAll(BINDING)].map(([, binding, kind, name, type]) => {
    const what = boundAt(storage, shader, Number(binding), flipped);
    return { name: name!, what, declared: `${what}: var<${kind}> ${type}` };
  });
  let text = shader.code.replace(BINDING, "");
  for (const { name, what } of bound) {
    text = text.replace(new RegExp(`(?<![.\\w])${name}\\b`, "g"), `«${what}»`);
  }
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return [`// ${shader.label}`, ...bound.map(({ declared }) => declared).sort(), ...lines].join("\n");
}

/** All that is compared of a plan: its buffers, each text once, and which dispatches run them. */
function textOf(plan: GpuPlan): string {
  const { shaders, storage, storage: { scratch = [], sections = [], order } } = plan;
  const dispatched = (list: readonly Dispatch[]) =>
    list.map(({ shader, ...one }) => ({
      ...one,
      text: hashOf(normalised(shaders[shader]!, storage, one.flipped)),
    }));
  const dispatches = [plan.pads ?? [], plan.dispatches(STEPS, 0), plan.dispatches(5, 1)].map(dispatched);
  const texts = shadersOf(plan).map((shader) => normalised(shader, storage, false));
  const run = [plan.pads ?? [], plan.dispatches(STEPS, 0), plan.dispatches(5, 1)].flat()
    .map(({ shader, flipped }) => normalised(shaders[shader]!, storage, flipped));
  return [
    `// ${plan.passageSteps ?? ""}; ${sections.length} sections; order ${order?.length}`,
    ...scratch.map((_, i) => `// ${describe(storage, i)}`).sort(),
    ...[...new Set([...texts, ...run])].sort(),
    `// dispatches ${hashOf(JSON.stringify(dispatches))}`,
  ].join("\n");
}

/** A short hash (FNV-1a, 53 bits of two). */
function hashOf(text: string): string {
  let low = 0x811c9dc5, high = 0x1b873593;
  for (let i = 0; i < text.length; i++) {
    low = Math.imul(low ^ text.charCodeAt(i), 0x01000193);
    high = Math.imul(high ^ text.charCodeAt(i), 0x85ebca6b) ^ high >>> 13;
  }
  return [low, high].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
}

const [folder, earlier] = Deno.args;
if (folder === undefined) throw new Error("Cannot record: a folder is wanted");
await Deno.mkdir(folder, { recursive: true });
const before: Drawn[] = earlier ? JSON.parse(await Deno.readTextFile(`${earlier}/configurations.json`)) : [];
const drawn = before.map(renamed);
const seen = new Set<string>();
while (!earlier && drawn.length < COUNT) {
  const one = draw(), key = JSON.stringify(one);
  if (one !== undefined && !seen.has(key)) drawn.push(one);
  seen.add(key);
}
const hashes: string[] = [];
let different = 0;
for (const [i, one] of drawn.entries()) {
  const { traversal, parameters, lower } = one;
  const plan = traversalNamed(traversal).plan(problemOf(one), parameters, { ...LIMITS, ...lower });
  const text = textOf(plan), name = `${`${i}`.padStart(3, "0")}.wgsl`;
  await Deno.writeTextFile(`${folder}/${name}`, text);
  hashes.push(`${name} ${hashOf(text)} ${traversal} ${JSON.stringify(parameters)} ${one.equation}`);
  if (earlier !== undefined && await Deno.readTextFile(`${earlier}/${name}`) !== text) {
    different++;
    console.log(`${hashes.at(-1)}: differs`);
  }
}
await Deno.writeTextFile(`${folder}/hashes.txt`, hashes.join("\n") + "\n");
await Deno.writeTextFile(`${folder}/configurations.json`, JSON.stringify(drawn));
console.log(`${drawn.length} configurations, ${different} differ`);
if (different > 0) Deno.exit(1);
