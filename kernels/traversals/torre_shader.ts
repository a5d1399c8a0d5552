/**
 * The shader of a torre: see `diamond_torre.ts` for the geometry.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import { expressionsOf, profileTapsOf, readsPrevious, readsSignal, type Update } from "../update.ts";
import { alongZ, cellType, declareLayout, declareLevels, lanesOf, plus, times } from "../wgsl/declare.ts";
import { declarePoints, signalOf } from "../wgsl/points.ts";
import { wgsl } from "../wgsl/template.ts";
import { type Resolver, type UpdateWriter, updateWriter } from "../wgsl/write_update.ts";
import { MAX_BANDS } from "./torre_schedule.ts";
import {
  AGAIN,
  behind,
  type Element,
  elementKey,
  type MaterialLoads,
  type MaterialVisit,
  visitMaterials,
} from "./torre_materials.ts";
import {
  type Place,
  shifted,
  square,
  TIER_AHEAD,
  type TorreParameters,
  type TorreShape,
} from "./torre_shape.ts";
import { visitPoints } from "./torre_points.ts";
import { declarePacked, packedBuffer, packedPlanes } from "./torre_packed.ts";
import { columnTap, keptIndex, sumsOf } from "./torre_sums.ts";
import { type Chunk, type KeptPlace, needsOf, visitTier } from "./torre_visit.ts";
import { declareProfiles, pointBuffers, profileElement, withProfiles } from "./profile_storage.ts";
import type { Shader } from "./storage.ts";

/**
 * The shader that computes one torre per workgroup; its dispatches' uniforms are the rows. Where the level is cut into
 * sections, a row says how many slices lie before its section's.
 */
