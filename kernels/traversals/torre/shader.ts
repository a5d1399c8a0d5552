/**
 * The shader of a torre: see `diamond_torre.ts` for the geometry.
 *
 * @module
 */
import type { Problem } from "../../stencils/stencil.ts";
import { expressionsOf, readsPrevious, type Update } from "../../update.ts";
import { alongZ, cellType, declareLayout, declareLevels, lanesOf, plus, times } from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { type Resolver, type UpdateWriter, updateWriter } from "../../wgsl/write_update.ts";
import { MAX_BANDS } from "../waves.ts";
import {
  behind,
  type Element,
  elementKey,
  type MaterialLoads,
  type MaterialVisit,
  visitMaterials,
} from "./materials.ts";
import { type Place, shifted, square, tileOf } from "../tiles.ts";
import { CHUNKS_AHEAD, type TorreParameters, type TorreShape } from "./shape.ts";
import { type LayerWriter, layerWriter, type TorreLayers } from "./layers.ts";
import { type TorrePoints, torrePoints } from "./points.ts";
import { type PackedAccess, packedAccess } from "./packed.ts";
import { columnTap, keptIndex, sumsOf } from "./sums.ts";
import {
  type Cell,
  type Chunk,
  type KeptPlace,
  needsOf,
  onward,
  tapped,
  type TierNeeds,
  type Value,
  valueKey,
  visitTier,
} from "./visit.ts";
import { type ProfileAccess, profileAccess } from "../../wgsl/profiles.ts";
import { type Shader, shaderOf } from "../../wgsl/shader.ts";

/**
 * The shader that computes one torre per workgroup; its dispatches' uniforms are the rows. Where the level is cut into
 * sections, a row says how many slices lie before its section's.
 */
