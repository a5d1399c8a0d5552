import type { Measurement } from "../configuration.ts";
import { isFailure } from "../devices/run_failure.ts";
import type { ProfileResult } from "../profile/profile_types.ts";
import type { TuningRun } from "./tuning_run.ts";

/** Time of the run, so long that what it takes to begin and to wait for the end counts little. */
const RUN_NS = 1e9;

/**
 * What a user waits for: the rate of one long run of the winner by the host's clock, shorter where the budget ends.
 * Undefined where there is no time for any, or the device fails.
 */
export async function measureByHost(run: TuningRun, winner: Measurement): Promise<ProfileResult["byHost"]> {
  const { session, problem, plan, updates, environment: { signal } } = run;
  const { configuration, cellsPerSecond } = winner, runNs = updates / cellsPerSecond * 1e9;
  const leftNs = plan.endNs - session.now() - run.turnOf(winner).againNs;
  const repetitions = Math.floor(Math.min(Math.max(RUN_NS, runNs), leftNs) / runNs);
  if (repetitions < 1 || signal.aborted) return undefined;
  try {
    const runner = await session.prepare(problem, configuration);
    try {
      await runner.initialise();
      await runner.run();
      const { longRun = 1 } = runner, isLong = repetitions >= longRun;
      const runs = isLong ? repetitions - repetitions % longRun : repetitions;
      const beganNs = session.now();
      await (runner.begin === undefined ? runner.run(runs) : (await runner.begin(runs, isLong)).finish());
      const rate = updates * runs / ((session.now() - beganNs) * 1e-9);
      return { cellsPerSecond: rate, steps: problem.steps * runs };
    } finally {
      runner.dispose();
    }
  } catch (error) {
    if (!isFailure(error)) throw error;
    await run.recover(error);
    return undefined;
  }
}