export function torreShader(
  problem: Problem,
  parameters: TorreParameters,
  shape: TorreShape,
  isCut = false,
): Shader {
  const { dts, zPerThread, threads, unroll, lookahead, materials = AGAIN } = parameters;
  const { slope, width, layout, rim, perChunk, slotLength } = shape;
  const { title, update } = problem.stencil, hasPoints = problem.survey !== undefined;
  const hasSeries = hasPoints || readsSignal(update);
  const tile = square(0, width), held = square(-slope, width - slope);
  const previous = readsPrevious(update);
  const type = cellType(zPerThread), packed = packedPlanes(update, materials).map(({ plane }) => plane);
  const scratch = hasSeries ? [...pointBuffers(problem)] : [];
  if (packed.length > 0) scratch.push(packedBuffer(problem));
  const writer = updateWriter(expressionsOf(update));
  const rests = rowsAtRest(shape.resting);
  const heldAt = (place: Place): string => own(rests.get(`${place}`)) ?? register("f", place);
  const ahead = unroll === 1 && sumsOf(update) === undefined ? Infinity : lookahead;
  const chunks = visitTier(update, { slope, width, perChunk, resting: shape.resting, lookahead: ahead });
  const ofMaterials = visitMaterials(
    update,
    { slope, width, zPerThread, materials },
    chunks.flatMap(({ cells }) => cells),
  );
  const start = [
    ...held.map((place) =>
      `${rests.has(`${place}`) ? "" : "var "}${heldAt(place)} = ${cellAt("now", place)};`
    ),
    ...(previous ? tile : []).map((place) => `var ${register("g", place)} = ${cellAt("before", place)};`),
    ...(lookahead === TIER_AHEAD ? needsOf(update, slope, width).loads : [])
      .map((place) => `var ${register("p", place)} = ${cellAt("now", place)};`),
    ...ofMaterials.carried.map((one) => `var ${elementName("m", one)} = ${elementAt(one, packed)};`),
  ].join("\n");
  // What is still only in registers at the top, in the coordinates of the tier after the last.
  const finishInto = (current: string, other: string): string =>
    [
      ...square(slope, width - slope).map((place) => `${cellAt(current, place)} = ${heldAt(place)};`),
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
  const readsProfiles = profileTapsOf(update).length === 0 ? 0 : 1;
  const profilesAt = ([a, b]: Place) =>
    profileElement(update, problem.grid, [plus("x", (a + b) / 2), plus("y", (a - b) / 2), z], zPerThread);
  const tiers = writeTiers(update, parameters, shape, {
    chunks,
    ofMaterials,
    profilesAt,
    writer,
    beyond,
    hasPoints,
  });
  const code = wgsl`
    // ${title}: a workgroup computes a torre, a thread ${each}.
    ${declareLayout(layout)}
    const DTS = ${dts}; const S = ${slope}; const W = ${width};
    const SLICE_T = SLICE${perThread}; const PITCH_T = PITCH${perThread}; // in elements of a thread
    ${layout.planes === 1 ? "" : `const PLANE_T = PLANE${perThread};`}
    ${writer.constants}
    struct Row { x: i32, y: i32, tiers: i32, ${
    isCut ? "before" : "unused"
  }: i32 } // base of the row's first torre at its first tier${hasSeries ? "; y: and W times the step" : ""}
    ${declareLevels(zPerThread)}
    ${hasSeries ? declarePoints(readsProfiles) : ""}
    ${declarePacked(update, parameters, shape, scratch.length - 1 + readsProfiles)}
    @group(0) @binding(2) var<uniform> rows: array<Row, ${MAX_BANDS}>;
    ${declareProfiles(update)}
    var<workgroup> exchange: array<array<${type}, ${slotLength}>, ${2 * perChunk}>;
    ${rests.size === 0 ? "" : `var<workgroup> rest: array<array<${type}, ${slotLength}>, ${rests.size}>;`}

    @compute @workgroup_size(${threads})
    fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
      let thread = i32(l.x);
      let slot = ${plus("thread", rim)};
      let row = rows[w.y];
      let y = ${hasSeries ? "row.y % W" : "row.y"} + i32(w.x) * W;
      if (y - W / 2 + 1 >= NY) { return; } // this row is shorter than another of the dispatch
      let acrossY = y - W / 2 + 1 < 0 || y + W / 2 > NY;
      var x = row.x;
      var base = ORIGIN${perThread} + ${isCut ? "(x - row.before)" : "x"} * SLICE_T + y * PITCH_T + thread;
      ${packed.length > 0 ? "var word = ORIGIN_P + x * SLICE_P + y * PITCH_T + thread;" : ""}
      ${beyond ? `let inside = ${inside};` : ""}
      ${start}
      for (var tier = 0; tier < row.tiers; tier += ${unroll}) {
        ${tiers}
      }
      ${finish}
    }
  `;
  return withProfiles(update, { label: `torre ${type} DTS=${dts}`, code, scratch });
}

/**
 * The loop's body: `unroll` tiers, then the registers take the places of the next round's first tier. In an
 * even number of tiers the two arrays swap back, so that each tier knows which it reads; a single tier asks.
 */
function writeTiers(
  update: Update,
  { unroll, lookahead, zPerThread, materials }: TorreParameters,
  shape: TorreShape,
  { chunks, ofMaterials: { carried, loads: materialLoads }, profilesAt, writer, beyond, hasPoints }: {
    chunks: readonly Chunk[];
    ofMaterials: MaterialVisit;
    profilesAt: (place: Place) => NonNullable<Resolver["profile"]>;
    writer: UpdateWriter;
    beyond: boolean;
    hasPoints: boolean;
  },
): string {
  const { slope, width, perChunk, resting } = shape, previous = readsPrevious(update);
  const tile = square(0, width), held = square(-slope, width - slope);
  const isAhead = lookahead === TIER_AHEAD; // then all loads are in the first chunk
  const type = cellType(zPerThread), packed = packedPlanes(update, materials).map(({ plane }) => plane);
  const lines: string[] = [];
  let f = new Map(held.map((place) => [`${place}`, register("f", place)]));
  let g = new Map(
    previous ? tile.map((place) => [`${place}`, register("g", place)]) : [],
  );
  let m = new Map(carried.map((element) => [elementKey(element), elementName("m", element)]));
  const rests = rowsAtRest(resting);
  const onward = (place: Place): string => `${shifted(place, slope, 0)}`;
  let half = 0;
  for (let tier = 0; tier < unroll; tier++) {
    const [source, target] = tier % 2 === 0 ? ["now", "before"] : ["before", "now"];
    const next = new Map<string, string>(), nextMaterials = new Map<string, string>();
    lines.push(`// tier ${tier}: ${source} → ${target}`);
    if (readsSignal(update)) {
      lines.push(`let signal${tier} = ${signalOf(`row.y / W + ${plus("tier", tier)}`)};`);
    }
    const loadMaterials = (loads: MaterialLoads): string[] => [
      ...loads.now.map((element) => {
        const name = elementName(`m${tier}`, element);
        m.set(elementKey(element), name);
        return `let ${name} = ${elementAt(element, packed)};`;
      }),
      ...loads.next.map((element) => {
        const name = elementName(`m${tier}n`, element);
        nextMaterials.set(elementKey(element), name);
        return `let ${name} = ${elementAt(behind(element, slope), packed)};`;
      }),
    ];
    let cell = 0;
    chunks.forEach((chunk, index) => {
      const { loads, woken } = chunk;
      for (const place of woken) {
        const name = register(`r${tier}`, place);
        lines.push(`let ${name} = ${own(rests.get(`${place}`))};`);
        f.set(`${place}`, name);
      }
      for (const place of loads) f.set(`${place}`, register(`l${tier}`, place));
      const loadFrom = (array: string, before = ""): string[] =>
        loads.map((place) => `${before}${register(`l${tier}`, place)} = ${cellAt(array, place)};`);
      if (unroll === 1) {
        for (const place of loads) lines.push(`var ${register("l0", place)}: ${type};`);
        if (index === 0) lines.push("let odd = tier % 2 == 1;");
        if (isAhead && loads.length > 0) {
          const nextFrom = (array: string): string[] =>
            loads.map((place) => `${register("p", place)} = ${cellAt(array, shifted(place, slope, 0))};`);
          for (const place of loads) lines.push(`${register("l0", place)} = ${register("p", place)};`);
          lines.push(eitherWay("odd", nextFrom("now").join("\n"), nextFrom("before").join("\n")));
        } else if (loads.length > 0) {
          lines.push(eitherWay("odd", loadFrom("before").join("\n"), loadFrom("now").join("\n")));
        }
      } else lines.push(...loadFrom(source, "let "));
      const ofCells = chunk.cells.map(() => loadMaterials(materialLoads[cell++]!));
      lines.push(...ofCells[0] ?? []);
      const { lines: written, values } = writeChunk(
        chunk,
        { tier, half, f, g, m },
        { update, perChunk, zPerThread, writer, rests, profilesAt, packed },
      );
      lines.push(...written);
      chunk.cells.forEach((place, i) => {
        const rest = own(rests.get(`${shifted(place, -slope, 0)}`)),
          name = rest ?? register(`n${tier}`, place);
        const { lines: before, values: [value] } = values[i]!;
        lines.push(...i === 0 ? [] : ofCells[i]!, ...before);
        const whole = beyond ? `select(${type}(), ${value}, inside)` : value;
        lines.push(`${rest === undefined ? "var " : ""}${name} = ${whole};`);
        next.set(`${place}`, name);
      });
      half = 1 - half;
    });
    lines.push(...zeroOutside(tile, next, width, type));
    if (hasPoints) lines.push(visitPoints(next, shape, { zPerThread, tier }));
    const storeInto = (array: string): string =>
      tile.filter(([a, b]) => a < 2 * slope || b < 2 * slope)
        .map((place) => `${cellAt(array, place)} = ${next.get(`${place}`)};`).join("\n");
    lines.push(unroll === 1 ? eitherWay("odd", storeInto("now"), storeInto("before")) : storeInto(target));
    lines.push("x += S;", "base += S * SLICE_T;", ...packed.length > 0 ? ["word += S * SLICE_P;"] : []);
    if (previous) g = new Map(tile.map((place) => [`${place}`, f.get(onward(place))!]));
    f = new Map(held.map((place) => [`${place}`, next.get(onward(place))!]));
    m = new Map(carried.map((element) => {
      const key = elementKey(element);
      return [key, nextMaterials.get(key) ?? m.get(elementKey(behind(element, slope)))!];
    }));
  }
  // Two chunks in turn share nothing; an odd number of them would meet its own half in the next round.
  if (half === 1) lines.push("workgroupBarrier();");
  if (previous) { for (const place of tile) lines.push(`${register("g", place)} = ${g.get(`${place}`)};`); }
  for (const place of held) {
    if (!rests.has(`${place}`)) lines.push(`${register("f", place)} = ${f.get(`${place}`)};`);
  }
  for (const element of carried) {
    lines.push(`${elementName("m", element)} = ${m.get(elementKey(element))};`);
  }
  return lines.join("\n");
}

/** The rows of workgroup memory in which values rest, by the places that the next tier finds them at. */
function rowsAtRest(resting: readonly Place[]): ReadonlyMap<string, string> {
  return new Map(resting.map((place, i) => [`${place}`, `rest[${i}]`]));
}

/** A thread's own element of a row. */
function own(row: string | undefined): string | undefined {
  return row && `${row}[slot]`;
}

/** Where values are while a chunk is written. */
interface Registers {
  readonly tier: number;
  /** Half of the workgroup memory that the chunk takes. */
  readonly half: number;
  /** Registers of F and G by place, and of materials by element. */
  readonly f: ReadonlyMap<string, string>;
  readonly g: ReadonlyMap<string, string>;
  readonly m: ReadonlyMap<string, string>;
}

/**
 * Writes a chunk: the lines that exchange its values and keep its sums, and for each of its cells the lines before its
 * value and the value.
 */
function writeChunk(
  { exchanged, kept, cells }: Chunk,
  { tier, half, f, g, m }: Registers,
  { update, perChunk, zPerThread, writer, rests, profilesAt, packed }: {
    update: Update;
    packed: readonly number[];
    perChunk: number;
    zPerThread: number;
    writer: UpdateWriter;
    rests: ReturnType<typeof rowsAtRest>;
    profilesAt: (place: Place) => NonNullable<Resolver["profile"]>;
  },
): { lines: readonly string[]; values: readonly ReturnType<UpdateWriter["write"]>[] } {
  const sums = sumsOf(update), type = cellType(zPerThread);
  const slots = new Map(
    exchanged.map((place, i) => [`${place}`, rests.get(`${place}`) ?? `exchange[${half * perChunk + i}]`]),
  );
  const puts = exchanged.filter((place) => !rests.has(`${place}`))
    .map((place) => `${slots.get(`${place}`)}[slot] = ${f.get(`${place}`)};`);
  const keptName = ({ index, place }: KeptPlace): string => register(`s${tier}_${index}`, place);
  /** Reads of a place's own column, while it is exchanged. */
  const inColumn = (place: Place): Resolver["tap"] => ({ offset: [, , z] }) =>
    alongZ(
      z,
      zPerThread,
      (by) => by === 0 ? f.get(`${place}`)! : `${slots.get(`${place}`)}[${plus("slot", by)}]`,
    );
  const inRegisters = (place: Place): Pick<Resolver, "tap" | "partial" | "profile"> => ({
    profile: profilesAt(place),
    tap(one) {
      const { offset: [x, y, z], ago, plane } = one;
      if (plane > 0) {
        const at = shifted(place, x, y);
        const nameOf = (by: number) => m.get(elementKey({ plane, place: at, by }))!,
          index = packed.indexOf(plane);
        return alongZ(z, zPerThread, (by) => index < 0 ? nameOf(by) : `unpack${index}(${nameOf(by)})`);
      }
      if (ago === 1) return g.get(`${place}`)!;
      if (z === 0) return f.get(`${shifted(place, x, y)}`)!;
      if (sums === undefined) return inColumn(place)(one);
      return keptName({ index: keptIndex(sums, columnTap(one), [0, 0, 0]), place });
    },
    partial(of, offset) {
      const index = sums === undefined ? -1 : keptIndex(sums, of, offset);
      return index < 0 ? undefined : keptName({ index, place: shifted(place, offset[0], offset[1]) });
    },
  });
  const keeps = kept.flatMap((one) => {
    const { of, isColumn } = sums!.kept[one.index]!, name = keptName(one);
    const reads = isColumn
      ? { tap: inColumn(one.place), profile: profilesAt(one.place) }
      : inRegisters(one.place);
    const { lines, values } = writer.write({ ...reads, type, prefix: `${name}_` }, [of]);
    return [...lines, `let ${name} = ${values[0]};`];
  });
  const values = cells.map((place) =>
    writer.write({
      ...inRegisters(place),
      type,
      signal: `signal${tier}`,
      prefix: `${register(`n${tier}`, place)}_`,
    })
  );
  return { lines: [...puts, "workgroupBarrier();", ...keeps], values };
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

/** The branch of tiers that touch an edge in x or y: what lies outside the grid becomes zero. */
function zeroOutside(
  tile: readonly Place[],
  next: ReadonlyMap<string, string>,
  width: number,
  type: string,
): string[] {
  const lines: string[] = [];
  const xOf = ([a, b]: Place): number => (a + b) / 2;
  const yOf = ([a, b]: Place): number => (a - b) / 2;
  const named = (y: number): string => y < 0 ? `inY_${-y}` : `inY${y}`;
  for (let x = 0; x < width; x++) lines.push(`let inX${x} = u32(${plus("x", x)}) < u32(NX);`);
  for (let y = 1 - width / 2; y < width / 2; y++) {
    lines.push(`let ${named(y)} = u32(${plus("y", y)}) < u32(NY);`);
  }
  for (const place of tile) {
    const name = next.get(`${place}`)!;
    const inside = `inX${xOf(place)} && ${named(yOf(place))}`;
    lines.push(`${name} = select(${type}(), ${name}, ${inside});`);
  }
  return ["if (acrossY || x < 0 || x + W > NX) {", ...lines.map((line) => `  ${line}`), "}"];
}

/** The name of a place's register; negative coordinates are written with an m. */
function register(prefix: string, place: Place): string {
  return `${prefix}_${place.map((c) => c < 0 ? `m${-c}` : c).join("_")}`;
}

/** The name of a material's element; those of its own cells along z have no third number. */
function elementName(prefix: string, { plane, place, by }: Element): string {
  return `${register(`${prefix}_${plane}`, place)}${by === 0 ? "" : by < 0 ? `_m${-by}` : `_${by}`}`;
}

/** An array's element at a place: `now[base + 2 * SLICE_T - PITCH_T]`. */
function cellAt(array: string, place: Place): string {
  return `${array}[${indexAt(place)}]`;
}

/** Where a material's element lies, in either array or, of one of these planes, in that of packed ones. */
function elementAt({ plane, place, by }: Element, packed: readonly number[]): string {
  const index = packed.indexOf(plane);
  if (index < 0) return `now[${plus(plus(indexAt(place), plane, "PLANE_T"), by)}]`;
  return `packed[${plus(plus(indexAt(place, "word", "SLICE_P"), index, "PLANE_T"), by)}]`;
}

function indexAt([a, b]: Place, base = "base", slice = "SLICE_T"): string {
  const x = (a + b) / 2, y = (a - b) / 2;
  return plus(plus(base, x, slice), y, "PITCH_T");
}
