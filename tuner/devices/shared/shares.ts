/**
 * The two shares of a grid as a configuration wants them: what cannot be is refused, the rest is made.
 *
 * @module
 */
import { cpuTraversalNamed } from "../../../kernels/cpu/cpu_traversals.ts";
import { type Layout, layOut } from "../../../kernels/layout.ts";
import { type Boundary, periodicAxes, type Problem } from "../../../kernels/stencils/stencil.ts";
import { planesOf, reachOf, readsPrevious, stepReach } from "../../../kernels/update.ts";
import { traversalNamed } from "../../../kernels/traversals/all.ts";
import type { Configuration, Share } from "../../configuration.ts";
import type { CpuField } from "../cpu/cpu_field.ts";
import type { FieldMemory } from "../gpu/field_memory.ts";
import type { GpuDevice } from "../gpu/gpu_device.ts";
import { GpuField } from "../gpu/gpu_field.ts";
import { type OwnSlices, type Transfer, transfersBetween } from "./slice_exchange.ts";
import type { CpuPool } from "../cpu/wasm_workers.ts";
import { RunFailure } from "../run_failure.ts";

/** What shares are made of. */
export interface ShareOptions {
  /** May be missing where the CPU computes all slices. */
  readonly gpu?: GpuDevice | undefined;
  /** May be missing where the GPU computes all slices. */
  readonly cpuPool?: CpuPool | undefined;
  readonly configuration: Configuration;
  /**
   * Slices of a ghost zone; only tests choose another number, to see it fail.
   * @default {R·S}
   */
  readonly ghost?: number;
  /** Where the GPU's arrays come from. @default {memory of the field's own} */
  readonly gpuMemory?: FieldMemory | undefined;
  /** Called with the GPU's part and its layout when that is compiled, before its memory is taken. */
  readonly onCompiled?: (problem: Problem, layout: Layout) => Promise<void>;
}

/** The CPU's share. */
export interface CpuPart extends OwnSlices {
  readonly field: CpuField;
  /** Host time to write and compile its code. */
  readonly compileNs: number;
}

/** The GPU's share. */
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
  return exchangeEvery * stepReach(stencil.update).x;
}

/** Slices of the ghost zones at the two ends of a share. */
interface GhostZones {
  readonly before: number;
  readonly after: number;
}

function ghostZones(
  { boundary }: Pick<Problem, "boundary">,
  { cpuSlices, gpuSlices }: Pick<Share, "cpuSlices" | "gpuSlices">,
  ghost: number,
): { cpu: GhostZones; gpu: GhostZones } {
  const isShared = cpuSlices > 0 && gpuSlices > 0;
  const inner = isShared ? ghost : 0, outer = isShared && boundary === "periodic" ? ghost : 0;
  return { cpu: { before: outer, after: inner }, gpu: { before: inner, after: outer } };
}

/** What the GPU computes: its share of the problem, ghost zones included. */
export function gpuPartOf(problem: Problem, share: Share, ghost?: number): Problem {
  const { cpuSlices, gpuSlices, exchangeEvery } = share;
  const { gpu: { before, after } } = ghostZones(problem, share, ghost ?? ghostSlices(problem, exchangeEvery));
  const boundary = cpuSlices > 0 && problem.boundary === "periodic" ? "periodic-yz" : problem.boundary;
  const [, ny, nz] = problem.grid;
  return { ...problem, boundary, grid: [before + gpuSlices + after, ny, nz] };
}

/** Where the cells of the CPU's share lie, ghost zones included. */
export function cpuLayoutOf(problem: Problem, share: Share, ghost?: number): Layout {
  const { stencil: { update }, grid: [, ny, nz] } = problem;
  const { cpu: { before, after } } = ghostZones(
    problem,
    share,
    ghost ?? ghostSlices(problem, share.exchangeEvery),
  );
  const { x, y, z } = reachOf(update);
  return layOut([before + share.cpuSlices + after, ny, nz], { pad: [x, y, z], planes: planesOf(update) });
}

/**
 * Compiles both shares' code and takes their memory.
 *
 * @throws {RunFailure} if the devices or the share do not allow it
 */
export async function makeShares(problem: Problem, options: ShareOptions): Promise<Shares> {
  checkShare(problem, options);
  const { share } = options.configuration;
  const { ghost = ghostSlices(problem, share.exchangeEvery) } = options;
  const zones = ghostZones(problem, share, ghost);
  const isPeriodic = problem.boundary === "periodic";
  const cpu = share.cpuSlices === 0 ? undefined : await makeCpuPart(problem, options, zones.cpu);
  try {
    const gpu = share.gpuSlices === 0 ? undefined : await makeGpuPart(problem, options, zones.gpu);
    const { update } = problem.stencil;
    const { toCpu, toGpu } = cpu === undefined || gpu === undefined
      ? { toCpu: [], toGpu: [] }
      : transfersBetween(cpu, gpu, {
        ghost,
        reach: stepReach(update).x,
        isPeriodic,
        readsPrevious: readsPrevious(update),
      });
    return { cpu, gpu, toCpu, toGpu };
  } catch (error) {
    disposeShares({ cpu, gpu: undefined });
    throw error;
  }
}