export function torreShader(
  problem: Problem,
  parameters: TorreParameters,
  shape: TorreShape,
  { isCut = false, layers }: { isCut?: boolean; layers?: TorreLayers & { readonly given: Problem } } = {},
): Shader {
  const { dts, zPerThread, threads, unroll, loads, held } = parameters;
  const { slope, width, spread, layout, rim, perChunk, slotLength } = shape;
  const { title, update } = problem.stencil, points = torrePoints(problem, shape, zPerThread);
  const { hasSeries } = points;
  const needs = needsOf(update, dts), { nameOf, aheadName } = namesIn(update);
  const older = olderIn(update, width);
  const type = cellType(zPerThread), packed = packedAccess(update, parameters, shape);
  const whole = layers?.whole ?? update;
  const writer = updateWriter(
    (layers ? [layers.whole, layers.usual] : [update]).flatMap(expressionsOf),
    update,
  );
  const rests = rowsAtRest(shape.resting, unroll);
  const heldAt = (value: Value): string =>
    own(rests.get(valueKey(value))) ?? nameOf(value.ago === 1 ? "g" : "f", value);
  const isIn = (array: string) => (value: Value): string =>
    `${rests.has(valueKey(value)) ? "" : "var "}${heldAt(value)} = ${cellAt(array, value)};`;
  const chunks = visitTier(update, {
    ...shape,
    resting: unroll === 1 ? [] : shape.resting,
    lookahead: CHUNKS_AHEAD[loads],
  });
  const ofMaterials = visitMaterials(update, { dts, zPerThread, held }, chunks.flatMap(({ cells }) => cells));
  const start = [
    ...needs.carried.map(isIn("now")),
    ...older.map(isIn("before")),
    ...(loads === "tier ahead" ? needs.loads : [])
      .map((value) => `var ${aheadName(value)} = ${cellAt(arrayOf(value, ["now", "before"]), value)};`),
    ...ofMaterials.carried.map((one) => `var ${elementName("m", one)} = ${elementAt(one, packed)};`),
  ].join("\n");
  // What is still only in registers at the top, in the coordinates of the tier after the last.
  const stored = new Set(needs.stored.map(valueKey)), made = new Set(tierOf(shape).map(valueKey));
  const isUnstored = (key: number): boolean => made.has(key) && !stored.has(key);
  const finishInto = (current: string, other: string): string =>
    [
      ...needs.carried.filter((value) => isUnstored(valueKey(onward(value, slope))))
        .map((value) => `${cellAt(current, value)} = ${heldAt(value)};`),
      ...older.filter(({ place: [a, b] }) => a < width - 2 * slope && b < width - 2 * slope)
        .map((value) => `${cellAt(other, value)} = ${heldAt(value)};`),
    ].join("\n");
  const finish = unroll > 1
    ? finishInto("now", "before")
    : eitherWay("row.tiers % 2 == 1", finishInto("before", "now"), finishInto("now", "before"));
  const perThread = zPerThread === 1 ? "" : ` / ${zPerThread}`;
  const each = zPerThread === 1 ? "a cell" : `${zPerThread} cells along z`;
  const beyond = threads * zPerThread > problem.grid[2];
  const z = times(zPerThread, "thread");
  const inside = lanesOf("bool", zPerThread, (lane) => `${plus(z, lane)} < NZ`);
  const profiles = profileAccess(whole, problem.grid, {
    width: zPerThread,
    still: [undefined, undefined, z],
    hasAlike: true,
  });
  const inLayers = layers && layerWriter(layers.given, layers, shape, {
    zPerThread,
    isRow: beyond ? `thread < ${problem.grid[2] / zPerThread}` : "",
  });
  const writing = { update, parameters, shape, writer, rests, profiles, points, packed, inLayers };
  const tiers = writeTiers(writing, { needs, chunks, ofMaterials, beyond });
  // torres at the ends of y take longer where they touch layers: of all rows they begin first, lest others wait for them
  const [ofRow, torre] = layers
    ? ["w.x", "select(i32(w.y) / 2, i32(groups.y) - 1 - i32(w.y) / 2, w.y % 2u == 1u)"]
    : ["w.y", "i32(w.x)"];
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
    ${points.declarations}
    ${packed.declarations}
    @group(0) @binding(2) var<uniform> rows: array<Row, ${MAX_BANDS}>;
    ${profiles.declarations}
    ${inLayers?.declarations ?? ""}
    var<workgroup> exchange: array<array<${type}, ${slotLength}>, ${2 * perChunk}>;
    ${rests.size === 0 ? "" : `var<workgroup> rest: array<array<${type}, ${slotLength}>, ${rests.size}>;`}

    @compute @workgroup_size(${threads})
    fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u${
    layers ? ", @builtin(num_workgroups) groups: vec3u" : ""
  }) {
      let thread = i32(l.x);
      let slot = ${plus("thread", rim)};
      let row = rows[${ofRow!}];
      let y = ${hasSeries ? "row.y % W" : "row.y"} + ${torre!} * W;
      if (${
    plus("y - W / 2", 1 - spread[1])
  } >= NY) { return; } // this row is shorter than another of the dispatch
      let acrossY = ${plus("y - W / 2", 1 - spread[1])} < 0 || y + W / 2 > NY;
      var x = row.x;
      var base = ORIGIN${perThread} + ${isCut ? "(x - row.before)" : "x"} * SLICE_T + y * PITCH_T + thread;
      ${packed.start.join("\n")}
      ${beyond ? `let inside = ${inside};` : ""}
      ${[...profiles.start, ...inLayers?.start ?? []].join("\n")}
      ${start}
      for (var tier = 0; tier < row.tiers; tier += ${unroll}) {
        ${tiers}
      }
      ${finish}
    }
  `;
  return shaderOf(`torre ${type} DTS=${dts}`, code, update);
}

/** What is the same in all of a torre's tiers. */
interface Writing {
  readonly update: Update;
  readonly parameters: TorreParameters;
  readonly shape: TorreShape;
  readonly writer: UpdateWriter;
  readonly rests: ReturnType<typeof rowsAtRest>;
  readonly profiles: ProfileAccess;
  readonly points: TorrePoints;
  readonly packed: PackedAccess;
  readonly inLayers: LayerWriter | undefined;
}

/**
 * The loop's body: `unroll` tiers, then the registers take the places of the next round's first tier. In an
 * even number of tiers the two arrays swap back, so that each tier knows which it reads; a single tier asks.
 */
function writeTiers(
  writing: Writing,
  { needs, chunks, ofMaterials: { carried, loads: materialLoads }, beyond }: {
    readonly needs: TierNeeds;
    readonly chunks: readonly Chunk[];
    readonly ofMaterials: MaterialVisit;
    readonly beyond: boolean;
  },
): string {
  const { update, shape, shape: { slope, width }, rests, points, packed, inLayers } = writing;
  const { unroll, loads, zPerThread } = writing.parameters, older = olderIn(update, width);
  const { nameOf, loadName, aheadName } = namesIn(update);
  const restOf = (value: Value): string | undefined => own(rests.get(valueKey(value)));
  const isAhead = loads === "tier ahead"; // then all loads are in the first chunk
  const type = cellType(zPerThread);
  const lines: string[] = [];
  let known = new Map([
    ...needs.carried.map((value) => [valueKey(value), nameOf("f", value)] as const),
    ...older.map((value) => [valueKey(value), restOf(value) ?? nameOf("g", value)] as const),
  ]);
  let m = new Map(carried.map((element) => [elementKey(element), elementName("m", element)]));
  let half = 0;
  for (let tier = 0; tier < unroll; tier++) {
    const arrays: Arrays = tier % 2 === 0 ? ["now", "before"] : ["before", "now"];
    const nextMaterials = new Map<number, string>();
    lines.push(`// tier ${tier}: ${arrays.join(" → ")}`);
    lines.push(...points.start(tier));
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
        const name = register(`r${tier}`, place), value = { field: 0, ago: 0, place } as const;
        lines.push(`let ${name} = ${restOf(value)};`);
        known.set(valueKey(value), name);
      }
      for (const value of loads) known.set(valueKey(value), loadName(tier, value));
      const loadFrom = (from: Arrays, before = ""): string[] =>
        loads.map((value) => `${before}${loadName(tier, value)} = ${cellAt(arrayOf(value, from), value)};`);
      if (unroll === 1) {
        for (const value of loads) lines.push(`var ${loadName(0, value)}: ${type};`);
        if (index === 0) lines.push("let odd = tier % 2 == 1;", ...inLayers?.tier ?? []);
        if (isAhead && loads.length > 0) {
          const nextFrom = (from: Arrays): string =>
            loads.map((value) => {
              const next = { ...value, place: shifted(value.place, slope, 0) };
              return `${aheadName(value)} = ${cellAt(arrayOf(value, from), next)};`;
            }).join("\n");
          for (const value of loads) lines.push(`${loadName(0, value)} = ${aheadName(value)};`);
          lines.push(eitherWay("odd", nextFrom(["now", "before"]), nextFrom(["before", "now"])));
        } else if (loads.length > 0) {
          const [even, odd] = [loadFrom(["now", "before"]), loadFrom(["before", "now"])];
          lines.push(eitherWay("odd", odd.join("\n"), even.join("\n")));
        }
      } else lines.push(...loadFrom(arrays, "let "));
      const layered = chunk.cells.map((cell) => ({ ...cell, prefix: cellPrefix(update, cell, tier) }));
      lines.push(...inLayers?.read(layered) ?? []);
      const ofCells = chunk.cells.map(() => loadMaterials(materialLoads[cell++]!));
      const begun = inLayers ? ofCells.length : 1; // what is made in one piece finds all of them
      lines.push(...ofCells.slice(0, begun).flat());
      const { lines: written, values } = writeChunk(chunk, { tier, half, known, m }, writing);
      lines.push(...written);
      chunk.cells.forEach(({ place, made }, i) => {
        const rest = restOf({ field: 0, ago: 0, place: shifted(place, -slope, 0) }),
          { lines: before, values: texts } = values[i]!;
        lines.push(...i < begun ? [] : ofCells[i]!, ...before);
        made.forEach(({ field }, one) => {
          const name = rest ?? nameOf(`n${tier}`, { field, place });
          const whole = beyond ? `select(${type}(), ${texts[one]}, inside)` : texts[one];
          lines.push(`${rest === undefined ? "var " : ""}${name} = ${whole};`);
          known.set(valueKey({ field, ago: -1, place }), name);
        });
      });
      if (chunk.exchanged.length > 0) half = 1 - half;
      if (chunks[index + 1]?.substep === chunk.substep) return;
      // the sub-step's last chunk
      const fields = update.substeps[chunk.substep]!.map(({ field }) => field);
      const nameIn = (value: Value): string => known.get(valueKey(value))!;
      lines.push(...zeroOutside(tierOf(shape, fields), nameIn, shape.spread[0], type));
      lines.push(...points.made(fields, tier, (place, field) => nameIn({ field, ago: -1, place })));
      const storeInto = (array: string): string =>
        needs.stored.filter(({ field }) => fields.includes(field))
          .map((value) => `${cellAt(array, value)} = ${nameIn(value)};`).join("\n");
      lines.push(
        unroll === 1 ? eitherWay("odd", storeInto("now"), storeInto("before")) : storeInto(arrays[1]),
      );
    });
    lines.push("x += S;", "base += S * SLICE_T;", ...packed.onward);
    const before = known;
    known = new Map([
      ...needs.carried.map((value) =>
        [valueKey(value), before.get(valueKey(onward(value, slope)))!] as const
      ),
      ...older.map((value) =>
        [
          valueKey(value),
          restOf(value) ?? before.get(valueKey({ ...onward(value, slope), ago: 0 }))!,
        ] as const
      ),
    ]);
    m = new Map(carried.map((element) => {
      const key = elementKey(element);
      return [key, nextMaterials.get(key) ?? m.get(elementKey(behind(element, slope)))!];
    }));
  }
  // Two chunks in turn share nothing; an odd number of them would meet its own half in the next round.
  if (half === 1) lines.push("workgroupBarrier();");
  for (const value of [...older, ...needs.carried]) {
    const name = nameOf(value.ago === 1 ? "g" : "f", value);
    if (restOf(value) === undefined) lines.push(`${name} = ${known.get(valueKey(value))};`);
  }
  for (const element of carried) lines.push(`${elementName("m", element)} = ${m.get(elementKey(element))};`);
  return lines.join("\n");
}

