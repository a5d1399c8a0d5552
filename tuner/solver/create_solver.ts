import { checkOptions } from "../../kernels/check_options.ts";
import { isRecord } from "../../kernels/check_expression.ts";
import type { Layout } from "../../kernels/layout.ts";
import { type Precise, precisionOf } from "../../kernels/precision.ts";
import { remembered } from "../../kernels/remembered.ts";
import type { OpenProblem, Problem } from "../../kernels/stencils/stencil.ts";
import { usersLayout } from "../../kernels/planned_problem.ts";
import { compareShader, copyShader } from "../../kernels/wgsl/fields.ts";
import { shadersOf } from "../../kernels/traversals/storage.ts";
import { bindingsOf } from "../../kernels/wgsl/shader.ts";
import type { GpuPlan } from "../../kernels/traversals/traversal.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { adapterInfoOf, limitsOf, whyNoPrecision } from "../devices/device.ts";
import { openDevice } from "../devices/open_device.ts";
import { CompileAhead } from "../devices/gpu/compile_ahead.ts";
import { borrowedMemory } from "../devices/gpu/field_memory.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { compilePlan } from "../devices/gpu/gpu_pipelines.ts";
import { SharedField } from "../devices/shared/shared_field.ts";
import { longRunGain, partOf, planGpuPart } from "../devices/shared/shares.ts";
import { CpuPool } from "../devices/cpu/wasm_workers.ts";
import type { World } from "../devices/world.ts";
import { referenceShape } from "../devices/reference.ts";
import { checkEdges, checkProblem, levelBytes, windowOf } from "../problem/resolve_problem.ts";
import { onGpuAlone } from "../search/enumeration.ts";
import { refuserOf } from "../problem/request_error.ts";
import { type Configuration, configurationKey } from "../configuration.ts";
import { describeValue, formatPlural } from "../format.ts";
import { type Choice, chooseConfiguration } from "../profile/choose.ts";
import { ownProfiles } from "../profile/own_profile.ts";
import type { Profile } from "../profile/profile_types.ts";
import { openSolver } from "./field_solver.ts";
import { openDeviceOf, openOnRanks, scaledTo } from "./open_on_ranks.ts";
import { type Contender, Refinement } from "./refinement.ts";
import type { AnySolver, Solver, SolverOptions } from "./solver.ts";
import { failingAs, SolverError } from "./solver_error.ts";
import { openState } from "./state.ts";
import { uses, withinCores } from "../shares.ts";

/**
 * Where the cells lie in a solver's GPU arrays, in the canonical order: x slowest, z fastest, with `pad` cells around the grid. Cell (x, y, z)
 * of plane p (fields first, then materials) is at index `origin + x·slice + p·plane + y·pitch + z` of an array of
 * `length` values; in two dimensions (x, y) is at `origin + x·slice + p·plane + y`. If the grid is shared with the CPU, this is the GPU's part with its ghost zones.
 * Of the fields the last `layered`, as a PML's memory, lie in buffers of their own, and have no planes.
 *
 * @param problem what is computed
 * @param configuration how it is computed
 * @throws {RangeError} if the GPU has no share, or there is no such traversal
 *
 * @example
 * ```ts
 * import { solverLayout } from "./create_solver.ts";
 * import { wave } from "../../kernels/stencils/wave.ts";
 * import { assert } from "@std/assert";
 *
 * const problem = { stencil: wave(2), grid: [8, 8, 8], boundary: "zero", steps: 10 } as const;
 * const layout = solverLayout(problem, {
 *   traversal: "stepwise",
 *   parameters: { threadsZ: 8, threadsY: 4, threadsX: 1 },
 *   share: { cpuSlices: 0, gpuSlices: 8, exchangeEvery: 10, cpuWorkers: 0 },
 * });
 * assert(layout.length >= 8 * 8 * 8);
 * ```
 */
