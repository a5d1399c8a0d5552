/**
 * Shaders that make and compare whole fields on the device, so that no field crosses to the host.
 *
 * @module
 */
import { HASH, noiseIn, type Pattern, PLANE_SEED } from "../initial_field.ts";
import type { Layout } from "../layout.ts";
import { type Precision, precisionOf } from "../precision.ts";
import { DEFAULT_RANGE, type Update } from "../update.ts";
import { declareLayout, LINEAR_THREADS, linearWorkgroups } from "./declare.ts";
import { wgsl } from "./template.ts";
import { withNumbers } from "./shader.ts";

const VALUES: Readonly<Record<Pattern, string>> = {
  noise: "f32(hash >> 8u) * 0x1p-23f - 1.0f",
  integers: "f32(hash >> 29u) - 4.0f",
  binary: "select(0.0f, 1.0f, hash >> 30u == 0u)",
  zero: "0.0f",
};

/**
 * Fills an array: the grid's cells with their initial values, the pads with zeros, one value a thread. Binding 0: the array;
 * binding 2: the seed, where the layout's first cell lies in the whole grid, and the whole grid's cells along x, y, z.
 */
export function fillShader(
  layout: Layout,
  { fields, materials, ranges = [], layers = [] }: Update,
  kind: Pattern,
): string {
  const table = materials.flatMap(({ values }) => values), full = fields.length - layers.length;
  const { layered = 0 } = layout;
  const usual = noiseIn(DEFAULT_RANGE), noises = ranges.map(noiseIn);
  const isUsual = noises.every((noise) =>
    noise.least === usual.least && noise.count === usual.count && noise.unit === usual.unit
  );
  const { literal } = precisionOf(layout),
    rows = noises.map(({ least, count, unit }) => `vec3f(${least}, ${count}, ${literal(unit)})`);
  const code = wgsl`
    // Initial values of a field: see kernels/initial_field.ts.
    ${declareLayout(layout)}
    const LENGTH = ${layout.length};
    struct Fill { seed: u32, firstX: i32, firstY: i32, firstZ: i32, wholeX: i32, wholeY: i32, wholeZ: i32 }
    @group(0) @binding(0) var<storage, read_write> field: array<f32>;
    @group(0) @binding(2) var<uniform> fill: Fill;

    fn hashCell(cell: vec3u, seed: u32) -> u32 {
      var h = cell.x * ${HASH.x}u + cell.y * ${HASH.y}u + cell.z * ${HASH.z}u + seed;
      h = (h ^ (h >> 16u)) * ${HASH.first}u;
      h = (h ^ (h >> 13u)) * ${HASH.second}u;
      return h ^ (h >> 16u);
    }

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let index = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (index >= LENGTH) { return; }
      let first = ORIGIN % PITCH; // what lies before z = 0 in a row
      let row = index / PITCH;
      let z = index % PITCH - first;
      let rowOfSlice = row % (SLICE / PITCH);
      ${layered === 0 ? "let" : "var"} plane = rowOfSlice / ${layout.plane / layout.pitch};
      let y = rowOfSlice % ${layout.plane / layout.pitch} - ORIGIN % SLICE / PITCH;
      let x = row / (SLICE / PITCH) - ORIGIN / SLICE;
      let inside = x >= 0 && x < NX && y >= 0 && y < NY && z >= 0 && z < NZ;
      let whole = vec3i(fill.wholeX, fill.wholeY, fill.wholeZ);
      let cell = (vec3i(x, y, z) + vec3i(fill.firstX, fill.firstY, fill.firstZ) + whole) % whole;
      ${layered === 0 ? "" : `if (plane >= ${full}) { plane += ${layered}; } // those between lie in layers`}
      let hash = hashCell(vec3u(cell), fill.seed + u32(plane) * ${PLANE_SEED}u);
      var value = ${VALUES[kind]};
      ${
    kind !== "noise" || isUsual ? "" : wgsl`
        var ranges = array<vec3f, ${rows.length}>(${rows.join(", ")});
        let range = ranges[min(plane, ${rows.length - 1})];
        value = (f32((hash >> 8u) % u32(range.y)) + range.x) * range.z;
      `
  }
      ${
    layers.length === layered
      ? ""
      : `if (plane >= ${full}) { value = 0.0f; } // in layers, of which it starts with 0`
  }
      ${
    materials.length === 0 ? "" : wgsl`
        if (plane >= ${fields.length}) {
          var materials = array<f32, ${table.length}>(${table.map(literal).join(", ")});
          value = materials[8 * (plane - ${fields.length}) + i32(hash >> 29u)];
        }
      `
  }
      field[index] = select(0.0f, value, inside);
    }
  `;
  return withNumbers(code, layout);
}

/** Text of a number's first 32 bits, and those of them that are 1 where it is infinite or not a number. */
function highBits(
  { bytes }: Precision,
): { readonly bitsOf: (number: string) => string; readonly exponent: string } {
  return bytes === 4
    ? { bitsOf: (number) => `bitcast<u32>(${number})`, exponent: "0x7f800000u" }
    : { bitsOf: (number) => `u32(bitcast<u64>(${number}) >> 32u)`, exponent: "0x7ff00000u" };
}

/**
 * Looks for values that are infinite or not a number. Binding 0: values, in whatever order; binding 3: a word, which is 1
 * where there are any. {@linkcode finiteWorkgroups} of the values.
 */
export const finiteShader = (precision: Precision): string =>
  wgsl`
  @group(0) @binding(0) var<storage, read> values: array<${precision.bytes === 4 ? "u32" : "vec2u"}>;
  @group(0) @binding(3) var<storage, read_write> found: atomic<u32>;

  @compute @workgroup_size(${LINEAR_THREADS})
  fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let threads = groups.x * groups.y * ${LINEAR_THREADS}u;
    var isFound = false;
    // by their bits, since a compiler may take it that no value is infinite or not a number
    for (var i = id.x + id.y * groups.x * ${LINEAR_THREADS}u; i < arrayLength(&values); i += threads) {
      isFound = isFound || (values[i]${precision.bytes === 4 ? "" : ".y"} & ${
    highBits(precision).exponent
  }) == ${highBits(precision).exponent};
    }
    if (isFound) { atomicOr(&found, 1u); }
  }
