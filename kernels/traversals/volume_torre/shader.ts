/**
 * The shader of a torre of tiles in three dimensions: see `volume_torre.ts` for the geometry.
 *
 * @module
 */
import { type Tap, tapsIn } from "../../expression.ts";
import type { Problem } from "../../stencils/stencil.ts";
import { plus } from "../../wgsl/declare.ts";
import { declareBuffer, declareTwin, type Shader, shaderOf } from "../../wgsl/shader.ts";
import { wgsl } from "../../wgsl/template.ts";
import { profileAccess } from "../../wgsl/profiles.ts";
import { MAX_BANDS } from "../waves.ts";
import { COEFFICIENT, coefficientsOf, writerOf } from "./coefficients.ts";
import { declareExchange, exchanged, inSlot } from "./exchange.ts";
import {
  cellOf,
  type Farsh,
  formsOf,
  type Triple,
  upTo,
  type VolumeExtent,
  type VolumePiece,
} from "./lattice.ts";
import { leanRounds } from "./lean.ts";
import type { Materials } from "./materials.ts";
import { declareCoefficients, moveCoefficients } from "./moving_coefficients.ts";
import { declarePlaces, declareTable } from "./order.ts";
import { volumePoints } from "./points.ts";
import { EARLY, splitExpression } from "./split_expression.ts";

interface Writing {
  readonly problem: Problem;
  readonly piece: VolumePiece;
  readonly extent: VolumeExtent;
  readonly farsh: Farsh;
  readonly nt: number;
  readonly ahead: number;
  /** Values of each part of a level. */
  readonly parts: readonly number[];
  readonly materials: Materials;
  /** Y of the first tiles. */
  readonly from: number;
}

