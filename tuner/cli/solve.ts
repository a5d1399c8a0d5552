import { hashOf } from "../../kernels/definition.ts";
import { boundariesOf, cellsOf, describeGrid, ownOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { writeArray } from "../files/array.ts";
import { rangeOf, rowsOf, type ValueRange } from "../files/npy.ts";
import { usersProblem } from "../../kernels/planned_problem.ts";
import { gridOf } from "../../models/decomposition.ts";
import { updateNs } from "../../models/round.ts";
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
import { checkEdges, checkProblem } from "../problem/resolve_problem.ts";
import type { SavedState } from "../solver/state.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import type { Profile } from "../profile/profile_types.ts";
import { readProfile } from "../profile/store.ts";
import { chooseForRank, openOnRanks } from "../solver/open_on_ranks.ts";
import type { OpenedDevice } from "../ranks/open_rank_device.ts";
import { checkParts, fasterAlone, type MeasuredPlan, planAlone, planRanks } from "../solver/plan_ranks.ts";
import type { FieldSolver } from "../solver/field_solver.ts";
import { verifyRanks } from "../ranks/verify_ranks.ts";
import type { World } from "../devices/world.ts";
import { AttendedRun } from "./attended_run.ts";
import { onRanks, type Request, together } from "./on_ranks.ts";
import {
  COMMON,
  count,
  number,
  type Options,
  output,
  profileInput,
  type Refuse,
  type Values,
  workers,
  wrongValue,
} from "./options.ts";
import { chosenStencil, parts, PROBLEM } from "./problem_options.ts";
import { EXIT } from "./report_error.ts";
import { decimal } from "./shot_places.ts";
import {
  addPoints,
  begin,
  beginning,
  type BegunWith,
  changeOf,
  checkOutput,
  fieldsOutput,
  filesOf,
  gridIn,
  POINTS,
  type Points,
  readBeginnings,
  readFields,
  readPoints,
  stepsBetween,
  writeFields,
  type WrittenFile,
} from "./solve_data.ts";
import { describeWork, sharingLoss } from "./summary.ts";
import { type Line, print, say } from "./terminal.ts";

const { traversal: _, sources: __, receivers: ___, gpu, noGpu, precision, ...SOLVED } = PROBLEM;

/** What ranks compute with, and how they say what came of it. */
export const DEVICE_OPTIONS = {
  cpuWorkers: {
    ...workers("workers of each rank's CPU, which then computes instead of its GPU", 1),
    notWith: { "--gpu": "a rank computes on one device" },
  },
  ...{ gpu, noGpu, precision, deviceMemory: COMMON.deviceMemory },
  rankTimeout: count("seconds that a rank waits for another before all end (default: no limit)", 1, 1e6),
  profile: profileInput("a profile of the ranks' devices (default: none, the best predictions)"),
  json: COMMON.json,
} as const satisfies Options;

/** Which problem as well. */
export const RANK_OPTIONS = {
  ...SOLVED,
  steps: count("time steps (default: 96, of a line 2048)", 1),
  ...DEVICE_OPTIONS,
} as const satisfies Options;

export const OPTIONS = {
  ...RANK_OPTIONS,
  grid: { ...RANK_OPTIONS.grid, implied: gridIn },
  decompose: parts("parts along x, y, z, one for each rank (default: those predicted to be fastest)"),
  exchangeEvery: count("steps between two exchanges (default: those predicted to be fastest)", 1, 10_000),
  seed: { ...count("whole number that selects the initial values", 0, 2 ** 32 - 1), default: "1" },
  verify: {
    help: "compare with what one rank computes alone, slice by slice",
    notWith: {
      "--initial": "one rank would begin with the seed's values",
      ...{ "--material": "one rank would lack it", "--source": "one rank would lack it" },
    },
  },
  initial: beginning(
    "field",
    "what a field begins with, the others at 0: an array in a file, or a formula such as exp(-200*(x-.5)^2), " +
      "x, y, z from 0 to 1; FIELD@-1 is the level before (default: the same, at rest)",
  ),
  material: beginning("material", "what a material or an axis profile is, alike"),
  ...POINTS,
  out: fieldsOutput(
    "where to write a field, or all of them, at the end and with --every in between: .npy, .vti (with a series, " +
      ".pvd), f32 in .raw, or a folder, .zarr, with all in one array",
    [".npy", ".vti", ".zarr", ".raw", ".f32", ".bin"],
  ),
  picture: fieldsOutput("where to draw them, alike: .png, of three axes a middle slice", [".png"]),
  spacing: {
    value: "LENGTH",
    help: "from cell to cell, in any unit, for --picture and .vti",
    read: number("a number above 0", (value) => value > 0),
    default: "1",
  },
  checkpoint: output("where to write the state, whole or not at all: at the end, and by --every"),
  every: count("steps between checkpoints, and files of --out and --picture, with the step's number", 1),
  until: {
    value: "change<NUMBER",
    help: "end where no value of any field has changed by more in a step, looked at every 100 steps",
    read(text: string, refuse: Refuse): number {
      const most = decimal(/^change<(.+)$/.exec(text)?.[1] ?? "");
      return most > 0 ? most : refuse("change<NUMBER, above 0, such as change<1e-6");
    },
  },
  restart: {
    help: "go on from the checkpoint up to --steps; the number of ranks may be another",
    onlyWith: { "--checkpoint": "it is what a run goes on from" },
    notWith: {
      "--seed": "the checkpoint has the seed that its run began with",
      ...{ "--initial": "the checkpoint has the fields", "--material": "the checkpoint has the materials" },
    },
  },
  quiet: COMMON.quiet,
} as const satisfies Options;

/** The part of the run that choosing how to share the grid may take. */
const PLANNING_PART = 0.1;

export const run = (args: string[]): Promise<number> =>
  onRanks("solve", args, {
    usage: "[mpirun -n N] deno task solve [OPTIONS]",
    about:
      "Computes an equation from arrays in files or formulas, and writes fields, pictures and traces: on one device, or " +
      "started by MPI's mpirun on several, with a process for each.",
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
  readonly begun: readonly BegunWith[];
  readonly points: Points;
  /** What it goes on from. */
  readonly from: SavedState | undefined;
}

async function readRequest(options: Values<typeof OPTIONS>, world: World) {
  const { decompose, exchangeEvery, checkpoint, restart, every } = options, notes: string[] = [];
  const given = [...options.initial, ...options.material];
  const { problem: bare, profiles } = await workOf("solve", options);
  const points = await readPoints(options, bare), { sources, receivers } = points;
  // of a checkpoint's, it says itself
  const sending = bare.stencil.update.sources ? sources.length || 1 : 0;
  const surveyed = { ...bare, survey: { sources: sending, receivers: receivers?.places.length ?? 1 } };
  const from = restart ? await readCheckpoint(checkpoint!, surveyed) : undefined;
  const hasPoints = sources.length > 0 || receivers !== undefined || (from?.survey[0] ?? 0) > 0;
  const problem = hasPoints ? surveyed : bare;
  if (options.traces && !hasPoints) throw new RequestError("Cannot use --traces without --receivers");
  const begun = await readBeginnings(given, usersProblem(problem), notes);
  checkParts(problem, world.size, { parts: decompose, exchangeEvery });
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
  const written = [...options.out, ...options.picture].flatMap((out) =>
    filesOf(out, problem.stencil).map(([, path]) => path)
  );
  const twice = written.find((path, i) => written.indexOf(path) < i);
  if (twice) throw wrongValue("out", "a file for each field", twice);
  const check = async () => {
    for (const line of notes) say(`facet: ${line}`);
    for (const path of [...written, ...options.traces ? [options.traces] : []]) await checkOutput(path);
    if (checkpoint !== undefined) await checkCheckpoint(checkpoint, problem, restart);
  };
  if (written.length > 0) stepsBetween(problem.steps, every); // a checkpoint is one file, however often it is written
  const isIdle = every !== undefined && checkpoint === undefined && written.length === 0;
  if (isIdle) throw new RequestError("Cannot use --every without --out, --picture or --checkpoint");
  const { precision } = problem.stencil.update;
  return {
    request,
    check,
    values: { ...options, precision, problem, profiles, from, begun, points } satisfies Solving,
  };
}

export async function workOf(action: string, options: Values<typeof RANK_OPTIONS>): Promise<RankWork> {
  const stencil = chosenStencil(options);
  const { grid = defaultGrid(stencil, null), boundary = boundariesOf(stencil)[0]! } = options;
  const { edges, precision, steps = defaultSteps(stencil) } = options;
  const wish = { stencil, grid, boundary, edges, precision, steps };
  const problem = checkProblem(action, wish);
  if (options.grid) checkEdges(action, problem);
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
  const { decompose: parts, exchangeEvery, verify, json, problem, profiles, from, begun, points } = options;
  const choose = (part: Problem) => chooseForRank(profiles, part, device).configuration;
  const measuring = { choose, timePart: PLANNING_PART };
  const isAlone = world.size === 1, wishes = { parts, exchangeEvery, ...measuring };
  const plan = isAlone
    ? planAlone(problem, device, chooseForRank(profiles, problem, device).cellsPerSecond)
    : await planRanks(world, device, problem, wishes);
  const isForced = parts !== undefined || exchangeEvery !== undefined;
  const aloneNs = isForced ? undefined : await fasterAlone(world, device, problem, { ...plan, ...measuring });
  if (aloneNs !== undefined) {
    const { size: ranks } = world, first = await world.first(1);
    // the others wait for its end where MPI ends
    if (first === undefined) return EXIT.done;
    const exitCode = await solve(first, device, options, { ranks, stepNs: plan.measuredNs, aloneNs });
    await first.close();
    return exitCode;
  }
  // the device ends with the command
  const { gpu, cpuPool, deviceMemory } = device, its = { gpu, cpuPool, deviceMemory };
  using solver = await openOnRanks(problem, { world, device: its, profiles, plan: plan.plan });
  const fresh: Start = { kind: problem.stencil.initialField ?? "noise", seed: options.seed };
  const hasFields = options.initial.length + options.source.length > 0;
  const start = from !== undefined ? from.start : hasFields || begun.length > 0 ? undefined : fresh;
  if (from !== undefined) await restoreCheckpoint(solver, options.checkpoint!, from);
  else await solver.initialise(hasFields ? "zero" : fresh.kind, fresh.seed);
  await together(world, async () => {
    await begin(solver, begun);
    if (from === undefined) await addPoints(solver, points);
    await solver.run(0); // which looks whether all of it fits
  });
  using attended = new AttendedRun({ quiet: options.quiet || world.rank > 0, isRank: world.size > 1 });
  // a nanosecond for each value where nothing is known
  const stepNs = plan.stepNs || cellsOf(problem.grid) * problem.stencil.update.fields.length;
  const short = Math.max(64, Math.floor(SHORT_RUN_NS / stepNs)), files: WrittenFile[] = [];
  const { exchangeEvery: every } = plan.plan,
    piece = short < every ? short : every * Math.ceil(short / every);
  const run = await runAll(solver, { ...options, start, piece, files, attended });
  if (await world.most(attended.signal.aborted ? 1 : 0) > 0) {
    const kept = files.length === 0
      ? "nothing is written"
      : `wrote ${files.map((one) => one.path).join(", ")}`;
    if (world.rank === 0) say(`facet: stopped after step ${solver.step} of ${problem.steps}: ${kept}`);
    return attended.exitCode;
  }
  if (options.traces !== undefined) {
    const rows = await solver.traces();
    if (world.rank === 0) await writeArray(options.traces, rowsOf(rows));
    files.push({ path: options.traces });
  }
  const runs = await world.shareAll(run), { step } = solver;
  const read = Object.entries(await readFields(solver)).map(([name, values]) =>
    [name, rangeOf(values)] as const
  );
  const fields = Object.fromEntries(read);
  // 0 where no profile is of these devices, or none of them holds the whole grid
  const known = profiles[0] && await Promise.try(chooseForRank, profiles, problem, device).catch(() => null);
  const profiled = await world.most(known?.entry && known.cellsPerSecond || 0);
  const names = await world.shareAll(device.name);
  const configurations = await world.shareAll(solver.configuration);
  const verification = verify ? await verifyRanks(solver, device, start!) : undefined;
  if (world.rank === 0) {
    const found = { names, configurations, verification, left, fields, step };
    const outcome = { problem, plan, runs, profiled, ...found, files: files.map(({ path }) => path) };
    print(json ? solveRecord(outcome) : renderSolve(outcome));
  }
  const isRight = verification === undefined || refute(verification) === undefined;
  return await world.most(isRight ? EXIT.done : EXIT.no);
}

/** What a run writes, and who sees how far it has come. */
interface Running
  extends Pick<Values<typeof OPTIONS>, "checkpoint" | "every" | "out" | "picture" | "spacing" | "until"> {
  readonly start: Start | undefined;
  /** Steps of the first run. */
  readonly piece: number;
  /** Gets the names of what was written. */
  readonly files: WrittenFile[];
  readonly attended: AttendedRun;
}

/** Steps between two looks whether the fields still change. */
const LOOK = 100;

/** Time of a run from which it gets no longer: how far it has come is known after each, and a signal ends it. */
const SHORT_RUN_NS = 1e9;

/** Runs up to the last step, with files, whose time does not count; or until fields rest, or a signal ends it. */
async function runAll(solver: FieldSolver, running: Running): Promise<RankRun> {
  const { checkpoint, every = Infinity, until, start, files, attended: { progress, signal } } = running;
  const writing = { ...running, outputs: [...running.out, ...running.picture] };
  const { world, problem: { steps, grid } } = solver.field, first = solver.step;
  const sum = { steps: 0, wallNs: 0, computeNs: 0, exchangeNs: 0, travelNs: 0 };
  const run = async (count: number): Promise<number> => {
    await world.meet();
    const beganMs = performance.now(), { deviceNs, exchangeNs: travelNs } = await solver.run(count);
    const wallNs = (performance.now() - beganMs) * 1e6;
    const run = { steps: count, wallNs, computeNs: deviceNs, exchangeNs: wallNs - deviceNs, travelNs };
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += run[name];
    return await world.most(wallNs);
  };
  const write = async (isEnd: boolean): Promise<void> => {
    await solver.run(0); // which looks whether all is finite
    await writeFields(solver, writing, isEnd ? undefined : { at: solver.step, steps });
    if (checkpoint !== undefined && solver.step > first) await writeCheckpoint(solver, checkpoint, start);
  };
  if (every < Infinity && first === 0) await write(false);
  let { piece } = running, isEnd = false;
  for (let look = first + LOOK; !isEnd;) {
    const file = every < Infinity ? every * (Math.floor(solver.step / every) + 1) : steps;
    const end = Math.min(steps, file, solver.step + piece, until === undefined ? steps : look);
    const count = end - solver.step, isLook = until !== undefined && end === look;
    if (isLook && count > 1) await run(count - 1);
    const before = isLook ? await readFields(solver) : {};
    const ranNs = await run(isLook ? 1 : count);
    if (ranNs < SHORT_RUN_NS) piece *= Math.min(8, Math.ceil(SHORT_RUN_NS / ranNs));
    if (isLook) {
      look += LOOK;
      isEnd = await world.most(changeOf(before, await readFields(solver))) < until;
    }
    isEnd ||= end === steps;
    const isStopped = await world.most(signal.aborted ? 1 : 0) > 0;
    if (isEnd || end === file) await write(isEnd);
    else if (isStopped && checkpoint !== undefined) await writeCheckpoint(solver, checkpoint, start);
    if (isStopped) break;
    if (sum.wallNs < SHORT_RUN_NS) continue;
    const leftNs = sum.wallNs * (steps - end) / sum.steps;
    const rate = cellsOf(grid) * sum.steps / (sum.wallNs * 1e-9);
    progress.update({ stage: "steps", done: end, total: steps, leftNs, bestCellsPerSecond: rate });
  }
  if (checkpoint !== undefined) files.push({ path: checkpoint });
  return sum;
}

/** What a rank's run took. */
interface RankRun {
  readonly steps: number;
  /** By the host's clock. */
  readonly wallNs: number;
  /** Of it, the device's computing. */
  readonly computeNs: number;
  /** The rest: packing, waiting, sending and receiving that does not hide behind it. */
  readonly exchangeNs: number;
  /** From the ends of rounds until what was exchanged was there, hidden or not. */
  readonly travelNs: number;
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
  readonly fields: Readonly<Record<string, ValueRange>>;
  /** The last step. */
  readonly step: number;
  /** What was written. */
  readonly files: readonly string[];
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
    /** The share of the exchange that hides behind computing, if anything was exchanged. */
    hiddenFraction: slowest.travelNs > 0 ? Math.max(0, 1 - slowest.exchangeNs / slowest.travelNs) : 0,
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
    inTurns: plan.inTurns === true,
    ...measuresOf(solved),
    predictedRound: round,
    verification: verification ?? null,
    leftOut: left ?? null,
    step: solved.step,
    fields: solved.fields,
    files: solved.files,
  };
}

export function renderSolve(solved: Solved): Line[] {
  const { problem, problem: { stencil }, plan: { plan }, runs, names, configurations, verification, left } =
    solved;
  const { parts, exchangeEvery, extents, inTurns } = plan, { fields, files, step } = solved;
  const its = measuresOf(solved);
  const { cellsPerSecond, stepNs, predictedStepNs, exchangeFraction, efficiency, alone } = its;
  const devices = [...Map.groupBy(names, (name) => name)].map(([name, { length }]) => {
    return length === 1 ? name : `${length} × ${name}`;
  });
  const own = (of: (...sizes: number[]) => number) =>
    ownOf(stencil, gridOf((axis) => of(...extents.map(({ size }) => size[axis]))));
  const least = own(Math.min), most = own(Math.max);
  const cut = `${least.join("x")}${`${least}` === `${most}` ? "" : ` to ${most.join("x")}`} cells`;
  const off = Math.abs(predictedStepNs / stepNs - 1);
  const predicted = ` (predicted ${formatDuration(predictedStepNs)}, ${formatPercent(off)} off)`;
  return [
    ...(left === undefined ? [] : [
      `Rank 0 computes alone, in ${formatDuration(left.aloneNs)} a step: ` +
      formatPlural(left.ranks, "rank") +
      ` would take ${formatDuration(left.stepNs)} (--decompose has all compute)`,
    ]),
    describeWork(problem),
    `${runs.length === 1 ? "On" : `${formatPlural(runs.length, "rank")}:`} ${devices.join(", ")}`,
    `Configuration: ${[...new Set(configurations.map((one) => describeConfiguration(one)))].join("; ")}`,
    ...(runs.length === 1 ? [] : [
      `Parts ${ownOf(stencil, parts).join("x")} of ${cut}, exchanged every ${formatPeriod(exchangeEvery)}` +
      (inTurns ? ", each computed as two in turns" : ""),
    ]),
    "",
    `${formatRate(cellsPerSecond)} by the host's clock, ${formatDuration(stepNs)} a step` +
    (off >= 0 ? predicted : ""),
    ...(runs.length === 1 ? [] : [
      (its.hiddenFraction > 0
        ? `Exchange: ${formatPercent(its.hiddenFraction)} hides behind computing, the rest takes `
        : "Exchange: ") +
      `${formatPercent(exchangeFraction)} of the time; efficiency ${formatPercent(efficiency)}`,
      ...sharingLoss(cellsPerSecond, alone.cellsPerSecond, `one device alone, by ${alone.by},`),
    ]),
    ...(step < problem.steps ? [`Nothing changed any more after step ${step} of ${problem.steps}`] : []),
    ...Object.entries(fields).map(([name, range]) => {
      const [least, most] = [range.least, range.most].map((value) => Number(value.toPrecision(6)));
      return `${name} from ${least} to ${most}, all finite`;
    }),
    ...(verification === undefined ? [] : [describeVerification(verification)]),
    ...(files.length === 0 ? [] : [`Wrote ${files.join(", ")}`]),
  ];
}

function describeVerification(verification: Verification): string {
  const { maxError, bound } = verification, failure = refute(verification);
  if (failure !== undefined) return `WRONG: ${failure.message}`;
  if (maxError === 0) return "Verified: all slices equal those of one rank, bit for bit";
  return `Verified against one rank: largest error ${formatSmall(maxError)}, bound ${formatSmall(bound)}`;
}
