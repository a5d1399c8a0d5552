/**
 * The energy that electromagnetic waves carry through a box's faces, from Fourier sums of E and η₀H on them.
 *
 * @module
 */
import { checkOptions } from "../../kernels/check_options.ts";
import type { Axis } from "../../kernels/expression.ts";
import { MAXWELL_FIELDS, VACUUM_IMPEDANCE } from "../../kernels/stencils/maxwell.ts";
import { ownOf } from "../../kernels/stencils/stencil.ts";
import { type CellBox, pointsOfBox, type Position } from "../devices/survey.ts";
import type { Solver } from "./solver.ts";

/** At which frequencies energy is counted, and on which grid. */
export interface FluxOptions {
  /** In Hz. */
  readonly frequencies: readonly number[];
  /** Metres from cell to cell. */
  readonly spacing: number;
  /** Seconds. */
  readonly timeStep: number;
  /** Steps from one sample to the next. @default {1} */
  readonly every?: number;
}

/**
 * Counts the energy that leaves a box: adds receivers with Fourier sums of the tangential fields on its six faces, which
 * lie on planes of the grid, at `low` and at `low` + `size` in cells. A box of size 0 along one axis is a single plane,
 * and what goes up that axis counts as positive. A source inside, or a body that scatters or absorbs, shows in the sum.
 * In two dimensions it has four sides.
 *
 * @param solver of the equation `maxwell`; `reset` takes the receivers away
 * @returns a function that gives the energy so far by frequency, in J/Hz, in two dimensions for each metre along z:
 *   2 Re ∮ (E × H*) · dA, with E and H the integrals of the fields over time, times e^(−2πift)
 * @throws {RangeError} if the faces do not lie at least one cell within the grid
 */
export async function addFlux(
  solver: Solver,
  box: CellBox,
  given: FluxOptions,
): Promise<() => Promise<Float64Array<ArrayBuffer>>> {
  checkOptions("add the flux", given, ["frequencies", "spacing", "timeStep", "every"]);
  const { frequencies, spacing, timeStep, every = 1 } = given;
  const { stencil, stencil: { update: { fields } } } = solver.problem,
    grid = ownOf(stencil, solver.problem.grid);
  const { low, size } = box as Readonly<Record<keyof CellBox, readonly number[]>>;
  const options = { frequencies: frequencies.map((f) => f * timeStep), every };
  // nothing is awaited before all is asked for, so that nobody else's receivers come between
  const known = solver.spectra(), added: Promise<void>[] = [], counts: number[] = [];
  for (const axis of low.keys()) {
    const isPlane = size[axis] === 0, ends = isPlane ? [0] : [0, size[axis]!];
    for (const [turn, sign] of [[1, 1], [2, -1]] as const) {
      // along b both fields lie between the planes; along c on them, where those at the ends count half
      const [b, c] = [(axis + turn) % 3, (axis + 3 - turn) % 3] as [Axis, Axis];
      if (!fields.includes(MAXWELL_FIELDS[b])) continue;
      const across = size.map((cells, i) => i === axis ? 1 : i === c ? cells && cells + 1 : cells);
      const places = ends.flatMap((end) =>
        pointsOfBox({ low: moved(low, axis, end), size: across as readonly number[] as Position })
          .map((place) =>
            place.map((at, i) => i === axis ? at : at % grid[i]!) as readonly number[] as Position
          )
      );
      if (places.length === 0) continue;
      const weight = (...place: readonly number[]): number => {
        const isEnd = c < low.length && (place[c] === low[c] || place[c] === (low[c]! + size[c]!) % grid[c]!);
        return (place[axis] === low[axis] && !isPlane ? -sign : sign) * (isEnd ? 0.5 : 1);
      };
      const beside = places.map((place) => moved(place, axis, -0.5));
      added.push(solver.addReceivers(MAXWELL_FIELDS[b], places, { ...options, weight }));
      added.push(solver.addReceivers(MAXWELL_FIELDS[3 + c]!, beside, options));
      counts.push(places.length);
    }
  }
  const [{ length: first }] = await Promise.all([known, ...added]);
  return async () => {
    const sums = await solver.spectra(), area = spacing ** (low.length - 1);
    const unit = 2 * area * (timeStep * every) ** 2 / VACUUM_IMPEDANCE;
    return Float64Array.from(options.frequencies, (f, k) => {
      // samples of H are half a step old
      const [cosine, sine] = [Math.cos(Math.PI * f), Math.sin(Math.PI * f)];
      let energy = 0, from = first;
      for (const count of counts) {
        for (let i = from; i < from + count; i++) {
          const [electric, magnetic] = [sums[i]!, sums[i + count]!];
          const [re, im, u, v] = [
            electric[2 * k]!,
            electric[2 * k + 1]!,
            magnetic[2 * k]!,
            magnetic[2 * k + 1]!,
          ];
          energy += unit * ((re * u + im * v) * cosine + (im * u - re * v) * sine);
        }
        from += 2 * count;
      }
      return energy;
    });
  };
}

function moved(place: readonly number[], axis: number, by: number): Position {
  return place.with(axis, place[axis]! + by) as readonly number[] as Position;
}
