/**
 * How coefficients come into a tile and move with it, as lines of a torre's shader: see `coefficients.ts`.
 *
 * @module
 */
import { type Tap, tapKey } from "../../expression.ts";
import type { Problem } from "../../stencils/stencil.ts";
import type { Update } from "../../update.ts";
import { plus } from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { coefficientsOf, materialTaps, writeCoefficient, writerOf } from "./coefficients.ts";
import { exchanged, inSlot } from "./exchange.ts";
import type { Materials } from "./materials.ts";
import { cellOf, enteringAt, movesOf, type Triple, upTo, type VolumePiece } from "./lattice.ts";

interface Moving {
  readonly problem: Problem;
  readonly piece: VolumePiece;
  readonly materials: Materials;
  /** The first row of columns of tiles. */
  readonly from: number;
  /** Tiers by which materials are loaded early. */
  readonly ahead: number;
}

/** Cells of a parity that move, with this coefficient. */
type Pass = Readonly<Record<"k" | "parity", number>>;

/** Rounds in which threads take over the coefficients of the cells of a parity. */
function roundsOf({ entering, threads }: VolumePiece, parity: number): number[] {
  return upTo(Math.ceil(entering[parity]!.length / threads));
}

/** The lines that load what enters in a round, for the tiers of a set, where the tile is at x. */
function loadLines(materials: Materials, update: Update, parity: number, n: number, set: number, x: string) {
  return materialTaps(update).flatMap((_, i) => {
    const { loads } = materials.enter(parity, n, i, x);
    return namesOf(materials, parity, n, set, i).map((name, k) => `${name} = ${loads[k]!};`);
  });
}

/** What a thread calls what it loaded. */
function namesOf({ kept }: Materials, ...[parity, n, set, i]: readonly number[]): string[] {
  return upTo(kept).map((k) => `m${parity}_${n}_${set}_${i}${k === 0 ? "" : `_${k}`}`);
}

/** A thread's coefficients, the elements whose coefficients it takes over, and of their materials what its first tiers need. */
export function declareCoefficients({ problem, piece, materials, from, ahead }: Moving): string {
  const { stencil: { update }, grid } = problem,
    { coefficients } = coefficientsOf(update),
    writer = writerOf(update);
  if (coefficients.length === 0) return "";
  const { origin, slice, pitch } = materials;
  const own = piece.elements.flatMap((element, i) =>
    [0, 1].flatMap((parity) => {
      const [x, y, z] = cellOf(element, parity),
        cell = [plus("nextX", x), plus("cellY", y), plus("cellZ", z)] as const;
      const at = plus("corner", x * slice + y * pitch + z);
      return coefficients.map((one, k) => {
        const material = (tap: Tap): string => materials.cell(tap, at);
        const found = writeCoefficient(writer, { update, grid }, one, {
          prefix: `c${k}_${i}_${parity}_`,
          cell,
          material,
        });
        return [...found.lines, `var w${k}_${i}_${parity} = ${found.value};`].join("\n");
      });
    })
  );
  const entering = [0, 1].flatMap((parity) =>
    roundsOf(piece, parity).map((n) => {
      const name = `${parity}_${n}`, places = enteringAt(piece, parity) + n * piece.threads;
      const loads = upTo(ahead).flatMap((set) =>
        loadLines(materials, update, parity, n, set, `(x + ${set} * S)`).map((line) => `var ${line}`)
      );
      return wgsl`
        let its${name} = wordAt(${places} + thread);
        let word${name} = wordAt(${places + roundsOf(piece, parity).length * piece.threads} + thread);
        let slotOf${name} = its${name} & 255; let placeOf${name} = its${name} >> 8u;
        let a${name} = word${name} & 255; let b${name} = (word${name} >> 8u) & 255; let c${name} = word${name} >> 16u;
        let x${name} = b${name} + c${name} + ${piece.slope + parity};
        let y${name} = y + b${name} - a${name}; let z${name} = z + c${name} - a${name};
        ${materials.startOf(name, [`x${name}`, `y${name}`, `z${name}`])}
        ${loads.join("\n")}
      `;
    })
  );
  return wgsl`
    let nextX = x + S + cellX;
    let corner = ${origin} + nextX * ${slice} + cellY * ${pitch} + cellZ;
    ${own.join("\n")}
    ${materials.start(from)}
    ${entering.join("\n")}
  `;
}

