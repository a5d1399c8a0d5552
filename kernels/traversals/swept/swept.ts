/**
 * The swept rule in workgroup memory (Magee, Niemeyer, §IV): a workgroup computes a node, with one barrier a row.
 * Phases, edges and the split node: `plan.ts`.
 *
 * **Few rows are kept** (two for heat, as in the paper's Fig. 2): each row overwrites the one R rows before. Rows
 * shrink, so the ends of all rows of a triangle survive in R rows. A diamond begins by loading the neighbours' edges
 * to where its valley's rows read them.
 *
 * **Insulated ends** cut through the middle of the split node, and in even phases lie at the outer sides of the first
 * and the last node. Threads beside an end read mirrored points: each thread computes the indices that it reads once,
 * before the first row.
 *
 * @module
 */
import type { Problem } from "../../stencils/stencil.ts";
import { precisionOf } from "../../precision.ts";
import { expressionsOf, operationsOf, tapsOf, type Update } from "../../update.ts";
import { declareLevels, strides } from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { updateWriter } from "../../wgsl/write_update.ts";
import { lineLayout, sideOf } from "../line.ts";
import { hasInsulatedEnds, lineShape, madeBy, rowTap } from "../line.ts";
import { beginNode, declarePhase, fieldOnLine, type Nodes, type PhaseKind, sweeping } from "./plan.ts";
import { type Shader, shaderOf } from "../../wgsl/shader.ts";
import type { Traversal } from "../traversal.ts";

/** Its parameters are threads a workgroup, points a thread and steps a dispatch. */
export const swept: Traversal = sweeping({
  name: "swept",
  title: "the swept rule, nodes in workgroup memory",
  pointsToTry: () => [1, 2, 4, 8],
  pieces: (update) => ({ rows: rowsPerTurn(update), least: 1 }),
  storedValues: (update, { rows, flat }) => 2 * rows * lineShape(update).edge + flat,
  demand(update, { points, perThread }) {
    const { pad, reach, rows, substeps } = lineShape(update);
    const taps = update.substeps.flatMap(tapsOf).length / substeps;
    return {
      registers: { plain: 20 + precisionOf(update).bytes / 4 * perThread * (2 * reach + 2) },
      workgroupBytes: precisionOf(update).bytes * rows * (points + 2 * pad),
      round: {
        rows: 1,
        instructions: perThread * (3 * taps + 2),
        operations: perThread * operationsOf(update) / substeps,
        exchanges: perThread * (taps + 1),
      },
    };
  },
  rowsAbove: () => 1,
  makesFlats: false,
  shader: sweptShader,
});

/** Rows in the loop's body: as many as give each a fixed place in workgroup memory and a fixed sub-step. */
function rowsPerTurn(update: Update): number {
  const { substeps, rows } = lineShape(update);
  let turn = substeps;
  while (turn % rows !== 0) turn += substeps;
  return turn;
}

