import { cpuTraversalNamed } from "../../../kernels/cpu/cpu_traversals.ts";
import { type Layout, layOut } from "../../../kernels/layout.ts";
import { alongAxes, type Problem } from "../../../kernels/stencils/stencil.ts";
import { ghostWidths, planesOf, reachOf } from "../../../kernels/update.ts";
import { refuseSweep } from "../../../kernels/traversals/line.ts";
import { traversalNamed } from "../../../kernels/traversals/all.ts";
import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import type { Configuration, Share } from "../../configuration.ts";
import type { CpuField } from "../cpu/cpu_field.ts";
import type { FieldMemory } from "../gpu/field_memory.ts";
import type { GpuDevice } from "../gpu/gpu_device.ts";
import { GpuField } from "../gpu/gpu_field.ts";
import { type OwnSlices, type Transfer, transfersBetween } from "./slice_exchange.ts";
import type { CpuPool } from "../cpu/wasm_workers.ts";
import { RunFailure } from "../run_failure.ts";

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

export interface CpuPart extends OwnSlices {
  readonly field: CpuField;
  /** Host time to write and compile its code. */
  readonly compileNs: number;
}

export interface GpuPart extends OwnSlices {
  readonly field: GpuField;
}

/** Both shares; one of 0 slices is left out, and then nothing is exchanged. */
export interface Shares {
  readonly cpu: CpuPart | undefined;
  readonly gpu: GpuPart | undefined;
  readonly toCpu: readonly Transfer[];
  readonly toGpu: readonly Transfer[];
}

/** Slices of a ghost zone: R times the reach of a step along x. */
export function ghostSlices({ stencil }: Pick<Problem, "stencil">, exchangeEvery: number): number {
  return ghostWidths(stencil.update, exchangeEvery)[0][0];
}

/** Whether the shares of a grid meet at its ends too: where x is periodic. */
export function isCyclic({ boundary }: Pick<Problem, "boundary">): boolean {
  return alongAxes(boundary)[0] === "periodic";
}

/** Slices of the ghost zones where the shares meet, and at the ends of the grid. */
function ghostZones(
  problem: Problem,
  { cpuSlices, gpuSlices, exchangeEvery }: Share,
): { readonly inner: number; readonly outer: number } {
  const inner = cpuSlices > 0 && gpuSlices > 0 ? ghostSlices(problem, exchangeEvery) : 0;
  return { inner, outer: isCyclic(problem) ? inner : 0 };
}

/** What a device computes: its share as a problem of its own, ghost zones included. */
export function partOf(problem: Problem, share: Share, device: "cpu" | "gpu"): Problem {
  const [, ny, nz] = problem.grid, { inner, outer } = ghostZones(problem, share);
  const slices = device === "cpu" ? share.cpuSlices : share.gpuSlices;
  const [x, y, z] = alongAxes(problem.boundary);
  // ghost zones lie at the ends, of no slices where no tap reaches along x
  const isOpen = share.cpuSlices > 0 && share.gpuSlices > 0 && isCyclic(problem);
  const boundary = [isOpen ? "zero" : x, y, z] as const;
  return { ...problem, boundary, grid: [slices + inner + outer, ny, nz] };
}

/** Where the cells of a problem lie on the CPU. */
export function cpuLayoutOf({ stencil: { update }, grid }: Pick<Problem, "stencil" | "grid">): Layout {
  const { x, y, z } = reachOf(update);
  return layOut(grid, { pad: [x, y, z], planes: planesOf(update) });
}

/** How the workers traverse their slices; on a line, and where nothing was chosen, they know how. */
function cpuTraversalOf({ traversal, parameters, share }: Configuration) {
  const { traversal: name, parameters: own } = share.gpuSlices === 0
    ? { traversal, parameters }
    : share.cpu ?? { traversal: "stepwise", parameters: {} };
  return { name, parameters: own, order: cpuTraversalNamed(name) };
}

