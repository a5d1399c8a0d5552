/**
 * One traversal on one grid, compared with the oracle: bit for bit with whole-number weights on whole numbers, and within
 * the bound that rounding explains with the real weights on noise. Tests that compare with it are tables of {@linkcode Row}.
 *
 * @module
 */
import { inPrecision } from "../../kernels/planned_problem.ts";
import { type FloatArray, type Precise, precisionOf } from "../../kernels/precision.ts";
import { assert, assertEquals, assertLess } from "@std/assert";
import { refusalOf } from "../../kernels/capability.ts";
import { amplitudeOf, type InitialField } from "../../kernels/initial_field.ts";
import { indexOf } from "../../kernels/layout.ts";
import type { Points } from "../../kernels/points.ts";
import { type FieldLevels, runReference } from "../../kernels/reference.ts";
import { areApart } from "../../kernels/sections.ts";
import {
  type Boundaries,
  type Grid,
  type OwnBoundaries,
  type OwnGrid,
  planned,
  type Problem,
  type Stencil,
} from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import type { Coordinates, GpuPlan, Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import { readsPrevious } from "../../kernels/update.ts";
import { errorBound } from "../../models/error_bound.ts";
import { responsesOf } from "../../models/responses.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { initialCells as makeInitialCells } from "../../tuner/devices/oracle.ts";
import { maxAbs, readable, readCells, setLevels } from "../devices/cells.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { assertPoints, awkwardPoints, SURVEY } from "./point_case.ts";

/** What is unlike most cases. */
export interface Special extends Precise {
  /** @default {"zero"} */
  readonly boundary?: OwnBoundaries;
  /** Sections that each level lies in: the device's limits are lowered until there are as many. @default {1} */
  readonly sections?: number;
  /** Whether they are ranges of one buffer. @default {false} */
  readonly areRanges?: boolean;
  /** Points of these fields, added to in every step and recorded in every few. @default {none} */
  readonly points?: { readonly fields?: readonly number[]; readonly every?: number };
  /** Whether it has the real weights, and is compared within the bound. @default {false} */
  readonly isReal?: boolean;
  /** Whether only thorough runs have it. @default {false} */
  readonly isSlow?: boolean;
}

/** A way to run. */
export interface Way {
  readonly traversal: Traversal;
  readonly parameters: Parameters;
}

/** What is run and compared. */
export interface OracleCase extends Way, Omit<Special, "boundary"> {
  readonly stencil: Stencil;
  readonly grid: Grid;
  /** Steps of each run; the runs follow one another on the same field. */
  readonly runs: readonly number[];
  /** @default {"zero"} */
  readonly boundary?: Boundaries;
}

/** A case as a row of a table: what is computed, on which cells, in which way, the steps of each run, and what is special. */
export type Row = readonly [
  stencil: Stencil,
  grid: OwnGrid,
  way: Way,
  runs: readonly number[],
  special?: Special | undefined,
];

/** Threads of a workgroup. */
export function inSteps([threadsZ, threadsY, threadsX]: Grid): Way {
  return { traversal: traversalNamed("stepwise"), parameters: { threadsZ, threadsY, threadsX } };
}

/** A march's parameters, in their order. */
export type MarchValues = readonly [
  zPerThread: number,
  threadsZ: number,
  threadsY: number,
  pieces: number,
  tile: number,
  ahead: number,
  depth?: number,
  exchange?: number,
];

/** With these parameters. */
export function inMarches(values: MarchValues): Way {
  const names = ["zPerThread", "threadsZ", "threadsY", "pieces", "tile", "ahead", "depth", "exchange"];
  return wayOf("marching", names, values);
}

/** A torre's place along the axes of searches, in their order; the last for equations with materials. */
export type TorreValues = readonly [
  dts: number,
  nt: number,
  bands: number,
  zPerThread: number,
  threads: number,
  chunk: number,
  unroll: number,
  lookahead: number,
  materials?: number,
];

/** There. */
export function inTorres(values: TorreValues): Way {
  const names = ["dts", "nt", "bands", "zPerThread", "threads", "chunk", "unroll", "lookahead", "materials"];
  const { traversal, parameters } = wayOf("diamond-torre", names, values);
  return { traversal, parameters: traversal.axes!.parameters(parameters as Coordinates) };
}

/** A torre of two dimensions: elements of a thread's line, and across, 0 for a line alone. */
export function inPlaneTorres(
  values: readonly [
    dts: number,
    nt: number,
    bands: number,
    line: number,
    across: number,
    tiles: number,
    farsh: number,
  ],
): Way {
  return wayOf("plane-torre", ["dts", "nt", "bands", "line", "across", "tiles", "farsh"], values);
}

/** A torre of tiles in three dimensions. */
export function inVolumeTorres(
  values: readonly [
    side: number,
    patchA: number,
    patchB: number,
    patchC: number,
    phases: number,
    ahead: number,
    nt: number,
    bands: number,
    packed?: number,
  ],
): Way {
  const names = ["side", "patchA", "patchB", "patchC", "phases", "ahead", "nt", "bands", "packed"];
  return wayOf("volume-torre", names, values);
}

/** A traversal of a line. */
export function onLine(
  name: "classic" | "swept" | "swept-register",
  values: readonly [threads: number, points: number, steps?: number],
): Way {
  return wayOf(name, ["threads", "points", "steps"], values);
}

function wayOf(traversal: string, names: readonly string[], values: readonly (number | undefined)[]): Way {
  const parameters = Object.fromEntries(values.map((value, i) => [names[i]!, value!]));
  return { traversal: traversalNamed(traversal), parameters };
}

/** Rows of one traversal, with its parameters' values instead of the way. */
export function rowsIn<Values>(
  wayOf: (values: Values) => Way,
  rows: readonly (readonly [Stencil, OwnGrid, NoInfer<Values>, readonly number[], Special?])[],
): Row[] {
  return rows.map(([stencil, grid, values, ...rest]) => [stencil, grid, wayOf(values), ...rest]);
}

/**
 * Adds a test for each row: the result is the oracle's.
 *
 * @param special of all of them, unless a row says otherwise
 */
export function testRows(rows: readonly Row[], special: Special = {}): void {
  for (const [stencil, grid, way, runs, own] of rows) {
    const one = caseOf([stencil, grid, way, runs, { ...special, ...own }]);
    const { isReal = false, isSlow = false, points } = one;
    const check = points !== undefined ? assertPointsExact : isReal ? assertWithinBound : assertExact;
    testOnGpu(
      `equals the oracle ${isReal ? "except for rounding" : "bit for bit"}: ${describeCase(one)}`,
      (gpu) => check(gpu, one),
      {
        ignore: isSlow && !THOROUGH,
        precision: one.stencil.update.precision,
        shuffles: one.parameters.exchange === 1,
      },
    );
  }
}

/** The case of a row. */
export function caseOf(
  [given, grid, way, runs, { boundary = "zero", precision, ...special } = {}]: Row,
): OracleCase {
  const stencil = inPrecision(given, precision ?? given.update.precision);
  return {
    ...way,
    ...special,
    stencil,
    grid: planned(stencil, grid, 1),
    runs,
    boundary: typeof boundary === "string" ? boundary : planned(stencil, boundary, boundary[0]),
  };
}

/** Of what fields begin with. */
export const SEED = 20_261_121;

/** The case in short, for the test's name. */
export function describeCase(
  { traversal, stencil, grid, parameters, runs, boundary = "zero", sections = 1, areRanges, points }:
    OracleCase,
): string {
  const values = Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" ");
  const { fields = [0], every = 1 } = points ?? {};
  return [
    `${traversal.name}, ${stencil.title}, ${grid.join("x")}, ${boundary}, ${values}, ${
      runs.join(" + ")
    } steps`,
    stencil.update.precision,
    sections !== 1 && `${sections} sections${areRanges ? " of one buffer" : ""}`,
    points && `points of field ${fields.join(" and ")}${every > 1 ? `, recorded every ${every} steps` : ""}`,
  ].filter(Boolean).join(", ");
}

