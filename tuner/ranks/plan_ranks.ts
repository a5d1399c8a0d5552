import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { arrangements, AXES, type Parts } from "../../models/decomposition.ts";
import { fitCosts } from "../../models/least_squares.ts";
import {
  exchangedBoxes,
  fieldsOf,
  partOfRank,
  planOf,
  problemOfRank,
  type RankPlan,
} from "../../models/rank_part.ts";
import {
  bestPlan,
  bytesSent,
  LONGEST_ROUND,
  type PredictedPlan,
  type RankCosts,
  updatesOf,
} from "../../models/rank_step.ts";
import type { LinearCost } from "../../models/shared_step.ts";
import type { Configuration } from "../configuration.ts";
import { RequestError } from "../problem/request_error.ts";
import { median } from "../measuring/statistics.ts";
import { makeRankField, type RankDevice } from "./rank_field.ts";
import { meet, shareAll, type World } from "./world.ts";

/** What is not to be chosen, but given. */
export interface RankWishes {
  /** Parts along x, y, z. @default {those predicted to be fastest} */
  readonly parts?: Parts | undefined;
  /** R. @default {the one predicted to be fastest} */
  readonly exchangeEvery?: number | undefined;
}

/** A plan, what it should take, and the coefficients behind it: each rank's. */
export interface MeasuredPlan extends PredictedPlan {
  readonly costs: readonly RankCosts[];
}

/** Values of the messages with which the network is timed, and how often each. */
const MESSAGE_VALUES = [64, 4096, 2 ** 16, 2 ** 20], MESSAGE_PASSES = 7;

/** Runs of each R, and time for them. */
const LEAST_RUNS = 3, MOST_RUNS = 20, RUNS_MS = 30;

/**
 * Measures what computing, copies and messages take, on all ranks at the same time, and finds the decomposition and R
 * that should be fastest. All ranks get the same plan.
 *
 * @throws {RequestError} if no plan fits
 */
export async function planRanks(
  world: World,
  device: RankDevice,
  problem: Problem,
  { choose, ...wishes }: RankWishes & { readonly choose: (part: Problem) => Configuration },
): Promise<MeasuredPlan> {
  checkParts(problem, world.size, wishes);
  const messages = await measureMessages(world);
  const own = await measureDevice(world, device, problem, { choose, ...wishes });
  const costs = await shareAll<RankCosts>(world, { ...own, messages });
  return { ...bestPlan(problem, world.size, costs, wishes)!, costs };
}

/** The whole world's time of messages: every rank sends to the next, and receives from the one before. */
async function measureMessages(world: World): Promise<LinearCost> {
  if (world.size === 1) return { a: 0, b: 0 };
  const next = (world.rank + 1) % world.size, before = (world.rank + world.size - 1) % world.size;
  const samples: { work: number[]; time: number }[] = [];
  for (const values of MESSAGE_VALUES) {
    const [out, incoming] = [new Float32Array(values), new Float32Array(values)];
    const times: number[] = [];
    for (let pass = 0; pass < MESSAGE_PASSES; pass++) {
      await meet(world);
      const started = performance.now();
      // both neighbours, as in an exchange
      await world.finish([
        world.receive(before, 0, incoming),
        world.receive(next, 1, incoming.slice()),
        world.send(next, 0, out),
        world.send(before, 1, out),
      ]);
      times.push((performance.now() - started) * 1e6);
    }
    // those that wait longest count: the slowest rank sets the time
    const [time = 0] = await world.reduce(Float64Array.of(median(times)), "max");
    samples.push({ work: [8 * values, 1], time });
  }
  const [a = 0, b = 0] = fitCosts(samples).coefficients;
  return { a, b };
}

