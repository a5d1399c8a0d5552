import { leaveOneOut, type MeasuredProblem, type UnseenProblem } from "../profile/leave_one_out.ts";
import { describeProfileProblem } from "../profile/describe.ts";
import { problemOf } from "../profile/profile_problem.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { replayCandidates } from "./replay_candidates.ts";
import type { ReplaySpace } from "./replay_space.ts";

/**
 * What choices come to for recorded problems, each from what was recorded of the others on its device, by the device's
 * name. Spaces of other tools are left out.
 */
export function chooseUnseen(spaces: readonly ReplaySpace[]): ReadonlyMap<string, UnseenProblem[]> {
  const known = spaces.flatMap((space) => space.facet ? [{ ...space.facet, space }] : []);
  const byDevice = Map.groupBy(known, ({ device: { gpu, cpu } }) => gpu?.description ?? cpu.model);
  return new Map([...byDevice].map(([name, some]) => {
    const byProblem = Map.groupBy(some, ({ problem }) => describeProfileProblem(problem));
    const measured = [...byProblem.values()].map((recordings): MeasuredProblem => {
      const problem = problemOf(recordings[0]!.problem)!;
      const samples = recordings.flatMap(({ space }) => replayCandidates(space)).flatMap((one) => {
        const { parameters: { cpuWorkers, ...parameters }, predicted, recorded: { rate } } = one;
        if (rate === undefined) return [];
        const onCpu = cpuWorkers === undefined ? {} : { cpuWorkers };
        return [{ ...one, ...onCpu, parameters, predicted: predicted!, problem, cellsPerSecond: rate }];
      });
      return { problem, samples };
    });
    const { device } = some[0]!;
    return [name, leaveOneOut(measured, deviceModelOf(device, device.measured.copyBytesPerSecond ?? 1e12))];
  }));
}
