/**
 * Random equations of the whole language, the same for the same seed.
 *
 * @module
 */
import {
  along,
  equation,
  type FieldTap,
  type MaterialSource,
  type MaterialTap,
} from "../../kernels/equation.ts";
import {
  absolute,
  add,
  atLeast,
  choose,
  cosine,
  divide,
  exponential,
  greater,
  logarithm,
  maximum,
  minimum,
  multiply,
  power,
  shifted,
  sine,
  squareRoot,
  subtract,
  tanh,
  type Value,
} from "../../kernels/operations.ts";
import type { ValueRange } from "../../kernels/update.ts";
import type { Dimensions, OwnGrid, Stencil } from "../../kernels/stencils/stencil.ts";

/** Numbers from 0 to 1, the same for the same seed (Steele, Lea, Flood, SplitMix). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let bits = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
    return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32;
  };
}

const FUNCTIONS: readonly ((of: Value) => Value)[] = [
  (of) => sine(multiply(3, of)),
  (of) => exponential(multiply(-2, of)),
  (of) => power(add(1.5, of), multiply(2.5, of)),
  (of) => logarithm(add(1.25, of)),
  (of) => cosine(multiply(9, of)),
  (of) => tanh(multiply(2, of)),
];

/** What a random equation is like. */
export interface Kind {
  readonly seed: number;
  /** Whole numbers within [−8, 8], on which every target is exact; otherwise real numbers within [−1, 1]. */
  readonly isWhole: boolean;
  readonly dimensions: Dimensions;
  /**
   * What chance makes too rarely. `rows`: several sub-steps, each of one field, as the swept rule wants them; `slanted`: one
   * field with diagonal taps in x–y; `flat`: rows shorter than taps reach; `layered`: one field with materials; `coupled`: two
   * to four fields with materials, in as many sub-steps at most, of one level.
   */
  readonly like?: "rows" | "slanted" | "flat" | "layered" | "coupled";
}