`;

/** Each thread looks at some 16 values. */
export function finiteWorkgroups(values: number): [number, number, number] {
  return linearWorkgroups(Math.ceil(values / 16));
}

/** What {@linkcode compareShader} leaves in its result, as u32 words. */
export const COMPARISON_WORDS = { maxError: 0, maxValue: 1, notFinite: 2, count: 3 } as const;

/** Workgroups of {@linkcode compareShader}: one a row of cells. */
export function compareWorkgroups({ grid: [nx, ny], planes }: Layout): [number, number, number] {
  return linearWorkgroups(nx * ny * planes, 1);
}

/** Where a workgroup's row of cells begins; `beside`: a state that may have fewer planes, as fields in layers have none. */
function rowOf({ origin, slice, plane, pitch, layered = 0 }: Layout, first: string, beside: Layout): string {
  const { layered: skipped = 0, fields } = beside;
  const index = skipped > layered ? `(plane + select(0, ${skipped}, plane >= ${fields!}))` : "plane";
  return `${origin} + (x + ${first}) * ${slice} + ${index} * ${plane} + y * ${pitch}`;
}

/** Threads that share a row of cells. */
function threadsOf({ grid: [, , nz] }: Layout): number {
  return Math.min(64, nz);
}

/** The entry point: a workgroup a row, `body` its code. */
function perRow(layout: Layout, body: string): string {
  const { grid: [nx, ny], planes } = layout;
  return wgsl`
    @compute @workgroup_size(${threadsOf(layout)})
    fn main(
      @builtin(local_invocation_id) l: vec3u,
      @builtin(workgroup_id) w: vec3u,
      @builtin(num_workgroups) groups: vec3u,
    ) {
      let row = i32(w.x + w.y * groups.x);
      if (row >= ${nx * ny * planes}) { return; }
      let y = row % ${ny}; let x = row / ${ny} % ${nx}; let plane = row / ${nx * ny};
      ${body}
    }
  `;
}

/**
 * Copies all planes of a state that may lie differently in memory. Bindings 0 and 1: where to, and where from; binding 2:
 * their first slices. {@linkcode compareWorkgroups} of the first.
 */
export function copyShader(to: Layout, from: Layout): string {
  const body = wgsl`
    let mine = ${rowOf(to, "slices.mine", from)};
    let other = ${rowOf(from, "slices.other", to)};
    for (var z = i32(l.x); z < ${to.grid[2]}; z += ${threadsOf(to)}) { copy[mine + z] = cells[other + z]; }
  `;
  const code = wgsl`
    struct Slices { mine: i32, other: i32 }
    @group(0) @binding(0) var<storage, read_write> copy: array<f32>;
    @group(0) @binding(1) var<storage, read_write> cells: array<f32>;
    @group(0) @binding(2) var<uniform> slices: Slices;

    ${perRow(to, body)}
  `;
  return withNumbers(code, to);
}

/**
 * Compares two states of one grid that may lie differently in memory. Bindings 0 and 1: result and reference;
 * binding 2: their first slices; 3: four words, as {@linkcode COMPARISON_WORDS}: the first bits of the largest
 * |difference| and |reference| of a field, the number of values that are not finite, and of cells compared. Fields in layers
 * are compared only where both have them in all cells: those that they belong to tell of them.
 */
export function compareShader(result: Layout, reference: Layout): string {
  const { planes, fields = planes } = result.planes <= reference.planes ? result : reference;
  const size = fields < planes ? `select(0.0f, abs(b), plane < ${fields})` : "abs(b)";
  const { bitsOf, exponent } = highBits(precisionOf(result)),
    body = wgsl`
    let mine = ${rowOf(result, "slices.result", reference)};
    let other = ${rowOf(reference, "slices.reference", result)};
    var error = 0.0f; var value = 0.0f; var bad = 0u; var seen = 0u;
    for (var z = i32(l.x); z < ${result.grid[2]}; z += ${threadsOf(result)}) {
      let a = result[mine + z]; let b = reference[other + z];
      if (!isFinite(a) || !isFinite(b)) { bad += 1u; }
      error = max(error, abs(a - b));
      value = max(value, ${size});
      seen += 1u;
    }
    // Bits of floats that are not negative are ordered like the floats.
    atomicMax(&maxError, ${bitsOf("error")});
    atomicMax(&maxValue, ${bitsOf("value")});
    atomicAdd(&notFinite, bad);
    atomicAdd(&count, seen);
    workgroupBarrier();
    if (l.x == 0u) {
      atomicMax(&comparison.maxError, atomicLoad(&maxError));
      atomicMax(&comparison.maxValue, atomicLoad(&maxValue));
      atomicAdd(&comparison.notFinite, atomicLoad(&notFinite));
      atomicAdd(&comparison.count, atomicLoad(&count));
    }
  `;
  const code = wgsl`
    // Largest difference of two states, over the grid's own cells, all planes.
    struct Slices { result: i32, reference: i32 }
    struct Comparison { maxError: atomic<u32>, maxValue: atomic<u32>, notFinite: atomic<u32>, count: atomic<u32> }
    @group(0) @binding(0) var<storage, read_write> result: array<f32>;
    @group(0) @binding(1) var<storage, read_write> reference: array<f32>;
    @group(0) @binding(2) var<uniform> slices: Slices;
    @group(0) @binding(3) var<storage, read_write> comparison: Comparison;
    var<workgroup> maxError: atomic<u32>;
    var<workgroup> maxValue: atomic<u32>;
    var<workgroup> notFinite: atomic<u32>;
    var<workgroup> count: atomic<u32>;

    // By its bits, since a compiler may take it that no value is infinite or not a number.
    fn isFinite(value: f32) -> bool { return (${bitsOf("value")} & ${exponent}) != ${exponent}; }

    ${perRow({ ...result, planes }, body)}
  `;
  return withNumbers(code, result);
}