/** Asserts that the case's result is the oracle's, bit for bit; the stencil's weights must be whole numbers. */
export async function assertExact(gpu: GpuDevice, oracleCase: OracleCase): Promise<void> {
  const { stencil } = oracleCase;
  const kind = stencil.initialField ?? "integers";
  const { expected, largest, result } = await runBoth(gpu, oracleCase, kind, assertEquals);
  const scale = largest / amplitudeOf({ ...stencil, initialField: kind });
  assertLess(
    Math.max(...responsesOf({ ...stencil, initialField: kind }, scale).map(({ size }) => size)),
    1 / precisionOf(stencil.update).unit,
    "the values are no longer exact",
  );
  for (const level of stateOf(stencil)) assertEquals(result[level], expected[level], level);
}

/** Asserts that the case's result is the oracle's, but for rounding. */
export async function assertWithinBound(gpu: GpuDevice, oracleCase: OracleCase): Promise<void> {
  const { stencil, grid, runs, boundary = "zero" } = oracleCase;
  const { expected, largest, result } = await runBoth(gpu, oracleCase, "noise");
  const bound = errorBound(
    { stencil, grid, boundary, steps: runs.reduce((sum, steps) => sum + steps) },
    largest,
  );
  for (const level of stateOf(stencil)) {
    const found = result[level].findIndex((value, i) => !(Math.abs(value - expected[level][i]!) <= bound));
    const wrong = `${result[level][found]} instead of ${expected[level][found]}`;
    assertEquals(found, -1, `${level}: ${wrong}, bound ${bound}, at cell ${found}`);
  }
}

