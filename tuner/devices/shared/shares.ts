import { precisionOf } from "../../../kernels/precision.ts";
import { refusalOf } from "../../../kernels/capability.ts";
import { cpuTraversalNamed, usualShape } from "../../../kernels/cpu/cpu_traversals.ts";
import { remembered } from "../../../kernels/remembered.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { ghostWidths } from "../../../kernels/update.ts";
import { traversalNamed } from "../../../kernels/traversals/all.ts";
import { namesOf } from "../../../kernels/traversals/parameter.ts";
import {
  combine,
  type GpuPlan,
  type Parameters,
  type Traversal,
} from "../../../kernels/traversals/traversal.ts";
import {
  partOfRank,
  type PartPlace,
  planAlongX,
  problemOfRank,
  type RankPlan,
} from "../../../models/rank_part.ts";
import { predict } from "../../../models/cost_model.ts";
import type { Configuration, Share } from "../../configuration.ts";
import { type DeviceKind, type DeviceShare, isShared, sharesOf, slicesOf, uses } from "../../shares.ts";
import { cpuLayoutOf } from "../cpu/cpu_field.ts";
import type { CpuPool } from "../cpu/wasm_workers.ts";
import type { FieldMemory } from "../gpu/field_memory.ts";
import type { GpuDevice } from "../gpu/gpu_device.ts";
import { GpuField } from "../gpu/gpu_field.ts";
import { WindowedField } from "../gpu/windowed_field.ts";
import { whyNot } from "../refuse_parameters.ts";
import { RunFailure } from "../run_failure.ts";
import { GpuPartField } from "./gpu_part_field.ts";
import { HostPartField } from "./host_part_field.ts";
import type { PartField } from "./part_field.ts";

export interface ShareOptions {
  /** Each may be missing where the other device computes all slices. */
  readonly gpu?: GpuDevice | undefined;
  readonly cpuPool?: CpuPool | undefined;
  readonly configuration: Configuration;
  /** Where the GPU's arrays come from. @default {memory of the field's own} */
  readonly gpuMemory?: FieldMemory | undefined;
  /** Called with the GPU's part and its layout when that is compiled, before its memory is taken. */
  readonly onCompiled?: (problem: Problem, plan: GpuPlan) => Promise<void>;
}

/** A shared grid as ranks along x have it; one device alone has all. */
export function planOfShare(problem: Problem, share: Share): RankPlan {
  const slices = slicesOf(share).map(({ slices }) => slices);
  return { ...planAlongX(problem, slices, share.exchangeEvery), owners: slices.map(() => 0) };
}

/** Where a device's share lies. */
function placeOf(problem: Problem, share: Share, wanted: DeviceKind): PartPlace {
  const rank = slicesOf(share).findIndex(({ device }) => device === wanted);
  return { part: partOfRank(problem, planOfShare(problem, share), rank), whole: problem.grid };
}

/** What a device computes: its share as a problem of its own, ghost zones included; the problem itself if it has all slices. */
export function partOf(problem: Problem, share: Share, device: DeviceKind): Problem {
  if (!isShared(share)) return problem;
  const { part } = placeOf(problem, share, device);
  return { ...problemOfRank(problem, share, part), steps: problem.steps };
}

/** Why the CPU's workers cannot traverse their slices as they should; undefined if they can. */
export function refuseCpuPart(problem: Problem, configuration: Configuration): string | undefined {
  const { traversal, parameters } = sharesOf(configuration).find(({ device }) => device === "cpu")!;
  const order = cpuTraversalNamed(traversal);
  if (order === undefined) return `the CPU has no traversal ${traversal}`;
  const part = partOf(problem, configuration.share, "cpu");
  return (refusalOf(order, part) ?? order.infeasible(part, parameters))?.message;
}

/**
 * What the GPU runs for its part of a grid.
 *
 * @throws {RunFailure} "limits" where the traversal does not suit the part, or the parameters or the device do not
 */
