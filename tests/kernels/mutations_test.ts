/**
 * Mistakes made on purpose in the generated shaders: the verification that `tune` does for every configuration
 * (tuner/devices/reference.ts) must refute each of them, and accept the shader as it was.
 *
 * A missing barrier shows where a workgroup's threads do not run in step. A software device runs them in groups
 * of 4 to 16, one group after another up to a barrier: without it, the last thread of a group reads what the
 * next group has not written yet. The workgroups of those mutants have 37 and 64 threads, so that graphics hardware has
 * several warps as well; the others are small, since a software device compiles large workgroup memory for long.
 *
 * It compiles each mutant of a march or a torre for half a second. Every run writes all of them, and runs every fourth
 * mistake of each of these shaders; `--thorough` runs all.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { along, equation } from "../../kernels/equation.ts";
import { absolute, add, exponential, logarithm, multiply, sine, subtract } from "../../kernels/operations.ts";
import type { Point, Points } from "../../kernels/points.ts";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { life } from "../../kernels/stencils/life.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { maxwell } from "../../kernels/stencils/maxwell.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { volumeTorre } from "../../kernels/traversals/volume_torre/volume_torre.ts";
import type { GpuPlan } from "../../kernels/traversals/traversal.ts";
import type { Failure } from "../../tuner/configuration.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { makeReference } from "../../tuner/devices/make_reference.ts";
import { type Reference, refute, stateLevels, verificationOf } from "../../tuner/devices/reference.ts";
import { Survey } from "../../tuner/devices/survey.ts";
import { IS_HARDWARE, testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { DRIVEN } from "./driven.ts";
import { inMarches, inPlaneTorres, inSteps, inTorres, type Way } from "./oracle_case.ts";
import { wholeNumberCross, wholeNumberMedium, wholeNumberYee } from "./whole_numbers.ts";

const GRID: Grid = [19, 11, 13];
const PROBLEM: Problem = { stencil: wave(2), grid: GRID, boundary: "zero", steps: 10 };
/** Rows longer than a warp. */
const LONG: Problem = { ...PROBLEM, grid: [19, 11, 37] };

/** What all mutants of a problem are compared with. */
const references = new Map<Problem, Promise<Reference>>();

Deno.test.afterAll(async () => (await Promise.all(references.values())).forEach((one) => one.dispose()));

/** What the tuner's verification says of a plan: undefined if it accepts. */
async function refutePlan(gpu: GpuDevice, problem: Problem, plan: GpuPlan): Promise<Failure | undefined> {
  if (!references.has(problem)) references.set(problem, makeReference({ gpu, problem }));
  const reference = await references.get(problem)!;
  using field = await GpuField.create(gpu, problem, plan);
  await field.initialise(reference.start);
  const survey = problem.survey && Survey.synthetic(problem, problem.steps);
  await survey?.watch({
    step: field.step,
    watch: (points) => field.watch(points),
    sample: (cells) => field.sample(cells),
    readProfile: (profile) => Promise.resolve(field.profiles.values[profile]!),
  });
  await field.run(problem.steps);
  const comparison = await field.compare(reference.onGpu!, { levels: stateLevels(problem) });
  return refute(verificationOf(comparison, reference, survey?.traces()));
}

/** A change of a shader's text: what is replaced, everywhere, and by what; or another list of points. */
type Mutation =
  | readonly [pattern: string | RegExp, replacement: string | ((text: string) => string)]
  | ((points: Points) => Points);

function mutate(plan: GpuPlan, mutation: Mutation): GpuPlan {
  if (typeof mutation === "function") {
    return { ...plan, points: { ...plan.points!, tabulate: (all) => plan.points!.tabulate(mutation(all)) } };
  }
  const [pattern, replacement] = mutation;
  const changed = (code: string): string =>
    typeof replacement === "string"
      ? code.replaceAll(pattern, replacement)
      : code.replaceAll(pattern, replacement);
  const index = plan.shaders.findIndex(({ code }) => changed(code) !== code), shader = plan.shaders[index];
  assert(shader !== undefined, `no shader holds ${pattern}`);
  const mutant = { ...shader, label: `mutant of ${shader.label}`, code: changed(shader.code) };
  return { ...plan, shaders: plan.shaders.with(index, mutant) };
}

/** Multiplies the weight by 1 + 1e-4. */
const wrongWeight: Mutation = [
  /const W1 = [^f;]+f;/g,
  (text) => `const W1 = ${Number(text.match(/= ([^f]+)f/)![1]) * (1 + 1e-4)}f;`,
];

const PLANE: Problem = { ...PROBLEM, stencil: heat(1, { dimensions: 2 }), grid: [37, 1, 29] };

/** The same in two dimensions, with sources where two workgroups of its march compute them. */
const DRIVEN_PLANE: Problem = {
  ...DRIVEN,
  stencil: equation({
    name: "driven",
    dimensions: 2,
    fields: { u: [-1, 1] },
    sources: { s: [-1, 1] },
    step({ u, s }) {
      const around = add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1));
      return { u: subtract(multiply(0.2, add(around, multiply(6, u), s)), u.before()) };
    },
  }),
  grid: [61, 1, 113],
};

