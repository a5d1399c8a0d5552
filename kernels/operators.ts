/**
 * Derivatives in space as finite differences, for an equation's `step`: of fields, materials and expressions, in one, two
 * and three dimensions. What is added to one, or multiplied by a number, is collected with it (`weighted_sums.ts`).
 *
 * @module
 */
import { checkOptions } from "./check_options.ts";
import type { Axis, Expression, Offset } from "./expression.ts";
import { add, multiply, nodeOf, subtract, type Value } from "./operations.ts";
import { sumOf, type Term, termsOf, writtenAxes } from "./weighted_sums.ts";
import { differenceWeights, secondDerivative } from "./weights.ts";

/** Options of all operators. */
export interface OperatorOptions {
  /** Order of approximation: the error falls as spacing^order. Even, from 2 to 14. @default {2} */
  readonly order?: number | undefined;
  /** The distance of cells: one number, or one for each axis. @default {1} */
  readonly spacing?: number | readonly number[] | undefined;
}

/** How a Laplacian is taken. */
export interface LaplacianOptions extends OperatorOptions {
  /** c of ∇·(c∇u), a value of the cells' centres, of which each face has the mean. @default {1} */
  readonly coefficient?: Value | undefined;
}

/** How first derivatives are taken. */
export interface GradientOptions extends OperatorOptions {
  /**
   * `forward`: half a cell further along the axis, where the faces of cells lie; `backward`: half a cell before.
   * @default {at the cell's centre}
   */
  readonly stagger?: Way | undefined;
  /**
   * From cells on one side alone, itself included: `backward` against a flow in the direction of the axis (upwind),
   * `forward` against one in the other direction. Any order from 1 to 14. @default {both sides}
   */
  readonly side?: Way | undefined;
}

/** How a derivative is taken. */
export interface DerivativeOptions extends GradientOptions {
  /** Which derivative, from 1 to 4. @default {1} */
  readonly degree?: number | undefined;
}

/** Along an axis, or against it. */
export type Way = "forward" | "backward";

const WAYS: readonly unknown[] = [undefined, "forward", "backward"];

function want(holds: boolean, wanted: string, found: unknown): asserts holds {
  if (!holds) {
    throw new RangeError(
      `Cannot take a derivative: ${wanted} is wanted: found ${JSON.stringify(found) ?? found}`,
    );
  }
}

/** The plan's axes, each with the distance of cells along it. */
function measuredAxes({ spacing = 1 }: OperatorOptions): readonly (readonly [Axis, number])[] {
  const axes = writtenAxes(), along = typeof spacing === "number" ? axes.map(() => spacing) : spacing;
  const fits = Array.isArray(along) && along.length === axes.length &&
    along.every((spacing) => Number.isFinite(spacing) && spacing > 0);
  want(fits, `a spacing above 0, or one for each of ${axes.length} axes,`, spacing);
  return axes.map((axis, i) => [axis, along[i]!]);
}

function checkOrder(order: number, isOneSided = false): void {
  const isOrder = Number.isInteger(order) && order >= 1 && order <= 14 && (isOneSided || order % 2 === 0);
  want(isOrder, isOneSided ? "an order from 1 to 14" : "an even order from 2 to 14", order);
}

function offsetAlong(axis: Axis, cells: number): Offset {
  return [0, 0, 0].with(axis, cells) as unknown as Offset;
}

/** A sum of values of cells along an axis. */
function weighed(of: Value, axis: Axis, cells: readonly number[], weights: readonly number[]): Term[] {
  return cells.flatMap((at, i) => termsOf(nodeOf(of), weights[i], offsetAlong(axis, at)));
}

/**
 * ∂ⁿu/∂xⁿ along one axis, by values up to half of degree + order away.
 *
 * @param of what to derive: a field, a material or an expression
 * @param axis one of the equation's own axes; in one dimension `x`
 * @throws {RangeError} for an option that makes no sense, or outside of an equation's `step`
 *
 * @example Advection with an upwind difference
 * ```ts
 * import { equation } from "./equation.ts";
 * import { add, multiply } from "./operations.ts";
 * import { derivative } from "./operators.ts";
 * import { reachOf } from "./update.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { update } = equation({
 *   name: "advection",
 *   dimensions: 1,
 *   fields: { u: [0, 1] },
 *   step: ({ u }) => ({ u: add(u, multiply(-0.5, derivative(u, "x", { side: "backward", order: 1 }))) }),
 * });
 * assertEquals(reachOf(update).z, 1);
 * ```
 */
export function derivative(of: Value, axis: "x" | "y" | "z", options: DerivativeOptions = {}): Expression {
  checkOptions("take a derivative", options, ["degree", "order", "spacing", "side", "stagger"]);
  const axes = measuredAxes(options), index = ["x", "y", "z"].indexOf(axis), along = axes[index];
  want(along !== undefined, `one of the axes ${["x", "y", "z"].slice(0, axes.length).join(", ")}`, axis);
  return sumOf(derivativeTerms(of, ...along, options));
}