/** Values of F(t − 1) that a tile reads. */
function olderIn(update: Update, width: number): Value[] {
  return (readsPrevious(update) ? square(0, width) : []).map((place) => ({ field: 0, ago: 1, place }));
}

/**
 * The rows of workgroup memory in which values rest, by the values that the next tier finds there: of F(t) with two tiers or
 * more, of F(t − 1) with one. Those were put there for their neighbours.
 */
function rowsAtRest(resting: readonly Place[], unroll: number): ReadonlyMap<number, string> {
  const ago = unroll === 1 ? 1 : 0;
  return new Map(resting.map((place, i) => [valueKey({ field: 0, ago, place }), `rest[${i}]`]));
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
  /** Registers of fields by value, and of materials by element. */
  readonly known: ReadonlyMap<number, string>;
  readonly m: ReadonlyMap<number, string>;
}

/**
 * Writes a chunk: the lines that exchange its values and keep its sums, and for each of its cells the lines before its
 * value and the value.
 */
function writeChunk(
  { exchanged, kept, cells }: Chunk,
  { tier, half, known, m }: Registers,
  { update, parameters: { zPerThread }, shape: { slope, perChunk }, ...writing }: Writing,
): { lines: readonly string[]; values: readonly ReturnType<UpdateWriter["write"]>[] } {
  const { writer, rests, profiles, packed, inLayers } = writing;
  const sums = sumsOf(update), type = cellType(zPerThread), fields = update.fields.length;
  const nameIn = (value: Value): string => known.get(valueKey(value))!;
  const slots = new Map(
    exchanged.map((value, i) => [
      valueKey(value),
      rests.get(valueKey(value)) ??
        rests.get(valueKey({ field: 0, ago: 1, place: shifted(value.place, -slope, 0) })) ??
        `exchange[${half * perChunk + i}]`,
    ]),
  );
  const puts = exchanged.filter((value) => !rests.has(valueKey(value)))
    .map((value) => `${slots.get(valueKey(value))}[slot] = ${nameIn(value)};`);
  const keptName = ({ index, place }: KeptPlace): string => register(`s${tier}_${index}`, place);
  /** Reads of a column, while it is exchanged. */
  const inColumn = (place: Place): Resolver["tap"] => (tap) => {
    const value = tapped(tap, place), slot = slots.get(valueKey(value));
    return alongZ(
      tap.offset[2],
      zPerThread,
      (by) => by === 0 ? nameIn(value) : `${slot}[${plus("slot", by)}]`,
    );
  };
  const profilesAt = ([a, b]: Place) => profiles.read([plus("x", (a + b) / 2), plus("y", (a - b) / 2)]);
  const inRegisters = (place: Place): Pick<Resolver, "tap" | "partial" | "profile"> => ({
    profile: profilesAt(place),
    tap(tap) {
      const { offset: [x, y, z], plane } = tap;
      if (plane >= fields) {
        const at = shifted(place, x, y);
        const nameOf = (by: number) => m.get(elementKey({ plane, place: at, by }))!;
        return alongZ(z, zPerThread, (by) => packed.read(plane, nameOf(by)));
      }
      if (z === 0) return nameIn(tapped(tap, place));
      if (sums === undefined) return inColumn(place)(tap);
      return keptName({ index: keptIndex(sums, columnTap(tap), [0, 0, 0]), place });
    },
    partial(of, offset) {
      const index = sums === undefined ? -1 : keptIndex(sums, of, offset);
      return index < 0 ? undefined : keptName({ index, place: shifted(place, offset[0], offset[1]) });
    },
  });
  const keeps = kept.flatMap((sum) => {
    const { of, isColumn } = sums!.kept[sum.index]!, name = keptName(sum);
    const reads = isColumn
      ? { tap: inColumn(sum.place), profile: profilesAt(sum.place) }
      : inRegisters(sum.place);
    const { lines, values } = writer.write({ ...reads, type, prefix: `${name}_` }, [of]);
    return [...lines, `let ${name} = ${values[0]};`];
  });
  const resolved = cells.map((cell) => {
    const prefix = cellPrefix(update, cell, tier);
    return {
      ...cell,
      prefix,
      resolver: { ...inRegisters(cell.place), type, signal: `signal${tier}`, prefix },
    };
  });
  const layered = inLayers?.write(writer, resolved);
  const values = resolved.map(({ resolver, made }, i) =>
    layered
      ? { lines: i === 0 ? layered.lines : [], values: layered.values[i]! }
      : writer.write(resolver, made.map(({ value }) => value))
  );
  return {
    lines: [...puts, ...puts.length > 0 || rests.size > 0 ? ["workgroupBarrier();"] : [], ...keeps],
    values,
  };
}