/** The shader that computes one torre per workgroup; its dispatches' uniforms are the rows. */
export function volumeTorreShader(writing: Writing): Shader {
  const {
    problem,
    problem: { stencil, grid, grid: [nx, ny, nz] },
    piece,
    extent,
    farsh,
    nt,
    ahead,
    parts,
    materials,
    from,
  } = writing;
  const { threads, elements, patch: [pa, pb, pc], strides: [sa, sb, sc], hasPrevious, width, phases } = piece;
  const { thirds } = extent, rounds = upTo(piece.rounds), points = volumePoints(problem, piece);
  const names = elements.flatMap((_, i) => [`${i}_0`, `${i}_1`]);
  const load = (level: string, to: string): string =>
    elements.map((_, i) =>
      `{ let pair = ${level}[at + ${i} * THREADS]; ${to}${i}_0 = pair.x; ${to}${i}_1 = pair.y; }`
    ).join("\n");
  const store = (level: string, from: string): string =>
    elements.map((_, i) => `${level}[at + ${i} * THREADS] = vec2f(${from}${i}_0, ${from}${i}_1);`).join("\n");
  const storeBoth = (f: string, g: string): string => `${store(f, "h")}\n${hasPrevious ? store(g, "g") : ""}`;
  const inPart = parts[0]! / 2;
  /** Moves a thread's elements from or to a tile; which part it lies in is asked once, not at each of them. */
  const ofTile = (place: string, move: (part: number) => string): string => {
    if (parts.length === 1) return `let at = ${place} + thread;\n${move(0)}`;
    const cases = parts.map((_, i) =>
      wgsl`
        ${i === 0 ? "default" : `case ${i}`}: {
          ${move(i)}
        }
      `
    );
    return wgsl`
      let place = ${place}; let at = place % ${inPart} + thread;
      switch place / ${inPart} {
        ${cases.join("\n")}
      }
    `;
  };
  const others = parts.slice(1).map((_, i) =>
    wgsl`
      ${declareTwin(`now${i + 1}`, "vec2f")}
      ${declareTwin(`before${i + 1}`, "vec2f")}
    `
  );
  const lean = leanRounds(problem, piece, nt, ahead);
  const loop = lean.inLoops((isLean) =>
    upTo(ahead).map((set) =>
      wgsl`
        {
          ${writeTier(writing, set, isLean)}
        }
      `
    ).join("\n")
  );
  const code = wgsl`
    // ${stencil.title}: a workgroup computes a torre, a thread ${piece.cells} cells of its tile.
    const NX = ${nx}; const NY = ${ny}; const NZ = ${nz}; const AHEAD = ${ahead};
    ${writerOf(stencil.update).constants}
    struct Row { stage: i32, place: i32, step: i32, height: i32 }
    @group(0) @binding(0) var<storage, read_write> now0: array<vec2f>;
    @group(0) @binding(1) var<storage, read_write> before0: array<vec2f>;
    @group(0) @binding(2) var<uniform> rows: array<Row, ${MAX_BANDS}>;
    ${farsh.map(({ name }) => declareBuffer(name, "array<vec2f>")).join("\n")}
    ${declareTable(piece, "uniform")}
    ${others.join("\n")}
    ${declareExchange(piece, "exchange", phases === 2 ? "f32" : "vec2f")}
    ${piece.isApart ? declareExchange(piece, "held", "f32") : ""}
    ${materials.declarations}
    ${profileAccess(stencil.update, grid).declarations}
    ${points.declarations}
    ${declarePlaces(piece, extent)}
    ${lean.declarations}

    @compute @workgroup_size(${threads})
    fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
      let thread = i32(l.x);
      let row = rows[w.y];
      // a stage's tiles have places X, Y, Z with 3 X = 2 stage + Y + Z
      let Y = ${plus(`i32(w.x) / ${thirds}`, from)};
      let Z = 3 * (i32(w.x) % ${thirds}) + (row.stage + 300000 - Y) % 3;
      if (Z >= TILES_Z) { return; }
      let X = 2 * ((row.stage + 300000 - Y - Z) / 3 - 100000) + Y + Z;
      let offset = (wordAt(0) + S * row.step) % W;
      var x = M * X + offset; let y = M * Y - S; let z = M * Z - S;
      // tiers in which the tile or its front meets the grid, in whole rounds of the loop: a way out of it costs registers
      let begin = max(0, (S - x - W - 2 * S) / S) / AHEAD * AHEAD;
      let end = min(row.height, ((NX - x + S - 1) / S + AHEAD - 1) / AHEAD * AHEAD);
      if (begin >= end) { return; }
      let block = blockOf(thread);
      let j = block * vec3i(${pa}, ${pb}, ${pc});
      let own0 = block.x * ${sa} + block.y * ${sb} + block.z * ${sc};
      ${
    [sa, sb, sc, sa + sb, sa + sc, sb + sc, sa + sb + sc].map((n) => `let own${n} = own0 + ${n};`).join(" ")
  }
      let cellX = j.y + j.z; let cellY = y + j.y - j.x; let cellZ = z + j.z - j.x;
      let atEdge = y < M - 1 || y + M > NY || z < M - 1 || z + M > NZ;
      ${upTo(Math.ceil(elements.length / 32)).map((word) => `var inside${word} = 0u;`).join(" ")}
      ${
    elements.map(([a, b, c], i) =>
      `if (u32(${plus("cellY", b - a)}) < u32(NY) && u32(${plus("cellZ", c - a)}) < u32(NZ)) { inside${
        i >> 5
      } |= ${(1 << (i & 31)) >>> 0}u; }`
    ).join("\n")
  }
      ${names.map((name) => `var h${name} = 0.0f;${hasPrevious ? ` var g${name} = 0.0f;` : ""}`).join("\n")}
      if (x + W + S > 0) {
        ${
    ofTile(
      "levelAt(X, Y, Z)",
      (i) => `${load(`now${i}`, "h")}\n${hasPrevious ? load(`before${i}`, "g") : ""}`,
    )
  }
      }
      ${declareColumns(extent)}
      x += S * begin;
      let first = row.place * ${nt}; let last = first + row.height - 1;
      var tier = first + begin;
      ${upTo(ahead).map((a) => `let first${a} = min(tier + ${a}, last);`).join(" ")}
      ${rounds.map((n) => declareRound(writing, n)).join("\n")}
      ${declareCoefficients(writing)}
      ${lean.start}
      var t = begin;
      ${loop}
      // x is now that of the tile after the band's last tier
      if (end == row.height && x < NX) {
        ${
    ofTile("levelAt(X + 2 * ((offset + S * row.height) / W), Y, Z)", (i) =>
      wgsl`
        if ((row.height & 1) == 0) {
          ${storeBoth(`now${i}`, `before${i}`)}
        } else { // F(t) now lies in the array of the other parity
          ${storeBoth(`before${i}`, `now${i}`)}
        }
      `)
  }
      }
    }
  `;
  return shaderOf(`torres of ${width} along each form`, code, stencil.update);
}

/**
 * Which column of lanes is a torre's in each direction: torres that follow each other there have the same. The last that
 * has one leaves zeros there, as what it hands on lies outside of the grid, and so the next begins with zeros.
 */
