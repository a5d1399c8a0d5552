/**
 * A grid on several ranks within this process, compared with the oracle bit for bit.
 *
 * @module
 */
import type { FloatArray } from "../../kernels/precision.ts";
import { assertEquals, assertLess } from "@std/assert";
import { runReference } from "../../kernels/reference.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { readsPrevious } from "../../kernels/update.ts";
import type { Parts } from "../../models/decomposition.ts";
import { planOf, type RankPlan } from "../../models/rank_part.ts";
import type { RankSolverOptions } from "../../tuner/solver/open_on_ranks.ts";
import { localWorlds, openRank } from "./local_world.ts";
import { PIECE } from "../../tuner/devices/shared/boxes.ts";
import type { RankDevice } from "../../tuner/ranks/open_rank_device.ts";
import type { FieldSolver } from "../../tuner/solver/field_solver.ts";
import { initialCells } from "../../tuner/devices/oracle.ts";
import { maxAbs } from "../devices/cells.ts";

/** A grid on ranks. */
export interface RankCase extends Omit<Problem, "steps"> {
  readonly parts: Parts;
  readonly exchangeEvery: number;
  /** Steps of runs one after another. */
  readonly runs: readonly number[];
  /** How fast the ranks are, in turn. @default {all alike} */
  readonly rates?: readonly number[];
  /** Whether each rank has two parts that take turns. @default {false} */
  readonly inTurns?: boolean;
}

const SEED = 3;

/** The plan of a case; undefined where the parts are thinner than the ghost zones. */
export function planOfCase(one: RankCase): RankPlan | undefined {
  const [x, y, z] = one.parts, { rates = [1] } = one;
  const all = Array.from({ length: x * y * z }, (_, rank) => rates[rank % rates.length]!);
  const plan = planOf({ ...one, steps: 1 }, { ...one, rates: all });
  return plan && { ...plan, inTurns: one.inTurns };
}

/** What the ranks of a case compute. */
export function problemOfCase({ stencil, grid, boundary, survey, runs }: RankCase): Problem {
  return { stencil, grid, boundary, steps: runs[0]!, ...(survey && { survey }) };
}

/** Calls `test` with the solvers of all ranks, which lie in this process: messages are late, and go in small pieces. */
export async function onRanks(
  one: RankCase,
  device: RankDevice,
  test: (solvers: readonly FieldSolver[]) => Promise<void>,
  choose?: RankSolverOptions["choose"],
): Promise<void> {
  const plan = planOfCase(one)!;
  const worlds = localWorlds(plan.extents.length, { seed: SEED }), usual = PIECE.cells;
  PIECE.cells = 50;
  const problem = problemOfCase(one);
  const options = { plan, ...(choose && { choose }) };
  const solvers = await Promise.all(
    worlds.map((world) => openRank(world, device, problem, [], options)),
  );
  try {
    await test(solvers);
  } finally {
    for (const solver of solvers) solver[Symbol.dispose]();
    PIECE.cells = usual;
  }
}

/** A plane of a level of the whole grid. */
export async function gather(
  solvers: readonly FieldSolver[],
  name: string,
  ago: 0 | 1,
): Promise<FloatArray> {
  const [all] = await Promise.all(
    solvers.map((solver) => solver.read(name, { ago })),
  );
  return all!;
}

/** The planes of a dense level of the oracle (x, planes, y, z). */
function planeOf(cells: FloatArray, [nx, ny, nz]: Grid, planes: number, plane: number): FloatArray {
  const slice = ny * nz, all = new Float32Array(nx * slice);
  for (let x = 0; x < nx; x++) {
    const from = (x * planes + plane) * slice;
    all.set(cells.subarray(from, from + slice), x * slice);
  }
  return all;
}

/** Runs a case and compares every field, and where F(t−1) is read that level too. */
export async function assertRanksEqualOracle(
  one: RankCase,
  device: RankDevice,
  choose?: RankSolverOptions["choose"],
): Promise<void> {
  const { stencil, grid, boundary, runs } = one, { update } = stencil;
  const kind = stencil.initialField ?? "integers", start = { kind, seed: SEED };
  const steps = runs.reduce((sum, count) => sum + count, 0);
  const initial = initialCells({ grid, stencil }, start);
  const expected = runReference({ current: initial, previous: initial }, { update, grid, boundary, steps });
  // beyond this a sum of a few values may be rounded
  assertLess(maxAbs(expected.current), 2 ** 22);
  const planes = update.fields.length + update.materials.length;
  const { title } = stencil, { parts, exchangeEvery, inTurns } = one;
  const what = `${title} ${JSON.stringify({ grid, boundary, parts, exchangeEvery, runs, inTurns })}`;
  await onRanks(one, device, async (solvers) => {
    await Promise.all(solvers.map((solver) => solver.initialise(kind, SEED)));
    for (const count of runs) await Promise.all(solvers.map((solver) => solver.run(count)));
    for (const [plane, name] of update.fields.entries()) {
      for (const ago of readsPrevious(update) ? [0, 1] as const : [0] as const) {
        const level = ago === 0 ? expected.current : expected.previous;
        assertEquals(
          await gather(solvers, name, ago),
          planeOf(level, grid, planes, plane),
          `${what} ${name} ${ago}`,
        );
      }
    }
  }, choose);
}
