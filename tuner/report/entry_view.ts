import type { Problem } from "../../kernels/stencils/stencil.ts";
import { cpuTraversalNamed } from "../../kernels/cpu/cpu_traversals.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { roofOf } from "../../models/roofline.ts";
import { type Configuration, configurationKey } from "../configuration.ts";
import { tiesWithStepwise } from "../profile/describe.ts";
import { type EntryRecords, entryRecords } from "../profile/entry_records.ts";
import type { JournalRecord } from "../profile/journal_format.ts";
import { oddValue } from "../profile/prediction.ts";
import { problemOf } from "../profile/profile_problem.ts";
import type { Profile, ProfileEntry } from "../profile/schema.ts";
import { seriesOf } from "./series.ts";
import { isShared, isStepwise, uses } from "../shares.ts";

/** Samples that an interval needs. */
const LEAST_SAMPLES = 3;

export interface Mark {
  readonly configuration: Configuration;
  /** Its parameters; with the CPU also the workers, and how slices are shared. */
  readonly parameters: Parameters;
  /** Who computes: `diamond-torre`, `CPU stepwise`, `GPU + CPU`. */
  readonly series: string;
  readonly cellsPerSecond: number;
  /** null where too few samples were taken. */
  readonly confidence95: readonly [low: number, high: number] | null;
  /** 0 where their number is not known. */
  readonly samples: number;
  readonly compileNs: number;
  /** Bytes of memory that a cell update moves; undefined where Facet does not know the kernel. */
  readonly bytes: number | undefined;
  /** Cells per second that bandwidth allows; undefined where that is not known. */
  readonly roof: number | undefined;
  readonly isWinner: boolean;
  readonly isTied: boolean;
  /** Whether the rate is the final round's; else it is of one turn in the search, and no measure for another. */
  readonly isFinal: boolean;
}

/** What the journal and the profile say of a configuration. */
type Rated = Pick<Mark, "configuration" | "cellsPerSecond" | "confidence95" | "samples" | "compileNs">;

/** What the page shows of one entry. */
export interface EntryView {
  readonly entry: ProfileEntry;
  /** For the page's anchors: `entry-1`. */
  readonly id: string;
  /** Fastest first. */
  readonly points: readonly Mark[];
  readonly winner: Mark;
  /** The fastest point of each series, the fastest first. */
  readonly best: readonly Mark[];
  /** The stepwise kernel that the winner is compared with; undefined if none was measured. */
  readonly stepwise: Mark | undefined;
  /** How many times as fast as stepwise the winner is, 1 where they tie; undefined where that is not known. */
  readonly speedup: number | undefined;
  /** Bytes per second that copies move on each device. */
  readonly bandwidths: Readonly<Record<"GPU" | "CPU", number | null>>;
  /** Undefined where this Facet has no such stencil. */
  readonly problem: Problem | undefined;
  /** What the journal says; without one only the profile's own is known. */
  readonly records: EntryRecords;
}

