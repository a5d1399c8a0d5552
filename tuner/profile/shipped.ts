import { renamed } from "./former_files.ts";
import type {
  DeviceEntries,
  ProfileDevice,
  ProfileEntry,
  ProfilePoint,
  ProfileProblem,
} from "./profile_types.ts";
import { SHIPPED_RATES } from "./shipped_rates.ts";

/** What was recorded on a device, in short: `bench/write_shipped.ts` writes it. */
export interface ShippedDevice {
  readonly device: ProfileDevice;
  /** Traversals, and the axes of a search in the order of the values. */
  readonly traversals: readonly (readonly [name: string, axes: readonly string[]])[];
  /** What distinguishes each equation, and how it differs from others: it is made only where it is learnt from. */
  readonly equations: readonly (readonly [
    names: Pick<ProfileProblem, "stencil"> & Partial<ProfileProblem>,
    likeness: Likeness,
  ])[];
  /** Problems between zeros: the equation's place, the grid, the steps, and what says most first. */
  readonly problems: readonly (readonly [
    equation: number,
    grid: ProfileProblem["grid"],
    steps: number,
    rates: readonly (readonly [traversal: number, cellsPerNs: number, ...values: (number | null)[]])[],
  ])[];
}

/** What says how far an equation is from others. */
export interface Likeness {
  /** What two equations share exactly if they compute the same; if they are the same but for constants. */
  readonly hash: string;
  readonly family: string;
  /** What an update takes by stepwise; null where it says nothing of other equations. */
  readonly work: readonly [dimensions: number, bytes: number, instructions: number] | null;
}

/** What was recorded of the equations of problems that come with Facet. */
export const recorded: WeakMap<ProfileProblem, Likeness> = new WeakMap();

/** What is known of a device. */
export type Known = Pick<DeviceEntries, "device" | "entries">;

let decoded: readonly Known[] | undefined;

/** What was measured before on GPUs, and comes with Facet: the first call reads it. */
export function shippedEntries(isWanted?: (problem: ProfileProblem) => boolean): readonly Known[] {
  decoded ??= (JSON.parse(SHIPPED_RATES) as readonly ShippedDevice[]).map(entriesOf);
  return isWanted === undefined ? decoded : decoded.map(({ device, entries }) => {
    return { device, entries: entries.filter(({ problem }) => isWanted(problem)) };
  });
}

export function isShipped(device: ProfileDevice): boolean {
  return shippedEntries().some((known) => known.device === device);
}

/** The entries of profiles that say as much. */
export function entriesOf({ device, traversals, equations, problems }: ShippedDevice): Known {
  return {
    device,
    entries: problems.map(([equation, grid, steps, rates]): ProfileEntry => {
      const [names, likeness] = equations[equation]!;
      const problem: ProfileProblem = { ...names, grid, boundary: "zero", precision: "f32", steps };
      recorded.set(problem, likeness);
      const pointOf = ([which, cellsPerNs, ...values]: (typeof rates)[0]): ProfilePoint => {
        const [traversal, names] = traversals[which]!, parameters: Record<string, number> = {};
        names.forEach((name, i) => values[i] == null || (parameters[name] = values[i]));
        return renamed({ traversal, parameters, cellsPerSecond: 1e9 * cellsPerNs });
      };
      const { cellsPerSecond, ...best } = pointOf(rates.reduce((a, b) => b[1] > a[1] ? b : a));
      let points: readonly ProfilePoint[] | undefined;
      const unknown = { roofFraction: null, speedupOverStepwise: null };
      const result = { cellsPerSecond, confidence95: null, samples: [], ...unknown };
      const spent = { spaceSize: 0, evaluated: rates.length, failed: {}, elapsedMs: 0 };
      const search = { strategy: "recorded", seed: 0, ...spent };
      const share = { cpuSlices: 0, gpuSlices: grid[0], exchangeEvery: steps, cpuWorkers: 0 };
      return {
        problem,
        configuration: { ...best, share },
        result,
        tieSet: [],
        // most entries are never learnt from
        get calibration() {
          return points ??= rates.map(pointOf);
        },
        balance: [],
        verification: { maxError: 0, bound: 0, against: "stepwise" },
        search,
      };
    }),
  };
}