/** Of one level, with sources where several workgroups of a march of two steps compute them. */
const DIFFUSED: Problem = {
  ...DRIVEN,
  stencil: equation({
    name: "diffused",
    fields: { u: [-1, 1] },
    sources: { s: [-1, 1] },
    step({ u, s }) {
      const around = add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1), u.at(0, 0, 1), u.at(0, 0, -1));
      return { u: multiply(0.125, add(around, multiply(2, u), s)) };
    },
  }),
  survey: { sources: 24, receivers: 12, every: 2 },
};

/** A box of nine weights in two dimensions, tap by tap. */
const BOX = equation({
  name: "box",
  dimensions: 2,
  fields: { u: [-1, 1] },
  step({ u }) {
    const taps = [-1, 0, 1].flatMap((x) =>
      [-1, 0, 1].map((y) => multiply(0.11 + 0.01 * (3 * x + y), u.at(x, y)))
    );
    return { u: add(taps[0]!, ...taps.slice(1)) };
  },
});

/** Three staggered fields in two sub-steps. */
const STAGGERED = equation({
  name: "staggered",
  dimensions: 2,
  fields: { e: [-1, 1], hx: [-1, 1], hy: [-1, 1] },
  step: ({ e, hx, hy }) => [
    {
      hx: subtract(hx, multiply(0.3, subtract(e.at(0, 1), e))),
      hy: add(hy, multiply(0.3, subtract(e.at(1), e))),
    },
    {
      e: add(
        e,
        multiply(0.3, subtract(hy.next(), hy.next(-1))),
        multiply(0.3, subtract(hx.next(0, -1), hx.next())),
      ),
    },
  ],
});

const oneElsewhere = (point: Point, i: number): Point => i === 3 ? { field: 0, cell: [0, 0, 0] } : point;
const further = ({ field, cell: [x, y, z] }: Point): Point => ({ field, cell: [x, y, z + 1] });
const POINTS: Readonly<Record<string, Mutation>> = {
  "cells added to one further along z": (all) => ({ ...all, added: all.added.map(further) }),
  "cells recorded one further along z": (all) => ({ ...all, recorded: all.recorded.map(further) }),
  "a cell at a corner added to instead": (all) => ({ ...all, added: all.added.map(oneElsewhere) }),
  "a cell at a corner recorded instead": (all) => ({ ...all, recorded: all.recorded.map(oneElsewhere) }),
  "what is added taken from the step before": ["added[step * ", "added[(step - 1) * "],
  "what is recorded put a sample further": ["(t / points[0].z - 1) *", "t / points[0].z *"],
  "records of odd steps": ["points[0].w + step + 1", "points[0].w + step"],
};

/** Axis profiles in an equation that carries errors on, but does not let them grow. */
const PROFILED = equation({
  name: "profiled",
  fields: { u: [-1, 1] },
  materials: { dx: along("x", [0, 0.3]), dy: along("y", [0, 0.3]), dz: along("z", [0, 0.3]) },
  step({ u, dx, dy, dz }) {
    const moved = [multiply(dx, u.at(1)), multiply(dy, u.at(0, 1)), multiply(dz, u.at(0, 0, 1))];
    return { u: add(multiply(0.1, u), ...moved) };
  },
});

/** A packed material at the cell and at neighbours, in an equation that carries errors on, too. */
const SPREADING = equation({
  name: "spreading",
  fields: { u: [-1, 1] },
  materials: { m: { packed: [0.1, 0.3] } },
  step({ u, m }) {
    const sides = [add(m.at(1), m), add(m.at(0, -1), m), add(m.at(0, 0, 1), m)] as const;
    const taps = [u.at(-1), u.at(0, 1), u.at(0, 0, -1)] as const;
    return { u: add(multiply(0.1, u), ...sides.map((side, i) => multiply(side, taps[i]!))) };
  },
});

/** Functions of what moves along every axis. */
const CURVED = equation({
  name: "curved",
  fields: { u: [-1, 1] },
  step: ({ u }) => ({
    u: add(
      multiply(0.4, sine(multiply(9, u.at(1)))),
      multiply(0.3, exponential(multiply(-2, absolute(u.at(0, 1))))),
      multiply(0.2, logarithm(add(1.1, u.at(0, 0, 1)))),
    ),
  }),
});

const BIT_MUTATIONS: Readonly<Record<string, Mutation>> = {
  "the exponent of a power of two one off": ["+ 8388735.0f", "+ 8388736.0f"],
  "the exponent of a logarithm one off": ["- 8388735.0f", "- 8388734.0f"],
};
const CURVED_MUTATIONS: Readonly<Record<string, Mutation>> = {
  ...BIT_MUTATIONS,
  "odd half turns not turned": ["= -2.0f;", "= 0.0f;"],
  "a half turn short": ["= 3.140625f;", "= 3.14f;"],
  "a coefficient of the sine wrong by 1e-3": [/= -0\.166666\d*f;/g, "= -0.1668f;"],
  "a coefficient of the exponential wrong by 1e-3": [/= 0\.499999\d*f;/g, "= 0.4995f;"],
  "a coefficient of the logarithm wrong by 1e-3": [/= 0\.333339\d*f;/g, "= 0.333f;"],
  "the logarithm of 2 short": ["= 0.693359375f;", "= 0.6932f;"],
};