/** Why the CPU's workers cannot traverse their slices as they should; undefined if they can. */
export function refuseCpuPart(problem: Problem, configuration: Configuration): string | undefined {
  const { share } = configuration;
  const { name, parameters, order } = cpuTraversalOf(configuration);
  if (order !== undefined) return order.infeasible(partOf(problem, share, "cpu"), parameters);
  const isOfLines = share.gpuSlices === 0 && (name === "classic" || name === "swept");
  if (!isOfLines) return `the CPU has no traversal ${name}`;
  // one step at a time takes any ends, those of a rank's part too
  return name === "classic" && problem.stencil.dimensions === 1 ? undefined : refuseSweep(problem);
}

/**
 * The two shares of a grid as a configuration wants them: compiles their code and takes their memory.
 *
 * @throws {RunFailure} if the devices or the share do not allow it
 */
export async function makeShares(problem: Problem, options: ShareOptions): Promise<Shares> {
  checkShare(problem, options);
  const { share } = options.configuration;
  const { inner, outer } = ghostZones(problem, share);
  const cpu = share.cpuSlices === 0 ? undefined : await makeCpuPart(problem, options, outer);
  try {
    const gpu = share.gpuSlices === 0 ? undefined : await makeGpuPart(problem, options, inner);
    const { update } = problem.stencil;
    const { toCpu, toGpu } = cpu === undefined || gpu === undefined
      ? { toCpu: [], toGpu: [] }
      : transfersBetween(cpu, gpu, {
        widths: ghostWidths(update, share.exchangeEvery).map(([x]) => x),
        isPeriodic: isCyclic(problem),
      });
    return { cpu, gpu, toCpu, toGpu };
  } catch (error) {
    disposeShares({ cpu, gpu: undefined });
    throw error;
  }
}

export function disposeShares({ cpu, gpu }: Pick<Shares, "cpu" | "gpu">): void {
  gpu?.field[Symbol.dispose]();
  // the memory is free at once; a pool that has ended needs no word
  cpu?.field.dispose().catch(() => {});
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
  const thinnest = ghostSlices({ stencil }, exchangeEvery);
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
  first: number,
): Promise<CpuPart> {
  const { share } = configuration;
  const part = partOf(problem, share, "cpu");
  const { boundary, stencil: { update } } = part;
  const layout = cpuLayoutOf(part);
  const reason = refuseCpuPart(problem, configuration);
  if (reason !== undefined) throw new RunFailure("limits", reason);
  const { name, parameters, order } = cpuTraversalOf(configuration);
  const source = {
    update,
    layout,
    boundary,
    nodePoints: name === "swept" ? parameters.points ?? 0 : 0,
    shape: order?.shape(parameters),
    fused: order !== undefined && parameters.fused === 1,
    workers: share.cpuWorkers,
  };
  const started = performance.now();
  const field = await cpuPool!.load(source).catch((error) => {
    throw error instanceof RunFailure ? error : new RunFailure("compile", `CPU: ${error.message}`);
  });
  const compileNs = (performance.now() - started) * 1e6;
  return { field, compileNs, first, slices: share.cpuSlices };
}

async function makeGpuPart(
  problem: Problem,
  { gpu, configuration: { traversal: name, parameters, share }, gpuMemory, onCompiled }: ShareOptions,
  first: number,
): Promise<GpuPart> {
  const part = partOf(problem, share, "gpu");
  const traversal = traversalNamed(name);
  const reason = traversal.refuse(part) ?? traversal.infeasible(part, parameters, gpu!.limits);
  if (reason !== undefined) throw new RunFailure("limits", reason);
  const plan = traversal.plan(part, parameters, gpu!.limits);
  const field = await GpuField.create(gpu!, part, plan, {
    memory: gpuMemory,
    onCompiled: () => onCompiled?.(part, plan) ?? Promise.resolve(),
  });
  return { field, first, slices: share.gpuSlices };
}