export function solverLayout(problem: OpenProblem, configuration: Configuration): Layout {
  if (!uses(configuration.share, "gpu")) {
    throw new RangeError("Cannot lay out the GPU's arrays: the GPU must have a share: it has 0 slices");
  }
  const planned = checkProblem("lay out the GPU's arrays", problem);
  const { traversal, parameters, share } = configuration;
  const plan = traversalNamed(traversal).plan(partOf(planned, share, "gpu"), parameters);
  return usersLayout(planned, plan.storage.layout);
}

/**
 * Creates a solver: opens the device, chooses how to compute, compiles that and takes its memory. All fields start at zero,
 * materials have the stencil's values, and the time step is 0.
 *
 * @param problem what to compute; runs may be of any length, and those shorter than its `steps` are planned anew
 * @param options your own device, profile, configuration or buffers, the time-out, what to go on from, whether to try other
 *   configurations
 * @throws {RangeError} if the request is wrong, or no configuration can run it
 * @throws {ProfileError} if the profile that it finds on this machine is not valid
 * @throws {SolverError} if the device cannot run it; the message is one line
 *
 * @example
 * ```ts
 * import { createSolver } from "./create_solver.ts";
 * import { wave } from "../../kernels/stencils/wave.ts";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const problem = { stencil: wave(4), grid: [16, 16, 16], boundary: "periodic" } as const;
 * const exact = problem.stencil.planeWave!(problem.grid, [1, 0, 2]);
 * await using solver = await createSolver(problem);
 * await solver.write("F", (...cell) => exact.at(cell, 0));
 * await solver.write("F", (...cell) => exact.at(cell, -1), { ago: 1 });
 * await solver.run(25);
 * const slice = await solver.read("F", { x: 3, slices: 1 });
 * assertAlmostEquals(slice[5 * 16 + 7]!, exact.at([3, 5, 7], 25), 1e-4);
 * ```
 */
export async function createSolver(
  problem: OpenProblem & { readonly precision: "f64" },
  options?: SolverOptions,
): Promise<Solver<Float64Array<ArrayBuffer>>>;
/** The same in f32, where values are `Float32Array`s. */
export async function createSolver(problem: OpenProblem, options?: SolverOptions): Promise<Solver>;
/**
 * The same with a device and a configuration, as it was called before.
 *
 * @ignore
 */