/** What the names of a cell's lines begin with. */
function cellPrefix(update: Update, { place, made }: Cell, tier: number): string {
  return `${namesIn(update).nameOf(`n${tier}`, { field: made[0]!.field, place })}_`;
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

/** The branch of tiers that touch an edge in x or y: of new values what lies outside the grid becomes zero. */
function zeroOutside(
  values: readonly Value[],
  nameIn: (value: Value) => string,
  further: number,
  type: string,
): string[] {
  const lines: string[] = [];
  const xOf = ({ place: [a, b] }: Value): number => (a + b) / 2;
  const yOf = ({ place: [a, b] }: Value): number => (a - b) / 2;
  const named = (y: number): string => y < 0 ? `inY_${-y}` : `inY${y}`;
  const eachOf = (of: (value: Value) => number): number[] =>
    [...new Set(values.map(of))].sort((value, other) => value - other);
  for (const x of eachOf(xOf)) lines.push(`let inX${x} = u32(${plus("x", x)}) < u32(NX);`);
  for (const y of eachOf(yOf)) lines.push(`let ${named(y)} = u32(${plus("y", y)}) < u32(NY);`);
  for (const value of values) {
    const name = nameIn(value);
    const inside = `inX${xOf(value)} && ${named(yOf(value))}`;
    lines.push(`${name} = select(${type}(), ${name}, ${inside});`);
  }
  return [
    `if (acrossY || x < 0 || ${plus("x + W", further)} > NX) {`,
    ...lines.map((line) => `  ${line}`),
    "}",
  ];
}

/** The new values of a tier, of all fields or some. */
function tierOf(shape: TorreShape, fields: readonly number[] = [...shape.corners.keys()]): Value[] {
  return fields.flatMap((field) => tileOf(shape, field).map((place): Value => ({ field, ago: -1, place })));
}

/** The array that a tier reads, and the one that it writes. */
type Arrays = readonly [source: string, target: string];

/** Where a value is loaded from. */
function arrayOf({ ago }: Value, [source, target]: Arrays): string {
  return ago === 0 ? source : target;
}

/** How registers are called: of one field by their places alone. */
function namesIn({ fields }: Update) {
  const nameOf = (prefix: string, { field, place }: Pick<Value, "field" | "place">): string =>
    register(fields.length === 1 ? prefix : `${prefix}_${field}`, place);
  return {
    nameOf,
    loadName: (tier: number, value: Value): string => nameOf(`${value.ago === 0 ? "l" : "a"}${tier}`, value),
    aheadName: (value: Value): string => nameOf(value.ago === 0 ? "p" : "pa", value),
  };
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
function cellAt(array: string, { field = 0, place }: Partial<Value> & Pick<Value, "place">): string {
  return `${array}[${plus(indexAt(place), field, "PLANE_T")}]`;
}

/** Where a material's element lies, in either array or among packed ones. */
function elementAt({ plane, place, by }: Element, packed: PackedAccess): string {
  return packed.load(plane, by, indexAt(place, "word", "SLICE_P")) ??
    `now[${plus(plus(indexAt(place), plane, "PLANE_T"), by)}]`;
}

function indexAt([a, b]: Place, base = "base", slice = "SLICE_T"): string {
  const x = (a + b) / 2, y = (a - b) / 2;
  return plus(plus(base, x, slice), y, "PITCH_T");
}
