import { type FloatArray, precisionIn, zeros } from "../../kernels/precision.ts";
import { weightsAt } from "../../kernels/interpolation.ts";
import { type Grid, ownOf } from "../../kernels/stencils/stencil.ts";
import type { Solver } from "../solver/solver.ts";
import type { VelocityModel } from "./model.ts";

/** What receivers record. */
export interface Recorded {
  readonly name: string;
  /** A field, or fields whose sum it is, with what each counts at a place in metres. @default {of one field 1} */
  readonly fields: readonly string[];
  readonly weights?: (place: Grid) => readonly number[];
  /** Steps by which the fields' values are earlier than their sample. */
  readonly early: number;
}

/** What all shots of a command have in common. */
export interface ShotPlan {
  readonly model: VelocityModel;
  /** Metres from cell to cell. */
  readonly spacing: number;
  /** Hertz of the wavelet's peak. */
  readonly frequency: number;
  /** What sources send, a number for each step. @default {Ricker's wavelet} */
  readonly wavelet?: readonly number[];
  /** Seconds from step to step, and between samples of the traces. */
  readonly timeStep: number;
  readonly interval: number;
  readonly samples: number;
  /** The sources that send the wavelet, and what is recorded, of which the last, a single field, is drawn. */
  readonly sent: readonly string[];
  readonly recorded: readonly Recorded[];
  /** Steps by which a source's values are later than their number. */
  readonly late: number;
  /** Where receivers are, in metres; in two dimensions y is 0. */
  readonly receivers: readonly Grid[];
  /** How often the wave is looked at, evenly spaced in time. */
  readonly waves: number;
}

/** Who sees a shot while it runs. */
export interface ShotEvents {
  readonly onSteps: (steps: number) => void;
  /** Takes the field in the model's slice along x and z that has the source, z fastest; their numbers count from 0. */
  readonly onWave: (number: number, field: FloatArray, t: number) => Promise<void>;
}

/** Samples beyond the last that {@linkcode resample} needs. */
const MARGIN = 4;

/** Time of a run from which it gets no longer: how far a shot has come is known after each. */
const SHORT_RUN_NS = 0.5e9;

/** Steps of a shot. */
export function stepsOf({ interval, samples, timeStep }: ShotPlan): number {
  return Math.ceil((samples - 1) * interval / timeStep) + MARGIN;
}

/** Sends a wavelet from a source, and returns what is recorded, trace by trace, and the time that the steps took. */
export async function shoot(
  solver: Solver,
  plan: ShotPlan,
  source: Grid,
  { onSteps, onWave }: ShotEvents,
): Promise<{ traces: FloatArray<ArrayBuffer>[][]; timeNs: number }> {
  const { model, model: { grid }, spacing, frequency, timeStep, interval, samples } = plan;
  const { receivers, waves, sent, recorded, late } = plan;
  // rounded, so that a cell's centre stays one
  const cell = (metres: number): number => Math.round(1e5 * (metres / spacing - 0.5)) / 1e5;
  const cellOf = ([x, y, z]: Grid) => ownOf(model, [cell(x), cell(y), cell(z)]);
  const steps = stepsOf(plan), { problem } = solver, interpolation = "sinc";
  await solver.reset();
  const { wavelet = Array.from({ length: steps }, (_, n) => ricker(frequency, (n + late) * timeStep)) } =
    plan;
  for (const name of sent) await solver.addSources(name, [cellOf(source)], wavelet, { interpolation });
  const fields = [...new Set(recorded.flatMap(({ fields }) => fields))];
  for (const field of fields) await solver.addReceivers(field, receivers.map(cellOf), { interpolation });
  let timeNs = 0, atOnce = problem.steps;
  for (let i = 0; i < Math.max(1, waves); i++) {
    const end = Math.round(steps * (i + 1) / Math.max(1, waves));
    while (solver.step < end) {
      const run = await solver.run(Math.min(atOnce, end - solver.step));
      timeNs += run.timeNs;
      if (run.timeNs < SHORT_RUN_NS) atOnce *= 2;
      onSteps(solver.step);
    }
    if (waves === 0) break;
    const field = zeros(problem.stencil.update, grid[0] * grid[2]);
    const first = model.dimensions === 2 ? 0 : Math.round(cell(source[1])) * grid[2];
    for (let x = 0; x < grid[0]; x++) {
      const slice = await solver.read(recorded.at(-1)!.fields[0]!, { x, slices: 1 });
      field.set(slice.subarray(first, first + grid[2]), x * grid[2]);
    }
    await onWave(i, field, end * timeStep);
  }
  await solver.run(0); // which looks whether all is finite
  const all = await solver.traces();
  const traces = recorded.map(({ fields: of, weights, early }) => {
    const rows = receivers.map((place, i) => {
      const parts = of.map((name) => all[fields.indexOf(name) * receivers.length + i]!);
      const counts = weights?.(place);
      return parts[0]!.map((one, n) =>
        counts ? parts.reduce((sum, part, k) => sum + counts[k]! * part[n]!, 0) : one
      );
    });
    return resample(rows, interval / timeStep, samples, early);
  });
  return { traces, timeNs };
}

/** Ricker's wavelet: its peak, 1, is at t = 1/f. */
export function ricker(frequency: number, t: number): number {
  const a = (Math.PI * frequency * (t - 1 / frequency)) ** 2;
  return (1 - 2 * a) * Math.exp(-a);
}

/**
 * Traces at other intervals, `ratio` times as long, by the windowed sinc that places between cells have: within 0.04% of
 * what has five samples or more in a period. Before their start they are 0. `early`: so much before its number, in samples,
 * each one is.
 */
export function resample(traces: readonly FloatArray[], ratio: number, samples: number, early = 0) {
  const weights = Array.from({ length: samples }, (_, i) => weightsAt(i * ratio + early, "sinc"));
  return traces.map((trace) =>
    precisionIn(trace).Values.from(
      weights.map((all) => all.reduce((sum, { cell, weight }) => sum + weight * (trace[cell] ?? 0), 0)),
    )
  );
}
