import { isFailure, RunFailure } from "../devices/run_failure.ts";
import { RankError, type World } from "../devices/world.ts";
import { reasonOf } from "../platform.ts";
import { RequestError } from "../problem/request_error.ts";

function kindOf(error: unknown): "refused" | "limits" | "failed" {
  return error instanceof RequestError
    ? "refused"
    : isFailure(error) && error.reason === "limits"
    ? "limits"
    : "failed";
}

/**
 * Does what may fail on one rank alone, as for its own cells, its device, or in what the program has it call: then it fails
 * on all, on the others for the first one's reason.
 *
 * @param undo what others have made
 */
export async function agree<T>(
  world: World,
  act: () => T | Promise<T>,
  undo?: (made: T) => void,
): Promise<T> {
  const [own] = await Promise.allSettled([Promise.resolve().then(act)]), isDone = own.status === "fulfilled";
  const all = await world.shareAll(isDone ? null : [kindOf(own.reason), reasonOf(own.reason)] as const);
  const rank = all.findIndex((one) => one !== null), [kind, message] = all[rank] ?? [];
  if (isDone && message === undefined) return own.value;
  if (isDone) undo?.(own.value);
  else if (rank === world.rank || kindOf(own.reason) !== "refused") throw own.reason;
  if (kind === "refused") throw new RequestError(message!);
  throw kind === "limits"
    ? new RunFailure("limits", `rank ${rank}: ${message}`)
    : new RankError(`rank ${rank} has failed: ${message}`);
}