/** The levels that the next step needs: where F(t−1) is never read, a traversal need not keep it. */
function stateOf({ update }: Stencil): ("current" | "previous")[] {
  return readsPrevious(update) ? ["current", "previous"] : ["current"];
}

interface Outcome {
  readonly expected: FieldLevels;
  /** Largest |value| that the field took. */
  readonly largest: number;
  readonly result: FieldLevels;
}

/** The case's field; asserts that the configuration is feasible, and in as many sections. */
function makeField(gpu: GpuDevice, oracleCase: OracleCase, problem: Problem): Promise<GpuField> {
  const { traversal, parameters, sections = 1 } = oracleCase;
  assertEquals(refusalOf(traversal, problem), undefined);
  assertEquals(traversal.infeasible(problem, parameters, gpu.limits), undefined);
  const plan = sections === 1
    ? traversal.plan(problem, parameters, gpu.limits)
    : planInSections(oracleCase, problem, sections);
  assertEquals((plan.storage.sections?.length ?? 1) > 1, sections > 1);
  return GpuField.create(gpu, problem, plan);
}

/** Asserts that levels and what points recorded are the oracle's, bit for bit. */
async function assertPointsExact(gpu: GpuDevice, oracleCase: OracleCase): Promise<void> {
  const { stencil, grid, runs, boundary = "zero", points: { fields = [0], every = 1 } = {} } = oracleCase;
  const problem: Problem = { stencil, grid, boundary, steps: Math.max(...runs), survey: SURVEY };
  const all = fields.map((field) => awkwardPoints(problem, every, field));
  const of = (kind: "added" | "recorded") => all.flatMap((one) => one[kind]);
  const points: Points = { added: of("added"), recorded: of("recorded"), every };
  using field = await makeField(gpu, oracleCase, problem);
  await assertPoints(field, { problem, points, runs }, {
    run: (field, steps) => field.run(steps),
    read: readCells,
  });
}

/**
 * Runs the case and the oracle; asserts that pads of zeros stay zero.
 *
 * @param compare what is said of F(t) after each run but the last
 */
