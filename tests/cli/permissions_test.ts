/**
 * What the tasks of deno.json may do, and what a command says that may not.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { inDirectory } from "./run_task.ts";

const { tasks }: { tasks: Record<string, { command: string }> } = JSON.parse(
  await Deno.readTextFile("deno.json"),
);

/** Tasks with paths of the user's choice: what they may read or write cannot be named beforehand. */
const WRITES_ANYTHING = [
  "merge",
  "tune",
  "solve",
  "scaling",
  "shot",
  "record",
  "qualify",
  "report",
  "export",
  "import",
  "bench",
];
const READS_ANYTHING = [...WRITES_ANYTHING, "replay", "space", "balance"];
/**
 * `bench` compiles the programs that it runs. The others run Deno itself or a shell, and would need no more than that if it were not
 * for LD_LIBRARY_PATH: where it is set, as CUDA's set-up does, Deno starts no program by its name alone.
 */
const RUNS_ANYTHING = [
  "bench",
  "tune",
  "space",
  "solve",
  "scaling",
  "shot",
  "record",
  "test",
  "balance",
  "qualify",
  "doctor",
];
/** These run a compiler from npm, which looks where it likes. */
const COMPILERS = ["pack", "page"];
/** Only a library of MPI's is called, wherever it is installed. */
const CALLS_LIBRARIES = ["solve", "scaling", "shot"];

Deno.test("tasks name what they may run, read in the environment and ask of the system", () => {
  for (const [name, { command }] of Object.entries(tasks)) {
    if (!command.startsWith("deno run ") || COMPILERS.includes(name)) continue;
    const bare = [...command.matchAll(/ -A\b| --allow-(\w+)(?= |$)/g)].map(([, kind = "all"]) => kind);
    const wanted = [
      ...(READS_ANYTHING.includes(name) ? ["read"] : []),
      ...(WRITES_ANYTHING.includes(name) ? ["write"] : []),
      ...(RUNS_ANYTHING.includes(name) ? ["run"] : []),
      ...(CALLS_LIBRARIES.includes(name) ? ["ffi"] : []),
    ];
    assertEquals(bare.sort(), wanted.sort(), name);
    assert(command.includes(" --no-prompt "), name);
  }
});

Deno.test("no task may use the network beyond this machine, and docs/permissions.md says of every open permission why", async () => {
  const text = await Deno.readTextFile("docs/permissions.md");
  const open = Object.entries(tasks).filter(([name]) => !COMPILERS.includes(name)).flatMap(
    ([, { command }]) => {
      assert(!/--allow-net|--allow-import|--allow-all| -A\b/.test(command), command);
      return [...command.matchAll(/ (--allow-\w+)(?= |$)/g)].map(([, flag]) => flag!);
    },
  );
  assertMatch(tasks.page!.command, /^(?!.*--allow-(?:import|all)).* --allow-net=127\.0\.0\.1 /);
  const explained = [...text.matchAll(/^- .*?:/gm)].flatMap(([start]) => start.match(/--allow-\w+/g) ?? []);
  assertEquals(explained.sort(), [...new Set(open)].sort());
});

Deno.test("from another folder record needs to write there and to run a shell and Deno alone, as documented", () =>
  inDirectory(async (directory) => {
    const allowed = ["--allow-env", "--allow-sys", "--allow-read", `--allow-write=${directory}`];
    const main = new URL("../../tuner/cli/main.ts", import.meta.url).pathname;
    const small = [
      "--grid",
      "12x10x8",
      "--steps",
      "6",
      "--limit",
      "1",
      "--no-gpu",
      "--cpu-workers",
      "1",
      "--quiet",
    ];
    const record = async (out: string, libraries: string): Promise<[number, string]> => {
      const list = `--allow-run=sh,${Deno.execPath()}`, env = { LD_LIBRARY_PATH: libraries };
      const args = ["run", "--no-prompt", ...allowed, list, main, "record", ...small, "--out", out];
      const child = new Deno.Command(Deno.execPath(), { args, cwd: directory, env, stderr: "piped" });
      const { code, stderr } = await child.output();
      return [code, new TextDecoder().decode(stderr)];
    };
    assertEquals(await record("a.jsonl", ""), [0, ""]);
    // this is why the tasks have no such list
    const [code, said] = await record("b.jsonl", directory);
    assertEquals(code, 2);
    assertMatch(said, /^facet: [^\n]*LD_LIBRARY_PATH[^\n]*\n$/);
  }));

Deno.test("a command that may not write or read there says which flag to add, in a line", () =>
  inDirectory(async (directory) => {
    const fixture = ["--profile", "fixtures/h100/heat.json", "--entry", "1"];
    const out = ["--out", `${directory}/x.json`], nowhere = ["--profile", `${directory}/p.json`];
    const cases = [
      [["--allow-read", "--allow-write=profiles"], ["export", "--format", "t4", ...fixture, ...out], "write"],
      [["--allow-read=fixtures", "--allow-write"], ["report", ...nowhere], "read"],
    ] as const;
    for (const [flags, command, kind] of cases) {
      const args = ["run", "--no-prompt", "--allow-env", ...flags, "tuner/cli/main.ts", ...command];
      const run = await new Deno.Command(Deno.execPath(), { args, stderr: "piped" }).output();
      const stderr = new TextDecoder().decode(run.stderr);
      assertEquals(run.code, 2, stderr);
      assertMatch(
        stderr,
        new RegExp(
          `^facet: Cannot ${kind} ${directory}/[^\n]+ or add --allow-${kind}=${directory}[^ \n]*\n$`,
        ),
      );
    }
  }));
