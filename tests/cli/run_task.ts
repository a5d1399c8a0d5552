/**
 * Runs a command as its user would: in this process with the console captured, which is fast, or in a process of its
 * own with exactly the permissions that `deno.json` gives its task.
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { COMMANDS, dispatch, sayError } from "../../tuner/cli/main.ts";

/** What a command left behind. */
export interface TaskResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const { tasks } = JSON.parse(await Deno.readTextFile("deno.json"));

/** The command of a task, ready to be spawned; its streams are piped. */
export function taskCommand(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Deno.Command {
  const [program, ...rest] = tasks[name].command.split(" ");
  if (program !== "deno") throw new RangeError(`Cannot run the task ${name}: it starts ${program}`);
  return new Deno.Command(Deno.execPath(), {
    args: [...rest, ...args],
    // Mesa complains without the directory
    env: { XDG_RUNTIME_DIR: Deno.env.get("XDG_RUNTIME_DIR") ?? "/tmp", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs a command in this process. */
export async function runCommand(name: string, args: readonly string[]): Promise<TaskResult> {
  const { codes: [code = NaN], ...written } = await runCommands([[name, ...args]]);
  return { code, ...written };
}

/** Runs commands at the same time in this process. */
export function runCommands(
  commands: readonly (readonly string[])[],
): Promise<{ codes: number[]; stdout: string; stderr: string }> {
  return capture(commands.map((command) => () => dispatch(command, COMMANDS)));
}

/** Does things at the same time in this process, with the console captured, and returns their exit codes. */
export async function capture(
  actions: readonly (() => Promise<number>)[],
): Promise<{ codes: number[]; stdout: string; stderr: string }> {
  const written = { stdout: "", stderr: "" };
  const { log, error } = console, { writeSync } = Deno.stderr;
  console.log = (text: string) => written.stdout += `${text}\n`;
  console.error = (text: string) => written.stderr += `${text}\n`;
  Deno.stderr.writeSync = (bytes) => {
    written.stderr += new TextDecoder().decode(bytes);
    return bytes.length;
  };
  try {
    const codes = await Promise.all(actions.map((action) => action().catch(sayError)));
    return { codes, ...written };
  } finally {
    Object.assign(console, { log, error });
    Deno.stderr.writeSync = writeSync;
  }
}

/** Asserts that each request ends with exit code 2, nothing on stdout, and one line on stderr with this in it. */
export async function assertRefused(
  name: string,
  cases: readonly (readonly [args: readonly string[], message: string | RegExp])[],
): Promise<void> {
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await runCommand(name, args);
    assertEquals([code, stdout], [2, ""], `${name} ${args.join(" ")}: ${stderr}`);
    assertMatch(stderr, /^facet: [^\n]+\n$/);
    if (typeof message === "string") assertStringIncludes(stderr, message);
    else assertMatch(stderr.trimEnd(), message);
  }
}

/** Calls a test with a directory of its own. */
export async function inDirectory(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "facet-cli-" });
  try {
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Runs a task to its end, in a process of its own. */
export async function runTask(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<TaskResult> {
  const { code, stdout, stderr } = await taskCommand(name, args, env).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
