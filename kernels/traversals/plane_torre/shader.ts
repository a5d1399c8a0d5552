/**
 * The shader of a torre in two dimensions: see `plane_torre.ts` for the geometry.
 *
 * @module
 */
import type { Problem } from "../../stencils/stencil.ts";
import { expressionsOf } from "../../update.ts";
import { declareLayout, declareLevels, LINEAR_THREADS, linearWorkgroups, plus } from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { updateWriter } from "../../wgsl/write_update.ts";
import { imageText } from "../../wgsl/wrap_pads.ts";
import { MAX_BANDS } from "../waves.ts";
import type { PlaneParameters, PlaneShape } from "./shape.ts";
import type { Place } from "../tiles.ts";
import { declareBuffer, type Shader, shaderOf } from "../../wgsl/shader.ts";

/** The shader that computes one torre per workgroup; its dispatches' uniforms are the rows. */
export function planeTorreShader(problem: Problem, parameters: PlaneParameters, shape: PlaneShape): Shader {
  const { nt, farsh } = parameters, { slope, width, layout, piece, edge, front, torres } = shape;
  const { threads, cells, wraps, slots, places, corner: [a, b] } = piece, { title } = problem.stencil;
  const each = <T>(write: (i: number) => T): T[] => cells.map((_, i) => write(i));
  /** Where a thread's cell lies, `by` cells further along x: lines leave the tile at one end of y, and enter at the other. */
  const cellAt = (i: number, by = 0): string => {
    const [a, b] = cells[i]!, shift = wraps && i > 0 ? ` - wrap${i}` : "";
    return `${plus("cellX", (a + b) / 2 + by)}${shift}, ${plus("cellY", (a - b) / 2)}${
      shift.replace("-", "+")
    }`;
  };
  const rounds = Array.from({ length: Math.ceil(front / threads) }, (_, k) => k);
  const isPartly = (k: number): boolean => (k + 1) * threads > front;
  const inFront = (k: number, line: string): string => isPartly(k) ? `if (isFront${k}) { ${line} }` : line;
  const code = wgsl`
    // ${title}: a workgroup computes a torre, a thread ${cells.length} cells of its tile.
    ${declareLayout(layout)}
    const S = ${slope}; const W = ${width};
    ${updateWriter(expressionsOf(shape.plane.stencil.update), layout).constants}
    struct Row { stage: i32, begin: i32, end: i32, band: i32 }
    ${declareLevels()}
    @group(0) @binding(2) var<uniform> rows: array<Row, ${MAX_BANDS}>;
    ${farsh === 0 ? "" : declareBuffer("farsh")}
    var<workgroup> exchange: array<array<f32, ${2 * places}>, ${slots}>;

    ${piece.functions}
    ${shape.places.code}
    fn isInside(x: i32, y: i32) -> bool { return u32(x) < u32(NX) && u32(y) < u32(NZ); }
    fn load(isNow: bool, x: i32, y: i32) -> f32 {
      if (!isInside(x, y)) { return 0.0f; }
      if (isNow) { return now[at(x, y)]; }
      return before[at(x, y)];
    }
    fn store(isNow: bool, x: i32, y: i32, value: f32) {
      if (!isInside(x, y)) { return; }
      if (isNow) { now[at(x, y)] = value; } else { before[at(x, y)] = value; }
    }

    @compute @workgroup_size(${threads})
    fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
      let thread = i32(l.x);
      let row = rows[w.y];
      let y = (row.stage & 1) * (W / 2) + i32(w.x) * W;
      if (y - W / 2 + 1 >= NZ + S) { return; } // this row is shorter than another of the dispatch
      let acrossY = y - W / 2 < 0 || y + W / 2 > NZ;
      var x = NX - 1 - row.stage * (W / 2) + S * (row.begin - 1); // of the tile's left corner
      let a = ${a}; let b = ${b};
      var cellX = x + (a + b) / 2; let cellY = y + (a - b) / 2;
      ${wraps ? each((i) => i === 0 ? "" : `let wrap${i} = select(0, W / 2, b + ${i} >= W);`).join("\n") : ""}
      var own = placeOf(a, b);
      var half = ${places};
      ${each((i) => `var held${i} = load(true, ${cellAt(i)});`).join("\n")}
      ${shape.hasPrevious ? each((i) => `var g${i} = load(false, ${cellAt(i, slope)});`).join("\n") : ""}
      ${farsh === 0 ? "" : declareLanes(torres)}
      ${
    rounds.map((k) =>
      wgsl`
      let n${k} = ${plus("thread", k * threads)}; let isU${k} = n${k} < ${edge};
      let m${k} = select(n${k} - ${edge}, n${k}, isU${k});
      let along${k} = m${k} / S; let deep${k} = m${k} % S * 2 + (along${k} & 1);
      ${isPartly(k) ? `let isFront${k} = n${k} < ${front};` : ""}
      let toA${k} = select(along${k}, W + deep${k}, isU${k}); let toB${k} = select(W + deep${k}, along${k}, isU${k});
      let ofA${k} = select(along${k}, deep${k}, isU${k}); let ofB${k} = select(deep${k}, along${k}, isU${k});
      let toSlot${k} = slotOf(toA${k}, toB${k}); let ofSlot${k} = slotOf(ofA${k}, ofB${k});
      var toPlace${k} = placeOf(toA${k}, toB${k}); var ofPlace${k} = placeOf(ofA${k}, ofB${k});
      let toX${k} = (toA${k} + toB${k}) / 2; let toY${k} = y + (toA${k} - toB${k}) / 2;
      ${
        farsh === 0
          ? wgsl`
      let ofX${k} = (ofA${k} + ofB${k}) / 2; let ofY${k} = y + (ofA${k} - ofB${k}) / 2;
      let isLeft${k} = ${isPartly(k) ? `isFront${k} && ` : ""}ofB${k} < W;
      var front${k} = load(row.begin % 2 == 0, x + toX${k}, toY${k});`
          : wgsl`
      var lane${k} = (select(laneV, laneU, isU${k}) * ${nt} + row.begin) * ${edge} + m${k};
      var front${k} = farsh[lane${k}];`
      }`
    ).join("\n")
  }
      for (var tier = row.begin; tier < row.end; tier++) {
        ${piece.shared.map((i) => `${exchanged(shape, i, 0, 0)} = held${i};`).join("\n")}
        ${
    rounds.map((k) => {
      // a lane holds nothing of what lies outside; to ask here, not at the load, leaves a tier's time for it
      const value = farsh === 0 ? `front${k}` : `select(0.0f, front${k}, isInside(x + toX${k}, toY${k}))`;
      return inFront(k, `exchange[toSlot${k}][toPlace${k}] = ${value};`);
    }).join("\n")
  }
        workgroupBarrier();
        ${
    rounds.map((k) =>
      farsh === 0
        ? wgsl`
        front${k} = load(tier % 2 == 1, x + S + toX${k}, toY${k});
        if (isLeft${k}) { store(tier % 2 == 0, x + ofX${k}, ofY${k}, exchange[ofSlot${k}][ofPlace${k}]); }`
        : wgsl`
        front${k} = farsh[lane${k} + ${edge}];
        ${inFront(k, `farsh[lane${k}] = exchange[ofSlot${k}][ofPlace${k}];`)}
        lane${k} += ${edge};`
    ).join("\n")
  }
        ${writeTier(shape)}
        x += S; cellX += S;
        if (acrossY || x < 0 || x + W > NX) {
          ${each((i) => `held${i} = select(0.0f, held${i}, isInside(${cellAt(i)}));`).join("\n")}
        }
        own += half;
        ${rounds.map((k) => `toPlace${k} += half; ofPlace${k} += half;`).join("\n")}
        half = -half;
      }
      let isEven = row.end % 2 == 0;
      ${each((i) => `store(isEven, ${cellAt(i)}, held${i});`).join("\n")}
      ${shape.hasPrevious ? each((i) => `store(!isEven, ${cellAt(i, slope)}, g${i});`).join("\n") : ""}
    }
  `;
  return shaderOf(`plane torre W=${width}`, code, layout);
}

