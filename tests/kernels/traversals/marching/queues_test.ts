/**
 * The queues of a march, slice by slice as its shaders move them: what is stored is right from a piece's first slice on, and
 * no slice is read that need not be.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { refusalOf } from "../../../../kernels/capability.ts";
import { equation, type FieldTap } from "../../../../kernels/equation.ts";
import { type Expression, visitTaps } from "../../../../kernels/expression.ts";
import { add, multiply, subtract, type Value } from "../../../../kernels/operations.ts";
import { plannedProblem } from "../../../../kernels/planned_problem.ts";
import { elastic } from "../../../../kernels/stencils/elastic.ts";
import { life } from "../../../../kernels/stencils/life.ts";
import { maxwell } from "../../../../kernels/stencils/maxwell.ts";
import type { Stencil } from "../../../../kernels/stencils/stencil.ts";
import { wave } from "../../../../kernels/stencils/wave.ts";
import { carried } from "../../../../kernels/traversals/marching/carried.ts";
import { deepOf, repeated } from "../../../../kernels/traversals/marching/depth.ts";
import { marching } from "../../../../kernels/traversals/marching/marching.ts";
import { tilesReadBy } from "../../../../kernels/traversals/marching/shader.ts";
import {
  columnIndex,
  queuesOf,
  staggered,
  sumIndex,
} from "../../../../kernels/traversals/marching/queues.ts";
import { isCarried, isKept } from "../../../../kernels/partial_sums.ts";
import type { Update } from "../../../../kernels/update.ts";
import { inMarches, testRows } from "../../oracle_case.ts";
import { clamped } from "../../whole_numbers.ts";

/** Whole-number taps of one to three fields in up to three sub-steps, slanted ones, ahead and behind, with and without t − 1. */
function drawn(seed: number, dimensions: 2 | 3): Stencil {
  let state = seed * 7919 + 17;
  const below = (count: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor(state / 2 ** 32 * count);
  };
  const names = ["u", "v", "w"].slice(0, 1 + below(3)), cut = below(3);
  return equation({
    name: "drawn",
    dimensions,
    fields: Object.fromEntries(names.map((name) => [name, [-1, 1]])),
    step(planes) {
      const tapOf = (made: readonly string[]): Value => {
        const name = names[below(names.length)]!, field = planes[name] as FieldTap;
        const offset = [
          below(4) - 1,
          ...Array.from({ length: dimensions - 1 }, () => [0, 0, -1, 1][below(4)]!),
        ];
        return (made.includes(name) ? field.next : field.at)(...offset);
      };
      const groups = cut === 0
        ? [names]
        : cut === 1
        ? names.map((name) => [name])
        : [names.slice(0, 1), names.slice(1)];
      return groups.filter(({ length }) => length > 0).map((group, i) => {
        const made = groups.slice(0, i).flat();
        return Object.fromEntries(group.map((name) => {
          const own = planes[name] as FieldTap,
            taps = Array.from({ length: 1 + below(4) }, () => tapOf(made));
          const sum = add(multiply(2, taps[0]!), ...taps.slice(1).map((one) => multiply(3, one)));
          return [name, below(2) === 0 ? sum : add(sum, own.before())];
        }));
      });
    },
  });
}

/** A slanted tap of a field that its own equation reads further ahead, with t − 1 beside it. */
const SLANTED = ([2, 3] as const).map((dimensions) =>
  equation({
    name: "slanted",
    dimensions,
    fields: { u: [-1, 1], v: [-1, 1] },
    step: ({ u, v }) => ({
      u: clamped(9, multiply(3, u), u.before(), multiply(2, v.at(-1, -1))),
      v: clamped(9, subtract(multiply(2, v), v.at(2))),
    }),
  })
);

// a tile's first slices
testRows([
  [SLANTED[0]!, [13, 9], inMarches([1, 8, 1, 2, 1, 0]), [3], { boundary: "periodic" }],
  [SLANTED[1]!, [13, 5, 9], inMarches([1, 8, 4, 4, 1, 1]), [3]],
]);

interface Way {
  readonly isTiled: boolean;
  readonly ahead: number;
  readonly isPlane: boolean;
}

