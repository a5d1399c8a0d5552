import { DeviceError } from "../devices/device_error.ts";
import { GpuChoiceError } from "../devices/gpu_choice.ts";
import { UnstableProblem } from "../devices/run_failure.ts";
import { isDiskFailure, ProfileError, reasonOf } from "../profile/profile_error.ts";
import { RequestError } from "../problem/request_error.ts";

/** Exit codes of every command. */
export const EXIT = {
  done: 0,
  /** The answer is no: a device failed qualification, no configuration verified. */
  no: 1,
  wrongRequest: 2,
  /** The device, a rank or the disk failed, or Facet itself did. */
  deviceFailed: 3,
  /** Ctrl-C, and SIGTERM; everything measured so far is kept. */
  interrupted: 130,
  terminated: 143,
} as const;

/** What a failed command says, in one line, and its exit code. */
export function reportError(error: unknown): { readonly text: string; readonly exitCode: number } {
  const message = error instanceof Error ? error.message : String(error);
  if (isDiskFailure(error)) return { text: reasonOf(error), exitCode: EXIT.deviceFailed };
  if ([RequestError, ProfileError, GpuChoiceError, UnstableProblem].some((kind) => error instanceof kind)) {
    return { text: message, exitCode: EXIT.wrongRequest };
  }
  if (error instanceof DeviceError) return { text: message, exitCode: EXIT.deviceFailed };
  if (error instanceof Deno.errors.NotCapable) {
    return { text: `Cannot go on: ${reasonOf(error)}`, exitCode: EXIT.wrongRequest };
  }
  const [firstLine] = message.split("\n");
  const text = `internal error: ${firstLine} (FACET_DEBUG=1 prints the stack)`;
  return { text, exitCode: EXIT.deviceFailed };
}
