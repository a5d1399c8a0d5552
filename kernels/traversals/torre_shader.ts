/**
 * The shader of a torre: see `diamond_torre.ts` for the geometry.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import { expressionsOf, readsPrevious } from "../update.ts";
import { cellType, declareLayout, lanesOf, plus, times } from "../wgsl/declare.ts";
import { wgsl } from "../wgsl/template.ts";
import { updateWriter } from "../wgsl/write_update.ts";
import { MAX_BANDS } from "./torre_schedule.ts";
import { square, type TorreParameters, type TorreShape } from "./torre_shape.ts";
import { cellAt, eitherWay, register, writeTiers } from "./torre_tiers.ts";
import type { Shader } from "./traversal.ts";

/** The shader that computes one torre per workgroup; its dispatches' uniforms are the rows. */
export function torreShader(problem: Problem, parameters: TorreParameters, shape: TorreShape): Shader {
  const { dts, zPerThread, threads, unroll } = parameters;
  const { slope, width, layout, rim, perChunk, lanes, slotLength } = shape;
  const tile = square(0, width), held = square(-slope, width - slope);
  const previous = readsPrevious(problem.stencil.update);
  const type = cellType(zPerThread);
  const writer = updateWriter(expressionsOf(problem.stencil.update));
  const start = [
    ...held.map((place) => `var ${register("f", place)} = ${cellAt("now", place)};`),
    ...(previous ? tile.map((place) => `var ${register("g", place)} = ${cellAt("before", place)};`) : []),
  ].join("\n");
  // What is still only in registers at the top, in the coordinates of the tier after the last.
  const finishInto = (current: string, other: string): string =>
    [
      ...square(slope, width - slope).map((place) => `${cellAt(current, place)} = ${register("f", place)};`),
      ...(previous ? square(0, width - 2 * slope) : [])
        .map((place) => `${cellAt(other, place)} = ${register("g", place)};`),
    ].join("\n");
  const finish = unroll > 1
    ? finishInto("now", "before")
    : eitherWay("row.tiers % 2 == 1", finishInto("before", "now"), finishInto("now", "before"));
  const perThread = zPerThread === 1 ? "" : ` / ${zPerThread}`;
  const each = zPerThread === 1 ? "a cell" : `${zPerThread} cells along z`;
  const beyond = threads * zPerThread > problem.grid[2];
  const z = times(zPerThread, "thread");
  const inside = lanesOf("bool", zPerThread, (lane) => `${plus(z, lane)} < NZ`);
  const slotType = `array<${lanes ? "f32" : type}, ${slotLength}>`;
  const slots = 2 * perChunk * (lanes?.length ?? 1);
  const code = wgsl`
    // ${problem.stencil.title}: a workgroup computes a torre, a thread ${each}.
    ${declareLayout(layout)}
    const DTS = ${dts}; const S = ${slope}; const W = ${width};
    const SLICE_T = SLICE${perThread}; const PITCH_T = PITCH${perThread}; // in elements of a thread
    ${writer.constants}
    struct Row { x: i32, y: i32, tiers: i32, unused: i32 } // base of the row's first torre at its first tier
    @group(0) @binding(0) var<storage, read_write> now: array<${type}>;
    @group(0) @binding(1) var<storage, read_write> before: array<${type}>;
    @group(0) @binding(2) var<uniform> rows: array<Row, ${MAX_BANDS}>;
    var<workgroup> exchange: array<${slotType}, ${slots}>;

    @compute @workgroup_size(${threads})
    fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
      let thread = i32(l.x);
      let slot = ${plus("thread", rim)};
      let row = rows[w.y];
      let y = row.y + i32(w.x) * W;
      if (y - W / 2 + 1 >= NY) { return; } // this row is shorter than another of the dispatch
      let acrossY = y - W / 2 + 1 < 0 || y + W / 2 > NY;
      var x = row.x;
      var base = ORIGIN${perThread} + x * SLICE_T + y * PITCH_T + thread;
      ${beyond ? `let inside = ${inside};` : ""}
      ${start}
      for (var tier = 0; tier < row.tiers; tier += ${unroll}) {
        ${writeTiers(problem, parameters, shape, writer, beyond)}
      }
      ${finish}
    }
  `;
  return { label: `torre ${type} DTS=${dts}`, code };
}
