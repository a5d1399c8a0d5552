/**
 * The shader of the swept rule: a node's rows in workgroup memory, one barrier a row. See `swept.ts`.
 *
 * @module
 */
import type { Problem, Stencil } from "../stencils/stencil.ts";
import { expressionsOf, tapsOf } from "../update.ts";
import { declareLevels, strides } from "../wgsl/declare.ts";
import { wgsl } from "../wgsl/template.ts";
import { updateWriter } from "../wgsl/write_update.ts";
import { lineLayout } from "./classic.ts";
import { lineShape, rowTap } from "./line.ts";
import { beginNode, declarePhase, type Nodes, nodesOf, type Phase } from "./swept_plan.ts";
import type { Parameters, Shader } from "./traversal.ts";

/** Rows in the loop's body: so many that each has its place in workgroup memory and its sub-step. */
export function rowsPerTurn({ update }: Stencil): number {
  const { substeps, rows } = lineShape(update);
  let turn = substeps;
  while (turn % rows !== 0) turn += substeps;
  return turn;
}

/** The shader of one kind of phase. */
export function sweptShader(problem: Problem, kind: Phase["kind"], parameters: Parameters): Shader {
  const { threads, points, steps } = parameters;
  const { stencil, boundary } = problem;
  const { update, title } = stencil;
  const { substeps, reach, edge, rows } = lineShape(update);
  const nodes = nodesOf(problem, { points: threads * points, steps });
  const turn = rowsPerTurn(stencil);
  const isClipped = kind !== "middle", isStart = kind === "start";
  const { constants, write } = updateWriter(expressionsOf(update));
  const offsets = [...new Set(tapsOf(update).map(({ offset: [, , z] }) => z))];
  const nameOf = (offset: number): string =>
    offset < 0 ? `left${-offset}` : offset > 0 ? `right${offset}` : "here";
  const mine = Array.from({ length: points }, (_, k) => k);
  const isMirrored = boundary === "insulated" && !isStart;
  const at = (offset: number, k: number): string =>
    isMirrored && offset !== 0 ? `${nameOf(offset)}_${k}` : `here${k}${strides(offset, "1")}`;
  const indices = mine.flatMap((k) => [
    `let here${k} = i32(thread) + ${k * threads + reach};`,
    ...(isMirrored ? offsets.filter((o) => o !== 0) : []).map((o) =>
      `let ${at(o, k)} = near(here${k}, ${o}, node);`
    ),
  ]).join("\n");
  const makeRow = (index: number): string => {
    const substep = index % substeps;
    const [{ field, value }] = update.substeps[substep];
    // row s of the node lies in place s mod R, and the loop's rows begin at s = 1 modulo the turn
    const place = (back: number): string => `row[${(((1 + index - back) % rows) + rows) % rows}]`;
    const bodies = mine.map((k) => {
      const { lines, values } = write({
        tap: (tap) => {
          const { offset, back } = rowTap(update, substep, tap);
          return `${place(back)}[${at(offset, k)}]`;
        },
      }, [value]);
      return wgsl`
        if (here${k} >= low && here${k} < high) {
          ${lines.join("\n")}
          let made = ${values[0]};
          ${place(0)}[here${k}] = made;
          ${
        isClipped
          ? `if (s > phase.lastRow - ${substeps}) { before[${
            fieldAt(field)
          }onLine(begin + here${k} - REACH)] = made; }`
          : ""
      }
        }
      `;
    });
    return wgsl`
      { // row ${index} of the turn
        let s = first + ${index};
        let half = ${isClipped ? "select(0, " : ""}FLAT / 2 + REACH * min(s, 2 * ROWS - s)${
      isClipped ? ", s <= phase.lastRow)" : ""
    };
        let low = REACH + NODE / 2 - half; let high = REACH + NODE / 2 + half;
        ${bodies.join("")}
        workgroupBarrier();
      }
    `;
  };
  const made = update.substeps.at(-1)![0].field;
  const loadFlat = wgsl`
    for (var i = i32(thread); i < FLAT; i += ${threads}) {
      let c = NODE / 2 - FLAT / 2 + i;
      var value = before[phase.writeAt + 2 * edges + node * FLAT + i];
      if (phase.second == 1) {
        let z = ${fieldAt(made)}onLine(begin + c);
        if (phase.fromNow == 1) { value = now[z]; } else { value = before[z]; }
      }
      row[0][c + REACH] = value;
    }
  `;
  const storeFlat = wgsl`
    for (var i = i32(thread); i < FLAT; i += ${threads}) {
      before[phase.writeAt + 2 * edges + node * FLAT + i] = row[0][NODE / 2 - FLAT / 2 + i + REACH];
    }
  `;
  const load = isStart
    ? mine.map((k) => {
      const source = `${fieldAt(made)}begin + here${k} - REACH`;
      return wgsl`
        if (phase.fromNow == 1) { row[${nodes.rows % rows}][here${k}] = now[${source}]; }
        else { row[${nodes.rows % rows}][here${k}] = before[${source}]; }
      `;
    }).join("")
    : wgsl`
      for (var i = i32(thread); i < ROWS * EDGE; i += ${threads}) {
        let j = i / EDGE; let e = i % EDGE;
        // positions beyond what the widest row reads are of no use
        let leftAt = NODE / 2 - FLAT / 2 - REACH * j - EDGE + e + REACH;
        let rightAt = NODE / 2 + FLAT / 2 + REACH * j + e + REACH;
        if (leftAt >= 0) {
          row[j % ${rows}][leftAt] = before[phase.readAt + edges + nodeBefore * ROWS * EDGE + i];
        }
        if (rightAt < NODE + 2 * REACH) {
          row[j % ${rows}][rightAt] = before[phase.readAt + nodeBehind * ROWS * EDGE + i];
        }
      }
      ${nodes.flat === 0 ? "" : loadFlat}
    `;
  const code = wgsl`
    // ${title}: ${kind} phase of the swept rule, ${points} points a thread.
    const NODE = ${nodes.points}; const PITCH = ${nodes.pitch}; const FLAT = ${nodes.flat};
    const REACH = ${reach}; const EDGE = ${edge}; const ROWS = ${nodes.rows};
    ${constants}
    ${declareLevels()}
    ${declarePhase(lineLayout(problem))}
    var<workgroup> row: array<array<f32, NODE + 2 * REACH>, ${rows}>;

    ${isMirrored ? nearFunction(nodes) : ""}
    @compute @workgroup_size(${threads})
    fn main(
      @builtin(local_invocation_index) thread: u32,
      @builtin(workgroup_id) w: vec3u,
      @builtin(num_workgroups) groups: vec3u,
    ) {
      ${beginNode()}
      let edges = nodes * ROWS * EDGE;
      ${indices}
      ${load}
      workgroupBarrier();
      for (var first = ${isStart ? "ROWS + 1" : "1"}; first <= ${
    isClipped ? "min(2 * ROWS, phase.lastRow)" : "2 * ROWS"
  }; first += ${turn}) {
        ${Array.from({ length: turn }, (_, index) => makeRow(index)).join("")}
      }
      for (var i = i32(thread); i < ROWS * EDGE; i += ${threads}) {
        let j = i / EDGE; let e = i % EDGE;
        let place = (ROWS + j) % ${rows};
        before[phase.writeAt + node * ROWS * EDGE + i] = row[place][REACH * j + e + REACH];
        before[phase.writeAt + edges + node * ROWS * EDGE + i] =
          row[place][NODE - REACH * j - EDGE + e + REACH];
      }
      ${nodes.flat === 0 ? "" : storeFlat}
    }
  `;
  return { label: `${kind} ${threads}x${points}`, code };
}

/** "ORIGIN + phase.plane + ": where a field begins. */
function fieldAt(field: number): string {
  return `ORIGIN${strides(field, "phase.plane")} + `;
}

/**
 * Where a thread finds the point `offset` beside its own: ends cut through the middle of node 0 in odd phases, and
 * lie at the outer sides of the first and the last node in even ones, if there are no flats between them.
 */
function nearFunction({ flat }: Nodes): string {
  const atSides = flat > 0 ? "" : wgsl`
    if (phase.odd == 0 && node == 0 && to < 0) { found = -to; }
    if (phase.odd == 0 && node == phase.nodes - 1 && to >= NODE) { found = 2 * (NODE - 1) - to; }
  `;
  return wgsl`
  fn near(here: i32, offset: i32, node: i32) -> i32 {
    let c = here - REACH; let to = c + offset;
    var found = to;
    let crosses = (c < NODE / 2) != (to < NODE / 2);
    if (phase.odd == 1 && node == 0 && crosses) {
      found = select(NODE - 2 - to, NODE - to, c >= NODE / 2);
    }
    ${atSides}
    return REACH + found;
  }
`;
}
