/**
 * The shader of a torre: see `diamond_torre.ts` for the geometry.
 *
 * @module
 */
import type { Tap } from "../expression.ts";
import type { Problem } from "../stencils/stencil.ts";
import { expressionsOf, readsPrevious, tapsOf } from "../update.ts";
import { alongZ, cellType, declareLayout, strides } from "../wgsl/declare.ts";
import { wgsl } from "../wgsl/template.ts";
import { type UpdateWriter, updateWriter } from "../wgsl/write_update.ts";
import { MAX_BANDS } from "./torre_schedule.ts";
import { type Place, square, type TorreShape } from "./torre_shape.ts";
import type { Parameters, Shader } from "./traversal.ts";

/** The shader that computes one torre per workgroup; its dispatches' uniforms are the rows. */
export function torreShader(problem: Problem, parameters: Parameters, shape: TorreShape): Shader {
  const { dts, zPerThread, threads, unroll } = parameters;
  const { slope, width, layout, rim, perChunk, slotLength } = shape;
  const tile = square(0, width), held = square(-slope, width - slope);
  const previous = readsPrevious(problem.stencil.update);
  const type = cellType(zPerThread);
  const writer = updateWriter(expressionsOf(problem.stencil.update));
  const start = [
    ...held.map((place) => `var ${register("f", place)} = now[base${at(place)}];`),
    ...(previous ? tile.map((place) => `var ${register("g", place)} = before[base${at(place)}];`) : []),
  ].join("\n");
  // What is still only in registers at the top, in the coordinates of the tier after the last.
  const finishInto = (current: string, other: string): string =>
    [
      ...square(slope, width - slope).map((place) =>
        `${current}[base${at(place)}] = ${register("f", place)};`
      ),
      ...(previous
        ? square(0, width - 2 * slope).map((place) => `${other}[base${at(place)}] = ${register("g", place)};`)
        : []),
    ].join("\n");
  const finish = unroll > 1
    ? finishInto("now", "before")
    : eitherWay("row.tiers % 2 == 1", finishInto("before", "now"), finishInto("now", "before"));
  const threadCells = zPerThread === 1 ? "" : ` / ${zPerThread}`;
  const laneNumbers = Array.from({ length: zPerThread }, (_, lane) => lane);
  const beyond = threads * zPerThread > problem.grid[2];
  const lanesInside = laneNumbers.map((lane) => `thread * ${zPerThread} + ${lane} < NZ`).join(", ");
  const code = wgsl`
    // ${problem.stencil.title}: a torre per workgroup, ${zPerThread} cells along z per thread.
    ${declareLayout(layout)}
    const DTS = ${dts}; const S = ${slope}; const W = ${width};
    const SLICE_T = SLICE${threadCells}; const PITCH_T = PITCH${threadCells}; // in cells of a thread
    ${writer.constants}
    struct Row { x: i32, y: i32, tiers: i32, unused: i32 } // base of the row's first torre at its first tier
    @group(0) @binding(0) var<storage, read_write> now: array<${type}>;
    @group(0) @binding(1) var<storage, read_write> before: array<${type}>;
    @group(0) @binding(2) var<uniform> rows: array<Row, ${MAX_BANDS}>;
    var<workgroup> exchange: array<array<${type}, ${slotLength}>, ${2 * perChunk}>;

    @compute @workgroup_size(${threads})
    fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
      let thread = i32(l.x);
      let slot = thread + ${rim};
      let row = rows[w.y];
      let y = row.y + i32(w.x) * W;
      if (y - W / 2 + 1 >= NY) { return; } // this row is shorter than another of the dispatch
      let acrossY = y - W / 2 + 1 < 0 || y + W / 2 > NY;
      var x = row.x;
      var base = ORIGIN${threadCells} + x * SLICE_T + y * PITCH_T + thread;
      ${
    beyond ? `let inside = ${zPerThread === 1 ? lanesInside : `vec${zPerThread}<bool>(${lanesInside})`};` : ""
  }
      ${start}
      for (var tier = 0; tier < row.tiers; tier += ${unroll}) {
        ${writeTiers(problem, parameters, shape, writer, beyond)}
      }
      ${finish}
    }
  `;
  return { label: `torre ${type} DTS=${dts}`, code };
}