function sweptShader(problem: Problem, kind: PhaseKind, nodes: Nodes): Shader {
  const { threads, perThread: points } = nodes;
  const { update, title } = problem.stencil;
  const { substeps, reach, pad, edge, rows } = lineShape(update);
  const turn = rowsPerTurn(update);
  const isClipped = kind !== "middle", isStart = kind === "start";
  const { constants, write } = updateWriter(expressionsOf(update), update);
  const own = Array.from({ length: points }, (_, k) => k);
  const sides = new Set(tapsOf(update).map(({ offset: [, , z] }) => z).filter((z) => z !== 0));
  const isMirrored = hasInsulatedEnds(problem) && !isStart;
  const at = (offset: number, k: number): string =>
    isMirrored && offset !== 0 ? `${sideOf(offset)}_${k}` : `here${k}${strides(offset, "1")}`;
  const indices = own.flatMap((k) => [
    `let here${k} = i32(thread) + ${k * threads + pad};`,
    ...(isMirrored ? [...sides].map((z) => `let ${at(z, k)} = near(here${k}, ${z}, node);`) : []),
  ]);

  const widest = "FLAT / 2 + REACH * min(s, 2 * ROWS - s)";
  const half = isClipped ? `select(0, ${widest}, s <= phase.lastRow)` : widest;
  const makeRow = (index: number): string => {
    const substep = index % substeps;
    const { field, value } = madeBy(update, substep);
    // row s of the node is kept at place s mod R, and each turn begins with row 1 of these
    const place = (back: number): string => `row[${(1 + index - back + rows * substeps) % rows}]`;
    const bodies = own.map((k) => {
      const { lines, values } = write({
        tap: (tap) => {
          const { offset, back } = rowTap(update, substep, tap);
          return `${place(back)}[${at(offset, k)}]`;
        },
      }, [value]);
      const store = `before[${fieldOnLine(field)} + onLine(begin + here${k} - PAD)] = made;`;
      return wgsl`
        if (here${k} >= low && here${k} < high) {
          ${lines.join("\n")}
          let made = ${values[0]!};
          ${place(0)}[here${k}] = made;
          ${isClipped ? `if (s > phase.lastRow - ${substeps}) { ${store} }` : ""}
        }
      `;
    });
    return wgsl`
      { // row ${index} of the turn
        let s = first${strides(index, "1")};
        let half = ${half};
        let low = PAD + NODE / 2 - half; let high = PAD + NODE / 2 + half;
        ${bodies.join("")}
        workgroupBarrier();
      }
    `;
  };

  const base = fieldOnLine(madeBy(update, -1).field);
  const loadLine = own.map((k) => {
    const to = `row[${nodes.rows % rows}][here${k}]`, from = `${base} + begin + here${k} - PAD`;
    return wgsl`
      if (phase.fromNow == 1) { ${to} = now[${from}]; }
      else { ${to} = before[${from}]; }
    `;
  });
  const loadEdges = wgsl`
    for (var i = i32(thread); i < ROWS * EDGE; i += ${threads}) {
      let j = i / EDGE; let e = i % EDGE;
      // positions beyond what the widest row reads are of no use
      let leftAt = NODE / 2 - FLAT / 2 - REACH * j - EDGE + e + PAD;
      let rightAt = NODE / 2 + FLAT / 2 + REACH * j + e + PAD;
      if (leftAt >= 0) {
        row[j % ${rows}][leftAt] = stored[phase.readAt + edges + nodeBefore * ROWS * EDGE + i];
      }
      if (rightAt < NODE + 2 * PAD) {
        row[j % ${rows}][rightAt] = stored[phase.readAt + nodeBehind * ROWS * EDGE + i];
      }
    }
  `;
  const loadFlat = wgsl`
    for (var i = i32(thread); i < FLAT; i += ${threads}) {
      let c = NODE / 2 - FLAT / 2 + i;
      var value = stored[phase.writeAt + 2 * edges + node * FLAT + i];
      if (phase.second == 1) {
        let z = ${base} + onLine(begin + c);
        if (phase.fromNow == 1) { value = now[z]; } else { value = before[z]; }
      }
      row[0][c + PAD] = value;
    }
  `;
  const storeFlat = wgsl`
    for (var i = i32(thread); i < FLAT; i += ${threads}) {
      stored[phase.writeAt + 2 * edges + node * FLAT + i] = row[0][NODE / 2 - FLAT / 2 + i + PAD];
    }
  `;
  const hasFlats = nodes.flat > 0;
  const firstRow = isStart ? "ROWS + 1" : "1";
  const lastRow = isClipped ? "min(2 * ROWS, phase.lastRow)" : "2 * ROWS";
  const code = wgsl`
    // ${title}: ${kind} phase of the swept rule, ${points} points a thread.
    const NODE = ${nodes.points}; const PITCH = ${nodes.pitch}; const FLAT = ${nodes.flat};
    const REACH = ${reach}; const PAD = ${pad}; const EDGE = ${edge}; const ROWS = ${nodes.rows};
    ${constants}
    ${declareLevels()}
    ${declarePhase(lineLayout(problem))}
    var<workgroup> row: array<array<f32, NODE + 2 * PAD>, ${rows}>;

    ${isMirrored ? nearFunction(nodes) : ""}
    ${beginNode(threads)}
      let edges = nodes * ROWS * EDGE;
      ${indices.join("\n")}
      ${isStart ? loadLine.join("") : loadEdges}
      ${!isStart && hasFlats ? loadFlat : ""}
      workgroupBarrier();
      for (var first = ${firstRow}; first <= ${lastRow}; first += ${turn}) {
        ${Array.from({ length: turn }, (_, index) => makeRow(index)).join("")}
      }
      for (var i = i32(thread); i < ROWS * EDGE; i += ${threads}) {
        let j = i / EDGE; let e = i % EDGE;
        let place = (ROWS + j) % ${rows};
        stored[phase.writeAt + node * ROWS * EDGE + i] = row[place][REACH * j + e + PAD];
        stored[phase.writeAt + edges + node * ROWS * EDGE + i] =
          row[place][NODE - REACH * j - EDGE + e + PAD];
      }
      ${hasFlats ? storeFlat : ""}
    }
  `;
  return shaderOf(`${kind} ${threads}x${points}`, code, update);
}

/**
 * Where a thread finds the point `offset` beside its own: the ends cut through the middle of node 0 in odd phases, and
 * lie at the outer sides of the first and the last node in even ones, if there are no flats between them.
 */
function nearFunction({ flat }: Nodes): string {
  const atSides = wgsl`
    if (phase.odd == 0 && node == 0 && to < 0) { found = -to; }
    if (phase.odd == 0 && node == phase.nodes - 1 && to >= NODE) { found = 2 * (NODE - 1) - to; }
  `;
  return wgsl`
    fn near(here: i32, offset: i32, node: i32) -> i32 {
      let c = here - PAD; let to = c + offset;
      var found = to;
      let crosses = (c < NODE / 2) != (to < NODE / 2);
      if (phase.odd == 1 && node == 0 && crosses) {
        found = select(NODE - 2 - to, NODE - to, c >= NODE / 2);
      }
      ${flat > 0 ? "" : atSides}
      return PAD + found;
    }
  `;
}
