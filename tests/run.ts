/**
 * The task `test`: runs every test and every example in the documentation, several files at a time, and ends with one
 * line alone, `N passed, N failed`. Flags of `deno test`, as `--filter TEXT`, and paths are passed on; `--thorough` adds
 * the tests that are too slow for every run, with random scripts for `--seconds 3600`.
 *
 * @module
 */
import { join } from "node:path";

/** What is tested where no path is named: {@linkcode writeGroups}, and the examples in the documentation of these. */
const DOCUMENTED = ["kernels/", "models/", "tuner/", "std/", "mod.ts", "README.md", "docs/"];

/**
 * What is tested after all others, one after another: a kernel that never ends keeps NVIDIA's driver from turning to the
 * devices of other processes ("CTX SWITCH TIMEOUT"), and then a render pass waits for ever (580.159, an H200, 2026-11-29).
 */
const LAST = ["tests/page/draw_test.ts", "tests/measuring/process/isolation_test.ts"];

/** Most test files of a group. */
const GROUP = 8;

/** Where modules of groups are written, as git ignores them. */
const GROUPS = "tests/groups";

const PERMISSIONS = ["read", "write", "run", "env", "sys", "ffi"].map((name) => `--allow-${name}`);

/** Lets the process end after its threads. */
const PRELOAD = ["--preload", new URL("./late_exit.ts", import.meta.url).href];

/** What tests alone need is in a lock file of its own: `deno task` downloads all that is in the usual one. */
const LOCK = `--lock=${join(import.meta.dirname!, "deno.lock")}`;

/** How many tests there were. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

/**
 * Counts tests in the output of `deno test`. Its last summary counts; without one (a file failed to
 * type-check, the process was killed) its lines do, and at least one failure.
 *
 * @param output both streams, with or without colours
 * @param success whether the process ended with exit code 0
 * @returns the numbers; of a process that failed, at least 1 failed
 */
export function tally(output: string, success: boolean): Tally {
  // deno-lint-ignore no-control-regex -- colours are control sequences
  const text = output.replace(/\x1b\[[0-9;]*m/g, "");
  const summary = [...text.matchAll(/^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed/gm)].at(-1);
  // Lines of steps are indented; only whole tests count
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  const passed = summary ? Number(summary[1]) : count(/^\S.* \.\.\. ok \(/gm);
  const failed = summary ? Number(summary[2]) : count(/^\S.* \.\.\. FAILED \(/gm);
  return { passed, failed: success ? failed : Math.max(1, failed) };
}

/** Options that take their value as the next argument; what follows them is no path. */
const VALUED = new Set([
  "--filter",
  "--junit-path",
  "--reporter",
  "--ignore",
  "--location",
  "-c",
  "--config",
]);

/**
 * Neighbouring test files that share a thread: each thread compiles the product's code anew, which takes longer than many
 * tests do. Files that do without shared memory (`own_thread.ts`) are groups of their own.
 *
 * @param folder its files and those of folders in it, but {@linkcode LAST}
 */
export async function groupTests(folder: string): Promise<string[][]> {
  const files = (await testFiles(folder)).filter((file) => !LAST.includes(file));
  const texts = await Promise.all(files.map((file) => Deno.readTextFile(file)));
  const alike = Map.groupBy(files, (_, i) => texts[i]!.includes("/own_thread.ts"));
  return [...alike.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / GROUP) }, (_, i) => all.slice(i * GROUP, (i + 1) * GROUP))
  );
}

async function testFiles(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  const files = entries.sort((a, b) => a.name < b.name ? -1 : 1).map(({ name, isDirectory }) =>
    isDirectory ? testFiles(`${folder}/${name}`) : name.endsWith("_test.ts") ? [`${folder}/${name}`] : []
  );
  return (await Promise.all(files)).flat();
}

/** Writes a module for each group, and says where. */
async function writeGroups(): Promise<string[]> {
  await Deno.mkdir(GROUPS, { recursive: true });
  return Promise.all((await groupTests("tests")).map(async (files, i) => {
    const path = `${GROUPS}/${i + 1}.js`, text = files.map((file) => `import "../../${file}";\n`).join("");
    await Deno.writeTextFile(path, text);
    return path;
  }));
}

/**
 * The arguments for `deno test`. Without paths the types are checked beside it.
 *
 * @param args the task's own arguments: flags and paths
 * @param paths what is tested where the arguments name none
 * @returns everything after `deno`
 */
export function testArguments(args: readonly string[], paths: readonly string[]): string[] {
  return [
    "test",
    "--doc",
    "--parallel",
    "--no-prompt",
    LOCK,
    "--frozen",
    ...PERMISSIONS,
    ...PRELOAD,
    ...args,
    ...(hasPath(args) ? [] : ["--no-check", ...paths]),
  ];
}

