import { hashOf } from "../../kernels/definition.ts";
import { boundariesOf, cellsOf, describeGrid, ownOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { gridOf } from "../../models/decomposition.ts";
import { updateNs } from "../../models/rank_step.ts";
import type { Configuration, Verification } from "../configuration.ts";
import { refute } from "../devices/reference.ts";
import type { Start } from "../../kernels/initial_field.ts";
import { checkCheckpoint, readCheckpoint, restoreCheckpoint, writeCheckpoint } from "../ranks/checkpoint.ts";
import {
  formatDuration,
  formatPercent,
  formatPeriod,
  formatPlural,
  formatRate,
  formatSmall,
} from "../format.ts";
import { defaultGrid, defaultSteps } from "../problem/default_problem.ts";
import { RequestError } from "../problem/request_error.ts";
import { checkProblem } from "../problem/resolve_problem.ts";
import type { SavedState } from "../solver/state.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import type { Profile } from "../profile/profile_types.ts";
import { readProfile } from "../profile/store.ts";
import { chooseForRank, openOnRanks } from "../solver/open_on_ranks.ts";
import type { OpenedDevice } from "../ranks/open_rank_device.ts";
import { checkParts, fasterAlone, type MeasuredPlan, planRanks } from "../solver/plan_ranks.ts";
import type { FieldSolver } from "../solver/field_solver.ts";
import { verifyRanks } from "../ranks/verify_ranks.ts";
import type { World } from "../devices/world.ts";
import { onRanks, type Request } from "./on_ranks.ts";
import { COMMON, count, type Options, output, profileInput, type Values, workers } from "./options.ts";
import { chosenStencil, parts, PROBLEM } from "./problem_options.ts";
import { EXIT } from "./report_error.ts";
import { describeWork, sharingLoss } from "./summary.ts";
import { type Line, print } from "./terminal.ts";

const { traversal: _, sources: __, receivers: ___, ...SOLVED } = PROBLEM;

/** Which problem, and what the ranks compute with. */
export const RANK_OPTIONS = {
  ...SOLVED,
  steps: count("time steps (default: 96, of a line 2048)", 1),
  cpuWorkers: {
    ...workers("workers of each rank's CPU, which then computes instead of its GPU", 1),
    notWith: { "--gpu": "a rank computes on one device" },
  },
  deviceMemory: COMMON.deviceMemory,
  rankTimeout: count("seconds that a rank waits for another before all end (default: no limit)", 1, 1e6),
  profile: profileInput("a profile of the ranks' devices (default: none, the best predictions)"),
  json: COMMON.json,
} as const satisfies Options;

export const OPTIONS = {
  ...RANK_OPTIONS,
  decompose: parts("parts along x, y, z, one for each rank (default: those predicted to be fastest)"),
  exchangeEvery: count(
    "steps between two exchanges (default: as many as are predicted to be fastest)",
    1,
    10_000,
  ),
  seed: { ...count("whole number that selects the initial values", 0, 2 ** 32 - 1), default: "1" },
  verify: { help: "compare with what one rank computes alone, slice by slice" },
  checkpoint: output(
    "where to write the state, whole or not at all: at the end, and with --every in between",
  ),
  every: {
    ...count("steps between two checkpoints", 1),
    onlyWith: { "--checkpoint": "nothing else is written" },
  },
  restart: {
    help: "go on from the checkpoint up to --steps; the number of ranks may be another",
    onlyWith: { "--checkpoint": "it is what a run goes on from" },
    notWith: { "--seed": "the checkpoint has the seed that its run began with" },
  },
} as const satisfies Options;

/** The part of the run that choosing how to share the grid may take. */
const PLANNING_PART = 0.1;

export const run = (args: string[]): Promise<number> =>
  onRanks("solve", args, {
    usage: "mpirun -n N deno task solve [OPTIONS]",
    about:
      "Computes one grid on several devices: a process for each, started by MPI's mpirun; without it on one.",
    options: OPTIONS,
    read: readRequest,
    work: solve,
  });

/** What all ranks compute, and their profile: a file in which each finds its device. */
export interface RankWork {
  readonly problem: Problem;
  readonly profiles: readonly Profile[];
}

interface Solving extends Values<typeof OPTIONS>, RankWork {
  /** What it goes on from. */
  readonly from: SavedState | undefined;
}

async function readRequest(options: Values<typeof OPTIONS>, world: World) {
  const { problem, profiles } = await workOf("solve", options), { decompose } = options;
  const { exchangeEvery, checkpoint, restart } = options;
  checkParts(problem, world.size, { parts: decompose, exchangeEvery });
  const from = restart ? await readCheckpoint(checkpoint!, problem) : undefined;
  if (from !== undefined && from.step >= problem.steps) {
    const wanted = `more than ${formatPlural(from.step, "step")}, the checkpoint's`;
    throw new RequestError(`Cannot go on: wanted ${wanted}: found ${problem.steps}`);
  }
  if (from !== undefined && from.start === undefined && options.verify) {
    throw new RequestError(`Cannot verify: wanted what the run of ${checkpoint} began with: found none`);
  }
  // a rank's device is its own matter
  const alike = Object.entries(options).filter(([name]) => !(name in RANK_OPTIONS));
  const request = requestOf(problem, { from, ...Object.fromEntries(alike) });
  const check = checkpoint === undefined ? undefined : () => checkCheckpoint(checkpoint, problem, restart);
  return { request, check, values: { ...options, problem, profiles, from } satisfies Solving };
}

export async function workOf(action: string, options: Values<typeof RANK_OPTIONS>): Promise<RankWork> {
  const stencil = chosenStencil(options);
  const { grid = defaultGrid(stencil, null), boundary = boundariesOf(stencil)[0]! } = options;
  const wish = { stencil, grid, boundary, steps: options.steps ?? defaultSteps(stencil) };
  const problem = checkProblem(action, wish);
  return { problem, profiles: options.profile === undefined ? [] : [await readProfile(options.profile)] };
}

/** What all ranks must agree on. */
export function requestOf(problem: Problem, options: Readonly<Record<string, unknown>>): Request {
  const { steps, boundary, ...equation } = describeProblem(problem);
  return {
    stencil: JSON.stringify({ ...equation, grid: undefined, hash: hashOf(problem.stencil.update) }),
    grid: describeGrid(problem),
    boundary: `${boundary}`,
    steps: `${steps}`,
    options: JSON.stringify(options),
  };
}

async function solve(
  world: World,
  device: OpenedDevice,
  options: Solving,
  left?: Solved["left"],
): Promise<number> {
  const { decompose: parts, exchangeEvery, verify, json, problem, profiles, from } = options;
  const choose = (part: Problem) => chooseForRank(profiles, part, device).configuration;
  const measuring = { choose, timePart: PLANNING_PART };
  const plan = await planRanks(world, device, problem, { parts, exchangeEvery, ...measuring });
  const isForced = parts !== undefined || exchangeEvery !== undefined;
  const aloneNs = isForced ? undefined : await fasterAlone(world, device, problem, { ...plan, ...measuring });
  if (aloneNs !== undefined) {
    const { size: ranks } = world, first = await world.first(1);
    // the others wait for its end where MPI ends
    if (first === undefined) return EXIT.done;
    const exitCode = await solve(first, device, options, { ranks, stepNs: plan.stepNs, aloneNs });
    await first.close();
    return exitCode;
  }
  // the device ends with the command
  const { gpu, cpuPool, deviceMemory } = device, its = { gpu, cpuPool, deviceMemory };
  using solver = await openOnRanks(problem, { world, device: its, profiles, plan: plan.plan });
  const fresh: Start = { kind: problem.stencil.initialField ?? "noise", seed: options.seed };
  const start = from === undefined ? fresh : from.start;
  if (from === undefined) await solver.initialise(fresh.kind, fresh.seed);
  else await restoreCheckpoint(solver, options.checkpoint!, from);
  const runs = await world.shareAll(await runAll(solver, start, options));
  // 0 where no profile is of these devices, or none of them holds the whole grid
  const known = profiles[0] && await Promise.try(chooseForRank, profiles, problem, device).catch(() => null);
  const profiled = await world.most(known?.entry && known.cellsPerSecond || 0);
  const names = await world.shareAll(device.name);
  const configurations = await world.shareAll(solver.configuration);
  const verification = verify ? await verifyRanks(solver, device, start!) : undefined;
  if (world.rank === 0) {
    const outcome = { problem, plan, runs, profiled, names, configurations, verification, left };
    print(json ? solveRecord(outcome) : renderSolve(outcome));
  }
  const isRight = verification === undefined || refute(verification) === undefined;
  return await world.most(isRight ? EXIT.done : EXIT.no);
}

/** Runs up to the last step, with checkpoints, whose time does not count. */
async function runAll(
  solver: FieldSolver,
  start: Start | undefined,
  { checkpoint, every = Infinity }: Pick<Values<typeof OPTIONS>, "checkpoint" | "every">,
): Promise<RankRun> {
  const { world, problem: { steps } } = solver.field;
  const sum = { steps: 0, wallNs: 0, computeNs: 0, exchangeNs: 0 };
  while (solver.step < steps) {
    await world.meet();
    const count = Math.min(every, steps - solver.step), beganMs = performance.now();
    const { deviceNs } = await solver.run(count), wallNs = (performance.now() - beganMs) * 1e6;
    const run = { steps: count, wallNs, computeNs: deviceNs, exchangeNs: wallNs - deviceNs };
    for (const name of ["steps", "wallNs", "computeNs", "exchangeNs"] as const) sum[name] += run[name];
    await solver.run(0); // which looks whether all is finite
    if (checkpoint !== undefined) await writeCheckpoint(solver, checkpoint, start);
  }
  return sum;
}

/** What a rank's run took. */
interface RankRun {
  readonly steps: number;
  /** By the host's clock. */
  readonly wallNs: number;
  /** Of it, the device's computing. */
  readonly computeNs: number;
  /** The rest: packing, waiting, sending and receiving. */
  readonly exchangeNs: number;
}

/** What came of it. */
interface Solved {
  readonly problem: Problem;
  readonly plan: MeasuredPlan;
  readonly runs: readonly RankRun[];
  /** Cells per second of the fastest device alone, by its profile. */
  readonly profiled: number;
  readonly names: readonly string[];
  readonly configurations: readonly Configuration[];
  readonly verification: Verification | undefined;
  /** Of more ranks, which were slower: how many, and times of a step by a first measurement. @default {all compute} */
  readonly left?: { readonly ranks: number; readonly stepNs: number; readonly aloneNs: number } | undefined;
}

/** The times of the whole: of the slowest rank, by the host's clock. */
function measuresOf({ problem: { grid }, plan: { plan, stepNs, costs }, runs, profiled }: Solved) {
  const slowest = runs.reduce((slowest, other) => other.wallNs > slowest.wallNs ? other : slowest);
  const { wallNs, steps } = slowest;
  // what all devices would take together, without ghost cells and exchanges
  const rate = costs.reduce((sum, cost) => sum + 1 / updateNs(cost, plan), 0);
  const [fastest] = costs.flatMap(({ updates }) => updates).toSorted((a, b) => a.ns - b.ns);
  return {
    cellsPerSecond: cellsOf(grid) * steps / (wallNs * 1e-9),
    /** The fastest device with the whole grid, or else with its part. */
    alone: profiled > 0 ? { cellsPerSecond: profiled, by: "its profile" } : {
      cellsPerSecond: 1e9 / fastest!.ns,
      by: `its cell updates in rounds of ${formatPlural(fastest!.steps, "step")}`,
    },
    stepNs: wallNs / steps,
    predictedStepNs: stepNs,
    exchangeFraction: slowest.exchangeNs / wallNs,
    efficiency: cellsOf(grid) * steps / rate / wallNs,
  };
}

/** The result as a record for `--json`. */
export function solveRecord(solved: Solved) {
  const { problem, plan: { plan, costs, round }, runs, names, configurations, verification, left } = solved;
  return {
    problem: describeProblem(problem),
    ranks: runs.map((run, rank) => ({
      device: names[rank],
      configuration: configurations[rank],
      low: ownOf(problem.stencil, plan.extents[rank]!.low),
      size: ownOf(problem.stencil, plan.extents[rank]!.size),
      ...run,
      costs: costs[rank],
    })),
    decompose: ownOf(problem.stencil, plan.parts),
    exchangeEvery: plan.exchangeEvery,
    ...measuresOf(solved),
    predictedRound: round,
    verification: verification ?? null,
    leftOut: left ?? null,
  };
}

export function renderSolve(solved: Solved): Line[] {
  const { problem, problem: { stencil }, plan: { plan }, runs, names, configurations, verification, left } =
    solved;
  const { parts, exchangeEvery, extents } = plan;
  const { cellsPerSecond, stepNs, predictedStepNs, exchangeFraction, efficiency, alone } = measuresOf(solved);
  const devices = [...Map.groupBy(names, (name) => name)].map(([name, { length }]) => {
    return length === 1 ? name : `${length} × ${name}`;
  });
  const own = (of: (...sizes: number[]) => number) =>
    ownOf(stencil, gridOf((axis) => of(...extents.map(({ size }) => size[axis]))));
  const least = own(Math.min), most = own(Math.max);
  const cut = `${least.join("x")}${`${least}` === `${most}` ? "" : ` to ${most.join("x")}`} cells`;
  const off = formatPercent(Math.abs(predictedStepNs / stepNs - 1));
  return [
    ...(left === undefined ? [] : [
      `Rank 0 computes alone, in ${formatDuration(left.aloneNs)} a step: ${
        formatPlural(left.ranks, "rank")
      } ` +
      `would take ${formatDuration(left.stepNs)} (--decompose has all compute)`,
    ]),
    describeWork(problem),
    `${formatPlural(runs.length, "rank")}: ${devices.join(", ")}`,
    `Configuration: ${[...new Set(configurations.map((one) => describeConfiguration(one)))].join("; ")}`,
    runs.length === 1
      ? "One part: nothing is exchanged"
      : `Parts ${ownOf(stencil, parts).join("x")} of ${cut}, exchanged every ${formatPeriod(exchangeEvery)}`,
    "",
    `${formatRate(cellsPerSecond)} by the host's clock, ${formatDuration(stepNs)} a step ` +
    `(predicted ${formatDuration(predictedStepNs)}, ${off} off)`,
    ...(runs.length === 1 ? [] : [
      `Exchange: ${formatPercent(exchangeFraction)} of the time; efficiency ${formatPercent(efficiency)}`,
      ...sharingLoss(cellsPerSecond, alone.cellsPerSecond, `one device alone, by ${alone.by},`),
    ]),
    ...(verification === undefined ? [] : [describeVerification(verification)]),
  ];
}

function describeVerification(verification: Verification): string {
  const { maxError, bound } = verification, failure = refute(verification);
  if (failure !== undefined) return `WRONG: ${failure.message}`;
  if (maxError === 0) return "Verified: all slices equal those of one rank, bit for bit";
  return `Verified against one rank: largest error ${formatSmall(maxError)}, bound ${formatSmall(bound)}`;
}