/** The device's time of cell updates and of copies, on a part like those of the plan to come. */
async function measureDevice(
  world: World,
  device: RankDevice,
  problem: Problem,
  { choose, parts, exchangeEvery }: RankWishes & { readonly choose: (part: Problem) => Configuration },
): Promise<Omit<RankCosts, "messages">> {
  const periods = world.size === 1
    ? [Math.min(problem.steps, LONGEST_ROUND)]
    : exchangeEvery === undefined
    ? [1, 2, 4, 8, 16, LONGEST_ROUND].filter((steps) => steps === 1 || steps <= problem.steps)
    : [exchangeEvery];
  const updates: { steps: number; ns: number }[] = [], copies: { work: number[]; time: number }[] = [];
  const shrinks = device.gpu === undefined;
  for (const steps of periods) {
    const plan = thickest(problem, world.size, { parts, exchangeEvery: steps });
    if (plan === undefined) break;
    const part = partOfRank(problem, plan, world.rank), local = problemOfRank(problem, plan, part);
    using field = await makeRankField(local, device, choose(local));
    const kind = problem.stencil.initialField ?? "noise";
    await field.initialise({ kind, seed: 1 }, [0, 0, 0], local.grid);
    const open = [shrinks && part.before[0] > 0, shrinks && part.after[0] > 0] as const;
    const boxes = AXES.flatMap((axis) =>
      ([0, 1] as const).filter((side) => part.neighbours[axis]![side] !== undefined)
        .flatMap((side) => exchangedBoxes(problem, plan, part, { axis, side, ...fieldsOf(problem) }).send)
    );
    const times: number[] = [], copyTimes: number[] = [];
    let runs = 1;
    // the first run warms up, and says how many more there is time for: on all ranks as many
    for (let run = 0; run <= runs; run++) {
      await meet(world);
      const started = performance.now();
      const deviceNs = await field.advance(steps, open);
      const computed = performance.now(), pieces: Float32Array<ArrayBuffer>[] = [];
      await field.advance(0, open, [boxes], (_, cells) => pieces.push(cells));
      await field.unpack(boxes, pieces);
      const ended = performance.now();
      if (run === 0) {
        const fitting = Math.min(MOST_RUNS, Math.max(LEAST_RUNS, RUNS_MS / (ended - started)));
        [runs = 0] = await world.reduce(Float64Array.of(Math.ceil(fitting)), "max");
        continue;
      }
      // a GPU's steps and copies are one submission, with one wait: that of the copies
      times.push(shrinks ? (computed - started) * 1e6 : deviceNs);
      copyTimes.push((ended - computed) * 1e6);
    }
    updates.push({ steps, ns: median(times) / updatesOf(problem, plan, part, shrinks) });
    const bytes = bytesSent(problem, plan, part).reduce((sum, one) => sum + one, 0);
    if (bytes > 0) copies.push({ work: [2 * bytes, 1], time: median(copyTimes) });
  }
  const [a = 0, b = 0] = copies.length === 0 ? [] : fitCosts(copies).coefficients;
  return { updates, shrinks, copies: { a, b } };
}

/** The plan of equal parts whose parts have the smallest surface; undefined where the ghost zones fit none. */
function thickest(
  problem: Problem,
  ranks: number,
  { parts, exchangeEvery }: { readonly parts: Parts | undefined; readonly exchangeEvery: number },
): RankPlan | undefined {
  const rates = new Array<number>(ranks).fill(1);
  const plans = (parts ? [parts] : arrangements(ranks)).flatMap((parts) =>
    planOf(problem, { parts, exchangeEvery, rates }) ?? []
  );
  const cellsOfLast = (plan: RankPlan): number => cellsOf(partOfRank(problem, plan, ranks - 1).grid);
  return plans.toSorted((a, b) => cellsOfLast(a) - cellsOfLast(b))[0];
}

/**
 * Refuses parts that cannot hold what they exchange.
 *
 * @throws {RequestError} saying how large the grid is
 */
export function checkParts(problem: Problem, ranks: number, { parts, exchangeEvery = 1 }: RankWishes): void {
  if (thickest(problem, ranks, { parts, exchangeEvery }) !== undefined) return;
  const cut = parts === undefined ? `for ${ranks} ranks` : `into ${parts.join("x")} parts`;
  const zones = `its ghost zones of ${exchangeEvery === 1 ? "1 step" : `${exchangeEvery} steps`}`;
  throw new RequestError(
    `Cannot cut the grid ${cut}: wanted each part at least as thick as ${zones}: found ${
      problem.grid.join("x")
    }`,
  );
}