function declareColumns({ turns: [y, z] }: VolumeExtent): string {
  const column = (direction: number, ofY: string, ofZ: string): string =>
    `let column${direction} = ${ofY} * ${z / 3} + ${ofZ} / 3;`;
  return wgsl`
    let forth = row.stage + ${y * z} * 1000; let back = ${y * z} * 1000 - row.stage;
    ${column(0, `(Y + forth) % ${y}`, `(Z + forth) % ${z}`)}
    ${column(1, `(Y + back) % ${y}`, "Z")}
    ${column(2, "Y", `(Z + back) % ${z}`)}
  `;
}

/** A round's places and lane, and the values of its first tiers. */
function declareRound({ piece, farsh, extent, ahead }: Writing, n: number): string {
  const { first, lane } = farsh.find((one) => n < one.first + one.rounds)!, isShort = n === piece.rounds - 1;
  const column = piece.directionsOf(n).map(({ direction, thread }) => ({
    text: `column${direction}`,
    thread,
  }))
    .reduce((all, { text, thread }) => ({
      text: `select(${all.text}, ${text}, thread >= ${thread})`,
      thread,
    }));
  // threads without an element load that of the last one
  const thread = isShort ? `min(thread, ${piece.rest - 1})` : "thread";
  return wgsl`
    let places${n} = wordAt(1 + ${n} * THREADS + thread);
    let slot${n} = places${n} & 255; let to${n} = (places${n} >> 8u) & 4095; let of${n} = i32(u32(places${n}) >> 20u);
    let lane${n} = ${column.text} * ${lane} + ${n - first} * THREADS + ${thread};
    ${
    upTo(ahead).map((set) => `var front${n}_${set} = ${farshAt({ farsh, extent }, n, `first${set}`)};`).join(
      "\n",
    )
  }
  `;
}

/** Text of a round's values in FArSh at a tier. */
function farshAt(
  { farsh, extent: { torres } }: Pick<Writing, "farsh" | "extent">,
  n: number,
  tier: string,
): string {
  const { name, lane } = farsh.find(({ first, rounds }) => n < first + rounds)!;
  return `${name}[${tier} * ${torres * lane} + lane${n}]`;
}

/**
 * The lines that make a tier of the tile from the one before; `set`: which of the fronts that were loaded it takes; `isLean`:
 * whether its round is.
 */
