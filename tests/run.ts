/**
 * The task `test`: runs every test and every example in the documentation, and ends with one line alone,
 * `N passed, N failed`. Flags of `deno test`, as `--filter TEXT`, and paths pass through.
 *
 * @module
 */

/** What is tested where no path is named: tests, and the examples in the documentation of the rest. */
const PATHS = ["tests/", "kernels/", "models/", "tuner/", "std/", "mod.ts", "README.md"];

const PERMISSIONS = ["read", "write", "run", "env", "sys"].map((name) => `--allow-${name}`);

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
 * The arguments for `deno test`.
 *
 * @param args the task's own arguments: flags and paths
 * @returns everything after `deno`
 */
export function testArguments(args: readonly string[]): string[] {
  const hasPath = args.some((arg, i) => !arg.startsWith("-") && !VALUED.has(args[i - 1]));
  return ["test", "--doc", "--no-prompt", ...PERMISSIONS, ...args, ...(hasPath ? [] : PATHS)];
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
 * Test files that wait a lot, for devices, processes or a browser, and some that compute on one core only: where
 * everything is tested, {@linkcode BESIDE_JOBS} of them at a time run beside the others.
 */
export const BESIDE: readonly string[] = [
  "tests/kernels/high_order_torres_test.ts",
  "tests/cli/tune_test.ts",
  "tests/tune/tune_test.ts",
  "tests/cli/qualify_test.ts",
  "tests/replay/replay_test.ts",
  "tests/report/browser_test.ts",
  "tests/bench/kill_test.ts",
  "tests/bench/repeat_tunes_test.ts",
  "tests/cli/balance_test.ts",
  "tests/measuring/process/isolation_test.ts",
  "tests/cli/record_test.ts",
  "tests/tune/library_tune_test.ts",
  "tests/search/auto_test.ts",
  "tests/search/space_test.ts",
  "tests/profile/choose_test.ts",
  "tests/kernels/swept_test.ts",
  "tests/bench/bench_lines_test.ts",
  "tests/devices/cpu/line_test.ts",
  "tests/search/strategies_test.ts",
];
const BESIDE_JOBS = 2;

/** Runs `deno test`; what it prints is passed on as it comes, or at the end where another run prints. */
async function runTests(
  args: readonly string[],
  { atOnce, jobs = 1 }: { atOnce: boolean; jobs?: number },
): Promise<Tally> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env: {
      // Mesa complains without the directory
      XDG_RUNTIME_DIR: Deno.env.get("XDG_RUNTIME_DIR") ?? "/tmp",
      DENO_JOBS: `${jobs}`, // counts with --parallel only
    },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const nowhere = { write: (bytes: Uint8Array) => Promise.resolve(bytes.length) };
  const [stdout, stderr, { success }] = await Promise.all([
    passOn(child.stdout, atOnce ? Deno.stdout : nowhere),
    passOn(child.stderr, atOnce ? Deno.stderr : nowhere),
    child.status,
  ]);
  if (!atOnce) console.log(`${stdout}${stderr}`.trimEnd());
  // A process that was killed leaves its last line open
  else if (stdout !== "" && !stdout.endsWith("\n")) console.log();
  return tally(`${stdout}\n${stderr}`, success);
}

if (import.meta.main) {
  const present = (path: string): boolean => {
    try {
      return Deno.statSync(path) !== undefined;
    } catch {
      return false;
    }
  };
  const args = testArguments(Deno.args).filter((arg) => !PATHS.includes(arg) || present(arg));
  const isEverything = args.includes(PATHS[0]) && BESIDE.every(present);
  const flags = args.filter((arg) => !PATHS.includes(arg));
  const besides = isEverything
    ? runTests([...flags, "--parallel", ...BESIDE], { atOnce: false, jobs: BESIDE_JOBS })
    : undefined;
  const main = await runTests(isEverything ? [...args, `--ignore=${BESIDE.join(",")}`] : args, {
    atOnce: true,
  });
  const beside = await besides ?? { passed: 0, failed: 0 };
  const passed = main.passed + beside.passed, failed = main.failed + beside.failed;
  if (passed + failed === 0) console.error("no test ran");
  console.log(`${passed} passed, ${failed} failed`);
  Deno.exit(failed === 0 && passed > 0 ? 0 : 1);
}