interface Subject {
  /** @default {PROBLEM} */
  readonly problem?: Problem;
  readonly way: Way;
  readonly mutations: Readonly<Record<string, Mutation>>;
}

const SUBJECTS: readonly Subject[] = [
  {
    problem: { ...PROBLEM, stencil: CURVED, boundary: "periodic", grid: [9, 8, 13], steps: 3 },
    way: inSteps([8, 2, 1]),
    mutations: CURVED_MUTATIONS,
  },
  {
    problem: { ...PROBLEM, stencil: CURVED, boundary: "periodic", grid: [9, 8, 13], steps: 3 },
    way: inMarches([2, 8, 4, 2, 0, 1]),
    mutations: BIT_MUTATIONS,
  },
  {
    way: inTorres([1, 4, 2, 1, 13, 2, 2, 99]),
    mutations: {
      "the gnomon's foremost cell loaded one further": [
        "l0_2_2 = now[base + 2 * ",
        "l0_2_2 = now[base + 3 * ",
      ],
      "a gnomon's side loaded one nearer": ["l1_2_0 = before[base + SLICE_T", "l1_2_0 = before[base"],
      "a gnomon cell loaded from the other array": ["l1_0_2 = before[", "l1_0_2 = now["],
      "one slot to the left": ["[slot - 1]", "[slot]"],
      "a weight wrong by 1e-4": wrongWeight,
      "no mask at the ends of x and y": ["if (acrossY || x < 0 || x + W > NX)", "if (false)"],
      "another cell's value stored": ["[base + SLICE_T] = n0_1_1;", "[base + SLICE_T] = n0_0_0;"],
      "a cell not stored": ["now[base] = n1_0_0;", ""],
      "registers that stay behind": ["g_1_1 = l1_2_2;", ""],
    },
  },
  {
    way: inTorres([2, 4, 2, 2, 7, 2, 1, 99]),
    mutations: {
      "the halves of a vector exchanged": ["f_0_0.y, ", "f_0_0.x, "],
      "no mask at one end of y": ["y - W / 2 + 1 < 0 || ", ""],
      "no mask at the other end of y": [" || y + W / 2 > NY", ""],
      "no mask beyond the end of z": [", inside);", ", vec2<bool>(true));"],
      "odd tiers load what even ones should": ["let odd = tier % 2 == 1;", "let odd = tier % 2 == 0;"],
    },
  },
  {
    way: inTorres([1, 4, 2, 1, 13, 2, 1, 100]),
    mutations: {
      "a cell loaded ahead one further": ["p_2_2 = before[base + 3 * ", "p_2_2 = before[base + 4 * "],
      "a cell loaded ahead from this tier's array": ["p_2_0 = before[", "p_2_0 = now["],
      "a cell loaded only once": ["l0_0_2 = p_0_2;", "l0_0_2 = f_0_0;"],
    },
  },
  {
    way: inTorres([2, 4, 2, 1, 13, 2, 2, 101]),
    mutations: {
      "a value at rest taken from another's place": [
        "let r1_1_1 = rest[0][slot];",
        "let r1_1_1 = rest[3][slot];",
      ],
      "a value at rest not masked": ["rest[2][slot] = select(", "let unused = select("],
      "its own value instead of its neighbour's at rest": ["rest[3][slot - 1]", "rest[3][slot]"],
      "a value at rest not stored": [
        "[base + 2 * SLICE_T - PITCH_T] = rest[1][slot];",
        "[base] = rest[1][slot];",
      ],
      "a value at rest lost at the end": ["now[base + 2 * SLICE_T] = rest[3][slot];", ""],
    },
  },
  {
    way: inTorres([2, 4, 2, 1, 13, 2, 1, 101]),
    mutations: {
      "an older value at rest taken from another's place": ["- rest[0][slot] ", "- rest[1][slot] "],
      "an older value at rest not put there": ["rest[1][slot] = l0_1_3;", ""],
      "its own value instead of its neighbour's where an older one rests": [
        "rest[0][slot - 1]",
        "rest[0][slot]",
      ],
    },
  },
  {
    problem: { ...PROBLEM, stencil: maxwell({ edges: [4, 3, 2], absorber: "pml" }), steps: 20 },
    way: inSteps([8, 2, 1]),
    mutations: {
      "the high layer along x one cell further": ["select(x, x - 11, x >= 15)", "select(x, x - 10, x >= 15)"],
      "a layer one cell too narrow": ["(y >= 3 &&", "(y >= 2 &&"],
      "the high layer in the place of the low one": [
        "select(z, z - 9, z >= 11)",
        "select(z, z - 11, z >= 11)",
      ],
      "another field's memory": ["layersNow[at0_0 + ", "layersNow[at0_0 + 0 * "],
      "memory not kept": ["{ layersBefore[at1_0", "{ layersNow[at1_0"],
    },
  },
  {
    problem: { ...PROBLEM, stencil: maxwell({ edges: [4, 3, 2], absorber: "pml" }), steps: 20 },
    way: inTorres([1, 4, 1, 1, 13, 4, 1, 99, 0]),
    mutations: {
      "memory of another step": [/= layersBefore\[/g, "= layersNow["],
      "a tile in layers taken for one between them": ["let isNear = near0 || near1", "let isNear = near0"],
      "the high layer in the place of the low one": ["select(0, 5, y >= 4)", "select(0, 8, y >= 4)"],
      "a layer one cell too narrow": [/u32\(y - from1\) < 3u/g, "u32(y - from1) < 2u"],
      "threads of a layer left out": ["u32(thread - from2) < 2u", "u32(thread - from2) < 1u"],
      "another field's memory": [/at1 \+ 390/g, "at1 + 546"],
    },
  },
  {
    // a single chunk a tier: its half of the workgroup memory is filled again in the next
    problem: LONG,
    way: inTorres([1, 4, 2, 1, 37, 2, 1, 99]),
    mutations: {
      "no barriers": ["workgroupBarrier();", ""],
      "no barrier at the end of a round": [/(SLICE_T;\n +)workgroupBarrier\(\);/g, "$1"],
    },
  },
  {
    problem: { ...PROBLEM, stencil: wholeNumberMedium(1) },
    way: inTorres([2, 4, 2, 1, 13, 2, 1, 99, 0]),
    mutations: {
      "a material loaded one further": [
        "= now[base + 2 * SLICE_T + PLANE_T]",
        "= now[base + 3 * SLICE_T + PLANE_T]",
      ],
      "a material one row aside": ["- PITCH_T + PLANE_T]", "+ PLANE_T]"],
      "the field for a material": ["+ PITCH_T + PLANE_T]", "+ PITCH_T]"],
      "a material loaded for the tier before": ["= now[base + SLICE_T + PLANE_T]", "= now[base + PLANE_T]"],
    },
  },
  {
    problem: { ...PROBLEM, stencil: wholeNumberMedium(1) },
    way: inTorres([2, 4, 2, 1, 13, 2, 2, 99, 1]),
    mutations: {
      "a material that enters one further": [
        "= now[base + 3 * SLICE_T + PLANE_T]",
        "= now[base + 4 * SLICE_T + PLANE_T]",
      ],
      "materials that stay behind": [/m_1_1_1 = \w+;\n/g, ""],
      "a material loaded only once": ["= m1_1_3_3;", "= m0_1_3_3;"],
    },
  },
  {
    // neighbours beyond the grid are 0, which is no packed value
    problem: { ...PROBLEM, stencil: SPREADING, grid: [9, 8, 13] },
    way: inTorres([2, 4, 2, 2, 7, 2, 1, 99, 2]),
    mutations: {
      "words one slice further": ["packed[word + SLICE_P", "packed[word + 2 * SLICE_P"],
      "words one row aside": ["SLICE_P - PITCH_T]", "SLICE_P]"],
      "words of the next thread": ["* PITCH_T + thread;", "* PITCH_T + thread + 1;"],
      "words that do not move with the tile": ["word += S * SLICE_P;", ""],
      "another plane packed": ["vec4f(1.0f, ", "vec4f(0.0f, "],
      "the next row packed": ["now[cell], packing", "now[cell + 64], packing"],
      "neighbours in a word exchanged": [
        "(words & 0xffffu, words >> 16u)",
        "(words >> 16u, words & 0xffffu)",
      ],
      "numbers one too large": ["* packing.z + 0.5f", "* packing.z + 1.5f"],
      "the least value beyond the grid": ["numbers == vec2u(65535u)", "vec2<bool>()"],
      "nothing packed": ["packed[word] = numberOf", "let unused = numberOf"],
    },
  },
  {
    problem: { ...PROBLEM, stencil: wholeNumberYee() },
    way: inTorres([1, 4, 2, 1, 13, 4, 1, 99, 0]),
    mutations: {
      "another field loaded": [
        "l0_2_2_0 = before[base + SLICE_T + PITCH_T + 2 ",
        "l0_2_2_0 = before[base + SLICE_T + PITCH_T + 1 ",
      ],
      "what the neighbour has made loaded from the other array": ["a0_4_2_2 = now[", "a0_4_2_2 = before["],
      "what the neighbour had before this step": ["f_4_1_1 = a0_4_2_2;", "f_4_1_1 = n0_4_1_1;"],
      "the second sub-step's columns of the step before": [
        "exchange[4][slot] = n0_4_1_1;",
        "exchange[4][slot] = f_4_1_1;",
      ],
      "another column": ["exchange[5][slot - 1]", "exchange[6][slot - 1]"],
      "the first sub-step's values beyond the grid": [
        "n0_5_1_1 = select(f32(), n0_5_1_1, inX1 && inY0);",
        "",
      ],
      "no mask where one field's tiles reach further": ["x + W + 2 > NX", "x + W > NX"],
      "rows of torres that end too soon": [
        "if (y - W / 2 >= NY) { return; }",
        "if (y - W / 2 + 1 >= NY) { return; }",
      ],
      "a field of the first sub-step not stored": ["before[base + 4 * PLANE_T] = n0_4_0_0;", ""],
      "a field of the second sub-step not stored": ["now[base + SLICE_T + 2 * PLANE_T] = n0_2_1_1;", ""],
      "a value lost at the end": ["now[base + SLICE_T + 2 * PLANE_T] = f_2_1_1;", ""],
    },
  },
  {
    // a chunk a sub-step
    problem: { ...LONG, stencil: wholeNumberYee() },
    way: inTorres([1, 4, 2, 1, 37, 4, 1, 99, 1]),
    mutations: { "no barriers between sub-steps": ["workgroupBarrier();", ""] },
  },
  {
    problem: DRIVEN,
    way: inSteps([8, 4, 1]),
    mutations: { ...POINTS, "the last point left out": ["i >= group.end", "i + 1 >= group.end"] },
  },
  {
    problem: DRIVEN,
    way: inTorres([1, 4, 2, 2, 7, 2, 2, 99]),
    mutations: {
      ...POINTS,
      "all columns of a list but the last left out": [
        "above < entry.z)",
        "above < entry.z && entry.x < 65536)",
      ],
      "all columns of a list but the first left out": ["select(0, i + 1, entry.x >= 65536)", "0"],
      "another tier's list": ["select(0, first1,", "select(0, first0,"],
      "the next row of a column": ["entry.w + (above) / 2", "entry.w + 1 + (above) / 2"],
      "a neighbour's row": ["select(rows.xy, rows.zw,", "select(rows.zw, rows.xy,"],
      "a step late in the second tier": ["row.y / W + tier + 1)", "row.y / W + tier + 2)"],
      "nothing kept of what is added": ["if (isAddedTo) {", "if (false) {"],
    },
  },
  {
    problem: LONG,
    way: inMarches([1, 8, 8, 2, 1, 1]),
    mutations: {
      "no barrier": ["workgroupBarrier();", ""],
      "one tile for every slice": ["half = ROWS - half;", ""],
    },
  },
  {
    way: inMarches([2, 5, 4, 2, 1, 1]),
    mutations: {
      "a neighbour row one off": ["r0_2 = tiles[0][half + row]", "r0_2 = tiles[0][half + row + 1]"],
      "a neighbour thread one off": ["[column + 1]", "[column]"],
      "a rim that is not loaded": ["if (column < 1)", "if (column < 0)"],
      "a queue that does not advance": ["c0_m1 = c0_0;", ""],
      "a queue that is not filled": ["now[cell - SLICE]", "vec2f()"],
      "a piece that ends too soon": ["x < last; x++", "x + 1 < last; x++"],
      "a weight wrong by 1e-4": wrongWeight,
      "cells beyond the end of z that are not zero": [", inside);", ", vec2<bool>(true));"],
    },
  },
  {
    problem: { ...PROBLEM, stencil: life("5/2-7"), grid: [9, 7, 13], steps: 5 },
    way: inMarches([4, 5, 6, 2, 0, 1, 2]),
    mutations: {
      "cells that the first step finds beyond the end of x": ["u32(x + 1) < u32(NX)", "true"],
      "cells that the first step finds beyond the ends of y and z": [
        /(?<=var x = first - 5;[^]*), inside\)/g,
        ", vec4<bool>(true))",
      ],
      "a march that begins too late for the second step": ["var x = first - 5; x", "var x = first - 4; x"],
      "a rim too narrow": ["row >= 1", "row >= 0"],
      "a sum of the first step's cells not kept": ["s1_m1 = s1_0;", ""],
    },
  },
  {
    problem: { ...PROBLEM, stencil: wave(2, { dimensions: 2 }), grid: [61, 1, 131], steps: 9 },
    way: inMarches([2, 16, 1, 4, 0, 1, 3]),
    mutations: {
      "cells that earlier steps find beyond the end of x": [/u32\(x \+ 2\) < u32\(NX\)/g, "true"],
      "cells that earlier steps find beyond the ends of z": [", inside)", ", vec2<bool>(true))"],
      "a march that begins too late for the last step": [/var x = first - \d+; x/g, "var x = first - 1; x"],
      "workgroups at the end of z taken for inner ones": ["z0 + 32 <= NZ", "z0 <= NZ"],
      "workgroups at the end of x taken for inner ones": [/last \+ \d+ <= NX/g, "last <= NX + 4"],
      "one place for what every slice exchanges": ["here = both - here;", ""],
      "the other end of a thread's cells": [/(low0\[here\] = .*)\.x\)/g, "$1.y)"],
      "a rim too narrow": ["column >= 2", "column >= 1"],
      "a value that is not carried on": [/c3_\w+ = c3_\w+;\n(?=\s*c)/g, ""],
      "F(t − 1) not stored": ["older[cell] =", "newer[cell] ="],
    },
  },
  {
    problem: { ...PROBLEM, stencil: STAGGERED, grid: [61, 1, 131], steps: 9 },
    way: inMarches([2, 16, 1, 4, 0, 1, 2]),
    mutations: {
      "what the last step makes first stored before its slice": [/= c7_0;\n(?=\s*before)/g, "= c7_1;\n"],
      "a field of the step before stored": [/\+ 2 \* PLANE\] = c6_0;/g, "+ 2 * PLANE] = c3_1;"],
      "fields stored in each other's places": [/(?<=before.*)\+ 2 \* PLANE\]/g, "+ PLANE]"],
      "a neighbour of the step before": [/low0_(\d)\.z/g, "low0_$1.x"],
      "a rim too narrow": ["column >= 1", "column >= 0"],
      "a march that begins too late for the first step": [/var x = first - \d+; x/g, "var x = first - 1; x"],
    },
  },
  {
    problem: { ...PROBLEM, stencil: BOX, grid: [61, 1, 131], steps: 9 },
    way: inMarches([2, 16, 1, 4, 0, 1, 2]),
    mutations: {
      "a sum that is not carried on": [/s4_2 = s4_4;/g, ""],
      "a sum of another row carried on": [/s2_3 \+ W6/g, "s4_3 + W6"],
      "the first row of a sum left out": [/s4_2 \+ W3 \*/g, "W3 *"],
      "a march that begins too late for the first row's sums": [
        /var x = first - 5; x/g,
        "var x = first - 4; x",
      ],
    },
  },
  {
    problem: { ...PROBLEM, stencil: PROFILED, grid: [9, 8, 13] },
    way: inTorres([1, 4, 2, 1, 13, 2, 2, 99]),
    mutations: {
      "a profile one slice off": [/\(x([ +\d]*)\) (>>|&)/g, "(x + 1$1) $2"],
      "a profile one row off": [/\(y([ +\-\d]*)\) (>>|&)/g, "(y + 1$1) $2"],
      "a profile one cell off": ["profiles[thread", "profiles[1 + thread"],
      "the first tier's profile in the second": [
        /(?<=\/\/ tier 1[^]*)\(x([ +\d]*)\) (>>|&)/g,
        "(x - S$1) $2",
      ],
    },
  },
  {
    problem: { ...PROBLEM, stencil: PROFILED, boundary: "periodic", grid: [9, 8, 13] },
    way: inMarches([2, 8, 4, 2, 0, 1]),
    mutations: {
      "a profile one slice off": [/profiles\[x \+ (\d+)\]/g, "profiles[x + $1 + 1]"],
      "a profile one row off": [/profiles\[y \+/g, "profiles[1 + y +"],
      "a profile one cell off": [/profiles\[z \+/g, "profiles[1 + z +"],
      "one cell's profile for both": [/, profiles\[z \+ \d+\]\)/g, ", profiles[z])"],
    },
  },
  {
    problem: { ...PROBLEM, stencil: elastic({ edges: 0 }), grid: [9, 5, 13] },
    way: inMarches([1, 6, 6, 2, 0, 0]),
    mutations: {
      "no barrier between the sub-steps": ["workgroupBarrier();", ""],
      "velocities beyond the end of x": ["u32(x + 2) < u32(NX)", "u32(x) < u32(NX)"],
      "velocities beyond the ends of y and z": [/select\(f32\(\), (.*), inside\)/g, "$1"],
      "a march that begins too late for the velocities": [/var x = first - \d+; x/g, "var x = first - 4; x"],
      "another field's tile": ["tiles[1][half + row - 1]", "tiles[0][half + row - 1]"],
      "a rim too narrow": ["row >= 2", "row >= 1"],
      "a velocity not stored": [/before\[cell\] = c\d+_0;/g, ""],
    },
  },
  {
    problem: PLANE,
    way: inPlaneTorres([8, 4, 1, 1, 1, 1, 1]),
    mutations: {
      "no barrier": ["workgroupBarrier();", ""],
      "halves that are not swapped": [/\+= half;/g, "+= 0;"],
      "another torre's lane along u": ["(row.stage + 1) / 2", "row.stage / 2"],
      "another torre's lane along v": ["row.stage / 2 * ", "(row.stage + 1) / 2 * "],
      "the front of the tier before": [/farsh\[lane0 \+ \d+\]/g, "farsh[lane0]"],
      "nothing handed on over the corner": [/isU0 = n0 < (\d+)/g, "isU0 = n0 < $1 - 1"],
      "a neighbour's value one place off": [/\[own \+ 1\]/g, "[own]"],
      "cells beyond the grid that are not zero": ["if (acrossY || x < 0 || x + W > NX)", "if (false)"],
      "tiles of odd stages that are not shifted": ["(row.stage & 1) * (W / 2)", "0"],
      "another order of bits along the Z curve": [
        "4 * spread(u) + 2 * spread(v)",
        "2 * spread(u) + 4 * spread(v)",
      ],
      "an element's cells swapped": ["+ (u & 1);", "+ 1 - (u & 1);"],
    },
  },
  {
    problem: { ...PLANE, boundary: ["periodic", "zero", "insulated"] },
    way: inPlaneTorres([4, 4, 1, 2, 2, 1, 1]),
    mutations: {
      "ends that hold no images": ["now[at(x, y)] = now[image];", ""],
      "images one cell off": ["(x + 33) % 37", "(x + 34) % 37"],
      "an end that is mirrored about its outer side": ["56 - (y + 52) % 56", "57 - (y + 52) % 56"],
      "no cells after the grid": ["select(i, i + n, i >= w)", "i"],
    },
  },
  {
    problem: PLANE,
    way: inPlaneTorres([6, 4, 1, 2, 0, 0, 0]),
    mutations: {
      "a line that does not go on at the tile's other end": [/wrap2 = [^;]+;/g, "wrap2 = 0;"],
      "a line's own cell where it has left the tile": [/if \(wrap2 != wrap1\) [^\n]+/g, ""],
      "a front from the other array": ["load(tier % 2 == 1, ", "load(tier % 2 == 0, "],
      "cells handed on one row off": ["let ofY0 = y +", "let ofY0 = 1 + y +"],
    },
  },
  {
    problem: { ...PROBLEM, steps: 9 },
    way: {
      traversal: volumeTorre,
      parameters: { side: 4, patchA: 1, patchB: 1, patchC: 1, phases: 2, ahead: 3, nt: 6, bands: 2 },
    },
    mutations: {
      "no barrier": ["workgroupBarrier();", ""],
      "another torre's lane along a": ["(Y + forth)", "(Y + back)"],
      "another torre's lane along b": ["(Y + back)", "(Y + forth)"],
      "another torre's lane along c": ["(Z + back)", "(Z + forth)"],
      "the front of the tier before": ["let next = min(tier + 3, last)", "let next = min(tier + 2, last)"],
      "a direction's lanes in another's": ["select(column0, column1,", "select(column0, column0,"],
      "a neighbour's value one place off": ["[own26]", "[own25]"],
      "cells beyond the grid that are not zero": ["if (atEdge || x < 0", "if (x < 0"],
      "cells beyond the ends of x that are not zero": ["x < 0 || x + W > NX) {", "x < 0) {"],
      "tiles of another column": ["(row.stage + 300000 - Y) % 3", "(row.stage + 300001 - Y) % 3"],
      "a tile that is stored one place off": ["X + 2 * ((offset", "X + 2 + 2 * ((offset"],
      "tiles of the last band that have not moved": ["(wordAt(0) + S * row.step) % W", "wordAt(0) % W"],
      "an odd number of steps in the arrays of an even one": ["(row.height & 1) == 0", "true"],
      "tiers before the grid left out too long": [
        "max(0, (S - x - W - 2 * S) / S)",
        "max(0, (S - x - W + 2) / S)",
      ],
      "a tile that is not loaded where it meets the grid": ["if (x + W + S > 0) {", "if (x > 0) {"],
    },
  },
  {
    problem: { ...PROBLEM, stencil: wholeNumberCross(), steps: 9 },
    way: {
      traversal: volumeTorre,
      parameters: { side: 4, patchA: 1, patchB: 1, patchC: 1, phases: 2, ahead: 2, nt: 4, bands: 2 },
    },
    mutations: {
      "what enters another column of tiles": [
        "let column = (Y * TILES_Z + Z)",
        "let column = (Y * TILES_Z + Z + 1)",
      ],
      "coefficients of the cell itself": ["let nextX = x + S", "let nextX = x"],
      "materials that enter a tier late": [/(m0_0_0_\d = .*)x \+ 2 \* S/g, "$1x + 1 * S"],
      "profiles of another cell where coefficients enter": ["let y0_0 = y + b0_0", "let y0_0 = y"],
      "coefficients that enter at another place": [
        "let placeOf0_0 = its0_0 >> 8u",
        "let placeOf0_0 = 1 + (its0_0 >> 8u)",
      ],
      "coefficients that do not move": ["w0_0_1 = x0_0_1;", ""],
      "profiles of a cell before": [/\[x \+ inX/g, "[x - 1 + inX"],
    },
  },
  {
    problem: { ...PROBLEM, grid: [31, 11, 13], stencil: acoustic({ edges: 2 }), steps: 9 },
    way: {
      traversal: volumeTorre,
      parameters: { side: 2, patchA: 1, patchB: 1, patchC: 2, phases: 1, ahead: 1, nt: 8, bands: 1 },
    },
    mutations: {
      "a profile of the cell beside": ["let inY = cellY - y + M - 1", "let inY = cellY - y + M"],
      "an edge that is seen a tier late": [/i - \(W - S \+ 0\)/g, "i - (W - S + 0) + 1"],
      "an edge that is forgotten a tier early": [/, i \/ \(S \* AHEAD\)/g, ", i / (S * AHEAD) - 1"],
      "an edge along another axis that is not seen": ["mark(0, 32)", "{}"],
    },
  },
  {
    problem: { ...PROBLEM, boundary: ["periodic", "insulated", "zero"] },
    way: {
      traversal: volumeTorre,
      parameters: { side: 4, patchA: 2, patchB: 2, patchC: 2, phases: 2, ahead: 1, nt: 2, bands: 2 },
    },
    mutations: {
      "images of tiles that have not moved": [
        "let moved = (wordAt(0) + S * steps.done) % W",
        "let moved = wordAt(0)",
      ],
      "images of F(t − 1) one cell off": ["moved + 1)", "moved + 0)"],
      "images of one axis alone": ["all(cell >= vec3i(0))", "all(cell.yz >= vec2i(4, 0))"],
      "another period": ["% 19", "% 18"],
    },
  },
  {
    problem: DRIVEN,
    way: {
      traversal: volumeTorre,
      parameters: { side: 4, patchA: 2, patchB: 2, patchC: 2, phases: 2, ahead: 1, nt: 4, bands: 2 },
    },
    mutations: {
      "points of another step": [/row\.step \+ tier - first\)/g, "tier - first)"],
      "points of the tile before": ["clamp(x, -W, NX - 1)", "clamp(x - S, -W, NX - 1)"],
      "a round with points taken for a lean one": [", x + S * (i + 1)) > 0)", ", x + S * i) > 0)"],
      "points of another thread": ["place % 1024 == thread", "place % 1024 == (thread ^ 1)"],
      "a point that keeps its value": ["case 3: { h1_1 = value; }", "case 3: {}"],
      "a list that ends with its first entry": ["select(0, i + 1, entry.x >=", "select(0, 0, entry.x >="],
    },
  },
];

