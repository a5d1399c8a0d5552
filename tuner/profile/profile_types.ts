// What `schema.ts` checks, written out as types so that other programs see it in the documentation.
import type { Definition } from "../../kernels/definition.ts";
import type { PrecisionName } from "../../kernels/precision.ts";
import type { PointCounts } from "../../kernels/points.ts";
import type { OwnGrid } from "../../kernels/stencils/stencil.ts";
import type { BalanceIteration, SharedCosts } from "../../models/shared_fit.ts";
import type { Configuration, Verification } from "../configuration.ts";
import type { DeviceDescription } from "../devices/device.ts";

export type { BalanceIteration as ProfileBalance };

/** A device as a profile describes it. */
export interface ProfileDevice extends DeviceDescription {
  /** Rates of the device itself; null where the device has no such part. */
  readonly measured: {
    /** Bytes read plus bytes written per second by a plain copy. */
    readonly copyBytesPerSecond: number | null;
    /** Further rates, by name. */
    readonly [name: string]: number | null;
  };
}

/** A problem as a profile names it. */
export interface ProfileProblem {
  /** The stencil's name, as `wave`. */
  readonly stencil: string;
  /** Of wave: order in space. */
  readonly order?: number | undefined;
  /** Of heat: reach in space. */
  readonly delta?: number | undefined;
  /** Of life: numbers of living neighbours, as 5/2-7. */
  readonly rule?: string | undefined;
  /** Of elastic waves: the medium. */
  readonly medium?: string | undefined;
  /** Of KS: points of a sub-step. */
  readonly points?: number | undefined;
  /** Of Maxwell's equations: cells of an absorbing edge; of a PML, pml before them. */
  readonly edges?: number | string | undefined;
  /** The whole equation, if name and variant do not make it: your own, or one with other coefficients. */
  readonly definition?: Definition | undefined;
  /** Identifies the equation as it was computed: two that compute the same have the same. Earlier files have it with definitions alone. */
  readonly hash?: string | undefined;
  /** Cells along x, y, z, of equations in two dimensions along x, y. */
  readonly grid: OwnGrid;
  /** What lies around the grid: one word for all axes, or one for each. */
  readonly boundary: string | readonly [x: string, y: string, z: string] | readonly [x: string, y: string];
  /** How many sources and receivers it has, and steps from one sample to the next. */
  readonly survey?: PointCounts | undefined;
  /** Precision of the values. */
  readonly precision: PrecisionName;
  /** Time steps of a run. */
  readonly steps: number;
}

/** A configuration's rate, in cells per second of the grid's own cells. */
export interface ProfileRate {
  /** The median. */
  readonly cellsPerSecond: number;
  /**
   * 95% interval of the rate that a later run finds; of an imported rate, of the median. null where fewer than three
   * samples were taken.
   */
  readonly confidence95: readonly [low: number, high: number] | null;
}

/** A configuration with its rate. */
export interface ProfileRated extends ProfileRate {
  /** The configuration. */
  readonly configuration: Configuration;
}

/** A configuration of one device alone that was measured, in short. */
export interface ProfilePoint extends Pick<Configuration, "traversal" | "parameters"> {
  /** Workers of the CPU; missing on the GPU. */
  readonly cpuWorkers?: number | undefined;
  /** Cells per second. */
  readonly cellsPerSecond: number;
}

/** The chosen configuration's rate, with its evidence. */
export interface ProfileResult extends ProfileRate {
  /** Cells per second of each sample. */
  readonly samples: readonly number[];
  /** The rate over this traversal's roof on this device; null where no roof is known, as for a CPU alone. */
  readonly roofFraction: number | null;
  /** Over the best stepwise configuration; null where none could be measured. */
  readonly speedupOverStepwise: number | null;
  /** The GPU's lowest clock while it was measured, as a part of its highest. Missing where it is unknown. */
  readonly clock?: number | undefined;
  /**
   * What a user waits for: the rate of one long run of `steps` steps by the host's clock, its beginning and the wait for
   * its end included. Missing where it was not measured.
   */
  readonly byHost?: { readonly cellsPerSecond: number; readonly steps: number } | undefined;
}

