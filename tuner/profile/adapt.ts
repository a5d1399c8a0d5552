import { precisionOf } from "../../kernels/precision.ts";
import { refusalOf } from "../../kernels/capability.ts";
import { formatPlural } from "../format.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { stepReach } from "../../kernels/update.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { DeviceLimits, Parameters } from "../../kernels/traversals/traversal.ts";
import { detectWasmFeatures } from "../devices/cpu/wasm_features.ts";
import { cpuLayoutOf } from "../devices/cpu/cpu_field.ts";
import { whyNot } from "../devices/refuse_parameters.ts";
import { partOf, refuseCpuPart } from "../devices/shared/shares.ts";
import type { Configuration, Share } from "../configuration.ts";
import { cpuCandidates } from "../search/cpu_space.ts";
import { describeTraversal } from "./describe.ts";
import { isShared, uses } from "../shares.ts";

export interface AdaptTarget {
  readonly problem: Problem;
  /** The GPU's limits; undefined where there is no GPU. */
  readonly limits: DeviceLimits | undefined;
  /** Workers that the CPU can have. */
  readonly cpuWorkers: number;
}

/** A configuration that can run, and what was changed; or why there is none. */
export type Adapted =
  | { readonly configuration: Configuration; readonly changes: readonly string[] }
  | { readonly reason: string };

/** Bytes that a WebAssembly memory can hold. */
const WASM_BYTES = 2 ** 32;

/**
 * Fits a configuration to a target that may have another grid and device: its share follows the slices and the workers,
 * its parameters stay. What cannot run says why.
 */
export function adaptConfiguration(configuration: Configuration, target: AdaptTarget): Adapted {
  const { problem, limits } = target;
  const adapted = adaptShare(configuration, target);
  if ("reason" in adapted) return adapted;
  const { share, changes } = adapted;
  if (!uses(share, "gpu")) return adaptCpu({ ...configuration, share }, changes, problem);
  if (limits === undefined) return { reason: "there is no GPU for its slices" };
  const traversal = TRAVERSALS.find(({ name }) => name === configuration.traversal);
  if (traversal === undefined) return { reason: `there is no traversal ${configuration.traversal}` };
  const part = partOf(problem, share, "gpu");
  const refused = refusalOf(traversal, part, limits);
  if (refused !== undefined) return { reason: refused.message };
  const lists = traversal.parameterLists(part, limits);
  const parameters = Object.fromEntries(
    Object.entries(configuration.parameters).filter(([name]) => Object.hasOwn(lists, name)),
  );
  const why = whyNot(traversal, part, parameters, limits);
  if (why !== undefined) return { reason: why.message };
  return {
    configuration: { traversal: traversal.name, parameters, share },
    changes: [...changes, ...describeChanges(configuration.parameters, parameters)],
  };
}

/** A share, and what was changed; or why there is none. */
type AdaptedShare = { readonly share: Share; readonly changes: readonly string[] } | {
  readonly reason: string;
};

/** A share of as large a part of another grid; what the CPU's slices do not allow becomes stepwise. */
export function adaptShare(configuration: Configuration, target: AdaptTarget): AdaptedShare {
  const { problem, limits: { windowBytes } = {} } = target, { share: given } = configuration;
  if (uses(given, "gpu") && (given.deviceMemory === undefined) !== (windowBytes === undefined)) {
    const [before, here] = ["passes through a window of the GPU's memory", "lies there as a whole"];
    const [recorded, own] = windowBytes === undefined ? [before, here] : [here, before];
    return { reason: `its grid ${recorded}, this one ${own}` };
  }
  if (windowBytes !== undefined && isShared(given)) return { reason: "a window is not shared with the CPU" };
  const sliced = adaptSlices(given, target);
  if ("reason" in sliced || !uses(sliced.share, "cpu")) return sliced;
  const { share } = sliced;
  const layout = cpuLayoutOf(partOf(problem, share, "cpu")),
    bytes = 2 * precisionOf(layout).bytes * layout.length;
  if (bytes > WASM_BYTES) return { reason: `${bytes} bytes on the CPU: WebAssembly has ${WASM_BYTES}` };
  const reason = share.cpu && refuseCpuPart(problem, { ...configuration, share });
  if (reason === undefined) return sliced;
  const { cpu: _, ...stepwise } = share;
  return { share: stepwise, changes: [...sliced.changes, `stepwise on the CPU: ${reason}`] };
}

