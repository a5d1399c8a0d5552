/**
 * Draws cases one after another, runs and judges them, and shrinks what fails to programs.
 *
 * @module
 */
import { detectWasmFeatures } from "../../tuner/devices/cpu/wasm_features.ts";
import { drawCase } from "./draw_case.ts";
import { type Bench, type Device, DEVICES } from "./draw_where.ts";
import { type Fault, tryCase } from "./judge.ts";
import { type LimitedGpu, openLimitedGpu } from "./machines.ts";
import { programOf } from "./program.ts";
import type { RandomCase } from "./random_case.ts";
import { shrink } from "./shrink.ts";
import { scriptsOf, Tally } from "./tally.ts";

/** Which devices: those of the CPU alone, those of the GPU, all, or ranks of every kind. */
export type Devices = "cpu" | "gpu" | "all" | "ranks";

/** What is wanted of a campaign: as many scripts, or as much time. */
export interface CampaignOptions {
  readonly devices: Devices;
  /** The seed of the first case; the next one has the next. */
  readonly seed: number;
  readonly scripts: number;
  readonly seconds: number;
  /** Seconds that a failing case may be made smaller. @default {60} */
  readonly shrinkSeconds?: number;
  /** Failures after which it ends. @default {20} */
  readonly mostFailures?: number;
  /** Faults that are known: they are counted apart, and not made small. @default {none} */
  readonly isKnown?: (fault: Fault) => boolean;
  readonly onFailure?: (failure: Failure) => void;
  readonly onCase?: (tally: Tally, one: RandomCase) => void;
}

/** A case that failed, made small. */
export interface Failure {
  readonly seed: number;
  /** Scripts that had been run before. */
  readonly after: number;
  readonly fault: Fault;
  readonly program: string;
}

/** Scripts of a case on one solver: a GPU's takes seconds to compile in software. */
const SCRIPTS = { cpu: 6, gpu: 12 } as const;

/** The devices that a seed may draw. */
function devicesOf(devices: Devices): readonly Device[] {
  const ofCpu: readonly Device[] = ["cpu", "cpu", "cpu-ranks"];
  const ofGpu = DEVICES.filter((device) => device !== "cpu" && device !== "cpu-ranks");
  return devices === "ranks"
    ? ["cpu-ranks", "gpu-ranks", "both-ranks", "mixed-ranks", "window"]
    : devices === "cpu"
    ? ofCpu
    : devices === "gpu"
    ? ["gpu", "gpu", "gpu", ...ofGpu]
    : [...ofCpu, ...ofCpu, "gpu", "gpu", ...ofGpu];
}

/** What cases are drawn for on this machine. */
export async function openBench(devices: Devices): Promise<Bench> {
  const gpu = devices === "cpu" ? undefined : await openLimitedGpu();
  if (gpu === undefined && devices !== "cpu") throw new Error("there is no GPU: --device cpu needs none");
  return { gpu, fuses: detectWasmFeatures().relaxedSimd, longestLoop: gpu?.isSoftware ? 140 : 1200 };
}

/** The case of a seed. */
export function usualCase(seed: number, devices: Devices, bench: Bench, scripts?: number): RandomCase {
  const most = SCRIPTS[devices === "cpu" ? "cpu" : "gpu"];
  return drawCase(seed, { devices: devicesOf(devices), bench, scripts: scripts ?? most });
}

/** Runs a case by its seed, alone. */
export async function runSeed(seed: number, devices: Devices, bench: Bench) {
  const one = usualCase(seed, devices, bench);
  return { one, verdict: await tryCase(one, bench.gpu) };
}

/** Makes a failing case small, and a program of it. */
export async function reduce(
  one: RandomCase,
  fault: Fault,
  gpu: LimitedGpu | undefined,
  seconds: number,
): Promise<string> {
  const small = await shrink(one, fault, { gpu, attempts: 2000, milliseconds: 1000 * seconds });
  return programOf(small.one, small.fault);
}

/** Runs cases until there were as many scripts, or the time is over. */
export async function campaign(options: CampaignOptions): Promise<Tally> {
  const {
    devices,
    seed: first,
    scripts,
    seconds,
    isKnown,
    onFailure,
    onCase,
    shrinkSeconds = 60,
    mostFailures = 20,
  } = options;
  const bench = await openBench(devices), tally = new Tally(), end = performance.now() + 1000 * seconds;
  try {
    for (
      let seed = first;
      tally.scripts < scripts && performance.now() < end && tally.failed < mostFailures;
      seed++
    ) {
      const { one, verdict } = await runSeed(seed, devices, bench), { fault } = verdict;
      const known = fault !== undefined && isKnown?.(fault);
      tally.add(one, known ? { ...verdict, fault: undefined, known: fault.message } : verdict);
      onCase?.(tally, one);
      if (fault === undefined || known) continue;
      const program = await reduce(one, fault, bench.gpu, shrinkSeconds);
      onFailure?.({ seed, after: tally.scripts - scriptsOf(one), fault, program });
    }
  } finally {
    bench.gpu?.device.destroy();
  }
  return tally;
}
