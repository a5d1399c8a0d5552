/**
 * How a grid is shared, as a list: what each device computes, and how. A configuration travels as a flat record, in
 * profiles, in journals and between a program and a solver; here, and nowhere else, it becomes the list and comes back
 * from it. A device without slices is in no list, so that nobody compares numbers of slices with 0.
 *
 * @module
 */
import type { Parameters } from "../kernels/traversals/traversal.ts";
import type { Configuration, Share } from "./configuration.ts";
import { countCores } from "./platform.ts";

/** The kinds of devices, in the order of their slices along x. */
const DEVICES = ["cpu", "gpu"] as const;

/** A kind of device that computes slices. */
export type DeviceKind = typeof DEVICES[number];

/** The slices of a device. */
export interface DeviceSlices {
  readonly device: DeviceKind;
  readonly slices: number;
}

/** What a device computes of a grid, and how. */
export interface DeviceShare extends DeviceSlices {
  readonly traversal: string;
  readonly parameters: Parameters;
  /** Workers of a CPU. */
  readonly workers?: number;
  /** Bytes of the window that a GPU holds of the levels. @default {it holds all} */
  readonly memory?: number | undefined;
}

/** The flat numbers of slices, of a share or of a measurement. */
type Slices = Pick<Share, "cpuSlices" | "gpuSlices">;

/** How a CPU traverses its slices beside a GPU where nothing else was chosen. */
export const STEPWISE = { traversal: "stepwise", parameters: {} } as const;

/** The same with as many CPU workers as there are cores at most: others would take memory and gain nothing. */
export function withinCores(configuration: Configuration): Configuration {
  const { share } = configuration, cores = countCores();
  return share.cpuWorkers <= cores
    ? configuration
    : { ...configuration, share: { ...share, cpuWorkers: cores } };
}

/** The devices that have slices, in the order of these along x. */
export function slicesOf(share: Slices): DeviceSlices[] {
  return DEVICES.map((device) => ({ device, slices: share[`${device}Slices`] }))
    .filter(({ slices }) => slices > 0);
}

/** Whether a device computes slices. */
export function uses(share: Slices, wanted: DeviceKind): boolean {
  return slicesOf(share).some(({ device }) => device === wanted);
}

/** Whether several devices share the slices. */
export function isShared(share: Slices): boolean {
  return slicesOf(share).length > 1;
}

/** The device whose traversal a configuration names: the GPU, where it has slices. */
export function deviceOf({ share }: Configuration): DeviceKind {
  return uses(share, "gpu") ? "gpu" : "cpu";
}

/** What each device of a configuration computes, and how. */
export function sharesOf({ traversal, parameters, share }: Configuration): DeviceShare[] {
  const own = { traversal, parameters }, beside = isShared(share) ? share.cpu ?? STEPWISE : own;
  return slicesOf(share).map((slice) =>
    slice.device === "cpu"
      ? { ...slice, ...beside, workers: share.cpuWorkers }
      : { ...slice, ...own, memory: share.deviceMemory }
  );
}

/**
 * The configuration of these shares, as it travels; those without slices are left out.
 *
 * @param exchangeEvery R, if there are several
 */
export function configurationOf(shares: readonly DeviceShare[], exchangeEvery = 1): Configuration {
  const of = (wanted: DeviceKind) => shares.find(({ device, slices }) => device === wanted && slices > 0);
  const cpu = of("cpu"), gpu = of("gpu"), { traversal, parameters } = (gpu ?? cpu)!;
  const isPlain = cpu?.traversal === STEPWISE.traversal && Object.keys(cpu.parameters).length === 0;
  const share = {
    cpuSlices: cpu?.slices ?? 0,
    gpuSlices: gpu?.slices ?? 0,
    exchangeEvery,
    cpuWorkers: cpu?.workers ?? 0,
    ...(gpu?.memory !== undefined && { deviceMemory: gpu.memory }),
    ...(cpu && gpu && !isPlain && { cpu: { traversal: cpu.traversal, parameters: cpu.parameters } }),
  };
  return { traversal, parameters, share };
}

/** Whether one device computes alone and stepwise, which on a line is called classic. */
export function isStepwise({ traversal, share }: Configuration): boolean {
  return (traversal === "stepwise" || traversal === "classic") && !isShared(share);
}
