import { cpuTraversalNamed } from "../../../kernels/cpu/cpu_traversals.ts";
import { type Layout, layOut } from "../../../kernels/layout.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { ghostWidths, planesOf, reachOf } from "../../../kernels/update.ts";
import { traversalNamed } from "../../../kernels/traversals/all.ts";
import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import { partOfRank, planAlongX, problemOfRank, type RankPlan } from "../../../models/rank_part.ts";
import type { Configuration, Share } from "../../configuration.ts";
import type { FieldMemory } from "../gpu/field_memory.ts";
import type { GpuDevice } from "../gpu/gpu_device.ts";
import { GpuField } from "../gpu/gpu_field.ts";
import type { CpuPool } from "../cpu/wasm_workers.ts";
import { RunFailure } from "../run_failure.ts";
import { GpuPartField } from "./gpu_part_field.ts";
import { CpuPartField, type Place } from "./part_field.ts";

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

/** Both shares; one of 0 slices is left out. */
export interface Shares {
  readonly cpu: CpuPartField | undefined;
  readonly gpu: GpuPartField | undefined;
}

/** A shared grid as two ranks have it, the CPU's slices first; one device alone has all. */
export function planOfShare(problem: Problem, { cpuSlices, gpuSlices, exchangeEvery }: Share): RankPlan {
  const slices = [cpuSlices, gpuSlices].filter((slices) => slices > 0);
  return planAlongX(problem, slices, exchangeEvery);
}

/** Where a device's share lies. */
function placeOf(problem: Problem, share: Share, device: "cpu" | "gpu"): Place {
  const plan = planOfShare(problem, share), rank = device === "cpu" ? 0 : plan.extents.length - 1;
  return { part: partOfRank(problem, plan, rank), whole: problem.grid };
}

/** What a device computes: its share as a problem of its own, ghost zones included. */
export function partOf(problem: Problem, share: Share, device: "cpu" | "gpu"): Problem {
  const { part } = placeOf(problem, share, device);
  return { ...problemOfRank(problem, share, part), steps: problem.steps };
}

/** Where the cells of a problem lie on the CPU. */
export function cpuLayoutOf({ stencil: { update }, grid }: Pick<Problem, "stencil" | "grid">): Layout {
  const { x, y, z } = reachOf(update);
  return layOut(grid, { pad: [x, y, z], planes: planesOf(update) });
}

/** How the workers traverse their slices; where nothing was chosen, they know how. */
function cpuTraversalOf({ traversal, parameters, share }: Configuration) {
  const { traversal: name, parameters: own } = share.gpuSlices === 0
    ? { traversal, parameters }
    : share.cpu ?? { traversal: "stepwise", parameters: {} };
  return { name, parameters: own, order: cpuTraversalNamed(name) };
}

/** Why the CPU's workers cannot traverse their slices as they should; undefined if they can. */
export function refuseCpuPart(problem: Problem, configuration: Configuration): string | undefined {
  const { name, parameters, order } = cpuTraversalOf(configuration);
  if (order === undefined) return `the CPU has no traversal ${name}`;
  return order.infeasible(partOf(problem, configuration.share, "cpu"), parameters);
}

/**
 * The two shares of a grid as a configuration wants them: compiles their code and takes their memory.
 *
 * @param place where the grid lies, if it is itself a part, which one device computes
 * @throws {RunFailure} if the devices or the share do not allow it
 */
export async function makeShares(problem: Problem, options: ShareOptions, place?: Place): Promise<Shares> {
  checkShare(problem, options);
  const { share } = options.configuration;
  const at = (device: "cpu" | "gpu"): Place => place ?? placeOf(problem, share, device);
  const cpu = share.cpuSlices === 0 ? undefined : await makeCpuPart(problem, options, at("cpu"));
  try {
    return { cpu, gpu: share.gpuSlices === 0 ? undefined : await makeGpuPart(problem, options, at("gpu")) };
  } catch (error) {
    cpu?.[Symbol.dispose]();
    throw error;
  }
}