export async function createSolver(
  device: GPUDevice | null,
  problem: OpenProblem,
  configuration: Configuration,
  options?: Omit<SolverOptions, "device" | "profile" | "configuration">,
): Promise<Solver>;
export async function createSolver(
  first: OpenProblem | GPUDevice | null,
  second?: OpenProblem | SolverOptions,
  ...[configuration, last = {}]: readonly [configuration?: Configuration, options?: SolverOptions]
): Promise<AnySolver> {
  const isFormer = configuration !== undefined, asked = (isFormer ? second : first) as OpenProblem;
  const former = isRecord(last) ? { ...last, device: first ?? null, configuration } : last;
  const problem = checkProblem("create the solver", asked), options = checked(isFormer ? former : second);
  checkEdges("create the solver", problem);
  const { world } = options;
  if (world !== undefined && world.size > 1) return await openInWorld(problem, { ...options, world });
  const { update } = problem.stencil, { device = await openFor(options, update) } = options;
  const isOpened = device !== options.device, { name: precision, features } = precisionOf(update);
  const lacking = whyNoPrecision(device ?? { features: [] }, update);
  const open = async (on: Problem, choice?: Choice): Promise<AnySolver> => {
    const how = choice ?? { configuration: options.configuration!, runnersUp: true as const };
    const refine = options.refine === true ? how.runnersUp : options.refine ?? false;
    const { configuration } = how, isOpen = asked.steps === undefined;
    return await openHere(on, { ...options, configuration, device, refine, choice, isOpened, isOpen });
  };
  try {
    if (options.configuration) return await open(problem);
    const { deviceMemory } = options, known = await knownOf(device, options.profile);
    const [on, { message, ...chosen }] = choose(asked, device, known, deviceMemory);
    const isRefused = options.device === undefined && lacking !== undefined;
    const why = `; no GPU here grants ${features.join(" and ")}, which ${precision} needs`;
    const choice = { ...chosen, message: isRefused ? message + why : message };
    return await open(on, choice).catch(async (error) => {
      if (device === null || !isFull(error) || deviceMemory !== undefined) throw error;
      const tried = (on: Problem, choice: Choice): Promise<AnySolver | undefined> =>
        open(on, choice).catch((later) => {
          if (!isFull(later)) throw later;
          return undefined;
        });
      // some traversals keep cells in an order of their own beside copies; plain steps take the least
      const { configuration: { traversal }, runnersUp } = choice;
      const plain = onGpuAlone({ traversal: stepwise, parameters: referenceShape(on) }, on);
      for (const leaner of [...runnersUp, plain].filter((one) => one.traversal !== traversal)) {
        const message = `${leaner.traversal}: the GPU's memory is too small for ${choice.message}`;
        const solver = await tried(on, { ...choice, configuration: leaner, runnersUp: [], message });
        if (solver !== undefined) return solver;
      }
      // WebGPU does not say how much memory there is: it has at least one of these, if the host holds the grid
      for (const part of [2, 4, 8, 16]) {
        const [on, choice] = choose(asked, device, known, Math.ceil(levelBytes(problem) / part));
        const why = `the grid does not fit the GPU's memory: ${choice.message}`;
        const solver = await tried(on, { ...choice, message: why });
        if (solver !== undefined) return solver;
      }
      throw error;
    });
  } catch (error) {
    if (isOpened) device?.destroy();
    throw error;
  }
}

/** Refuses options that make no sense. */
function checked(given: unknown = {}): SolverOptions & { readonly timeoutMs: number } {
  const refuse = refuserOf("create the solver");
  if (!isRecord(given)) return refuse("options are wanted", describeValue(given));
  const options: SolverOptions = given;
  checkOptions("create the solver", options, [
    "device",
    "profile",
    "configuration",
    "deviceMemory",
    "world",
    "decompose",
    "exchangeEvery",
    "buffers",
    "timeoutMs",
    "workerUrl",
    "refine",
    "from",
  ]);
  const { device, profile, configuration, deviceMemory, buffers, timeoutMs = 20_000, refine = false } =
    options;
  if (!(typeof timeoutMs === "number" && timeoutMs >= 1 && timeoutMs < 2 ** 31)) {
    refuse("timeoutMs must be from 1 to 2³¹ − 1, which timers can wait", `${timeoutMs}`);
  }
  if (typeof refine !== "boolean" && !Array.isArray(refine)) {
    refuse("refine must be a boolean or a list of configurations", describeValue(refine));
  }
  const { world, decompose, exchangeEvery } = options, isAmongRanks = (world?.size ?? 1) > 1;
  const unwanted = isAmongRanks
    ? { buffers, refine: refine || undefined }
    : world === undefined
    ? { decompose, exchangeEvery }
    : {};
  for (const [name, value] of Object.entries(unwanted)) {
    const where = isAmongRanks ? "among ranks" : "without a world";
    if (value !== undefined) refuse(`${where} ${name} is not wanted`, describeValue(value));
  }
  const own = configuration === undefined ? [] : [configuration];
  for (const configuration of [...own, ...Array.isArray(refine) ? refine : []]) {
    if (!isRecord(configuration?.share) || !isRecord(configuration.parameters)) {
      refuse("a configuration is wanted, as chooseConfiguration returns it", describeValue(configuration));
    }
  }
  if (configuration !== undefined && profile !== undefined) {
    refuse("a configuration or a profile to choose it from is wanted", "both");
  }
  if (deviceMemory !== undefined && !(deviceMemory > 0)) {
    refuse("deviceMemory must be a number of bytes", describeValue(deviceMemory));
  }
  if (deviceMemory !== undefined && (device === null || configuration !== undefined)) {
    const found = device === null ? "no device" : "a configuration, which says it in its share";
    refuse("deviceMemory is for a GPU of which the configuration is chosen", found);
  }
  if (buffers && refine !== false) {
    refuse("with your own buffers refine must be false", describeValue(refine));
  }
  if (buffers && (device === undefined || configuration === undefined)) {
    const missing = device === undefined ? "device" : "configuration";
    refuse("with your own buffers your device and a configuration are wanted", `no ${missing}`);
  }
  return { ...options, timeoutMs };
}