function derivativeTerms(of: Value, axis: Axis, spacing: number, options: DerivativeOptions): Term[] {
  const { degree = 1, order = 2, side, stagger } = options;
  want(Number.isInteger(degree) && degree >= 1 && degree <= 4, "a degree from 1 to 4", degree);
  want(WAYS.includes(side), "a side, forward or backward,", side);
  want(WAYS.includes(stagger), "a stagger, forward or backward,", stagger);
  want(side === undefined || stagger === undefined, "either a side or a stagger", "both");
  checkOrder(order, side !== undefined);
  const [first, last] = side !== undefined
    ? [0, degree + order - 1]
    : stagger !== undefined
    ? [1 - Math.ceil((degree + order - 1) / 2), Math.ceil((degree + order - 1) / 2)]
    : [1, -1].map((sign) => -sign * (Math.floor((degree + 1) / 2) + order / 2 - 1)) as [number, number];
  const forward = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const sign = side === "backward" || stagger === "backward" ? -1 : 1, cells = forward.map((at) => sign * at);
  const places = stagger ? cells.map((at) => at - sign / 2) : cells;
  const weights = differenceWeights(places, degree).map((weight) => weight / spacing ** degree);
  return weighed(of, axis, cells, weights);
}

/**
 * Δu, or with a coefficient ∇·(c∇u): what flows through every face into a cell, of which the other cell loses as much.
 *
 * With a coefficient every difference u_k − u of Δ counts (c + c_k)/2: of the order where c is constant, of order 2
 * where it changes.
 *
 * @param of what to derive: a field or an expression
 * @throws {RangeError} for an option that makes no sense, or outside of an equation's `step`
 *
 * @example Heat, as `heat(2)` has it
 * ```ts
 * import { equation } from "./equation.ts";
 * import { add, multiply } from "./operations.ts";
 * import { laplacian } from "./operators.ts";
 * import { hashOf } from "./definition.ts";
 * import { heat } from "./stencils/heat.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const own = equation({
 *   name: "own",
 *   fields: { u: [0, 1] },
 *   step: ({ u }) => ({ u: add(u, multiply(0.1, laplacian(u, { order: 4 }))) }),
 * });
 * assertEquals(hashOf(own.update), hashOf(heat(2, { fourier: 0.1 }).update));
 * ```
 */
export function laplacian(of: Value, options: LaplacianOptions = {}): Expression {
  checkOptions("take a Laplacian", options, ["order", "spacing", "coefficient"]);
  const { order = 2, coefficient } = options, axes = measuredAxes(options);
  checkOrder(order);
  const { sides } = secondDerivative(order);
  if (coefficient === undefined) {
    return sumOf(axes.flatMap(([axis, spacing]) =>
      sides.flatMap((side, i) => {
        const weight = side / spacing ** 2, here = -2 * weight;
        return weighed(of, axis, [0, -1 - i, i + 1], [here, weight, weight]);
      })
    ));
  }
  const at = (value: Value, axis: Axis, cells: number): Expression =>
    sumOf(weighed(value, axis, [cells], [1]));
  const flow = (axis: Axis, cells: number): Expression =>
    multiply(add(coefficient, at(coefficient, axis, cells)), subtract(at(of, axis, cells), of));
  return sumOf(sides.flatMap((side, i) =>
    axes.toReversed().map(([axis, spacing]): Term => {
      const flows = add(flow(axis, -1 - i), flow(axis, i + 1));
      return { of: flows, offset: [0, 0, 0], weight: side / 2 / spacing ** 2 };
    })
  ));
}

/**
 * ∇u: the first derivatives along the equation's axes.
 *
 * @param of what to derive: a field, a material or an expression
 * @returns one expression for each axis
 * @throws {RangeError} for an option that makes no sense, or outside of an equation's `step`
 */
export function gradient(of: Value, options: GradientOptions = {}): readonly Expression[] {
  checkOptions("take a gradient", options, ["order", "spacing", "side", "stagger"]);
  return measuredAxes(options).map((along) => sumOf(derivativeTerms(of, ...along, options)));
}

/**
 * ∇·v: the sum of each component's derivative along its own axis. That of fluxes on the faces, `stagger: "forward"` of
 * a gradient, is taken with `stagger: "backward"`: what leaves one cell enters the next.
 *
 * @param of the components, one for each of the equation's axes
 * @throws {RangeError} for an option that makes no sense, or outside of an equation's `step`
 */
export function divergence(of: readonly Value[], options: GradientOptions = {}): Expression {
  checkOptions("take a divergence", options, ["order", "spacing", "side", "stagger"]);
  const axes = measuredAxes(options);
  want(Array.isArray(of) && of.length === axes.length, `a list of ${axes.length} components`, of?.length);
  return sumOf(axes.flatMap((along, i) => derivativeTerms(of[i]!, ...along, options)));
}

/**
 * ∇×v: in three dimensions three components; in two dimensions one, ∂v_y/∂x − ∂v_x/∂y, as the only entry of the list.
 *
 * @param of the components, one for each of the equation's two or three axes
 * @throws {RangeError} for an option that makes no sense, in one dimension, or outside of an equation's `step`
 */
export function curl(of: readonly Value[], options: GradientOptions = {}): readonly Expression[] {
  checkOptions("take a curl", options, ["order", "spacing", "side", "stagger"]);
  const axes = measuredAxes(options);
  want(axes.length > 1, "an equation in two or three dimensions", axes.length);
  want(Array.isArray(of) && of.length === axes.length, `a list of ${axes.length} components`, of?.length);
  const around = axes.length === 2 ? [[0, 1]] as const : [[1, 2], [2, 0], [0, 1]] as const;
  return around.map(([first, second]) =>
    sumOf([
      ...derivativeTerms(of[second]!, ...axes[first]!, options),
      ...derivativeTerms(of[first]!, ...axes[second]!, options).map((term) => ({
        ...term,
        weight: -term.weight,
      })),
    ])
  );
}