const MARCHES: readonly Subject[] = [
  {
    problem: { ...DIFFUSED, steps: 9 },
    way: inMarches([2, 8, 8, 2, 0, 1, 2]),
    mutations: {
      "workgroups with points taken for those without": ["if (begin != 0)", "if (false)"],
      "another row's points": ["row + 8 *", "row + 1 + 8 *"],
      "one entry a step": ["while (entry.x <", "if (entry.x <"],
      "another workgroup's list along y": ["+ i32(w.y))", "+ 1 - i32(w.y))"],
      "a step late in the first step": ["series.step + 0)", "series.step + 1)"],
      "sources in rims left out": ["while (entry.x <", "while (mine && entry.x <"],
    },
  },
  {
    problem: DRIVEN_PLANE,
    way: inMarches([2, 16, 1, 4, 0, 1, 2]),
    mutations: {
      ...POINTS,
      "another piece's list": ["i32(w.z) * ", "(i32(w.z) + 1) * "],
      "another workgroup's list": ["+ i32(w.x);", "+ i32(w.x) + 1;"],
      "workgroups with points taken for those without": [" && begin == 0", ""],
      "one entry for all": ["next += 1;", ""],
      "an entry a slice late": [/entry\.x == 2 \* x/g, "entry.x == 2 * (x - 1)"],
      "the next row of an entry": ["entry.w + (above) / 2", "entry.w + 1 + (above) / 2"],
      "a neighbour's row": ["select(rows.xy, rows.zw,", "select(rows.zw, rows.xy,"],
      "a step late in the second step": ["series.step + 1)", "series.step + 2)"],
      "sources in rims left out": ["if (entry.x ==", "if (mine && entry.x =="],
    },
  },
  {
    problem: {
      ...PROBLEM,
      stencil: maxwell({ edges: [4, 3, 2], absorber: "pml" }),
      boundary: "periodic",
      steps: 20,
    },
    way: inMarches([2, 8, 4, 2, 0, 1]),
    mutations: {
      "no memory of images": ["((y + 264) % 11)", "clamp(y, 0, 10)"],
      "the memory of a thread's other cell": ["m15.y = layersNow[l1_at2_1", "m15.y = layersNow[l1_at2_0"],
      "memory of the other end": ["((z + 260) % 13) >= 11)", "((z + 260) % 13) > 11)"],
    },
  },
];