/** The slice, from the march's first on, from which all that it makes is right, as its registers are filled and moved. */
function firstRight(update: Update, way: Way): number {
  const queues = queuesOf(update, way), { columns, sums, leads } = queues, { substeps } = update;
  const tiles = substeps.map((substep, i) => tilesReadBy(substep, i, queues, way.isTiled));
  const spans = [
    ...columns.entries().map(([i, one]) => [`c${i}`, one] as const),
    ...sums.entries().map(([i, one]) => [`s${i}`, one] as const),
  ];
  const isFilled = way.isPlane || (substeps.length === 1 && sums.length === 0);
  let right = new Set<string>(), shown = right, first = 0;
  columns.forEach(({ low, high, ago }, i) => {
    for (let slice = low; isFilled && ago >= 0 && slice < high; slice++) right.add(`c${i} ${slice}`);
  });
  const isRight = (expression: Expression, stage: number, slice: number, isPart = false): boolean => {
    let holds = true;
    visitTaps(expression, ({ plane, ago, offset: [x, y, z] }) => {
      const column = columnIndex(columns, { plane, ago }), isOwn = y === 0 && z === 0;
      const isShown = tiles[stage]!.some((one) =>
        one.plane === plane && one.ago === ago && one.slice === slice
      );
      assert(isOwn || (x === 0 && (isShown || ago === 0)), "a tile holds one slice, and memory no new value");
      // of a row a thread has several cells, in whose column it looks first; in two dimensions all of a slice share a barrier
      const { low, high } = columns[column] ?? { low: 1, high: 0 };
      const isHeld = isShown || (y === 0 && low <= slice + x && slice + x <= high);
      if (isHeld) holds &&= (isOwn || !way.isPlane ? right : shown).has(`c${column} ${slice + x}`);
    }, (of, offset) => {
      if (!(isPart ? isCarried : isKept)(of, offset)) return false;
      holds &&= right.has(`s${sumIndex(sums, of, offset)} ${slice + offset[0]}`);
      return true;
    });
    return holds;
  };
  for (let x = 0; x < 50; x++) {
    columns.forEach(({ ago, high }, i) => void (ago >= 0 && right.add(`c${i} ${high}`)));
    shown = new Set(right);
    substeps.forEach((substep, stage) => {
      for (const [i, { of, high, stage: its }] of sums.entries()) {
        if (its === stage && isRight(of, stage, high, true)) right.add(`s${i} ${high}`);
      }
      const lead = leads[stage]!, made = substep.map(({ value }) => isRight(value, stage, lead));
      substep.forEach(({ field }, i) => {
        const column = columnIndex(columns, { plane: field, ago: -1 });
        if (made[i]) right.add(`c${column} ${lead}`);
        // whether it was not made, or of what was not right
        first = Math.max(first, made[i] ? lead : x + lead + 1);
      });
    });
    right = new Set(
      spans.flatMap(([name, { low, high }]) =>
        Array.from({ length: high - low }, (_, i) => low + i).filter((slice) =>
          right.has(`${name} ${slice + 1}`)
        ).map((slice) => `${name} ${slice}`)
      ),
    );
  }
  return first;
}

/** The ways of a problem's marches. */
function waysOf(stencil: Stencil): (readonly [Update, Way])[] {
  const isFlat = stencil.dimensions === 2;
  const problem = plannedProblem({ stencil, grid: isFlat ? [9, 9] : [9, 9, 9], boundary: "zero" });
  const of = (depth: number) => staggered(repeated(carried(problem.stencil.update), depth));
  const single = (refusalOf(marching, problem) === undefined ? [false, true] : []).flatMap((isTiled) =>
    [0, 1].map((ahead) => [of(1), { isTiled, ahead, isPlane: false }] as const)
  );
  const deep = (refusalOf(deepOf(problem), problem) === undefined ? [2, 3] : []).map((depth) =>
    [of(depth), { isTiled: isFlat, ahead: isFlat ? 2 : 1, isPlane: isFlat }] as const
  );
  return [...single, ...deep];
}

Deno.test("a march begins as early as what its first slice reads has to be read, and no earlier", () => {
  const all = ([2, 3] as const).flatMap((dimensions) => [
    SLANTED[dimensions - 2]!,
    wave(4, { dimensions }),
    life(undefined, { dimensions }),
    elastic({ dimensions }),
    dimensions === 2 ? maxwell({ mode: "te" }) : maxwell(),
    ...Array.from({ length: 60 }, (_, seed) => drawn(seed, dimensions)),
  ]);
  for (const stencil of all) {
    for (const [update, way] of waysOf(stencil)) {
      const { warmUp } = queuesOf(update, way);
      assertEquals(
        warmUp,
        firstRight(update, way),
        `${stencil.title} ${JSON.stringify([way, stencil.update.substeps])}`,
      );
    }
  }
});