/** The lines of a tier: before and after the barrier of a phase of F, and at its end; `set`: which materials it takes. */
export function moveCoefficients({ problem, piece, materials, ahead }: Moving, set: number) {
  const { stencil: { update }, grid } = problem, { elements, shared, slope, phases, threads } = piece;
  const { coefficients } = coefficientsOf(update),
    moves = movesOf(slope),
    memory = piece.isApart ? "held" : "exchange";
  const indexOf = (element: Triple): number => elements.findIndex((one) => `${one}` === `${element}`);
  const put = ({ k, parity }: Pass): string[] => {
    const own = shared.filter((element) => element.some((value) => value < moves[parity]!)).map((element) =>
      `${exchanged(piece, element, memory)} = w${k}_${indexOf(element)}_${parity};`
    );
    const entering = roundsOf(piece, parity).flatMap((n) => {
      const name = `${parity}_${n}`,
        value = `v${k}_${name}`,
        rest = piece.entering[parity]!.length - n * threads;
      const found = writeCoefficient(writerOf(update), { update, grid }, coefficients[k]!, {
        prefix: `c${k}_${name}_`,
        cell: [`x + x${name}`, `y${name}`, `z${name}`],
        material(tap) {
          const i = materialTaps(update).findIndex((one) =>
            one.coefficient === k && tapKey(one.tap) === tapKey(tap)
          );
          return materials.enter(parity, n, i, "x").value(namesOf(materials, parity, n, set, i));
        },
      });
      const store = inSlot(
        piece,
        [`slotOf${name}`, `placeOf${name}`],
        (element) => `${element} = ${value};`,
        memory,
      );
      return [
        ...found.lines,
        `let ${value} = ${found.value};`,
        rest < threads ? `if (thread < ${rest}) { ${store} }` : store,
      ];
    });
    return [...own, ...entering];
  };
  const take = ({ k, parity }: Pass): string[] =>
    elements.map((element, i) => {
      const from = element.map((value) => value + moves[parity]!) as unknown as Triple, index = indexOf(from);
      const value = index < 0 ? exchanged(piece, from, memory) : `w${k}_${index}_${parity}`;
      return `let x${k}_${i}_${(parity + slope) & 1} = ${value};`;
    });
  /** Loads what enters in some tiers; never within a branch, as FArSh. */
  const load = (): string[] =>
    [0, 1].flatMap((parity) =>
      roundsOf(piece, parity).flatMap((n) =>
        loadLines(materials, update, parity, n, set, `(x + ${ahead} * S)`)
      )
    );
  const passesOf = (isStill: boolean): Pass[] =>
    [...coefficients.keys()].flatMap((k) =>
      [0, 1].filter((parity) => (moves[parity] === 0) === isStill).map((parity) => ({ k, parity }))
    );
  const turns = passesOf(false), hosted = piece.isApart ? turns.splice(0, phases) : [];
  const barrier = "workgroupBarrier();";
  return {
    before: (phase: number): string[] => [
      ...(hosted[phase] === undefined ? [] : put(hosted[phase])),
      ...(turns.length === 0 && phase === phases - 1 ? load() : []),
    ],
    after: (phase: number): string[] => hosted[phase] === undefined ? [] : take(hosted[phase]),
    end: [
      ...turns.flatMap((pass, i) => [
        barrier,
        ...put(pass),
        ...(i === turns.length - 1 ? load() : []),
        barrier,
        ...take(pass),
      ]),
      // cells that find theirs in their own element
      ...passesOf(true).flatMap(take),
      ...[...coefficients.keys()].flatMap((k) =>
        elements.flatMap((_, i) => [0, 1].map((parity) => `w${k}_${i}_${parity} = x${k}_${i}_${parity};`))
      ),
    ],
  };
}