Deno.test("every mistake changes the text that is written today", () => {
  for (const { problem = PROBLEM, way: { traversal, parameters }, mutations } of [...SUBJECTS, ...MARCHES]) {
    const plan = traversal.plan(problem, parameters);
    for (const mutation of Object.values(mutations)) mutate(plan, mutation);
  }
});

/** Those of every run, and of thorough ones. */
const ALL = [...SUBJECTS, ...THOROUGH ? MARCHES : []];
for (const { problem = PROBLEM, way: { traversal, parameters }, mutations } of ALL) {
  const plan = traversal.plan(problem, parameters);
  testOnGpu(`verification accepts ${plan.label}`, async (gpu) => {
    assertEquals(traversal.infeasible(problem, parameters, gpu.limits), undefined);
    assertEquals(await refutePlan(gpu, problem, plan), undefined);
  });
  for (const [i, [name, mutation]] of Object.entries(mutations).entries()) {
    // other lists of points need no other shader
    const isSoon = i % 4 === 0 || traversal.name === "stepwise" || typeof mutation === "function";
    testOnGpu(`verification refutes ${traversal.name} with ${name}`, async (gpu) => {
      const failure = await refutePlan(gpu, problem, mutate(plan, mutation));
      assert(failure !== undefined, "the mutant was accepted");
      assertEquals(failure.reason, "incorrect");
    }, { ignore: !isSoon && !THOROUGH || IS_HARDWARE && name.startsWith("no barrier") });
  }
}
