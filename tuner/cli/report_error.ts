import { DeviceError } from "../devices/device_error.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { RequestError } from "../problem/request_error.ts";

/** Exit codes of every command. */
export const EXIT = {
  /** The work is done. */
  done: 0,
  /** The answer is no: a device failed qualification, no configuration verified. */
  no: 1,
  /** The request was wrong. */
  wrongRequest: 2,
  /** The device failed, or Facet itself did. */
  deviceFailed: 3,
  /** Ctrl-C; everything measured so far is kept. */
  interrupted: 130,
} as const;

/** What a failed command prints on stderr, and its exit code. */
type ErrorReport = { readonly text: string; readonly exitCode: number };

/** Turns an error into one or two lines for the terminal; with `debug` the stack trace follows. */
export function reportError(error: unknown, debug: boolean): ErrorReport {
  const { text, exitCode } = summarize(error);
  const stack = debug && error instanceof Error ? `\n${error.stack}` : "";
  return { text: `facet: ${withoutControls(text)}${stack}`, exitCode };
}

/** A text that quotes a file which is no text must not reach the terminal as commands. */
function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, "\ufffd");
}

function summarize(error: unknown): ErrorReport {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RequestError || error instanceof ProfileError) {
    return { text: message, exitCode: EXIT.wrongRequest };
  }
  if (error instanceof DeviceError) return { text: message, exitCode: EXIT.deviceFailed };
  if (error instanceof Deno.errors.NotCapable) {
    // Deno's own text ends in advice about flags that a task does not take
    const [what] = message.split(", run again");
    const text = `${what}: run the command as a task (deno task NAME), which grants what it needs`;
    return { text, exitCode: EXIT.wrongRequest };
  }
  const [firstLine] = message.split("\n");
  const hint = "FACET_DEBUG=1 prints the stack";
  return { text: `internal error: ${firstLine} (${hint})`, exitCode: EXIT.deviceFailed };
}