/** Opens this rank's part of a solver of several. */
async function openInWorld(
  problem: Problem,
  options: SolverOptions & { readonly world: World },
): Promise<AnySolver> {
  const { world, decompose: parts, exchangeEvery, from, configuration } = options;
  const choose = configuration && (({ grid: [slices] }: Problem) => scaledTo(configuration, slices));
  const device = await failingAs(
    "create the solver",
    () => openDeviceOf(world, problem.stencil.update, options),
  );
  try {
    const { profile: profiles } = await knownOf(device.gpu?.device ?? null, options.profile);
    const settings = { world, device, profiles, parts, exchangeEvery, from, ...(choose && { choose }) };
    return await openOnRanks(problem, settings);
  } catch (error) {
    device[Symbol.dispose]();
    throw error;
  }
}

/** The system's device; null where there is none for this precision, or nothing for it to do. */
async function openFor(
  { configuration, refine = false }: SolverOptions,
  of: Precise,
): Promise<GPUDevice | null> {
  const isForCpu = configuration !== undefined && refine === false && !uses(configuration.share, "gpu");
  return isForCpu ? null : await openDevice(of);
}

/** What a solver's configuration is chosen from. */
interface Known {
  readonly profile: Profile | readonly Profile[];
  /** What the program may do that more is known, in one line. */
  readonly note?: string | undefined;
}

/** The profiles that are given, or what `tune` wrote on this machine. */
async function knownOf(device: GPUDevice | null, given: SolverOptions["profile"]): Promise<Known> {
  if (given !== undefined) return { profile: given };
  const { profiles: profile, note } = await ownProfiles(device && (adapterInfoOf(device) ?? UNKNOWN));
  return { profile, note };
}

/** Chooses how to compute a problem, whose own run may have to be longer, through a window if it takes more than this. */
function choose(
  asked: OpenProblem,
  device: GPUDevice | null,
  { profile, note }: Known,
  deviceMemory?: number,
): readonly [on: Problem, choice: Choice] {
  const problem = checkProblem("create the solver", asked), windowBytes = windowOf(problem, deviceMemory);
  if (device === null || windowBytes === undefined) {
    const choice = chooseConfiguration(profile, asked, device);
    return [problem, note ? { ...choice, message: `${choice.message}; ${note}` } : choice];
  }
  const limits = { ...limitsOf(device.limits), windowBytes }, adapterInfo = adapterInfoOf(device);
  // what goes up and comes back once a passage should stay for long
  const passage = asked.steps === undefined ? stepwise.passageSteps!(problem, {}, limits) : 0;
  const on = { ...problem, steps: Math.max(problem.steps, passage) };
  const target = { limits, ...(adapterInfo && { adapterInfo }) };
  const choice = chooseConfiguration(profile, { ...asked, steps: on.steps }, target, { cpuWorkers: 0 });
  const { traversal, parameters } = choice.configuration;
  const steps = formatPlural(traversalNamed(traversal).passageSteps!(on, parameters, limits), "step");
  const message = `${choice.message}; the whole grid passes once in ${steps}, or once in a shorter run`;
  return [on, { ...choice, message: note ? `${message}; ${note}` : message }];
}

/** Whether a device has too little memory. */
function isFull(error: unknown): boolean {
  return error instanceof SolverError && error.reason === "out-of-memory";
}