/** How an entry was found. */
export interface ProfileSearch {
  /** Name of the strategy. */
  readonly strategy: string;
  /** Seed of its random choices. */
  readonly seed: number;
  /** Configurations that there were. */
  readonly spaceSize: number;
  /** Configurations that were evaluated. */
  readonly evaluated: number;
  /** How many failed, by reason. */
  readonly failed: Readonly<Record<string, number>>;
  /** Milliseconds that it took. */
  readonly elapsedMs: number;
}

/** The best configuration for one problem, with its evidence. */
export interface ProfileEntry {
  /** What was computed. */
  readonly problem: ProfileProblem;
  /** How it is computed: in the fastest way, or in one chosen among those that tie. */
  readonly configuration: Configuration;
  /** What the GPU must grant for it beyond WebGPU. Missing where that is nothing. */
  readonly features?: readonly string[] | undefined;
  /** How fast that is. */
  readonly result: ProfileResult;
  /** What copies moved when it was measured, in bytes per second: of each device that was. */
  readonly copyBytesPerSecond?:
    | { readonly gpu?: number | undefined; readonly cpu?: number | undefined }
    | undefined;
  /** Configurations that are statistically indistinguishable from the chosen one, and that one. */
  readonly tieSet: readonly ProfileRated[];
  /** The fastest configuration of each traversal on the GPU alone and on the CPU alone, as far as any was measured. */
  readonly bestOfEach?: readonly ProfileRated[] | undefined;
  /**
   * What else was measured of one device alone: the fastest with each value of each parameter, from which rates on other
   * grids are predicted.
   */
  readonly calibration?: readonly ProfilePoint[] | undefined;
  /** The balance between the CPU and the GPU. */
  readonly balance: readonly BalanceIteration[];
  /** What R was chosen by, where both devices took part and R was chosen by prediction. */
  readonly costModel?: ProfileCostModel | undefined;
  /** That the result is right. */
  readonly verification: Verification;
  /** How the entry was found. */
  readonly search: ProfileSearch;
}

/** Fitted costs as a profile records them. Those that only earlier versions fitted are 0 today. */
export interface ProfileCosts extends Omit<SharedCosts, "cpu" | "schedule"> {
  /** The CPU's costs, with the time of a cell update beyond the cached cells. */
  readonly cpu: SharedCosts["cpu"] & Readonly<Record<"missNs" | "cachedCells", number>>;
  /** The costs of a round, with two more parts of the wait, and how much the devices slow each other down. */
  readonly schedule:
    & SharedCosts["schedule"]
    & Readonly<Record<"submitNs" | "timerNs" | "contention", number>>;
}

/** What R was chosen by: fitted costs of a shared step (B2R, Eq. 1–4), how well they fit, and the time over R. */
export interface ProfileCostModel {
  /** The fitted costs. */
  readonly coefficients: ProfileCosts;
  /**
   * (predicted − measured) / measured: of rounds of the CPU and of the GPU, of copies to the CPU's memory (`unpack`) and
   * to the GPU (`pack`), and of whole runs of both (`together`).
   */
  readonly residuals: Readonly<Record<"cpu" | "gpu" | "unpack" | "pack" | "together", readonly number[]>>;
  /** Time of a step over R. */
  readonly curve: readonly {
    /** R. */
    readonly exchangeEvery: number;
    /** The best share of the CPU. */
    readonly cpuSlices: number;
    /** By the model. */
    readonly predictedNs: number;
    /** null where this R was only predicted. */
    readonly measuredNs: number | null;
  }[];
}

/** The best configurations of one device. */
export interface DeviceEntries {
  /** Name and version of the tool that wrote them. */
  readonly tool: Readonly<Record<"name" | "version", string>>;
  /** UTC time in ISO 8601. */
  readonly createdAt: string;
  /** The device that was measured. */
  readonly device: ProfileDevice;
  /** One entry a problem. */
  readonly entries: readonly ProfileEntry[];
}

/** A profile: the best configurations of one device, and of others that were merged with it. */
export interface Profile extends DeviceEntries {
  /** The JSON Schema. */
  readonly $schema: string;
  /** Version of the format. */
  readonly schemaVersion: 1;
  /** Other devices, each once. */
  readonly others?: readonly DeviceEntries[] | undefined;
}
