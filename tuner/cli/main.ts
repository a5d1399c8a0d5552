/**
 * Where every command starts: `main.ts COMMAND [OPTIONS]`, called by the tasks of deno.json.
 *
 * @module
 */
import { quietMesa } from "../devices/mesa_environment.ts";
import { EXIT, reportError } from "./report_error.ts";
import { RequestError } from "../problem/request_error.ts";
import { type Line, print, say } from "./terminal.ts";

/** A command as the dispatch sees it. */
export interface Command {
  /** One line for people. */
  readonly title: string;
  /** Loads the command's file, only when it is called. */
  load(): Promise<{ run(args: string[]): Promise<number> }>;
}

/** Every command there is, in the order of the overview. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  tune: {
    title: "finds the fastest verified configuration for this machine, and writes its profile",
    load: () => import("./tune.ts"),
  },
  space: {
    title: "lists the configurations to try and their predicted rates, without measuring",
    load: () => import("./space.ts"),
  },
  balance: {
    title: "shares a grid between the GPU and the CPU, and measures the steps between exchanges",
    load: () => import("./balance.ts"),
  },
  record: { title: "measures a whole space into a file for replay", load: () => import("./record.ts") },
  replay: {
    title: "runs search strategies on recorded spaces, without a GPU",
    load: () => import("./replay.ts"),
  },
  qualify: {
    title: "verifies and measures a profile's configurations, and compares with what was recorded",
    load: () => import("./qualify.ts"),
  },
  doctor: {
    title: "says what was found on this machine, and what would help",
    load: () => import("./doctor.ts"),
  },
  report: {
    title: "makes one page of a profile: charts, tables, and why this configuration",
    load: () => import("./report.ts"),
  },
  export: {
    title: "writes what was measured as T4 results or as a Kernel Tuner cache",
    load: () => import("./export.ts"),
  },
  import: {
    title: "makes a profile of T4 results or of a Kernel Tuner cache",
    load: () => import("./import.ts"),
  },
};

/** Runs the command that the arguments name, and returns its exit code. */
export async function dispatch(
  args: readonly string[],
  commands: Readonly<Record<string, Command>>,
): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h") {
    print(renderOverview(commands));
    return EXIT.done;
  }
  const names = Object.keys(commands).join(", ");
  if (name === undefined) throw new RequestError(`No command given: the commands are ${names}`);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new RequestError(`Unknown command "${name}": the commands are ${names}`);
  const { run } = await command.load();
  return await run(rest);
}

function renderOverview(commands: Readonly<Record<string, Command>>): Line[] {
  const rows = Object.entries(commands).map(([name, { title }]) => [name, title]);
  return ["Usage: deno task COMMAND [OPTIONS]", "", "Commands:", { rows, indent: "  " }];
}

/** Says what went wrong, and returns the exit code for it. */
export function sayError(error: unknown): number {
  const { text, exitCode } = reportError(error);
  say(`facet: ${text}`);
  if (error instanceof Error && isDebugging()) console.error(error.stack);
  return exitCode;
}

/** Says what went wrong and ends the process. */
function exitWith(error: unknown): never {
  Deno.exit(sayError(error));
}

function isDebugging(): boolean {
  try {
    return Boolean(Deno.env.get("FACET_DEBUG"));
  } catch {
    return false;
  }
}

/** Runs a command and ends the process with its exit code; an error becomes one or two lines on stderr. */
export async function endWith(run: () => Promise<number>): Promise<never> {
  globalThis.addEventListener("unhandledrejection", (event) => exitWith(event.reason));
  globalThis.addEventListener("error", (event) => exitWith(event.error));
  try {
    quietMesa();
    return Deno.exit(await run());
  } catch (error) {
    return exitWith(error);
  }
}

if (import.meta.main) await endWith(() => dispatch(Deno.args, COMMANDS));