/** A branch that is the same for the whole workgroup. */
function eitherWay(condition: string, yes: string, no: string): string {
  return yes === "" ? "" : wgsl`
    if (${condition}) {
      ${yes}
    } else {
      ${no}
    }
  `.trimEnd();
}

/**
 * The loop's body: `unroll` tiers, then the registers take the places of the next round's first tier. In an
 * even number of tiers the two arrays swap back, so that each tier knows which it reads; a single tier asks.
 */
function writeTiers(
  problem: Problem,
  { unroll, lookahead, zPerThread }: Parameters,
  { slope, width, perChunk }: TorreShape,
  writer: UpdateWriter,
  beyond: boolean,
): string {
  const previous = readsPrevious(problem.stencil.update);
  const tile = square(0, width), held = square(-slope, width - slope);
  const needed = square(-slope, width + slope);
  const type = cellType(zPerThread);
  const lines: string[] = [];
  let f = new Map(held.map((place) => [`${place}`, register("f", place)]));
  let g = new Map(previous ? tile.map((place) => [`${place}`, register("g", place)]) : []);
  const chunks = Array.from(
    { length: Math.ceil(tile.length / perChunk) },
    (_, i) => tile.slice(i * perChunk, (i + 1) * perChunk),
  );
  const isLoaded = ([a, b]: Place): boolean => a >= width - slope || b >= width - slope;
  /** The first chunk that reads a place. */
  const readers = new Map<string, number>();
  chunks.forEach((chunk, index) => {
    for (const place of chunk) {
      for (const { offset: [x, y], ago } of tapsOf(problem.stencil.update)) {
        const key = `${shifted(place, x, y)}`;
        if (ago === 0 && !readers.has(key)) readers.set(key, index);
      }
    }
  });
  let half = 0;
  for (let tier = 0; tier < unroll; tier++) {
    const [source, target] = tier % 2 === 0 ? ["now", "before"] : ["before", "now"];
    const next = new Map<string, string>();
    const loads = needed.filter(isLoaded);
    lines.push(`// tier ${tier}: ${source} → ${target}`);
    if (unroll === 1) {
      const loadFrom = (array: string): string =>
        loads.map((place) => `${register("l0", place)} = ${array}[base${at(place)}];`).join("\n");
      for (const place of loads) {
        f.set(`${place}`, register("l0", place));
        lines.push(`var ${register("l0", place)}: ${type};`);
      }
      lines.push("let odd = tier % 2 == 1;", eitherWay("odd", loadFrom("before"), loadFrom("now")));
    }
    chunks.forEach((chunk, index) => {
      for (const place of unroll === 1 ? [] : loads) {
        const reader = readers.get(`${place}`) ?? chunks.length - 1; // where none: the next tier's G
        if (Math.max(0, reader - lookahead) !== index) continue;
        const name = register(`l${tier}`, place);
        lines.push(`let ${name} = ${source}[base${at(place)}];`);
        f.set(`${place}`, name);
      }
      const slotOf = (i: number): number => half * perChunk + i;
      chunk.forEach((place, i) => lines.push(`exchange[${slotOf(i)}][slot] = ${f.get(`${place}`)};`));
      lines.push("workgroupBarrier();");
      chunk.forEach((place, i) => {
        const own = f.get(`${place}`)!;
        const read = ({ offset: [x, y, z], ago }: Tap): string => {
          if (ago === 1) return g.get(`${place}`)!;
          return z === 0
            ? f.get(`${shifted(place, x, y)}`)!
            : alongZ(z, zPerThread, (by) =>
              by === 0 ? own : `exchange[${slotOf(i)}][slot${strides(by, "1")}]`);
        };
        const name = register(`n${tier}`, place);
        const { lines: kept, values: [value] } = writer.write({ tap: read, type, prefix: `${name}_` });
        lines.push(...kept);
        lines.push(`var ${name} = ${beyond ? zeroUnless("inside", value, zPerThread) : value};`);
        next.set(`${place}`, name);
      });
      half = 1 - half;
    });
    lines.push(...zeroOutside(tile, next, width, zPerThread));
    const storeInto = (array: string): string =>
      tile.filter(([a, b]) => a < 2 * slope || b < 2 * slope)
        .map((place) => `${array}[base${at(place)}] = ${next.get(`${place}`)};`).join("\n");
    lines.push(unroll === 1 ? eitherWay("odd", storeInto("now"), storeInto("before")) : storeInto(target));
    lines.push("x += S;", "base += S * SLICE_T;");
    const onward = ([a, b]: Place): string => `${[a + slope, b + slope]}`;
    if (previous) g = new Map(tile.map((place) => [`${place}`, f.get(onward(place))!]));
    f = new Map(held.map((place) => [`${place}`, next.get(onward(place))!]));
  }
  // Two chunks in turn share nothing; an odd number of them would meet its own half in the next round.
  if (half === 1) lines.push("workgroupBarrier();");
  if (previous) { for (const place of tile) lines.push(`${register("g", place)} = ${g.get(`${place}`)};`); }
  for (const place of held) lines.push(`${register("f", place)} = ${f.get(`${place}`)};`);
  return lines.join("\n");
}

