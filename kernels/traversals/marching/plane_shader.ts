/**
 * The shader of a march of several steps a pass in two dimensions.
 *
 * All steps of a slice share one barrier: each step lags so far behind the one before it that the neighbours it reads were
 * computed before the barrier. Threads exchange only the cells at the ends of their own: through workgroup memory or, where
 * a row of them is a SIMD group, by shuffles, without a barrier. The loop's body is as many slices as the queues hold, so
 * that no value moves from register to register. Workgroups whose cells all lie in the grid have a loop of their own without
 * the conditions of its ends.
 *
 * @module
 */
import type { Layout } from "../../layout.ts";
import { alongAxes, type Problem } from "../../stencils/stencil.ts";
import { expressionsOf, reachOf, type Update } from "../../update.ts";
import {
  cellType,
  declareLayout,
  declareLevels,
  elementOf,
  lanesAt,
  lanesOf,
  plus,
  times,
} from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { type Resolver, updateWriter } from "../../wgsl/write_update.ts";
import { type Column, columnIndex, type MarchQueues, sumIndex } from "./queues.ts";
import { pointAccess } from "./points.ts";
import { slicesIn, slot, withinSum } from "./shader.ts";
import { type March, ownThreads } from "./shape.ts";
import { profileAccess } from "../../wgsl/profiles.ts";
import { declareBuffer, type Shader, shaderOf } from "../../wgsl/shader.ts";

/** The ends of its cells that a thread shows the thread before it and the one after it. */
const ENDS = ["low", "high"] as const;

/** Values of the vectors that hold one end: of every step's cells as many as taps reach, four to a vector. */
export function endsOf(update: Update, tileCount: number): number[] {
  const values = tileCount * reachOf(update).z;
  return Array.from({ length: Math.ceil(values / PACKED) }, (_, i) => Math.min(PACKED, values - PACKED * i));
}
const PACKED = 4;

/** Slices in a loop's body: as many as its longest queue of computed values holds, unless the code grew too long. */
export function turnsOf({ columns, sums, leads }: MarchQueues): number {
  const made = [...columns.filter(({ ago }) => ago === -1), ...sums];
  const longest = Math.max(1, ...made.map(({ low, high }) => high - low + 1));
  return longest * leads.length <= MOST_STEPS ? longest : 1;
}

/** Steps of slices in a loop's body. */
const MOST_STEPS = 80;

/** The scratch buffers of a pair of passes, F(t) and F(t − 1): both in one exceeded a binding where a level does not. */
export const PAIR = ["newer", "older"] as const;
const IN_PAIR = ["newer[", "older["] as const;

