/**
 * Ctrl-C and SIGTERM as a person's terminal sends them: to `deno task` on a pseudo-terminal, which passes them on, so
 * that the command may get each of them twice. `--thorough` does it twenty times.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { journalPath, readJournal } from "../../tuner/profile/journal.ts";
import { readProfile } from "../../tuner/profile/store.ts";
import { THOROUGH } from "../thorough.ts";
import { inDirectory } from "./run_task.ts";

/** From util-linux: runs a command on a pseudo-terminal of its own, and passes its exit code on. */
const HAS_SCRIPT = await new Deno.Command("script", { args: ["--version"], stdout: "piped", stderr: "null" })
  .output()
  .then(({ stdout }) => new TextDecoder().decode(stdout).includes("util-linux"), () => false);

/** The fields of a run that is interrupted while it measures. */
interface Interrupted {
  readonly code: number;
  readonly output: string;
  readonly out: string;
}

/** Starts `deno task tune` on a pseudo-terminal, and interrupts it once something is measured. */
async function interrupt(
  directory: string,
  send: (run: { readonly pid: number; type(text: string): Promise<void> }) => Promise<void>,
): Promise<Interrupted> {
  const out = `${directory}/p.json`;
  // the CPU alone, on a tiny grid: each of its configurations is timed for half a second, however fast it is
  const options = ["--no-gpu", "--cpu-workers", "1", "--grid", "24x20x16", "--steps", "12", "--out", out];
  const command = ["exec", Deno.execPath(), "task", "tune", ...options].join(" ");
  const child = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", `echo "pid $$"; ${command}`, "/dev/null"],
    env: { XDG_RUNTIME_DIR: Deno.env.get("XDG_RUNTIME_DIR") ?? "/tmp", SHELL: "/bin/sh" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const keyboard = child.stdin.getWriter();
  const output = { text: "" };
  const read = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) output.text += part;
  })();
  // the second record is the first measurement: there is something to keep
  let hasEnded = false;
  child.status.then(() => hasEnded = true);
  while (!hasEnded && (await readJournal(journalPath(out))).records.length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert(!hasEnded, `the run ended before anything was measured: ${output.text}`);
  const pid = Number(/^pid (\d+)/m.exec(output.text)?.[1]);
  await send({ pid, type: (text) => keyboard.write(new TextEncoder().encode(text)) });
  const { code } = await child.status;
  await keyboard.close().catch(() => {});
  await read;
  return { code, output: output.text, out };
}

/** Asserts that a run kept what it had measured, and said so. */
async function assertKept({ code, output, out }: Interrupted, exitCode: number): Promise<void> {
  assertEquals(code, exitCode, output);
  assertStringIncludes(output, "interrupted: these are the results so far");
  assertMatch(output, /^(Fastest|Chosen.*): CPU, 1 worker, /m);
  const { entries: [entry] } = await readProfile(out);
  const { records, damaged, torn } = await readJournal(journalPath(out));
  assertEquals([damaged, torn, records.length > entry!.search.evaluated], [[], false, true]);
}

const TIMES = THOROUGH ? 20 : 1;

for (
  const [name, exitCode, send] of [
    ["Ctrl-C", 130, ({ type }) => type("\x03")],
    ["SIGTERM", 143, ({ pid }) => Promise.resolve(Deno.kill(pid, "SIGTERM"))],
  ] as const satisfies [string, number, Parameters<typeof interrupt>[1]][]
) {
  Deno.test({
    name: `${name} on a terminal writes the profile and the summary, and ends with ${exitCode}` +
      (HAS_SCRIPT ? "" : " (ignored: there is no script of util-linux)"),
    ignore: !HAS_SCRIPT,
    async fn() {
      for (let time = 1; time <= TIMES; time++) {
        await inDirectory(async (directory) => assertKept(await interrupt(directory, send), exitCode));
      }
    },
  });
}

Deno.test({
  name: "signals within a second count as one, a later one ends the process",
  ignore: Deno.build.os === "windows",
  async fn() {
    const module = new URL("../../tuner/cli/attended_run.ts", import.meta.url).href;
    const code = `
      import { AttendedRun } from "${module}";
      const { now } = performance, run = new AttendedRun({ quiet: true });
      const soon = () => new Promise((resolve) => setTimeout(resolve, 50));
      Deno.kill(Deno.pid, "SIGTERM");
      while (!run.signal.aborted) await soon();
      Deno.kill(Deno.pid, "SIGINT");
      await soon();
      console.log("goes on, to end with", run.exitCode);
      performance.now = () => now.call(performance) + 2000;
      Deno.kill(Deno.pid, "SIGINT");
      while (true) await soon();`;
    const args = ["eval", "--config", "tuner/deno.json", code];
    const ended = await new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "inherit" })
      .output();
    const stdout = new TextDecoder().decode(ended.stdout);
    assertEquals([ended.code, stdout], [130, "goes on, to end with 143\n"]);
  },
});
