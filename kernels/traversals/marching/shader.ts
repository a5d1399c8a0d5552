/**
 * The shader of a march: see `marching.ts`.
 *
 * @module
 */
import { type Axis, type Expression, type Offset, type Tap, tapsIn } from "../../expression.ts";
import type { Layout } from "../../layout.ts";
import type { Twin } from "../../sections.ts";
import { alongAxes, type Problem } from "../../stencils/stencil.ts";
import { expressionsOf, isLayered, type Substep, tapsOf, type Update } from "../../update.ts";
import {
  alongZ,
  cellType,
  declareLayout,
  declareLevels,
  declareTime,
  elementOf,
  lanesOf,
  plus,
  times,
} from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { type Resolver, type UpdateWriter, updateWriter } from "../../wgsl/write_update.ts";
import { type Column, columnIndex, isStored, type MarchQueues, type Span, sumIndex } from "./queues.ts";
import { isCarried, isKept } from "../../partial_sums.ts";
import { type Ends, type March, type MarchShape, ownThreads, type Tile } from "./shape.ts";
import { pointAccess } from "./points.ts";
import { besideLayers, blocksOf } from "../../layers.ts";
import { type LayerAccess, layerAccess } from "../../wgsl/layers.ts";
import { type ProfileAccess, profileAccess } from "../../wgsl/profiles.ts";
import { declareTwin, type Shader, shaderOf } from "../../wgsl/shader.ts";

/** The neighbours in the slice that a sub-step reads, and at which slice. */
export function tilesReadBy(substep: Substep, stage: number, queues: MarchQueues, isTiled: boolean): Tile[] {
  const sums = queues.sums.filter((sum) => sum.stage === stage);
  const found = new Map<string, Tile>();
  const visit = (taps: readonly Tap[], slice: number): void => {
    for (const { plane, ago, offset: [, y, z] } of taps) {
      if ((y === 0 && z === 0) || ago === 1 || (ago === 0 && !isTiled)) continue;
      found.set(`${plane} ${ago} ${slice}`, { plane, ago, slice });
    }
  };
  visit(tapsIn(expressionsOf(substep), isKept), queues.leads[stage]!);
  for (const { of, high } of sums) visit(tapsIn([of], isCarried), high);
  return [...found.values()];
}

/**
 * Axes whose layers a workgroup touches that has a loop of its own: none, and z, whose rows are long. What a layer has costs
 * registers and time also where it is 0: 37.6 Gcells/s with a loop for none, 40.3 with both, 40.5 with those for z and y, z
 * and x besides, whose compiling takes three times as long (Yee with a PML of 12 cells, 512³, H100, 2026-11-24).
 */
const BESIDE: readonly (readonly Axis[])[] = [[], [2]];

/**
 * The shader that computes one step of some slices of a grid, whose first is the grid's `first`. What twins hold of these, it
 * stores there as well.
 */
