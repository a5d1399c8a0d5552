import type { Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { Demand } from "../../kernels/traversals/traversal.ts";
import { roofOf } from "../../models/roofline.ts";
import type { Configuration } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import { type DatedFailure, entryRecords } from "../profile/entry_records.ts";
import type { JournalRecord } from "../profile/journal_format.ts";
import { problemOf } from "../profile/profile_problem.ts";
import type { Profile, ProfileEntry } from "../profile/schema.ts";

/** One measured configuration. */
export interface Point {
  readonly configuration: Configuration;
  /** Whose rate it is: a traversal of the GPU's, "CPU" or "GPU + CPU". */
  readonly series: string;
  readonly cellsPerSecond: number;
  /** null where fewer than three samples were taken. */
  readonly confidence95: readonly [low: number, high: number] | null;
  readonly samples: number;
  readonly compileNs: number;
  /** What it asks of the GPU; undefined where Facet does not know the kernel, or the CPU takes part. */
  readonly demand: Demand | undefined;
  /** Cells per second that bandwidth allows; undefined where either is not known. */
  readonly roof: number | undefined;
  readonly isWinner: boolean;
  readonly isTied: boolean;
}

/** What the page shows of one entry. */
export interface EntryView {
  readonly entry: ProfileEntry;
  /** For the page's anchors: `entry-1`. */
  readonly id: string;
  /** Fastest first. */
  readonly points: readonly Point[];
  readonly winner: Point;
  readonly failures: readonly DatedFailure[];
  /** Series by their best rate, the fastest first. */
  readonly series: readonly string[];
  readonly copyBytesPerSecond: number | null;
  /** Undefined where this Facet has no such stencil. */
  readonly problem: Problem | undefined;
  /** Whether the evaluations come from a journal; without one only the profile's own are known. */
  readonly hasJournal: boolean;
  readonly repeated: number;
  readonly outdated: number;
}

export function viewEntry(profile: Profile, index: number, journal: readonly JournalRecord[]): EntryView {
  const entry = profile.entries[index]!;
  const { copyBytesPerSecond } = profile.device.measured;
  const records = entryRecords(profile, entry, journal);
  const problem = problemOf(entry.problem);
  const ties = new Map(entry.tieSet.map((tie) => [configurationKey(tie.configuration), tie]));
  const own = configurationKey(entry.configuration);
  type Measured = Omit<Point, "series" | "demand" | "roof" | "isWinner" | "isTied">;
  const point = (of: Measured): Point => {
    const key = configurationKey(of.configuration);
    const demand = demandOf(problem, of.configuration);
    return {
      ...of,
      series: seriesOf(of.configuration),
      demand,
      roof: demand && copyBytesPerSecond !== null ? roofOf(demand, copyBytesPerSecond) : undefined,
      isWinner: key === own,
      isTied: ties.has(key) && key !== own,
    };
  };
  const seen = new Set<string>();
  const measured = records.measured.map(({ measurement }) => {
    const { configuration, samples, compileNs } = measurement;
    const key = configurationKey(configuration);
    seen.add(key);
    // the final round's rate of a tie is the better one
    const { cellsPerSecond, confidence95 } = (key === own ? undefined : ties.get(key)) ?? measurement;
    return point({ configuration, cellsPerSecond, confidence95, samples: samples.length, compileNs });
  });
  const unlogged = [...ties].filter(([key]) => !seen.has(key))
    .map(([, tie]) => point({ ...tie, samples: 0, compileNs: 0 }));
  const points = [...measured, ...unlogged].sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  return {
    entry,
    id: `entry-${index + 1}`,
    points,
    winner: points.find(({ isWinner }) => isWinner)!,
    failures: records.failed,
    series: [...new Set(points.map(({ series }) => series))],
    copyBytesPerSecond,
    problem,
    hasJournal: records.kernelSource !== null,
    repeated: records.repeated,
    outdated: records.outdated,
  };
}

/** Who computes: the GPU alone is named by its traversal. */
function seriesOf({ traversal, share: { cpuSlices, gpuSlices } }: Configuration): string {
  return gpuSlices === 0 ? "CPU" : cpuSlices > 0 ? "GPU + CPU" : traversal;
}

/** What a configuration of the GPU alone asks of it; undefined where this Facet does not know the kernel. */
function demandOf(
  problem: Problem | undefined,
  { traversal, parameters, share }: Configuration,
): Demand | undefined {
  if (problem === undefined || share.cpuSlices > 0 || share.gpuSlices === 0) return undefined;
  const known = TRAVERSALS.find(({ name }) => name === traversal);
  try {
    const demand = known?.demand(problem, parameters);
    return demand !== undefined && demand.bytesPerUpdate * demand.redundancy > 0 ? demand : undefined;
  } catch {
    return undefined;
  }
}

/** Bytes of device memory that a kept cell update moves. */
export function bytesOf({ bytesPerUpdate, redundancy }: Demand): number {
  return bytesPerUpdate * redundancy;
}

/** The parameters that take more than one value among these, by name, with their values by size. */
export function variedParameters(points: readonly Point[]): ReadonlyMap<string, readonly number[]> {
  const all = points.flatMap(({ configuration }) => Object.entries(configuration.parameters));
  const values = [...Map.groupBy(all, ([name]) => name)]
    .map(([name, pairs]) => [name, [...new Set(pairs.map(([, value]) => value))]] as const);
  return new Map(
    values.filter(([, set]) => set.length > 1)
      .map(([name, set]) => [name, set.toSorted((a, b) => a - b)]),
  );
}
