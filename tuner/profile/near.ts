import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { DeviceLimits, Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import {
  type DeviceModel,
  predictRate,
  REGISTER_TOLERANCE,
  registerPressure,
} from "../../models/roofline.ts";

/** What is predicted of parameters. */
export interface Prediction {
  readonly cellsPerSecond: number;
  /** A thread's values over the registers that it can have. */
  readonly pressure: number;
  /** Instructions of the innermost loop. */
  readonly loopInstructions: number;
}

/** Predicts what parameters do for a problem that the traversal does not refuse. */
export function predict(
  traversal: Traversal,
  problem: Problem,
  parameters: Parameters,
  device: DeviceModel,
): Prediction {
  const demand = traversal.demand(problem, parameters);
  return {
    cellsPerSecond: predictRate(demand, device, { cells: cellsOf(problem.grid) }),
    pressure: registerPressure(demand, device),
    loopInstructions: demand.loopInstructions ?? 0,
  };
}

/**
 * A recorded value is worth this much of a prediction: it was measured together with the others, and the models do not
 * tell the ways to write a kernel apart.
 */
const KEPT = 1.03;

/**
 * With so many of its registers no kernel was slower than predicted. Above that the models overrate some: heat δ = 1,
 * DTS 9, 0.86 of the registers: 618 Gcells/s, where DTS 7 with 0.58 reached 884 (H100, 128x5280x128).
 */
const SAFE_PRESSURE = 0.5;

/** What {@linkcode bestNear} looks at. */
export interface NearOptions {
  readonly limits: DeviceLimits;
  readonly device: DeviceModel;
  /** What is predicted of the measured configuration for its own problem; undefined where none was measured. */
  readonly measured: Prediction | undefined;
}

/** Parameters with their prediction. */
export type Predicted = Prediction & { readonly parameters: Parameters };

/**
 * Parameters near recorded ones that should be fastest for another problem, by the models' predictions. What they know
 * least of is left out: threads that need more registers than what was measured. Climbs from the recorded parameters to
 * the best predicted ones, one or two values at a time; three where two gain nothing and the recorded ones cannot be
 * kept.
 *
 * @returns undefined if none that are feasible are near
 */
export function bestNear(
  traversal: Traversal,
  problem: Problem,
  recorded: Parameters,
  { limits, device, measured }: NearOptions,
): Predicted | undefined {
  // without one of its parameters, what was measured has no prediction: NaN
  const mostPressure = measured === undefined
    ? REGISTER_TOLERANCE
    : Math.max(SAFE_PRESSURE, measured.pressure || 0);
  // a driver in software compiles long loops for long: none longer than what was measured
  const { mostLoopInstructions = Infinity } = device;
  const mostInstructions = mostLoopInstructions < Infinity && measured?.loopInstructions ||
    mostLoopInstructions;
  const isKnownKind = ({ pressure, loopInstructions }: Prediction): boolean =>
    pressure <= mostPressure && loopInstructions <= mostInstructions;
  const kept = measured === undefined ? 1 : KEPT;
  type Look = { readonly one: Predicted; readonly worth: number } | undefined;
  const seen = new Map<string, Look>();
  const look = (parameters: Parameters): Look => {
    const key = Object.values(parameters).join();
    if (seen.has(key)) return seen.get(key);
    let found: Look;
    if (traversal.infeasible(problem, parameters, limits) === undefined) {
      const one = { parameters, ...predict(traversal, problem, parameters, device) };
      const changed = Object.keys(parameters).filter((name) => parameters[name] !== recorded[name]).length;
      // what spills leads on to what does not, but never wins
      const weight = isKnownKind(one) ? 1 : Number.EPSILON;
      found = { one, worth: weight * one.cellsPerSecond / kept ** changed };
    }
    seen.set(key, found);
    return found;
  };
  const lists = Object.entries(traversal.parameterLists(problem, limits));
  let best = look(recorded);
  const most = measured !== undefined && best !== undefined && isKnownKind(best.one) ? 2 : 3;
  for (let values = 2; values <= most;) {
    let next = best;
    for (const parameters of neighbours(best?.one.parameters ?? recorded, lists, values)) {
      const found = look(parameters);
      if ((found?.worth ?? 0) > (next?.worth ?? 0)) next = found;
    }
    values = next === best ? values + 1 : 2;
    best = next;
  }
  return best !== undefined && isKnownKind(best.one) ? best.one : undefined;
}

/** Parameters that differ in so many values at most. */
function* neighbours(
  parameters: Parameters,
  lists: readonly (readonly [name: string, values: readonly number[]])[],
  most: number,
): Generator<Parameters> {
  for (const [i, [name, values]] of lists.entries()) {
    if (parameters[name] === undefined) continue;
    for (const value of values) {
      if (value === parameters[name]) continue;
      const one = { ...parameters, [name]: value };
      yield one;
      if (most > 1) yield* neighbours(one, lists.slice(i + 1), most - 1);
    }
  }
}