function writeTier(writing: Writing, set: number, isLean: boolean): string {
  const { problem, problem: { stencil: { update } }, piece, nt, ahead } = writing;
  const { slope, elements, shared, phases, hasPrevious, threads } = piece,
    rounds = upTo(piece.rounds);
  const { [isLean ? "lean" : "expression"]: expression } = coefficientsOf(update),
    { write } = writerOf(update);
  const indices = new Map(elements.map((element, i) => [`${element}`, i]));
  const lines: string[] = [], isTwice = phases === 2, step = "row.step + tier - first";
  const signal = `signal${set}`, points = volumePoints(problem, piece);
  const { read } = leanRounds(problem, piece, nt, ahead);
  lines.push(...points.start(signal, step));
  const inRound = (n: number, line: string): string =>
    n === piece.rounds - 1 && piece.rest < threads ? `if (thread < ${piece.rest}) { ${line} }` : line;
  const known = new Set<string>();
  const ofFront = (n: number, act: (element: string) => string, place: "to" | "of"): string =>
    inSlot(piece, [`slot${n}`, `${place}${n}`], act);
  /** Text of the cell at these forms from the thread's corner, in the tier before; it is read where it is asked for first. */
  const valueAt = (forms: Triple): string => {
    const parity = forms[0] & 1, element = forms.map((form) => form >> 1) as unknown as Triple;
    const index = indices.get(`${element}`);
    if (index !== undefined) return `h${index}_${parity}`;
    const name = `r${element.join("_")}${isTwice ? `_${parity}` : ""}`;
    if (!known.has(name)) lines.push(`let ${name} = ${exchanged(piece, element)};`);
    known.add(name);
    return isTwice ? name : `${name}.${"xy"[parity]}`;
  };
  const cells = elements.flatMap((element, i) =>
    [0, 1].map((parity) => {
      const at = (offset: Triple): Triple =>
        element.map((value, form) => 2 * value + parity + slope + offset[form]!) as unknown as Triple;
      // with two phases the even cells of other threads come first; own odd ones wait with theirs, as their sum would be kept
      const isOdd = ({ ago, plane, offset }: Tap): boolean =>
        ago === 0 && plane === 0 && (at(formsOf(offset))[0] & 1) === 1;
      const isOthers = ({ offset }: Tap): boolean =>
        !indices.has(`${at(formsOf(offset)).map((form) => form >> 1)}`);
      const isSplit = tapsIn([expression]).some((tap) => isOdd(tap) && isOthers(tap));
      const isLate = (tap: Tap): boolean => isSplit && isOdd(tap);
      const parts = isTwice ? splitExpression(expression, isLate) : { early: [], late: expression };
      return { name: `${i}_${parity}`, at, profile: read(cellOf(element, parity)), ...parts };
    })
  );
  const values = (phase: number): void => {
    const isFirst = isTwice && phase === 0,
      made = isFirst ? "early" : "late";
    for (const { name, at, profile, ...parts } of cells) {
      const tap = ({ ago, plane, offset }: Tap): string =>
        plane === EARLY
          ? `a${name}_${offset[0]}`
          : plane >= COEFFICIENT
          ? `w${plane - COEFFICIENT}_${name}`
          : ago === 1
          ? `g${name}`
          : valueAt(at(formsOf(offset)));
      const found = write({ prefix: `e${name}_${phase}_`, tap, signal, profile }, [parts[made]].flat());
      lines.push(
        ...found.lines,
        ...found.values.map((value, k) => `let ${isFirst ? `a${name}_${k}` : `n${name}`} = ${value};`),
      );
    }
  };
  const older = new Map<string, string>();
  // whether fronts are asked for in the first phase: with coefficients that loses a tenth on an H200
  const isEarly = piece.coefficients === 0;
  const moves = moveCoefficients(writing, set);
  for (const phase of upTo(phases)) {
    const isLast = phase === phases - 1, part = isTwice ? `.${"xy"[phase]}` : "";
    const valueOf = (n: number): string => isEarly && phase > 0 ? `odd${n}` : `front${n}_${set}${part}`;
    for (const element of shared) {
      const i = indices.get(`${element}`)!;
      const value = isTwice ? `h${i}_${phase}` : `vec2f(h${i}_0, h${i}_1)`;
      lines.push(`${exchanged(piece, element)} = ${value};`);
    }
    for (const n of rounds) {
      lines.push(inRound(n, ofFront(n, (element) => `${element} = ${valueOf(n)};`, "to")));
    }
    lines.push(...moves.before(phase));
    if (isEarly ? phase === 0 : isLast) {
      lines.push(`let next = min(tier + ${ahead}, last);`);
      // never within a branch: the loop would wait for it
      for (const n of rounds) {
        if (isEarly && isTwice) lines.push(`let odd${n} = front${n}_${set}.y;`);
        lines.push(`front${n}_${set} = ${farshAt(writing, n, "next")};`);
      }
    }
    lines.push("workgroupBarrier();");
    for (const n of rounds) {
      const back = `back${n}_${phase}`;
      lines.push(
        `var ${back}: ${isTwice ? "f32" : "vec2f"};`,
        ofFront(n, (element) => `${back} = ${element};`, "of"),
      );
      if (!isLast) continue;
      const pair = isTwice ? `vec2f(back${n}_0, back${n}_1)` : `back${n}_0`;
      lines.push(inRound(n, `${farshAt(writing, n, "tier")} = ${pair};`));
    }
    values(phase);
    lines.push(...moves.after(phase));
    if (hasPrevious) {
      for (const { name, at } of cells) {
        const forms = at([slope, slope, slope]);
        if (!isTwice || (forms[0] & 1) === phase) older.set(name, valueAt(forms));
      }
    }
    if (!isLast) lines.push("workgroupBarrier();");
  }
  lines.push(...moves.end);
  for (const { name } of cells) if (hasPrevious) lines.push(`g${name} = ${older.get(name)!};`);
  for (const { name } of cells) lines.push(`h${name} = n${name};`);
  const atPoints = isLean ? [] : points.made(step);
  lines.push("x += S;", ...maskLines(piece), ...atPoints, "tier++;", "workgroupBarrier();");
  return lines.join("\n");
}

/** The lines that set cells beyond the grid to zero. */
function maskLines({ elements }: VolumePiece): string[] {
  const along = [...new Set(elements.flatMap(([, b, c]) => [b + c, b + c + 1]))];
  return [
    "if (atEdge || x < 0 || x + W > NX) {",
    ...along.map((by) => `let x${by} = u32(${plus("x + cellX", by)}) < u32(NX);`),
    ...elements.flatMap(([, b, c], i) => [
      `let in${i} = (inside${i >> 5} & ${(1 << (i & 31)) >>> 0}u) != 0u;`,
      ...[0, 1].map((parity) =>
        `h${i}_${parity} = select(0.0f, h${i}_${parity}, in${i} && x${b + c + parity});`
      ),
    ]),
    "}",
  ];
}
