import { assertEquals, assertStringIncludes } from "@std/assert";
import { inDirectory, runCommand } from "./run_task.ts";

/** What each command would write, and what else it needs to get as far as that. */
const COMMANDS: readonly (readonly [name: string, out: string, ...args: string[]])[] = [
  ["tune", "--out", "--grid", "16x16x16", "--no-gpu"],
  ["record", "--out", "--grid", "16x16x16", "--no-gpu"],
  ["solve", "--checkpoint", "--stencil", "heat", "--grid", "16x16x16", "--no-gpu"],
  ["qualify", "--junit", "--profile", "fixtures/h100/wave.json"],
  ["report", "--out", "--profile", "fixtures/h100/wave.json"],
  ["merge", "--out", "fixtures/h100/wave.json", "fixtures/h100/heat.json"],
  ["export", "--out", "--profile", "fixtures/h100/wave.json", "--entry", "1", "--format", "t4"],
];

/** Calls an action while every file that is opened to be written lies on a full disk. */
async function whileFull<T>(action: () => Promise<T>): Promise<T> {
  const { open } = Deno;
  Deno.open = async (path, options) => {
    const file = await open(path, options);
    if (options?.write) {
      const error = Object.assign(new Error("No space left on device (os error 28)"), { code: "ENOSPC" });
      file.write = () => Promise.reject(error);
    }
    return file;
  };
  try {
    return await action();
  } finally {
    Deno.open = open;
  }
}

Deno.test("a full disk is found before the work, exit code 3, and nothing is left behind", () =>
  inDirectory(async (directory) => {
    const path = `${directory}/file.jsonl`;
    for (const [name, out, ...args] of COMMANDS) {
      const { code, stdout, stderr } = await whileFull(() => runCommand(name, [...args, out, path]));
      const said = `facet: Cannot write ${path}: No space left on device\n`;
      assertEquals([code, stdout, stderr], [3, "", said], name);
    }
    assertEquals([...Deno.readDirSync(directory)], []);
  }));

/** Runs a script, whose arguments are the command line, with mounts of its own where the system permits that. */
const runScript = (script: string, { isAlone = false } = {}): Promise<Deno.CommandOutput> => {
  const [program = "", ...args] = [...(isAlone ? ["unshare", "-Urm"] : []), "sh", "-c", script, "sh"];
  return new Deno.Command(program, {
    args: [...args, Deno.execPath(), "run", "-A", "--no-check", "tuner/cli/main.ts"],
    env: { XDG_RUNTIME_DIR: "/tmp", NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  }).output();
};
const mounts = await runScript("mount -t tmpfs -o size=64k tmpfs /mnt", { isAlone: true })
  .then(({ success }) => success, () => false);
const text = new TextDecoder();

Deno.test({
  name: `a disk of 1.5 MB has room for a checkpoint of 1 MB, and for no larger one${
    mounts ? "" : " (ignored: nothing can be mounted)"
  }`,
  ignore: !mounts,
  fn: () =>
    inDirectory(async (directory) => {
      const solve = (nz: number): string =>
        `"$@" solve --stencil heat --grid 64x64x${nz} --steps 1 --no-gpu --checkpoint ${directory}/state${nz}; ` +
        'echo "exit $?"';
      const script = `mount -t tmpfs -o size=1500k tmpfs ${directory} && { ${solve(96)}; ${solve(64)}; }`;
      const { stdout, stderr } = await runScript(script, { isAlone: true });
      assertStringIncludes(text.decode(stderr), `Cannot write ${directory}/state96: No space left on device`);
      assertEquals(text.decode(stdout).match(/exit \d/g), ["exit 3", "exit 0"], text.decode(stderr));
    }),
});

Deno.test({
  name: "what a full disk keeps from being printed ends with exit code 3",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { code, stderr } = await runScript('"$@" space --help > /dev/full');
    assertEquals([code, text.decode(stderr)], [3, "facet: No space left on device\n"]);
  },
});