/** The shader that sets the cells beyond the grid in both levels, a thread a cell, and its workgroups. */
export function imagesShader(
  { layout, canonical: { grid: [nx, , ny] }, places, beyond: [bx, by], along }: PlaneShape,
) {
  const inX = 2 * bx * layout.grid[2], inY = nx * 2 * by;
  const code = wgsl`
    // Fills what lies beyond the grid with images of it: ${along.join(", ")}.
    ${declareLayout(layout)}
    ${declareLevels()}
    ${places.code}
    // The i-th cell of those before and after n others, w on either side.
    fn around(i: i32, w: i32, n: i32) -> i32 { return select(i, i + n, i >= w); }

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      var i = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (i >= ${inX + inY}) { return; }
      var x = around(i / NZ, ${bx}, ${nx}); var y = i % NZ;
      if (i >= ${inX}) {
        i -= ${inX};
        x = ${bx} + i / ${Math.max(1, 2 * by)}; y = around(i % ${Math.max(1, 2 * by)}, ${by}, ${ny});
      }
      let image = at(${imageText("x", nx, bx, along[0])}, ${imageText("y", ny, by, along[1])});
      now[at(x, y)] = now[image];
      before[at(x, y)] = before[image];
    }
  `;
  return { shader: shaderOf("images", code, layout), workgroups: linearWorkgroups(inX + inY) };
}