/** The branch of tiers that touch an edge in x or y: what lies outside the grid becomes zero. */
function zeroOutside(
  tile: readonly Place[],
  next: ReadonlyMap<string, string>,
  width: number,
  zPerThread: number,
): string[] {
  const lines: string[] = [];
  const xOf = ([a, b]: Place): number => (a + b) / 2;
  const yOf = ([a, b]: Place): number => (a - b) / 2;
  const named = (y: number): string => y < 0 ? `inY_${-y}` : `inY${y}`;
  for (let x = 0; x < width; x++) lines.push(`let inX${x} = u32(x + ${x}) < u32(NX);`);
  for (let y = 1 - width / 2; y < width / 2; y++) lines.push(`let ${named(y)} = u32(y + ${y}) < u32(NY);`);
  for (const place of tile) {
    const name = next.get(`${place}`)!;
    const inside = `inX${xOf(place)} && ${named(yOf(place))}`;
    lines.push(`${name} = ${zeroUnless(inside, name, zPerThread)};`);
  }
  return ["if (acrossY || x < 0 || x + W > NX) {", ...lines.map((line) => `  ${line}`), "}"];
}

function zeroUnless(condition: string, value: string, zPerThread: number): string {
  return `select(${zPerThread === 1 ? "0.0f" : `vec${zPerThread}f()`}, ${value}, ${condition})`;
}

/** The place that lies Δx, Δy cells from another. */
function shifted([a, b]: Place, x: number, y: number): Place {
  return [a + x + y, b + x - y];
}

/** The name of a place's register; negative coordinates are written with an m. */
function register(prefix: string, place: Place): string {
  return `${prefix}_${place.map((c) => c < 0 ? `m${-c}` : c).join("_")}`;
}

/** The index of a place relative to the torre's base: " + 2 * SLICE_T - PITCH_T", folded by the compiler. */
function at([a, b]: Place): string {
  const x = (a + b) / 2, y = (a - b) / 2;
  const term = (count: number, stride: string): string =>
    count === 0 ? "" : ` ${count < 0 ? "-" : "+"} ${Math.abs(count)} * ${stride}`;
  return term(x, "SLICE_T") + term(y, "PITCH_T");
}
