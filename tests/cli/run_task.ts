/**
 * Runs a task's command in a process of its own, with exactly the permissions that `deno.json` gives it.
 *
 * @module
 */

/** What a process left behind. */
export interface TaskResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const { tasks } = JSON.parse(await Deno.readTextFile("deno.json"));

/** The command of a task, ready to be spawned; its streams are piped. */
export function taskCommand(name: string, args: readonly string[]): Deno.Command {
  const [program, ...rest] = tasks[name].command.split(" ");
  if (program !== "deno") throw new RangeError(`Cannot run the task ${name}: it starts ${program}`);
  return new Deno.Command(Deno.execPath(), {
    args: [...rest, ...args],
    env: { XDG_RUNTIME_DIR: Deno.env.get("XDG_RUNTIME_DIR") ?? "/tmp" }, // Mesa complains without the directory
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs a task to its end. */
export async function runTask(name: string, args: readonly string[]): Promise<TaskResult> {
  const { code, stdout, stderr } = await taskCommand(name, args).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