/** Gives back the memory of both. */
export function disposeShares({ cpu, gpu }: Pick<Shares, "cpu" | "gpu">): void {
  gpu?.field[Symbol.dispose]();
  // the memory is free at once; a pool that has ended needs no word
  cpu?.field.dispose().catch(() => {});
}

/** Refuses what no share can be. */
function checkShare(
  { grid, stencil, boundary }: Problem,
  { gpu, cpuPool, configuration, ghost }: ShareOptions,
): void {
  const { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers } = configuration.share;
  const isNatural = [cpuSlices, gpuSlices].every((slices) => Number.isSafeInteger(slices) && slices >= 0);
  if (!isNatural || cpuSlices + gpuSlices !== grid[0]) {
    throw new RunFailure(
      "limits",
      `shares of ${cpuSlices} and ${gpuSlices} slices do not make up ${grid[0]}`,
    );
  }
  if (cpuSlices > 0 && cpuPool?.workers !== cpuWorkers) {
    throw new RunFailure("limits", `${cpuWorkers} CPU workers wanted, there are ${cpuPool?.workers ?? 0}`);
  }
  if (gpuSlices > 0 && gpu === undefined) throw new RunFailure("limits", "there is no GPU for its slices");
  if (cpuSlices === 0 || gpuSlices === 0) return;
  if (!(Number.isSafeInteger(exchangeEvery) && exchangeEvery >= 1)) {
    throw new RunFailure(
      "limits",
      `steps between exchanges must be a whole number from 1 up, not ${exchangeEvery}`,
    );
  }
  if (boundary === "periodic-yz") throw new RunFailure("limits", "a share cannot be shared again");
  const thinnest = ghost ?? ghostSlices({ stencil }, exchangeEvery);
  if (Math.min(cpuSlices, gpuSlices) < thinnest) {
    const shares = `shares of ${cpuSlices} and ${gpuSlices} slices`;
    throw new RunFailure("limits", `${shares}: one is thinner than the ghost zone of ${thinnest}`);
  }
}

async function makeCpuPart(
  problem: Problem,
  { cpuPool, configuration: { traversal, parameters, share }, ghost }: ShareOptions,
  { before }: GhostZones,
): Promise<CpuPart> {
  const { boundary, stencil: { update } } = problem;
  const layout = cpuLayoutOf(problem, share, ghost);
  const [wrapsX, wrapsY, wrapsZ] = periodicAxes(boundary);
  const along = (wraps: boolean): Boundary => wraps ? "periodic" : "zero";
  const boundaries = boundary === "insulated"
    ? boundary
    : [along(wrapsX && share.gpuSlices === 0), along(wrapsY), along(wrapsZ)] as const;
  // of a line; what the GPU's traversal is called does not matter to the CPU's share of a grid
  const nodePoints = share.gpuSlices === 0 && traversal === "swept" ? parameters.points ?? 0 : 0;
  const order = share.gpuSlices === 0 ? cpuTraversalNamed(traversal) : undefined;
  const reason = order?.infeasible(problem, parameters);
  if (reason !== undefined) throw new RunFailure("limits", reason);
  const source = { update, layout, boundary: boundaries, nodePoints, shape: order?.shape(parameters) };
  const started = performance.now();
  const field = await cpuPool!.load(source).catch((error) => {
    throw error instanceof RunFailure ? error : new RunFailure("compile", `CPU: ${error.message}`);
  });
  const compileNs = (performance.now() - started) * 1e6;
  return { field, compileNs, first: before, slices: share.cpuSlices };
}

async function makeGpuPart(
  problem: Problem,
  { gpu, configuration: { traversal: name, parameters, share }, ghost, gpuMemory, onCompiled }: ShareOptions,
  { before }: GhostZones,
): Promise<GpuPart> {
  const part = gpuPartOf(problem, share, ghost);
  const traversal = traversalNamed(name);
  const reason = traversal.refuse(part) ?? traversal.infeasible(part, parameters, gpu!.limits);
  if (reason !== undefined) throw new RunFailure("limits", reason);
  const plan = traversal.plan(part, parameters);
  const field = await GpuField.create(gpu!, part, plan, {
    memory: gpuMemory,
    onCompiled: () => onCompiled?.(part, plan.layout) ?? Promise.resolve(),
  });
  return { field, first: before, slices: share.gpuSlices };
}