/** Some fields, materials and sub-steps, every operation, taps at every time level. */
export function randomEquation({ seed, isWhole, dimensions, like }: Kind): Stencil {
  const random = randomNumbers(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const oneOf = <T>(...list: readonly T[]): T => list[below(list.length)]!;
  // every third is as plain as torres and sweeps want it
  const isPlain = like !== undefined || seed % 3 === 0, isRows = like === "rows";
  const isCoupled = like === "coupled", isFree = like === undefined || isCoupled;
  const most = isCoupled ? oneOf(2, 3, 4) : isRows ? oneOf(2, 3) : isPlain ? 1 : oneOf(1, 2, 3);
  const names = ["a", "b", "c", "d"].slice(0, most);
  const materialNames = ["m", "n"].slice(
    0,
    like === "layered" ? 2 : isPlain && !isCoupled ? 0 : oneOf(0, 1, 2),
  );
  const hasSignal = random() < 0.3 && isFree, reach = oneOf(1, 1, 2);
  // most traversals accept taps on the axes only
  const isPlanar = dimensions === 2, own = isPlanar ? [0, 1] : [0, 1, 2];
  const axes = dimensions === 1 ? [2] : isPlanar || like === "slanted" ? [0, 1] : oneOf(own, own, [1, 2]),
    isCross = like !== "slanted" && (isPlain && !isCoupled || random() < 0.6);
  const groups: string[][] = [];
  for (const name of names) {
    if (groups.length === 0 || isRows || random() < 0.5) groups.push([name]);
    else groups.at(-1)!.push(name);
  }
  const offset = (): number[] => {
    const chosen = isCross ? [oneOf(...axes)] : axes;
    return own.map((axis) => chosen.includes(axis) ? below(2 * reach + 1) - reach : 0);
  };
  // numbers of their own, so that other equations stay as they were
  const others = randomNumbers(seed + 1000);
  const profiles = (seed % 7 !== 2 || !isFree)
    ? []
    : (isPlanar ? ["x", "y"] as const : ["z", "x", "y"] as const)
      .slice(0, dimensions)
      .map((axis) => ({
        name: `d${axis}`,
        axis,
        source: along(axis, isWhole ? (i, n) => minimum(2, subtract(i, 2), subtract(n, i)) : [-0.5, 0.75]),
      }));
  const materialOf = (): MaterialSource =>
    isWhole ? { values: Array.from({ length: 1 + below(8) }, () => below(5) - 2) } : oneOf<MaterialSource>(
      [0.25, 1],
      { values: [0.5, -0.75, 1] },
      (x, y) => add(0.1, multiply(0.8, x, y)),
    );

  /** Every other equation of real numbers has a function, each its own. */
  const hasFunction = !isWhole && seed % 4 === 3, functionOf = FUNCTIONS[(seed >> 2) % FUNCTIONS.length]!;

  return equation({
    name: "random",
    title: `random equation ${seed}, ${like === undefined ? "" : `${like}, `}${
      isWhole ? "whole" : "real"
    } numbers, ${dimensions}D`,
    dimensions,
    fields: Object.fromEntries(names.map((name) => [name, oneOf<ValueRange>([-1, 1], [0, 1], [0.5, 0.75])])),
    materials: {
      ...Object.fromEntries(profiles.map(({ name, source }) => [name, source])),
      ...Object.fromEntries(materialNames.map((name) => [name, materialOf()])),
    },
    ...(hasSignal && { signal: (step) => isWhole ? minimum(step, 3) : sine(multiply(0.3, step)) }),
    step(planes, signal) {
      const field = (name: string): FieldTap => planes[name] as FieldTap;
      return groups.map((group, index) => {
        const made = groups.slice(0, index).flat(), kept = groups.slice(index).flat();
        const old = isRows ? groups.at(-1)! : names;
        /** A profile near the cell. */
        const profileTap = (): Value => {
          const { name, axis } = profiles[Math.floor(others() * profiles.length)]!;
          const far = Math.floor(others() * 3) - 1;
          return (planes[name] as MaterialTap).at(...own.map((one) => "xyz"[one] === axis ? far : 0));
        };
        /** `isShifted`: what a neighbour reads as well, which must not read the step before. */
        const leaf = (isShifted: boolean): Value => {
          switch (below(isShifted ? 5 : 6)) {
            case 0: {
              const number = isWhole ? below(5) - 2 : random() - 0.5;
              return profiles.length === 0 || others() < 0.3 ? number : profileTap();
            }
            case 1:
              return materialNames.length > 0
                ? field(oneOf(...materialNames)).at(...offset())
                : field(oneOf(...old));
            case 2:
              return made.length > 0 ? field(oneOf(...made)).next(...offset()) : field(oneOf(...old));
            case 5:
              if (isRows || isCoupled) return field(oneOf(...old)).at(...offset());
              return field(oneOf(...kept)).before();
            default:
              return field(oneOf(...old)).at(...offset());
          }
        };
        const value = (depth: number, isShifted = false): Value => {
          if (depth === 0) return leaf(isShifted);
          const of = (): Value => value(depth - 1, isShifted), one = of(), other = of();
          const extreme = oneOf(minimum, maximum)(one, other);
          const choices = isWhole
            ? [
              add(one, other),
              subtract(one, other),
              multiply(leaf(isShifted), leaf(isShifted)),
              choose(oneOf(one, greater(one, other)), one, of()),
              oneOf(greater, atLeast)(one, other),
            ]
            : [
              add(multiply(0.6, one), multiply(0.4, other)),
              subtract(multiply(0.5, one), multiply(0.25, other)),
              multiply(leaf(isShifted), leaf(isShifted)),
              choose(oneOf(greater, atLeast)(one, other), one, other),
              divide(one, add(1.5, absolute(other))),
              subtract(squareRoot(add(1, multiply(one, one))), 1),
            ];
          const shift = offset();
          return oneOf<Value>(
            ...choices,
            extreme,
            absolute(one),
            shifted(value(depth - 1, true), ...shift as readonly number[] as OwnGrid),
          );
        };
        const bound = isWhole ? 8 : 1;
        const newValue = (name: string): Value => {
          const self = isRows ? oneOf(...old) : name;
          const own = isWhole ? [field(self)] : [multiply(0.5, field(self))];
          const pushed = hasSignal ? [multiply(isWhole ? 1 : 0.1, signal)] : [];
          const damped = profiles.map(() => multiply(isWhole ? 1 : 0.5, profileTap(), field(self)));
          const curved = hasFunction ? [multiply(0.3, functionOf(field(self)))] : [];
          return maximum(-bound, minimum(bound, add(value(2), ...own, ...pushed, ...damped, ...curved)));
        };
        return Object.fromEntries(group.map((name) => [name, newValue(name)]));
      });
    },
  });
}