/** The CPU alone: as it was where it can run so, else its most promising way to traverse the grid so, else stepwise. */
function adaptCpu(configuration: Configuration, changes: readonly string[], problem: Problem): Adapted {
  const { traversal, parameters: { fused }, share } = configuration;
  const reason = refuseCpuPart(problem, configuration) ??
    (fused === 1 && !detectWasmFeatures().relaxedSimd
      ? "fused needs an engine with relaxed SIMD"
      : undefined);
  if (reason === undefined) return { configuration, changes };
  const way = cpuCandidates(problem, share.cpuWorkers).find((way) => way.traversal.name === traversal);
  const other = { traversal: "stepwise", parameters: {}, ...way?.configuration, share };
  return { configuration: other, changes: [...changes, `${describeTraversal(other)} on the CPU: ${reason}`] };
}

/** Ghost zones that no longer fit exchange more often, or end it. */
function adaptSlices(share: Share, { problem, cpuWorkers, limits }: AdaptTarget): AdaptedShare {
  const { grid: [slices], steps, stencil } = problem;
  const alone = (...changes: string[]): AdaptedShare => {
    return {
      share: { cpuSlices: 0, gpuSlices: slices, exchangeEvery: steps, cpuWorkers: 0, ...window },
      changes,
    };
  };
  const window = limits?.windowBytes && { deviceMemory: limits.windowBytes };
  if (!uses(share, "cpu")) {
    return share.gpuSlices === slices ? { share: { ...share, ...window }, changes: [] } : alone();
  }
  if (!uses(share, "gpu")) {
    if (cpuWorkers === 0) return { reason: "there are no workers for the CPU's slices" };
    const workers = Math.min(share.cpuWorkers, cpuWorkers);
    const changes = workers === share.cpuWorkers ? [] : [`${share.cpuWorkers} → ${workers} CPU workers`];
    return { share: { cpuSlices: slices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: workers }, changes };
  }
  if (limits === undefined) return { reason: "there is no GPU for its slices" };
  if (cpuWorkers < share.cpuWorkers) {
    return alone(`the GPU alone: ${share.cpuWorkers} CPU workers wanted, ${cpuWorkers} had`);
  }
  const before = share.cpuSlices + share.gpuSlices;
  const cpuSlices = before === slices ? share.cpuSlices : Math.round(slices * share.cpuSlices / before);
  const gpuSlices = slices - cpuSlices;
  const reach = Math.max(1, stepReach(stencil.update).x);
  const wanted = Math.min(share.exchangeEvery, steps);
  const exchangeEvery = Math.min(wanted, Math.floor(Math.min(cpuSlices, gpuSlices) / reach));
  // an exchange costs a fixed time: with less than half the steps between two, the share no longer pays
  if (exchangeEvery < Math.max(1, wanted / 2)) {
    const zones = `ghost zones of ${formatPlural(wanted, "step")}`;
    return alone(`the GPU alone: ${zones} do not fit ${cpuSlices} and ${gpuSlices} slices`);
  }
  const changes = [
    before !== slices && `${share.cpuSlices} → ${cpuSlices} slices on the CPU`,
    exchangeEvery !== share.exchangeEvery &&
    `exchange every ${share.exchangeEvery} → ${formatPlural(exchangeEvery, "step")}`,
  ].filter((change) => change !== false);
  return { share: { ...share, cpuSlices, gpuSlices, exchangeEvery }, changes };
}

/** What differs, in words. */
export function describeChanges(before: Parameters, after: Parameters): string[] {
  return [
    ...Object.entries(after).filter(([name, value]) => before[name] !== value)
      .map(([name, value]) =>
        before[name] === undefined ? `with ${name} ${value}` : `${name} ${before[name]} → ${value}`
      ),
    ...Object.keys(before).filter((name) => after[name] === undefined)
      .map((name) => `without ${name}`),
  ];
}