/** The shader of a pass over some slices of a grid, whose first is the grid's `first`. */
export function planeShader(
  { stencil, boundary, grid: [nx, ny, nz] }: Problem,
  layout: Layout,
  shape: March,
  whole: { readonly first: number; readonly slices: number } = { first: 0, slices: nx },
  pass?: "to pair" | "from pair",
): Shader {
  const { update, zPerThread, threadsZ, haloZ, slices, queues, hasPoints, shuffles, workgroups } = shape;
  const { columns, sums, leads, warmUp } = queues, tiles = shape.tiles.flat(), last = leads.length - 1;
  const type = cellType(zPerThread), turns = turnsOf(queues), reach = reachOf(update).z;
  const ends = endsOf(update, tiles.length), writer = updateWriter(expressionsOf(update), update);
  const [alongX, , alongZ] = alongAxes(boundary), cutsX = alongX === "zero", cutsZ = alongZ === "zero";
  const limit = whole.slices === nx ? "NX" : whole.slices, isCut = cutsX || cutsZ;
  const load = ({ plane, ago }: Column, slice: number): string =>
    elementOf(
      { kind: "tap", plane, ago, offset: [slice, 0, 0] },
      plane === 0 && pass === "from pair" ? IN_PAIR : undefined,
    );
  /** Values that the loop's turns hand on, each with what it begins with and what takes its place. */
  const kept = [...columns, ...sums].flatMap((span, i) => {
    const prefix = i < columns.length ? `c${i}` : `s${i - columns.length}`;
    return slicesIn(span).slice(0, -1).map((slice) => ({
      name: slot(prefix, slice),
      from: "ago" in span && span.ago >= 0 ? load(span, slice) : `${type}()`,
      next: slot(prefix, slice + turns),
    }));
  });
  const points = pointAccess(shape);
  const profiles = profileAccess(stencil.update, [whole.slices, ny, nz], {
    of: update,
    width: zPerThread,
    still: [undefined, "0", "z"],
  });

  /** A slice of the loop's body. */
  const writeSlice = (turn: number, isMasked: boolean, isListed: boolean): string[] => {
    const sum = (index: number, slice: number): string => slot(`s${index}`, slice + turn);
    const column = (of: Pick<Column, "plane" | "ago">, slice: number): string =>
      slot(`c${columnIndex(columns, of)}`, slice + turn);
    const reads = new Map<string, string>();
    /** A lane of the thread `by` further along z. */
    const beyond = (tile: number, by: number, lane: number): string => {
      const end = by < 0 ? "high" : "low", index = tile * reach + (by < 0 ? lane + reach - zPerThread : lane);
      const vector = Math.floor(index / PACKED), name = `${end}${vector}_${turn}`;
      const shuffled = `subgroupShuffle${by < 0 ? "Up" : "Down"}(own_${name}, 1u)`;
      reads.set(name, `let ${name} = ${shuffles ? shuffled : `${end}${vector}[${plus("here", by)}]`};`);
      return lanePart(name, ends[vector]!, index % PACKED);
    };
    const stores = ENDS.flatMap((end) => {
      const lanes = Array.from({ length: reach }, (_, i) => end === "low" ? i : zPerThread - reach + i);
      const values = tiles.flatMap((tile) =>
        lanes.map((lane) => lanePart(column(tile, tile.slice), zPerThread, lane))
      );
      return ends.map((size, i) => {
        const ends = values.slice(PACKED * i, PACKED * i + size).join(", ");
        const place = shuffles ? `let own_${end}${i}_${turn}` : `${end}${i}[here]`;
        return `${place} = ${size === 1 ? ends : `${cellType(size)}(${ends})`};`;
      });
    });
    const resolver = (slice: number, prefix: string): Resolver => ({
      prefix,
      type,
      profile: profiles.read([plus("x", slice + turn + whole.first)]),
      tap(tap) {
        const { plane, ago, offset: [x, , z] } = tap, own = column(tap, slice + x);
        if (z === 0) return own;
        const tile = tiles.findIndex((tile) =>
          tile.plane === plane && tile.ago === ago && tile.slice === slice
        );
        const lanes = lanesAt(z, zPerThread).map(({ by, lane }) =>
          by === 0 ? lanePart(own, zPerThread, lane) : beyond(tile, by, lane)
        );
        return lanes.length === 1 ? lanes[0]! : `${type}(${lanes.join(", ")})`;
      },
      partial(of, offset) {
        const index = sumIndex(sums, of, offset);
        return index < 0 ? undefined : sum(index, slice + offset[0]);
      },
    });
    const steps = update.substeps.flatMap((substep, stage) => {
      const sumLines = sums.flatMap(({ of, high, stage: its }, i) => {
        if (its !== stage) return [];
        const { lines, values } = writer.write(withinSum(resolver(high, `p${turn}_${i}_`)), [of]);
        return [...lines, `let ${sum(i, high)} = ${values[0]};`];
      });
      const lead = leads[stage]!, isLast = stage === last;
      const { lines, values } = writer.write(resolver(lead, `e${turn}_${stage}_`), expressionsOf(substep));
      const inZ = isMasked && cutsZ && (!isLast || nz % zPerThread !== 0);
      const place = `u32(${plus("x", lead + turn + whole.first)}) < u32(${limit})`;
      const made = substep.flatMap(({ field }, i) => {
        const within = inZ ? `select(${type}(), ${values[i]}, inside)` : values[i]!;
        const text = isMasked && cutsX && !isLast ? `select(${type}(), ${within}, ${place})` : within;
        const name = isLast ? `new${turn}_${field}` : column({ plane: field, ago: -1 }, lead);
        const declared = `${isListed ? "var" : "let"} ${name} = ${text};`;
        return isListed ? [declared, points.made(name, turn, field)] : [declared];
      });
      return [...sumLines, ...lines, ...made];
    });
    const [newest, older] = pass === "to pair" ? IN_PAIR : ["now[", "before["];
    const cell = plus("cell", turn, "SLICE"), x = plus("x", turn);
    // what the last step makes first has been made some slices ago
    const stored = update.fields.map((_, field) => {
      const isNew = update.substeps[last]!.some((assignment) => assignment.field === field);
      const value = isNew ? `new${turn}_${field}` : column({ plane: field, ago: -1 }, 0);
      return `  ${pass ? newest : "before["}${plus(cell, field, "PLANE")}] = ${value};`;
    });
    return [
      ...columns.filter(({ ago }) => ago >= 0).map((read) =>
        `let ${column(read, read.high)} = ${load(read, read.high + turn)};`
      ),
      ...stores,
      ...(shuffles ? reads.values() : ["workgroupBarrier();", ...reads.values(), "here = both - here;"]),
      ...steps,
      `if (mine && ${x} >= first${turn === 0 ? "" : ` && ${x} < last`}) {`,
      ...(pass ? [`  ${older}${cell}] = ${column({ plane: last, ago: -1 }, 0)};`] : []),
      ...stored,
      "}",
    ];
  };
  const writeLoop = (isMasked: boolean, isListed: boolean): string =>
    wgsl`
      for (var x = ${plus("first", -warmUp)}; x < last; x += ${turns}) {
        ${Array.from({ length: turns }, (_, turn) => writeSlice(turn, isMasked, isListed)).flat().join("\n")}
        ${kept.map(({ name, next }) => `${name} = ${next};`).join("\n")}
        cell += ${times(turns, "SLICE")};
      }
    `;
  const inner = [
    ...(cutsZ ? [`z0 >= 0 && z0 + ${threadsZ * zPerThread} <= NZ`] : []),
    ...(cutsX ? [`${plus("first", whole.first - warmUp)} >= 0`] : []),
    ...(cutsX ? [`${plus("last", whole.first + turns - 1 + leads[0]!)} <= ${limit}`] : []),
    ...(hasPoints ? ["begin == 0"] : []),
  ].join(" && ");
  const hasInner = (isCut || hasPoints) && (!cutsZ || workgroups[0] > 2) && (!cutsX || workgroups[2] > 2);
  const loops = hasInner
    ? `if (${inner}) {\n${writeLoop(false, false)}} else {\n${writeLoop(isCut, hasPoints)}}`
    : writeLoop(isCut, hasPoints);
  const exchanged = ENDS.flatMap((end) =>
    ends.map((size, i) => `var<workgroup> ${end}${i}: array<${cellType(size)}, ${2 * threadsZ}>;`)
  );
  const places = wgsl`
    // what is exchanged lies in two places by turns: one barrier is enough
    let both = 2 * column + ${threadsZ};
    var here = column;
  `;
  const inZ = lanesOf("bool", zPerThread, (lane) => `u32(${plus("z", lane)}) < u32(NZ)`);
  const code = wgsl`
    // ${stencil.title}: ${leads.length} steps; each workgroup marches along x over ${slices} slices.
    ${declareLayout(layout, zPerThread)}
    const SLICES = ${slices};
    ${writer.constants}
    ${declareLevels(zPerThread)}
    ${profiles.declarations}
    ${points.declarations}
    ${pass ? PAIR.map((name) => declareBuffer(name, `array<${type}>`)).join("\n") : ""}
    ${shuffles ? "" : exchanged.join("\n")}

    @compute @workgroup_size(${threadsZ})
    fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
      let column = i32(l.x);
      let element0 = i32(w.x) * ${ownThreads(threadsZ, haloZ)} - ${haloZ[0]};
      let z0 = ${times(zPerThread, "element0")};
      let element = element0 + column;
      let z = ${times(zPerThread, "element")};
      let first = i32(w.z) * SLICES;
      let last = min(first + SLICES, NX);
      ${cutsZ ? `let inside = ${inZ};` : ""}
      let mine = u32(z) < u32(NZ) && column >= ${haloZ[0]} && column < ${threadsZ - haloZ[1]};
      ${shuffles ? "" : places}
      var cell = ORIGIN + (${plus("first", -warmUp)}) * SLICE + element;
      ${kept.map(({ name, from }) => `var ${name} = ${from};`).join("\n")}
      ${profiles.start.join("\n")}
      ${points.start}
      ${loops}
    }
  `;
  return shaderOf(`march ${type} ${threadsZ}x${leads.length}`, code, update);
}

/** A lane of a value that holds `cells` cells. */
function lanePart(value: string, cells: number, lane: number): string {
  return cells === 1 ? value : `${value}.${"xyzw"[lane]}`;
}
