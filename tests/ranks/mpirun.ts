/**
 * Tests under `mpirun`. Where there is none, it is installed as a user would (as root, with apt-get); elsewhere the
 * tests are ignored, and their names say why.
 *
 * @module
 */
import { THOROUGH } from "../thorough.ts";

/** One MPI in every run, both in thorough ones. */
const NAMES: readonly ("mpirun.openmpi" | "mpirun.mpich")[] = THOROUGH
  ? ["mpirun.openmpi", "mpirun.mpich"]
  : ["mpirun.openmpi"];

/** An `mpirun` and the variables that it needs. */
export interface Launcher {
  readonly name: typeof NAMES[number];
  readonly args: readonly string[];
}

async function output(command: string, args: readonly string[]): Promise<Deno.CommandOutput | undefined> {
  try {
    return await new Deno.Command(command, { args: [...args], stdin: "null" }).output();
  } catch {
    return undefined; // there is no such program
  }
}

async function find(): Promise<Launcher[]> {
  const found = async (): Promise<Launcher[]> => {
    const all = await Promise.all(NAMES.map((name) => output(name, ["--version"])));
    return NAMES.filter((_, i) => all[i]?.success)
      .map((name) => ({ name, args: name === "mpirun.openmpi" ? ["--oversubscribe"] : [] }));
  };
  const launchers = await found();
  if (launchers.length > 0 || Deno.uid() !== 0) return launchers;
  // several test files come here at once
  const apt = (...args: string[]) => output("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=120", ...args]);
  await apt("update");
  await apt("install", "-y", "--no-install-recommends", "openmpi-bin", "libopenmpi3");
  return await found();
}

/** Every `mpirun` of this machine. */
export const LAUNCHERS: readonly Launcher[] = await find();

/** Runs a program of Deno as so many ranks. */
export async function mpirun(
  { name, args }: Launcher,
  ranks: number,
  program: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(name, {
    args: [...args, "-n", `${ranks}`, Deno.execPath(), ...program],
    env: {
      OMPI_ALLOW_RUN_AS_ROOT: "1",
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1",
      XDG_RUNTIME_DIR: Deno.env.get("XDG_RUNTIME_DIR") ?? "/tmp",
      ...env,
    },
    stdin: "null",
    // whoever hangs fails
    signal: AbortSignal.timeout(300_000),
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out!, stderr: err! };
}

/** Adds a test for every `mpirun` there is. */
export function testUnderMpi(
  name: string,
  test: (launcher: Launcher) => Promise<void>,
  { ignore = false }: { ignore?: boolean } = {},
): void {
  if (LAUNCHERS.length === 0) {
    Deno.test({ name: `${name} (ignored: no mpirun: apt-get install openmpi-bin)`, ignore: true, fn() {} });
  }
  for (const launcher of LAUNCHERS) {
    Deno.test({ name: `${name}: ${launcher.name}`, ignore, fn: () => test(launcher) });
  }
}

/** What `deno` is called with by the task `solve`: its permissions and its file. */
export function solveFlags(): string[] {
  const { tasks } = JSON.parse(Deno.readTextFileSync("deno.json"));
  return tasks.solve.command.split(" ").slice(1);
}