/** @param number of the entry on the page, from 1 */
export function viewEntry(
  profile: Profile,
  index: number,
  journal: readonly JournalRecord[],
  number: number = index + 1,
): EntryView {
  const entry = profile.entries[index]!;
  const { configuration, result, tieSet, bestOfEach = [] } = entry;
  const { roofFraction, speedupOverStepwise } = result;
  const records = entryRecords(profile, entry, journal);
  const problem = problemOf(entry.problem);
  const ownKey = configurationKey(configuration);
  const { gpu = profile.device.measured.copyBytesPerSecond, cpu } = entry.copyBytesPerSecond ?? {};
  // in files of earlier versions the fraction of the roof says how much a CPU that won copies on this grid
  const cpuBytes = uses(configuration.share, "gpu") ? undefined : bytesOf(problem, configuration);
  const ownCpu = cpuBytes && roofFraction ? cpuBytes * result.cellsPerSecond / roofFraction : null;
  const bandwidths = { GPU: gpu, CPU: cpu ?? ownCpu };
  const ties = new Set(tieSet.map((tie) => configurationKey(tie.configuration)));
  const rated = new Map<string, Rated>(records.measured.map(({ measurement: { samples, ...rated } }) => [
    configurationKey(rated.configuration),
    { ...rated, samples: samples.length },
  ]));
  // the final round's rates are better than the search's; the best of a traversal may have had no final round
  const final = new Set([ownKey, ...ties]);
  for (const known of [...bestOfEach, ...tieSet]) {
    const key = configurationKey(known.configuration);
    if (records.kernelSource === null || records.isRepeated(key)) final.add(key);
    if (key !== ownKey) rated.set(key, { samples: 0, compileNs: 0, ...rated.get(key), ...known });
  }
  const points = [...rated].map(
    ([key, { configuration, cellsPerSecond, confidence95, samples, compileNs }]): Mark => {
      const known = bytesOf(problem, configuration), isWinner = key === ownKey;
      const { parameters, share } = configuration;
      const bandwidth = bandwidths[deviceName({ configuration })];
      // the winner's own figure is the one that every page and summary shows, and its traffic the one that it had
      const ownRoof = isWinner && roofFraction !== null ? cellsPerSecond / roofFraction : undefined;
      const bytes = known && ownRoof && bandwidth ? bandwidth / ownRoof : known;
      return {
        configuration,
        parameters: {
          ...parameters,
          ...(uses(share, "cpu") && { cpuWorkers: share.cpuWorkers }),
          ...(isShared(share) && { cpuSlices: share.cpuSlices, exchangeEvery: share.exchangeEvery }),
        },
        series: seriesOf(configuration),
        cellsPerSecond,
        confidence95: samples > 0 && samples < LEAST_SAMPLES ? null : confidence95,
        samples,
        compileNs,
        bytes,
        roof: ownRoof ?? (bytes && bandwidth ? bandwidth / bytes : undefined),
        isWinner,
        isTied: ties.has(key) && !isWinner,
        isFinal: final.has(key) || isShared(share),
      };
    },
  ).sort(faster);
  const winner = points.find(({ isWinner }) => isWinner)!;
  const fastest = [...Map.groupBy(points, ({ series }) => series).values()]
    .map((group) => group.find(({ isWinner }) => isWinner) ?? group[0]!);
  const baselines = fastest.filter(({ configuration }) => isStepwise(configuration)).sort(faster);
  const found = baselines.find((point) => deviceName(point) === deviceName(winner)) ?? baselines[0];
  // the final round's rate of stepwise, which the profile keeps as a ratio
  const stepwise = found === undefined || found === winner || speedupOverStepwise === null ? found : {
    ...found,
    isFinal: true,
    cellsPerSecond: winner.cellsPerSecond / speedupOverStepwise,
    confidence95: null,
  };
  return {
    entry,
    id: `entry-${number}`,
    points,
    winner,
    best: fastest.map((point) => point === found ? stepwise! : point).sort(faster),
    stepwise,
    speedup: tiesWithStepwise(entry)
      ? 1
      : speedupOverStepwise ?? (stepwise && winner.cellsPerSecond / stepwise.cellsPerSecond),
    bandwidths,
    problem,
    records,
  };
}

function faster(a: Mark, b: Mark): number {
  return b.cellsPerSecond - a.cellsPerSecond;
}

/** The device that computes alone; the GPU where both do. */
export function deviceName({ configuration: { share } }: Pick<Mark, "configuration">): "GPU" | "CPU" {
  return uses(share, "gpu") ? "GPU" : "CPU";
}

/** What part of its roof a point reaches. */
export function roofFraction({ cellsPerSecond, roof }: Mark): number | undefined {
  return roof === undefined ? undefined : cellsPerSecond / roof;
}

/** Bytes that one device alone moves for a cell update; undefined where this Facet does not know the kernel. */
function bytesOf(
  problem: Problem | undefined,
  { traversal, parameters, share }: Configuration,
): number | undefined {
  if (problem === undefined || isShared(share)) return undefined;
  try {
    const known = TRAVERSALS.find(({ name }) => name === traversal);
    const isOdd = known !== undefined && oddValue(known, problem, parameters) !== undefined;
    const demand = !uses(share, "gpu")
      ? cpuTraversalNamed(traversal)?.demand(problem, parameters, share.cpuWorkers)
      : isOdd
      ? undefined
      : known?.demand(problem, parameters);
    const bytes = demand && 1 / roofOf(demand, 1);
    return bytes !== undefined && bytes > 0 && bytes < Infinity ? bytes : undefined;
  } catch {
    return undefined;
  }
}