/** Which lanes of the buffer a torre takes over from the one further along u and hands on, and along v. */
function declareLanes(torres: number): string {
  return wgsl`
    let lanes = row.band * ${2 * torres};
    let laneU = lanes + (i32(w.x) + (row.stage + 1) / 2) % ${torres};
    let laneV = lanes + ${torres} + (i32(w.x) + row.stage / 2 * ${torres - 1}) % ${torres};
  `;
}

/** Text of what lies α, β beyond a thread's cell in workgroup memory. */
function exchanged({ piece }: PlaneShape, i: number, alpha: number, beta: number): string {
  const [a, b] = piece.cells[i]!, place: Place = [a + alpha, b + beta];
  const wrap = piece.wraps && i > 0 ? ` - wrap${i}` : "";
  return `exchange[${piece.slotAt(place)}][${plus("own", piece.beyond(place))}${wrap}]`;
}

/** The lines that replace a thread's cells with those of the next tier, from the left. */
function writeTier(shape: PlaneShape): string {
  const { slope, piece: { cells, wraps }, plane: { stencil: { update } }, hasPrevious } = shape;
  const indices = new Map(cells.map((place, i) => [`${place}`, i]));
  const expressions = expressionsOf(update), { write } = updateWriter(expressions, update);
  const reads = new Map<string, string>();
  /** The value α, β beyond a cell at the tier before: the thread's own, or another's. */
  const valueAt = (i: number, alpha: number, beta: number): string => {
    const [a, b] = cells[i]!, index = indices.get(`${a + alpha},${b + beta}`);
    if (index !== undefined && !(wraps && alpha > 0)) return `held${index}`;
    const name = wraps ? `h${i}_${alpha}_${beta}` : `h${a + alpha}_${b + beta}`;
    const other = exchanged(shape, i, alpha, beta), before = i === 0 ? "0" : `wrap${i}`;
    reads.set(
      name,
      index === undefined
        ? `let ${name} = ${other};`
        : `var ${name} = held${index}; if (wrap${index} != ${before}) { ${name} = ${other}; }`,
    );
    return name;
  };
  const lines = cells.flatMap((_, i) => {
    const { lines, values: [value] } = write({
      prefix: `e${i}_`,
      tap: ({ ago, offset: [x, y] }) => ago === 1 ? `g${i}` : valueAt(i, slope + x + y, slope + x - y),
    });
    if (!hasPrevious) return [...lines, `held${i} = ${value};`];
    const older = valueAt(i, 2 * slope, 2 * slope);
    return [...lines, `let new${i} = ${value};`, `g${i} = ${older};`, `held${i} = new${i};`];
  });
  return [...reads.values(), ...lines].join("\n");
}