/** A device that does not say what it is. */
const UNKNOWN = { vendor: "", device: "", description: "" };

/** What a solver is opened with, all of it decided. */
interface Decided extends Omit<SolverOptions, "profile"> {
  readonly device: GPUDevice | null;
  readonly configuration: Configuration;
  readonly refine: boolean | readonly Configuration[];
  readonly timeoutMs: number;
  readonly choice: Choice | undefined;
  /** Whether the device is to end with the solver. */
  readonly isOpened: boolean;
  /** Whether the problem named no steps. */
  readonly isOpen: boolean;
}

/** Compiles a configuration for a problem, and takes its memory. */
async function openHere(
  problem: Problem,
  { device, configuration, choice, isOpened, isOpen, ...options }: Decided,
): Promise<AnySolver> {
  const { buffers, timeoutMs, refine } = options, { share } = configuration, usesGpu = uses(share, "gpu");
  const refuse = refuserOf("create the solver"), { deviceMemory } = share;
  if (buffers && deviceMemory !== undefined) {
    refuse("with your own buffers the grid must lie on the GPU as a whole", describeValue({ deviceMemory }));
  }
  const saved = await openState(options.from, problem);
  if (buffers && saved?.hasPoints && problem.survey === undefined) {
    refuse("with your own buffers a problem with a survey is wanted, as the one that was saved", "none");
  }
  if (usesGpu && typeof device?.createBuffer !== "function") {
    refuse(`the GPU's ${share.gpuSlices} slices need a GPUDevice`, describeValue(device));
  }
  return await failingAs("create the solver", async () => {
    const candidates = refine === false ? [] : candidatesOf(refine, problem, configuration, device);
    const gpu = usesGpu || (refine !== false && device !== null)
      ? await GpuDevice.borrow(device!, { timeoutMs, isBorrowed: !isOpened })
      : undefined;
    if (gpu === undefined && isOpened) device?.destroy(); // the CPU is faster
    if (buffers && gpu) {
      checkBuffers(planGpuPart(problem, configuration, gpu), configuration, buffers, device);
    }
    const open = (problem: Problem, other = configuration) => openContender(problem, other, gpu, options);
    const refinement = refine === false ? undefined : new Refinement(problem, candidates, {
      open: (other) => open(problem, other),
      // a driver in software computes on the cores that would compile
      ...(gpu && !gpu.isSoftware && {
        ahead: compilesAhead(problem, candidates, { first: configuration, gpu }),
      }),
      prepare: async (other) => {
        if (gpu === undefined || !isWhole(other)) return;
        await compilePlan(gpu, planGpuPart(problem, other, gpu));
      },
      ...(isOpen && {
        longRunGain: remembered((configuration: Configuration, steps: number) =>
          gpu === undefined ? 1 : longRunGain(problem, configuration, { steps, gpu })
        ),
      }),
    });
    return await openSolver(problem, {
      open: (problem) => open(problem),
      ...{ saved, gpu, choice, refinement, isBorrowed: buffers !== undefined },
    });
  });
}

/**
 * Compiles the GPU's part of candidates on other threads, and what copies the first configuration's field to theirs and
 * compares both.
 */
function compilesAhead(
  problem: Problem,
  candidates: readonly Configuration[],
  { first, gpu }: { readonly first: Configuration; readonly gpu: GpuDevice },
): CompileAhead<Configuration> {
  const isAlone = ({ share }: Configuration): boolean => !uses(share, "cpu");
  let current: GpuPlan | undefined;
  return new CompileAhead(candidates, {
    gpu: adapterInfoOf(gpu.device)?.description ?? "",
    precision: problem.stencil.update.precision,
    shadersOf(candidate) {
      if (!isWhole(candidate)) return [];
      try {
        const plan = planGpuPart(problem, candidate, gpu), { storage: { sections, layout } } = plan;
        const kernels = shadersOf(plan).map((shader) => ({ code: shader.code, storage: bindingsOf(shader) }));
        if (isWhole(first)) current ??= planGpuPart(problem, first, gpu);
        const own = new Set(current && shadersOf(current).map(({ code }) => code));
        // the same kernels in another order
        if (kernels.every(({ code }) => own.has(code))) return [];
        const from = [first, candidate].every(isAlone) ? current?.storage : undefined;
        if (from === undefined || from.sections || sections) return kernels;
        return [
          ...kernels,
          { code: copyShader(layout, from.layout), storage: [0, 1] },
          { code: compareShader(layout, from.layout), storage: [0, 1, 3] },
        ];
      } catch {
        return []; // it will not be opened either
      }
    },
  });
}