export function planGpuPart(
  problem: Problem,
  { traversal: name, parameters, share, share: { deviceMemory: windowBytes } }: Configuration,
  { limits: all, isBorrowed }: Pick<GpuDevice, "limits" | "isBorrowed">,
): GpuPlan {
  const traversal = traversalNamed(name), part = partOf(problem, share, "gpu");
  const limits = windowBytes === undefined ? all : { ...all, windowBytes };
  const refusal = whyNot(traversal, part, parameters, limits);
  if (refusal === undefined) return traversal.plan(part, parameters, limits);
  const isShort = isBorrowed && refusal.kind === "limits";
  const advice = isShort ? "; requestDevice's requiredLimits may have more" : "";
  throw new RunFailure("limits", `${name}: ${refusal.message}${advice}`);
}

/**
 * The parts of a grid as a configuration wants them, in the order of their slices: compiles their code and takes their
 * memory.
 *
 * @param place where the grid lies, if it is itself a part, which one device computes
 * @throws {RunFailure} if the devices or the share do not allow it
 */
export async function makeParts(
  problem: Problem,
  options: ShareOptions,
  place?: PartPlace,
): Promise<PartField[]> {
  const { configuration, configuration: { share } } = options, parts: PartField[] = [];
  const why = whyNoShare(problem, share) ?? whyNotTogether(share);
  if (why !== undefined) throw new RunFailure("limits", why);
  try {
    for (const part of sharesOf(configuration)) {
      const at = place ?? placeOf(problem, share, part.device);
      parts.push(await OPENERS[part.device](problem, part, { ...options, place: at }));
    }
    return parts;
  } catch (error) {
    for (const part of parts) part[Symbol.dispose]();
    throw error;
  }
}

/** Why a grid cannot be shared like this on any devices; undefined where it can. */
export function whyNoShare({ grid, stencil }: Problem, share: Share): string | undefined {
  const { cpuSlices, gpuSlices, exchangeEvery } = share;
  const shares = `shares of ${cpuSlices} and ${gpuSlices} slices`;
  const isNatural = [cpuSlices, gpuSlices].every((slices) => Number.isSafeInteger(slices) && slices >= 0);
  if (!isNatural || cpuSlices + gpuSlices !== grid[0]) return `${shares} do not make up ${grid[0]}`;
  if (!(Number.isSafeInteger(exchangeEvery) && exchangeEvery >= 1)) {
    return `steps between exchanges must be a whole number from 1 up, not ${exchangeEvery}`;
  }
  if (!isShared(share)) return undefined;
  const [[thinnest]] = ghostWidths(stencil.update, exchangeEvery);
  const isThin = Math.min(cpuSlices, gpuSlices) < thinnest;
  return isThin ? `${shares}: one is thinner than the ghost zone of ${thinnest}` : undefined;
}

/** Why the devices of a share cannot do together what it says; undefined where they can. */
function whyNotTogether(share: Share): string | undefined {
  if (share.deviceMemory !== undefined && uses(share, "cpu")) {
    return "what passes through a window is not shared with the CPU";
  }
  return share.cpu === undefined || isShared(share)
    ? undefined
    : `a CPU's ${share.cpu.traversal} beside a GPU wanted, but nothing is shared`;
}

/** What a device provides: compiles its share of a problem, and takes its memory. @throws {RunFailure} where it cannot */
type Opener = (
  problem: Problem,
  share: DeviceShare,
  options: ShareOptions & { readonly place: PartPlace },
) => Promise<PartField>;

/** How much faster a run of a few steps should be in another order than in the one that was tuned. */
const WORTH_ANOTHER_ORDER = 1.05;

/** What the models know of a run: its steps, and the device. */
interface RunOptions {
  readonly steps: number;
  readonly gpu: Pick<GpuDevice, "limits" | "model">;
}

/**
 * What a GPU's run of some steps should reach, by the models, and in which order of its shaders, if it has fewer than the
 * problem and another one is faster than that which was tuned.
 */