/**
 * Takes out what is not for `deno test`: `--thorough`, and `--seconds N`, the time of random scripts then.
 *
 * @param all the task's arguments
 * @returns the others; `seconds` is NaN where no number follows
 */
export function ownArguments(
  all: readonly string[],
): { readonly args: string[]; readonly isThorough: boolean; readonly seconds?: number } {
  const at = all.indexOf("--seconds"), isOwn = (i: number): boolean => at >= 0 && (i === at || i === at + 1);
  return {
    args: all.filter((arg, i) => arg !== "--thorough" && !isOwn(i)),
    isThorough: all.includes("--thorough"),
    ...(at >= 0 && { seconds: Number(all[at + 1] ?? NaN) }),
  };
}

function hasPath(args: readonly string[]): boolean {
  return args.some((arg, i) => !arg.startsWith("-") && !VALUED.has(args[i - 1]!));
}

/** Checks the types of all that is tested, and says what is wrong; one core does that while the others test. */
async function checkTypes(): Promise<boolean> {
  const args = ["check", "--quiet", "--doc", LOCK, "--frozen", "tests/", ...DOCUMENTED];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  if (!success) await passOn(ReadableStream.from([stderr]), Deno.stderr);
  return success;
}

/** Passes a stream on as it comes, and keeps it. */
async function passOn(
  stream: ReadableStream<Uint8Array>,
  target: Pick<typeof Deno.stdout, "write">,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let sent = 0; sent < chunk.length;) sent += await target.write(chunk.subarray(sent));
  }
  return text;
}

/**
 * Test files at a time: one more than there are cores, since some wait for processes, devices or a browser; and no more
 * than share one GPU well.
 */
const JOBS = Math.min(navigator.hardwareConcurrency + 1, 10);

/**
 * On Linux WebGPU looks for adapters through Vulkan alone. NVIDIA's OpenGL has one lock for all threads of a process, at
 * which test files that open devices at the same time wait for ever (driver 580.159, an H100, 2026-11-28).
 */
const BACKEND: Record<string, string> = Deno.build.os === "linux" ? { DENO_WEBGPU_BACKEND: "vulkan" } : {};

/**
 * Mesa's software device compiles each shader without optimising it, and narrow vectors of it: most of what tests take is
 * compiling, and shaders of a few cells gain nothing. Threads run in groups of four, so that a missing barrier shows sooner.
 * Thorough runs compile as users' runs do.
 */
const SOFTWARE_DEVICE: Record<string, string> = { GALLIVM_PERF: "nopt", LP_NATIVE_VECTOR_WIDTH: "128" };

if (import.meta.main) {
  const { args, isThorough, seconds } = ownArguments(Deno.args);
  if (seconds !== undefined && !(seconds > 0)) {
    console.error(`Cannot test: --seconds must be a number above 0: found ${seconds}`);
    Deno.exit(2);
  }
  const env = {
    // Mesa complains without the directory
    XDG_RUNTIME_DIR: Deno.env.get("XDG_RUNTIME_DIR") ?? "/tmp",
    DENO_JOBS: `${JOBS}`,
    ...BACKEND,
    ...(!isThorough && SOFTWARE_DEVICE),
    FACET_THOROUGH: isThorough ? "1" : "0",
    ...(seconds !== undefined && { FACET_SECONDS: `${seconds}` }),
  };
  const runTests = async (args: string[]): Promise<Tally> => {
    const child = new Deno.Command(Deno.execPath(), { args, env, stdout: "piped", stderr: "piped" }).spawn();
    const [stdout, stderr, { success, signal }] = await Promise.all([
      passOn(child.stdout, Deno.stdout),
      passOn(child.stderr, Deno.stderr),
      child.status,
    ]);
    // A process that was killed leaves its last line open
    if (stdout !== "" && !stdout.endsWith("\n")) console.log();
    if (signal !== null) console.error(`deno test was ended by ${signal}, before its summary`);
    return tally(`${stdout}\n${stderr}`, success);
  };
  const isWhole = !hasPath(args);
  const paths = isWhole ? [...await writeGroups(), ...DOCUMENTED] : [];
  const [first, areTyped] = await Promise.all([
    runTests(testArguments(args, paths)),
    !isWhole || checkTypes(),
  ]);
  const tallies = [first];
  // left there, they would name files that may be gone at the next type check
  if (isWhole) await Deno.remove(GROUPS, { recursive: true });
  for (const last of isWhole ? LAST : []) tallies.push(await runTests(testArguments(args, [last])));
  const passed = tallies.reduce((sum, one) => sum + one.passed, 0);
  const failed = tallies.reduce((sum, one) => sum + one.failed, areTyped ? 0 : 1);
  if (passed + failed === 0) console.error("no test ran");
  console.log(`${passed} passed, ${failed} failed`);
  Deno.exit(failed === 0 && passed > 0 ? 0 : 1);
}
