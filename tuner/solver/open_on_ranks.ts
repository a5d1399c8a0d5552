import { type OwnGrid, planned, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Precise } from "../../kernels/precision.ts";
import type { RankPlan } from "../../models/rank_part.ts";
import type { Configuration } from "../configuration.ts";
import { CpuPool } from "../devices/cpu/wasm_workers.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { problemHere } from "../devices/shared/shared_field.ts";
import type { RankDevice, World } from "../devices/world.ts";
import { formatDuration } from "../format.ts";
import { countCores } from "../platform.ts";
import { isShared, uses, withinCores } from "../shares.ts";
import { windowOf } from "../problem/resolve_problem.ts";
import { type Choice, chooseConfiguration } from "../profile/choose.ts";
import type { Profile } from "../profile/profile_types.ts";
import { type FieldSolver, openSolver } from "./field_solver.ts";
import {
  checkParts,
  fasterAlone,
  type MeasuredPlan,
  openTogether,
  planAlone,
  planRanks,
  type RankWishes,
} from "./plan_ranks.ts";
import { agree } from "./agree.ts";
import type { SolverOptions } from "./solver.ts";
import { failingAs } from "./solver_error.ts";
import { openState } from "./state.ts";

/** How ranks are to share a grid. */
export interface RankSolverOptions extends Omit<RankWishes, "parts"> {
  /** Parts along x, y, z, in two dimensions along x, y. @default {those predicted to be fastest} */
  readonly parts?: OwnGrid | undefined;
  /** How the ranks share the grid. @default {measured and predicted: {@linkcode planRanks}} */
  readonly plan?: RankPlan | undefined;
  /** How this rank computes its part, alone on its device. @default {as its profiles say} */
  readonly choose?: (part: Problem) => Configuration;
  /** What a solver saved, to go on from. */
  readonly from?: SolverOptions["from"];
}

/** How a rank computes its part: by its device's profiles, alone on that device. */
export function chooseForRank(
  profiles: Profile | readonly Profile[],
  part: Problem,
  { gpu, cpuPool, deviceMemory }: RankDevice,
): Choice {
  if (gpu === undefined) return chooseConfiguration(profiles, part, null, { cpuWorkers: cpuPool!.workers });
  const windowBytes = windowOf(part, deviceMemory),
    limits = { ...gpu.limits, ...(windowBytes && { windowBytes }) };
  const device = { limits, adapterInfo: gpu.device.adapterInfo };
  return chooseConfiguration(profiles, part, device, { cpuWorkers: 0 });
}

/**
 * Opens this rank's part of a solver that all ranks of a world run together, each on its own device, which stays open.
 *
 * @throws {RangeError} if the parts cannot hold the ghost zones, or no configuration can run a part
 * @throws {SolverError} if the device cannot run it
 */
export async function openOnRanks(
  problem: Problem,
  { world, device, profiles, ...options }: RankSolverOptions & {
    readonly world: World;
    readonly device: RankDevice & Partial<Disposable>;
    readonly profiles: Profile | readonly Profile[];
  },
): Promise<FieldSolver> {
  let choice: Choice | undefined;
  const choose = options.choose ??
    ((part: Problem) => (choice = chooseForRank(profiles, part, device)).configuration);
  const { plan: given, exchangeEvery } = options;
  const parts = options.parts && planned<number>(problem.stencil, options.parts, 1);
  const saved = await openState(options.from, problem);
  if (given !== undefined) checkParts(problem, world.size, given);
  const isAlone = world.size === 1 && !parts && !exchangeEvery;
  const found = given
    ? undefined
    : isAlone
    ? planAlone(problem, device)
    : await planRanks(world, device, problem, { choose, parts, exchangeEvery });
  const plan = given ?? found!.plan, isFree = found && choice && !parts && !exchangeEvery;
  const aloneNs = isFree ? await fasterAlone(world, device, problem, { ...found, choose }) : undefined;
  return await failingAs("create the solver", async () => {
    const sharing = { world, plan };
    const configuration = await agree(world, () => choose(problemHere(problem, sharing)));
    if (choice && aloneNs !== undefined) choice = { ...choice, message: losing(choice, found!, aloneNs) };
    return await openSolver(problem, {
      async open(problem) {
        const field = await openTogether(problem, { ...device, configuration }, sharing);
        return { configuration, field, [Symbol.dispose]: () => field[Symbol.dispose]() };
      },
      ...{ gpu: device, choice, saved, isBorrowed: false },
    });
  });
}

/** What a choice says where ranks lose; they stay, as each of them is called. */
function losing({ message }: Choice, { plan, measuredNs }: MeasuredPlan, aloneNs: number): string {
  const [all, one] = [measuredNs, aloneNs].map(formatDuration);
  return `${message}; ${plan.extents.length} ranks take ${all} a step, rank 0 alone would take ${one}: ` +
    "world.first(1) leaves the others out";
}

/** Opens what this rank computes with, as a solver's options say. */
export async function openDeviceOf(
  world: World,
  { precision }: Precise,
  { device: given, configuration, deviceMemory, timeoutMs, workerUrl }: SolverOptions,
): Promise<RankDevice & Disposable> {
  const time = { precision, ...(timeoutMs !== undefined && { timeoutMs }) };
  const { share } = configuration === undefined ? {} : withinCores(configuration);
  const wantsGpu = given !== null && (share === undefined || uses(share, "gpu"));
  // the ranks may all be on this machine
  const own = Math.max(1, Math.floor(countCores() / world.size));
  const openPool = (workers = own) => CpuPool.create({ workers, ...(workerUrl && { workerUrl }) });
  if (given == null && world.openDevice && (share === undefined || !isShared(share))) {
    const workers = share !== undefined && !wantsGpu ? { cpuWorkers: share.cpuWorkers } : {};
    return await world.openDevice({ deviceMemory, noGpu: !wantsGpu, precision, ...workers });
  }
  const gpu = !wantsGpu
    ? undefined
    : given === undefined
    ? await GpuDevice.open(time)
    : await GpuDevice.borrow(given!, time);
  try {
    const isOnCpu = gpu === undefined || (share !== undefined && uses(share, "cpu"));
    const cpuPool = isOnCpu ? await openPool(share?.cpuWorkers || undefined) : undefined;
    const dispose = (): void => {
      cpuPool?.dispose();
      gpu?.[Symbol.dispose]();
    };
    return { gpu, cpuPool, deviceMemory, [Symbol.dispose]: dispose };
  } catch (error) {
    gpu?.[Symbol.dispose]();
    throw error;
  }
}

/** The same configuration for a part with this number of slices: each device has as large a share of it as before. */
export function scaledTo(configuration: Configuration, slices: number): Configuration {
  const scaled = withinCores(configuration), { share, share: { cpuSlices: cpu, gpuSlices: gpu } } = scaled;
  const cpuSlices = Math.round(slices * cpu / (cpu + gpu));
  return { ...scaled, share: { ...share, cpuSlices, gpuSlices: slices - cpuSlices } };
}