export function expectedOf(
  traversal: Traversal,
  problem: Problem,
  parameters: Parameters,
  { steps, gpu }: RunOptions,
): { readonly rate: number; readonly order?: Parameters } {
  const on = { ...problem, steps }, ordering = namesOf(traversal, "ordering");
  const rateOf = (order: Parameters): number =>
    predict(traversal, { ...parameters, ...order }, on, gpu.model).predicted;
  let best: { rate: number; order?: Parameters } = { rate: rateOf({}) };
  if (ordering.length === 0 || steps >= problem.steps) return best;
  const lists = traversal.parameterLists(on, gpu.limits), least = WORTH_ANOTHER_ORDER * best.rate;
  for (const order of combine(Object.fromEntries(ordering.map((name) => [name, lists[name]!])))) {
    const isBeyond = ordering.some((name) =>
      traversal.parameters[name]![2]?.isMost && order[name]! > parameters[name]!
    );
    if (isBeyond || traversal.infeasible(on, { ...parameters, ...order }, gpu.limits)) continue;
    const rate = rateOf(order);
    if (rate > Math.max(least, best.rate)) best = { rate, order };
  }
  return best;
}

/** How much faster a problem's own run should be than one of fewer steps, by the models; those of the CPU do not know it. */
export function longRunGain(
  problem: Problem,
  { traversal: name, parameters, share }: Configuration,
  { steps, gpu }: RunOptions,
): number {
  if (uses(share, "cpu")) return 1;
  const [long, short] = [problem.steps, steps].map((steps) =>
    expectedOf(traversalNamed(name), problem, parameters, { steps, gpu }).rate
  );
  return long! / short!;
}

/** What opens a part: one for each kind of device. */
const OPENERS: Readonly<Record<DeviceKind, Opener>> = {
  async cpu(problem, { parameters, traversal, workers = 0 }, { cpuPool, configuration, place }) {
    const most = cpuPool?.workers ?? 0;
    const reason = workers >= 1 && workers <= most
      ? refuseCpuPart(problem, configuration)
      : `${workers} CPU workers wanted, there are ${most}`;
    if (reason !== undefined) throw new RunFailure("limits", reason);
    const part = partOf(problem, configuration.share, "cpu"), layout = cpuLayoutOf(part);
    const field = await cpuPool!.load({
      update: part.stencil.update,
      layout,
      boundary: part.boundary,
      // a line with points is none that can be swept
      shape: cpuTraversalNamed(traversal)!.shape(parameters) ??
        usualShape(part, precisionOf(layout).bytes * layout.slice),
      fused: parameters.fused === 1,
      workers,
    }).catch((error) => {
      throw error instanceof RunFailure ? error : new RunFailure("compile", `CPU: ${error.message}`);
    });
    return new HostPartField(field, place);
  },

  async gpu(problem, { traversal: name, parameters, memory }, options) {
    const { gpu, gpuMemory, place, onCompiled, configuration: { share } } = options;
    if (gpu === undefined) {
      throw new RunFailure(
        "limits",
        `there is no GPU for ${memory === undefined ? "its slices" : "a window"}`,
      );
    }
    const part = partOf(problem, share, "gpu");
    const traversal = traversalNamed(name), plan = planGpuPart(problem, options.configuration, gpu);
    const compiled = () => onCompiled?.(part, plan) ?? Promise.resolve();
    if (memory !== undefined) {
      return new HostPartField(await WindowedField.create(gpu, part, plan, compiled), place);
    }
    const order = remembered((_: GpuPlan, steps: number) =>
      expectedOf(traversal, part, parameters, { steps, gpu }).order
    );
    const field = await GpuField.create(gpu, part, plan, {
      memory: gpuMemory,
      onCompiled: compiled,
      orderOf: (steps) => order(plan, steps),
    });
    return new GpuPartField(field, place);
  },
};