async function runBoth(
  gpu: GpuDevice,
  oracleCase: OracleCase,
  kind: InitialField,
  compare?: (found: FloatArray, expected: FloatArray, when: string) => void,
): Promise<Outcome> {
  const { stencil, grid, runs, boundary = "zero" } = oracleCase;
  const problem: Problem = { stencil, grid, boundary, steps: Math.max(...runs) };
  using field = await makeField(gpu, oracleCase, problem);
  const start = initialCells(grid, kind, SEED, stencil), { layered = 0 } = field.plan.storage.layout;
  // each layout has a shader that fills it, which takes as long to compile as the kernel
  if (THOROUGH || layered > 0 || oracleCase.sections !== undefined) {
    await field.initialise({ kind, seed: SEED });
  } else {
    field.profiles.start({ first: [0, 0, 0] });
    await setLevels(field, start, start);
  }
  let expected: FieldLevels = { current: start, previous: start };
  let largest = maxAbs(start), done = 0;
  for (const [i, steps] of runs.entries()) {
    await field.run(steps);
    for (let step = 0; step < steps; step++) {
      expected = runReference(expected, { update: stencil.update, grid, boundary, steps: 1, start: done++ });
      largest = Math.max(largest, maxAbs(expected.current));
    }
    if (i === runs.length - 1) break;
    compare?.(await readCells(field, 0), readable(expected.current, problem), `after ${done} steps`);
  }
  const result = { current: await readCells(field, 0), previous: await readCells(field, 1) };
  expected = { current: readable(expected.current, problem), previous: readable(expected.previous, problem) };
  if (boundary === "zero") { for (const ago of [0, 1] as const) await assertZeroPads(gpu, field, ago); }
  return { expected, largest, result };
}

/** The plan in so many sections; Infinity: as small as they can be. */
export function planInSections(
  { traversal, parameters, areRanges = false }: Pick<OracleCase, "traversal" | "parameters" | "areRanges">,
  problem: Problem,
  sections: number,
): GpuPlan {
  const { layout } = traversal.plan(problem, parameters).storage;
  const [padX] = layout.pad, [nx] = layout.grid;
  let smallest: GpuPlan | undefined;
  for (let slices = nx + 2 * padX - 1; slices > 0; slices--) {
    const { bytes: each } = precisionOf(layout), bytes = each * (slices * layout.slice + layout.pad[2]);
    try {
      const plan = traversal.plan(problem, parameters, {
        maxStorageBufferBindingSize: bytes,
        maxBufferSize: areRanges ? each * layout.length : bytes,
        maxStorageBuffersPerShaderStage: 32,
      });
      if (areRanges && areApart(plan.storage.sections!)) continue;
      if (plan.storage.sections!.length >= sections) return plan;
      smallest = plan;
    } catch (error) {
      assert(error instanceof RangeError);
      break;
    }
  }
  assert(sections === Infinity && smallest !== undefined, `no plan in ${sections} sections`);
  return smallest;
}

/** A dense level of initial values. */
export function initialCells(
  grid: Grid,
  kind: InitialField,
  seed: number,
  stencil: Stencil = wave(2),
): FloatArray {
  return makeInitialCells({ grid, stencil }, { kind, seed });
}

/** Asserts that the whole array holds nothing but zeros outside of the grid's own cells. */
export async function assertZeroPads(gpu: GpuDevice, field: GpuField, ago: 0 | 1): Promise<void> {
  for (const { array, layout: its } of field.level(ago)) {
    const layout = { ...its, layered: 0 };
    const all = new field.precision.Values(await gpu.read(array.buffer, array.offset, array.size));
    assert(all.length >= layout.length && all.length < layout.length + 64);
    for (let x = 0; x < layout.grid[0]; x++) {
      for (let y = 0; y < layout.grid[1]; y++) {
        for (let plane = 0; plane < layout.planes; plane++) {
          const row = indexOf(layout, [x, y, 0], plane);
          all.fill(0, row, row + layout.grid[2]);
        }
      }
    }
    const found = all.findIndex((value) => value !== 0);
    assertEquals(
      found,
      -1,
      `F(t-${ago}) holds ${all[found]} outside of the grid, at index ${found} of ${layout.length}`,
    );
  }
}