/** Why a grid cannot be shared like this on any devices; undefined where it can. */
export function whyNoShare(
  { grid, stencil }: Problem,
  { cpuSlices, gpuSlices, exchangeEvery }: Share,
): string | undefined {
  const shares = `shares of ${cpuSlices} and ${gpuSlices} slices`;
  const isNatural = [cpuSlices, gpuSlices].every((slices) => Number.isSafeInteger(slices) && slices >= 0);
  if (!isNatural || cpuSlices + gpuSlices !== grid[0]) return `${shares} do not make up ${grid[0]}`;
  if (cpuSlices === 0 || gpuSlices === 0) return undefined;
  if (!(Number.isSafeInteger(exchangeEvery) && exchangeEvery >= 1)) {
    return `steps between exchanges must be a whole number from 1 up, not ${exchangeEvery}`;
  }
  const [[thinnest]] = ghostWidths(stencil.update, exchangeEvery);
  const isThin = Math.min(cpuSlices, gpuSlices) < thinnest;
  return isThin ? `${shares}: one is thinner than the ghost zone of ${thinnest}` : undefined;
}

/** Refuses what no share can be, or not on these devices. */
function checkShare(problem: Problem, { gpu, cpuPool, configuration: { share } }: ShareOptions): void {
  const refuse = (why: string): never => {
    throw new RunFailure("limits", why);
  };
  const why = whyNoShare(problem, share), { cpuSlices, gpuSlices, cpuWorkers, cpu } = share;
  if (why !== undefined) refuse(why);
  const workers = cpuPool?.workers ?? 0;
  if (cpuSlices > 0 && !(cpuWorkers >= 1 && cpuWorkers <= workers)) {
    refuse(`${cpuWorkers} CPU workers wanted, there are ${workers}`);
  }
  if (gpuSlices > 0 && gpu === undefined) refuse("there is no GPU for its slices");
  if ((cpuSlices === 0 || gpuSlices === 0) && cpu !== undefined) {
    refuse(`a CPU's ${cpu.traversal} beside a GPU wanted, but nothing is shared`);
  }
}

async function makeCpuPart(
  problem: Problem,
  { cpuPool, configuration }: ShareOptions,
  place: Place,
): Promise<CpuPartField> {
  const { share } = configuration;
  const part = partOf(problem, share, "cpu");
  const { boundary, stencil: { update } } = part;
  const layout = cpuLayoutOf(part);
  const reason = refuseCpuPart(problem, configuration);
  if (reason !== undefined) throw new RunFailure("limits", reason);
  const { parameters, order } = cpuTraversalOf(configuration);
  const source = {
    update,
    layout,
    boundary,
    shape: order!.shape(parameters),
    fused: parameters.fused === 1,
    workers: share.cpuWorkers,
  };
  const started = performance.now();
  const field = await cpuPool!.load(source).catch((error) => {
    throw error instanceof RunFailure ? error : new RunFailure("compile", `CPU: ${error.message}`);
  });
  const compileNs = (performance.now() - started) * 1e6;
  return new CpuPartField(field, place, compileNs);
}

async function makeGpuPart(
  problem: Problem,
  { gpu, configuration: { traversal: name, parameters, share }, gpuMemory, onCompiled }: ShareOptions,
  place: Place,
): Promise<GpuPartField> {
  const part = partOf(problem, share, "gpu");
  const traversal = traversalNamed(name);
  const reason = traversal.refuse(part) ?? traversal.infeasible(part, parameters, gpu!.limits);
  if (reason !== undefined) throw new RunFailure("limits", reason);
  const plan = traversal.plan(part, parameters, gpu!.limits);
  const field = await GpuField.create(gpu!, part, plan, {
    memory: gpuMemory,
    onCompiled: () => onCompiled?.(part, plan) ?? Promise.resolve(),
  });
  return new GpuPartField(field, place);
}
