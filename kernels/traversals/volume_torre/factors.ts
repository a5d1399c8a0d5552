/**
 * Factors of a cell in a torre of tiles in three dimensions: what an update makes of axis profiles alone, as absorbing edges
 * do. Mostly they are alike in all of a thread's cells, as within the edges: then one value serves all of them. Along y and z a
 * thread finds out once whether its profiles are alike; along x it counts how many of the last ones are.
 *
 * @module
 */
import type { Expression, ProfileTap } from "../../expression.ts";
import type { Problem } from "../../stencils/stencil.ts";
import { plus } from "../../wgsl/declare.ts";
import { profileAccess } from "../../wgsl/profiles.ts";
import { coefficientsOf, profilesIn, writerOf } from "./coefficients.ts";
import { cellOf, type VolumePiece } from "./lattice.ts";

/** Cells whose factors are found in one branch. */
const CELLS_AT_ONCE = 8;

interface FactorCell {
  readonly name: string;
  readonly cell: readonly string[];
}

/** The hooks of factors in a torre's shader. */
export function factorAccess({ stencil: { update }, grid }: Problem, piece: VolumePiece) {
  const { factors } = coefficientsOf(update), { write } = writerOf(update), { slope, elements } = piece;
  const places = elements.flatMap((element) => [cellOf(element, 0), cellOf(element, 1)]);
  const along = [0, 1, 2].map((axis) =>
    [...new Set(places.map((place) => place[axis]!))].sort((a, b) => a - b)
  );
  const { read } = profileAccess(update, grid);
  /** Text of a profile `by` cells from the thread's corner, where the tile is at x. */
  const at = (tap: ProfileTap, by: number, x = "x"): string =>
    read([`${x} + cellX`, "cellY", "cellZ"].map((text) => plus(text, by)))(tap);
  const nameOf = ({ profile, offset }: ProfileTap): string =>
    `${profile}_${offset < 0 ? "m" : ""}${Math.abs(offset)}`;
  const taps = [...new Map(factors.flatMap(profilesIn).map((tap) => [nameOf(tap), tap]))];
  const written = (factor: Expression, prefix: string, profile: (tap: ProfileTap) => string) => {
    const { lines, values } = write({ prefix, tap: () => "", profile }, [factor]);
    return { lines, value: values[0]! };
  };
  return {
    /** Lines before the first tier. */
    start: taps.flatMap(([name, tap]) => {
      const its = along[tap.axis]!, last = its.at(-1)!;
      if (tap.axis === 0) return [`var last${name} = ${at(tap, last)};`, `var alike${name} = 0;`];
      const isAlike = its.slice(1).map((by) => `${at(tap, by)} == last${name}`).join(" && ");
      return [`let last${name} = ${at(tap, its[0]!)};`, `let alike${name} = ${isAlike || "true"};`];
    }),
    /** Lines at the start of a tier. */
    tier: factors.length === 0 ? [] : [
      ...taps.filter(([, tap]) => tap.axis === 0).flatMap(([name, tap]) => {
        const last = along[0]!.at(-1)!;
        return Array.from({ length: slope }, (_, s) => [
          `let next${name}_${s} = ${at(tap, last + s + 1)};`,
          `alike${name} = select(0, alike${name} + 1, next${name}_${s} == last${name});`,
          `last${name} = next${name}_${s};`,
        ]).flat();
      }),
      `let areAlike = ${
        taps.map(([name, tap]) =>
          tap.axis === 0 ? `alike${name} >= ${along[0]!.at(-1)! - along[0]![0]!}` : `alike${name}`
        ).join(" && ")
      };`,
      ...factors.flatMap((factor, i) => {
        const of = written(factor, `f${i}_`, (tap) => `last${nameOf(tap)}`);
        return [...of.lines, `let factor${i} = ${of.value};`];
      }),
    ],
    /** Lines that find the factors of some cells in a phase, whose `index`-th is next; −1: none of these. */
    before: (cells: readonly FactorCell[], index: number, phase: number): string[] => {
      if (index < 0 || index % CELLS_AT_ONCE !== 0) return [];
      const some = cells.slice(index, index + CELLS_AT_ONCE).map(({ name, cell }) => ({
        name: `${name}_${phase}`,
        cell,
      }));
      const all = factors.flatMap((factor, i) => some.map((cell) => ({ factor, i, ...cell })));
      return [
        ...all.map(({ i, name }) => `var factor${i}_${name} = factor${i};`),
        "if (!areAlike) {",
        ...all.flatMap(({ factor, i, name, cell }) => {
          const of = written(factor, `f${i}_${name}_`, read(cell));
          return [...of.lines, `factor${i}_${name} = ${of.value};`];
        }),
        "}",
      ];
    },
  };
}