export function marchShader(
  { stencil, boundary, grid: [nx, ny, nz], ...others }: Problem,
  layout: Layout,
  { update, hasPoints, workgroups, ...shape }: March,
  whole: { readonly first: number; readonly slices: number; readonly twins?: readonly Twin[] } = {
    first: 0,
    slices: nx,
  },
): Shader {
  const { zPerThread, threadsZ, threadsY, haloY, haloZ, rimY, rimZ, slices, queues, tiles } = shape;
  const { columns, sums, leads, warmUp } = queues, { twins = [] } = whole;
  const type = cellType(zPerThread);
  const blocks = blocksOf({ stencil, grid: [whole.slices, ny, nz], ...others });
  // where a workgroup's cells begin, those of its rim included, and how many it computes of how many there are
  const extents = [
    {
      begin: plus("first", whole.first - warmUp),
      count: slices + warmUp + Math.max(...leads),
      of: whole.slices,
    },
    { begin: plus(`i32(w.y) * ${ownThreads(threadsY, haloY)}`, -haloY[0]), count: threadsY, of: ny },
    {
      begin: times(zPerThread, `(i32(w.x) * ${ownThreads(threadsZ, haloZ)} - ${haloZ[0]})`),
      count: zPerThread * threadsZ,
      of: nz,
    },
  ];
  const beside = BESIDE.flatMap((axes) => {
    const others = blocks.filter(({ axis }) => !axes.includes(axis));
    const isOwn = others.length > 0 && axes.every((axis) => blocks.some((block) => block.axis === axis));
    const fit = others.every(({ axis, cells }) => extents[axis]!.count <= extents[axis]!.of - 2 * cells);
    const where = others.map(({ axis, cells }) => {
      const { begin, count, of } = extents[axis]!;
      return `${begin} >= ${cells} && ${begin} + ${count} <= ${of - cells}`;
    });
    return isOwn && fit ? [{ where: where.join(" && "), update: besideLayers(update, axes) }] : [];
  });
  const writer = updateWriter([update, ...beside.map(({ update }) => update)].flatMap(expressionsOf), update);
  const [alongX, alongY, alongZ] = alongAxes(boundary);
  const named = [
    ...columns.map((span, i) => ({ span, prefix: `c${i}` })),
    ...sums.map((span, i) => ({ span, prefix: `s${i}` })),
  ];
  const load = ({ plane, ago }: Column, slice: number): string =>
    elementOf({ kind: "tap", plane, ago, offset: [slice, 0, 0] });
  const declared = named.flatMap(({ span, prefix }, i) =>
    slicesIn(span).map((slice) =>
      `var ${slot(prefix, slice)} = ${
        warmUp === 0 && slice < span.high ? load(columns[i]!, slice) : `${type}()`
      };`
    )
  );
  const advanced = named.flatMap(({ span, prefix }) =>
    slicesIn(span).slice(0, -1).map((slice) => `${slot(prefix, slice)} = ${slot(prefix, slice + 1)};`)
  );
  const loads = columns.flatMap((column, i) =>
    column.ago >= 0 ? [`${slot(`c${i}`, column.high)} = ${load(column, column.high)};`] : []
  );
  const inZ = lanesOf("bool", zPerThread, (lane) => `u32(${plus("z", lane)}) < u32(NZ)`);
  const inY = zPerThread === 1 ? "insideY" : `vec${zPerThread}<bool>(insideY)`;
  // beyond the ends of the other axes a thread computes images
  const inside = [...(alongZ === "zero" ? [inZ] : []), ...(alongY === "zero" ? [inY] : [])];
  const cutsZ = alongZ === "zero" && layout.grid[2] % zPerThread !== 0;
  const starts: string[] = [];
  const wholeGrid: Problem = { ...others, stencil, boundary, grid: [whole.slices, ny, nz] };
  const layers = layerAccess(wholeGrid, zPerThread);
  const points = pointAccess({ ...shape, update, hasPoints, workgroups });
  const profiles = profileAccess(stencil.update, wholeGrid.grid, {
    of: update,
    width: zPerThread,
    still: [undefined, "y", "z"],
  });
  const writeStep =
    (isListed: boolean, update: Update, shown: string[]) => (substep: Substep, i: number): string => {
      const { early, lines, texts, start } = writeSubstep(writer, substep, {
        shape,
        lead: leads[i]!,
        stage: i,
        profiles,
        layers,
        first: whole.first,
      });
      starts.push(...start);
      shown.push(...early);
      const lead = leads[i]!, at = plus("x", lead);
      const isOwn = ["mine", ...warmUp > 0 ? [`${at} >= first`] : [], ...lead > 0 ? [`${at} < last`] : []];
      const stored = substep.flatMap(({ field }, k) => {
        const name = `l${i}_new${k}`, lines = layers.made(field, name, isOwn, `l${i}_`);
        return lines === undefined ? [] : [`let ${name} = ${texts[k]};`, ...lines];
      });
      if (i === update.substeps.length - 1) {
        const values = texts.map((text) => cutsZ ? `select(${type}(), ${text}, inside)` : text);
        if (!isListed) return [...lines, ...stored, ...storeStep(update, values, queues, twins)].join("\n");
        const made = [`var made = ${values[0]};`, points.made("made", 0, substep[0]!.field)];
        return [...lines, ...made, ...storeStep(update, ["made"], queues, twins)].join("\n");
      }
      const assignments = substep.flatMap(({ field }, k) => {
        if (isLayered(update, field)) return [];
        const column = columnIndex(columns, { plane: field, ago: -1 });
        const inYZ = inside.length === 0 ? texts[k] : `select(${type}(), ${texts[k]}, inside)`;
        const inX = `u32(${plus("x", lead + whole.first)}) < u32(${
          whole.slices === nx ? "NX" : whole.slices
        })`;
        const value = alongX !== "zero" ? inYZ : `select(${type}(), ${inYZ}, ${inX})`;
        return `${slot(`c${column}`, lead)} = ${value};`;
      });
      const plane = substep[0]!.field, name = slot(`c${columnIndex(columns, { plane, ago: -1 })}`, lead);
      const listed = isListed ? [points.made(name, 0, plane)] : [];
      return [...lines, ...stored, ...assignments, ...listed].join("\n");
    };
  const tileCount = tiles.flat().length;
  const isTiled = tileCount > 0;
  const tileType = `array<array<${type}, COLUMNS>, ${2 * (threadsY + 2 * rimY)}>`;
  const element = plus(`i32(w.x) * ${ownThreads(threadsZ, haloZ)} + column`, -haloZ[0]);
  const y = plus(`i32(w.y) * ${ownThreads(threadsY, haloY)} + row`, -haloY[0]);
  const notRim = ownsOnly("column", haloZ, threadsZ) + ownsOnly("row", haloY, threadsY);
  const start = plus("first", -warmUp);
  const writeLoop = (isListed: boolean, update: Update): string => {
    const shown: string[] = [], steps = update.substeps.map(writeStep(isListed, update, shown));
    return wgsl`
      for (var x = ${start}; x < last; x++) {
        ${[...loads, ...shown, ...steps].join("\n")}
        ${advanced.join("\n")}
        cell += SLICE;
        ${isTiled ? "half = ROWS - half;" : ""}
      }
    `;
  };
  const loop = writeLoop(false, update);
  const loops = [
    ...hasPoints ? [{ where: "begin != 0", text: writeLoop(true, update) }] : [],
    ...beside.map(({ where, update }) => ({ where, text: writeLoop(false, update) })),
  ];
  const code = wgsl`
    // ${stencil.title}: one step; each workgroup marches along x over ${slices} slices.
    ${declareLayout(layout, zPerThread)}
    const SLICES = ${slices};
    ${writer.constants}
    ${declareLevels(zPerThread)}
    ${twins.map((_, i) => declareTwin(`twin${i}`, type)).join("\n")}
    ${declareTime(update)}
    ${profiles.declarations}
    ${points.declarations}
    ${layers.declarations}
    ${isTiled ? `const ROWS = ${threadsY + 2 * rimY}; const COLUMNS = ${threadsZ + 2 * rimZ};` : ""}
    ${isTiled ? `var<workgroup> tiles: array<${tileType}, ${tileCount}>;` : ""}

    @compute @workgroup_size(${threadsZ}, ${threadsY})
    fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
      let column = i32(l.x); let row = i32(l.y);
      let element = ${element};
      let z = ${times(zPerThread, "element")};
      let y = ${y};
      let first = i32(w.z) * SLICES;
      let last = min(first + SLICES, NX);
      let insideY = u32(y) < u32(NY);
      ${inside.length === 0 ? "" : `let inside = ${inside.join(zPerThread === 1 ? " && " : " & ")};`}
      let mine = insideY && u32(z) < u32(NZ)${notRim};
      ${isTiled ? "var half = 0; // of the tiles, by turns: one barrier is enough" : ""}
      var cell = ORIGIN + ${warmUp === 0 ? start : `(${start})`} * SLICE + y * PITCH + element;
      ${declared.join("\n")}
      ${[...starts, ...profiles.start].join("\n")}
      ${points.start}
      ${loops.map(({ where, text }) => `if (${where}) {\n${text}} else {\n`).join("")}
      ${loop}
      ${"}".repeat(loops.length)}
    }
  `;
  return shaderOf(`march ${type} ${threadsZ}x${threadsY}`, code, update);
}

/** " && row >= 2 && row < 14": threads that are nobody's helpers. */
function ownsOnly(index: string, [low, high]: Ends, threads: number): string {
  return (low === 0 ? "" : ` && ${index} >= ${low}`) + (high === 0 ? "" : ` && ${index} < ${threads - high}`);
}

function writeSubstep(
  writer: UpdateWriter,
  substep: Substep,
  { shape, lead, stage, profiles, layers, first }: {
    shape: MarchShape;
    lead: number;
    stage: number;
    profiles: ProfileAccess;
    layers: LayerAccess;
    /** Slices of the grid before those that it computes. */
    first: number;
  },
): {
  /** Lines before all sub-steps: what neighbours are shown that earlier slices have made, and the barrier. */
  early: readonly string[];
  lines: readonly string[];
  texts: readonly string[];
  start: readonly string[];
} {
  const { zPerThread, queues: { columns, sums }, tiles, rimY, rimZ } = shape;
  const earlier = tiles.slice(0, stage).flat().length;
  const own = tiles[stage] ?? [];
  /** A tile's element so far from the thread's own. */
  const inTile = (index: number, y: number, by: number): string =>
    `tiles[${earlier + index}][${plus("half + row", rimY + y)}][${plus("column", rimZ + by)}]`;
  const rim = writeRim(substep, shape, own, inTile);
  const stores = [
    ...own.map((tile, i) => `${inTile(i, 0, 0)} = ${slot(`c${columnIndex(columns, tile)}`, tile.slice)};`),
    ...rim.stores,
  ];
  const reads: string[] = [], far: string[] = [];
  const known = new Map<string, string>();
  const named = (text: string, list = far): string => {
    const name = known.get(text) ?? `r${stage}_${known.size}`;
    if (!known.has(text)) list.push(`let ${name} = ${text};`);
    known.set(text, name);
    return name;
  };
  /** The element `by` threads further along z in a neighbour row, read once. */
  const elementAt = (tap: Tap, slice: number, by: number): string => {
    const [x, y] = tap.offset;
    const column = y === 0 && by === 0 ? columnIndex(columns, tap) : -1;
    const { low, high } = columns[column] ?? { low: 1, high: 0 };
    if (low <= slice + x && slice + x <= high) return slot(`c${column}`, slice + x);
    const tile = own.findIndex((tile) =>
      tile.plane === tap.plane && tile.ago === tap.ago && tile.slice === slice
    );
    return tile < 0
      ? named(elementOf({ ...tap, offset: [x + slice, y, by] }))
      : named(inTile(tile, y, by), reads);
  };
  const resolver = (slice: number, prefix: string): Resolver => ({
    prefix,
    type: cellType(zPerThread),
    profile(tap) {
      const text = profiles.read([plus("x", slice + first)])(tap);
      return tap.axis === 0 ? named(text) : text;
    },
    tap(tap) {
      return layers.read(tap.plane, `l${stage}_`) ??
        alongZ(tap.offset[2], zPerThread, (by) => elementAt(tap, slice, by));
    },
    partial(of: Expression, offset: Offset) {
      const index = sumIndex(sums, of, offset);
      return index < 0 ? undefined : slot(`s${index}`, slice + offset[0]);
    },
  });
  const sumLines = sums.flatMap(({ of, high, stage: its }, i) => {
    if (its !== stage) return [];
    const { lines, values } = writer.write(withinSum(resolver(high, `p${i}_`)), [of]);
    return [...lines, `${slot(`s${i}`, high)} = ${values[0]};`];
  });
  const { lines, values } = writer.write(resolver(lead, `e${stage}_`), expressionsOf(substep));
  const shown = stores.length === 0 ? [] : [...stores, "workgroupBarrier();"];
  const isKnown = own.every((tile) => tile.slice < columns[columnIndex(columns, tile)]!.high);
  return {
    // memory is asked before threads wait for each other
    early: isKnown ? [...shown, ...far] : far,
    lines: [
      ...isKnown ? [] : shown,
      ...rim.ahead,
      ...layers.start(substep, [plus("x", lead + first), "y", "z"], `l${stage}_`),
      ...reads,
      ...sumLines,
      ...lines,
    ],
    texts: values,
    start: rim.start,
  };
}

/** The resolver for what a sum is made of: sums of earlier slices, anything else taken apart. */
export function withinSum(resolver: Resolver): Resolver {
  return {
    ...resolver,
    partial: (of, offset) => isCarried(of, offset) ? resolver.partial?.(of, offset) : undefined,
  };
}

/** What lies around the threads' own elements, where it is loaded. */
interface Rim {
  /** Lines before the march: the first slice, where slices are loaded ahead. */
  readonly start: readonly string[];
  /** Lines that fill the tiles' rims. */
  readonly stores: readonly string[];
  /** Lines that load the next slice, while this one is computed. */
  readonly ahead: readonly string[];
}

/**
 * Writes the loads of rims: threads nearest to an end reach over both ends, and over corners where any tap does.
 */
function writeRim(
  substep: Substep,
  { threadsZ, threadsY, rimY, rimZ, ahead, zPerThread }: MarchShape,
  own: readonly Tile[],
  inTile: (index: number, y: number, by: number) => string,
): Rim {
  const alongY = [-rimY, threadsY], alongZ = [-rimZ, threadsZ];
  const hasCorners = tapsOf(substep).some(({ offset: [, y, z] }) => y !== 0 && z !== 0);
  const parts: [condition: string, places: (readonly [y: number, by: number])[]][] = [];
  if (rimY > 0) parts.push([`row < ${rimY}`, alongY.map((y) => [y, 0])]);
  if (rimZ > 0) parts.push([`column < ${rimZ}`, alongZ.map((by) => [0, by])]);
  if (rimY > 0 && rimZ > 0 && hasCorners) {
    parts.push([
      `row < ${rimY} && column < ${rimZ}`,
      alongY.flatMap((y) => alongZ.map((by) => [y, by] as const)),
    ]);
  }
  /** Lines for every place of each tile's rim, each in its threads' branch. */
  const forAll = (write: (tile: number, name: string, y: number, by: number) => string): string[] =>
    own.flatMap((_, i) =>
      parts.flatMap(([condition, places], part) => [
        `if (${condition}) {`,
        ...places.map(([y, by], k) => `  ${write(i, `rim${i}_${part}_${k}`, y, by)}`),
        "}",
      ])
    );
  const load = (i: number, y: number, by: number, later = 0): string =>
    elementOf({ kind: "tap", ...own[i]!, offset: [own[i]!.slice + later, y, by] });
  if (ahead === 0) {
    const stores = forAll((i, _, y, by) => `${inTile(i, y, by)} = ${load(i, y, by)};`);
    return { start: [], stores, ahead: [] };
  }
  const names: string[] = [];
  const start = forAll((i, name, y, by) => {
    names.push(`var ${name}: ${cellType(zPerThread)};`);
    return `${name} = ${load(i, y, by)};`;
  });
  return {
    start: [...names, ...start],
    stores: forAll((i, name, y, by) => `${inTile(i, y, by)} = ${name};`),
    ahead: forAll((i, name, y, by) => `${name} = ${load(i, y, by, 1)};`),
  };
}

/** Stores every field's new value at the slice that the march has reached. */
function storeStep(
  update: Update,
  values: readonly string[],
  { columns, warmUp }: MarchQueues,
  twins: readonly Twin[],
): string[] {
  const last = update.substeps.at(-1) ?? [];
  const computed = update.substeps.slice(0, -1).flat().filter(({ field }) => isStored(update, field));
  const earlier = computed.map(({ field }) => {
    const column = columnIndex(columns, { plane: field, ago: -1 });
    return { field, name: slot(`c${column}`, 0) };
  });
  const made = last.flatMap(({ field }, i) =>
    isLayered(update, field) ? [] : [{ field, name: `new${i}`, value: values[i] }]
  );
  const stores = (array: string, shift = 0): string[] =>
    [...earlier, ...made].map(({ field, name }) =>
      `  ${array}[${plus(plus("cell", field, "PLANE"), shift, "SLICE")}] = ${name};`
    );
  return [
    warmUp === 0 ? "if (mine) {" : "if (mine && x >= first) {",
    ...made.map(({ name, value }) => `  let ${name} = ${value};`),
    ...stores("before"),
    ...twins.flatMap(({ range: [from, to], shift }, i) => [
      `  if (x >= ${from} && x < ${to}) {`,
      ...stores(`twin${i}`, shift),
      "  }",
    ]),
    "}",
  ];
}

/** The name of a queue's value. */
export function slot(prefix: string, slice: number): string {
  return `${prefix}_${slice < 0 ? `m${-slice}` : slice}`;
}

export function slicesIn({ low, high }: Span): number[] {
  return Array.from({ length: high - low + 1 }, (_, i) => low + i);
}
