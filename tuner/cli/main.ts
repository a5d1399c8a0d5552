import config from "../../deno.json" with { type: "json" };
import { quietMesa } from "../devices/mesa_environment.ts";
import { EXIT, reportError } from "./report_error.ts";
import { RequestError } from "../problem/request_error.ts";
import { type Line, print, say } from "./terminal.ts";

/** Loads a command's file, only when it is called. */
export type Command = () => Promise<{ run(args: string[]): Promise<number> }>;

/** Every command there is, in the order of the overview; what it does is said in deno.json. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  tune: () => import("./tune.ts"),
  space: () => import("./space.ts"),
  balance: () => import("./balance.ts"),
  solve: () => import("./solve.ts"),
  scaling: () => import("./scaling.ts"),
  shot: () => import("./shot.ts"),
  qualify: () => import("./qualify.ts"),
  report: () => import("./report.ts"),
  record: () => import("./record.ts"),
  replay: () => import("./replay.ts"),
  merge: () => import("./merge.ts"),
  export: () => import("./export.ts"),
  import: () => import("./import.ts"),
  doctor: () => import("./doctor.ts"),
};

const TASKS: Readonly<Record<string, { readonly description: string }>> = config.tasks;

/** Runs the command that the arguments name, as the tasks of deno.json call it, and returns its exit code. */
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
  const { run } = await command();
  return await run(rest);
}

function renderOverview(commands: Readonly<Record<string, Command>>): Line[] {
  const rows = Object.keys(commands).map((name) => [name, TASKS[name]?.description ?? ""]);
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