/** Whether the GPU's part lies there as a whole. */
function isWhole({ share }: Configuration): boolean {
  return uses(share, "gpu") && share.deviceMemory === undefined;
}

/** What else is to be tried, each once. */
function candidatesOf(
  refine: true | readonly Configuration[],
  problem: Problem,
  configuration: Configuration,
  device: GPUDevice | null,
): readonly Configuration[] {
  let all = refine;
  if (all === true) {
    const { share, share: { cpuWorkers } } = configuration;
    // the models do not compare a GPU with a CPU
    const best = chooseConfiguration([], problem, uses(share, "gpu") ? device : null, { cpuWorkers });
    all = [best.configuration, ...best.runnersUp];
  }
  const byKey = new Map(all.map((configuration) => [configurationKey(configuration), configuration]));
  byKey.delete(configurationKey(configuration));
  return [...byKey.values()];
}

/** Compiles a configuration and takes its memory. */
async function openContender(
  problem: Problem,
  given: Configuration,
  gpu: GpuDevice | undefined,
  { buffers, workerUrl }: SolverOptions,
): Promise<Contender> {
  const configuration = withinCores(given), { share, share: { cpuWorkers } } = configuration;
  const cpuPool = uses(share, "cpu")
    ? await CpuPool.create({ workers: cpuWorkers, ...(workerUrl && { workerUrl }) })
    : undefined;
  try {
    const gpuMemory = buffers && borrowedMemory(buffers);
    const field = await SharedField.create(problem, { configuration, gpu, cpuPool, gpuMemory });
    return {
      configuration,
      field,
      [Symbol.dispose]() {
        field[Symbol.dispose]();
        cpuPool?.dispose();
      },
    };
  } catch (error) {
    cpuPool?.dispose();
    throw error;
  }
}

function checkBuffers(
  { storage: { layout, order } }: GpuPlan,
  configuration: Configuration,
  [even, odd]: readonly [GPUBuffer, GPUBuffer],
  device: GPUDevice | null,
): void {
  const refuse = (wanted: string, found: string): never => {
    throw new RangeError(`Cannot create the solver: ${wanted}: ${found}`);
  };
  const { share, share: { cpuSlices } } = configuration;
  if (uses(share, "cpu")) {
    refuse("with your own buffers the GPU must compute all slices", `${cpuSlices} are the CPU's`);
  }
  if (even === odd) refuse("the two buffers must be different", "both are the same");
  if (order !== undefined) {
    const why = `${configuration.traversal} keeps cells in an order of its own`;
    refuse("with your own buffers the cells must lie in them in the canonical order", why);
  }
  const bytes = precisionOf(layout).bytes * layout.length;
  const most = device?.limits.maxStorageBufferBindingSize ?? Infinity;
  if (bytes > most) {
    refuse("with your own buffers a time level must fit a binding", `${bytes} of ${most} bytes`);
  }
  const needed = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  for (const { size, usage } of [even, odd]) {
    if (size < bytes) refuse(`each buffer must have at least ${bytes} bytes`, `one has ${size}`);
    if ((usage & needed) !== needed) {
      refuse("the buffers must have the usages STORAGE, COPY_SRC and COPY_DST", `one has the bits ${usage}`);
    }
  }
}
