import { assertEquals, assertStringIncludes } from "@std/assert";
import { groupTests, ownArguments, tally, testArguments } from "./run.ts";

const RUN = new URL("./run.ts", import.meta.url).pathname;

Deno.test("tally reads the summary, coloured or not", () => {
  assertEquals(tally("a ... ok (1ms)\n\nok | 12 passed | 0 failed (2s)\n", true), { passed: 12, failed: 0 });
  const coloured =
    "\x1b[0m\x1b[31mFAILED\x1b[0m | 90 passed (3 steps) | 2 failed (1 step) | 1 ignored (5s)\n";
  assertEquals(tally(coloured, false), { passed: 90, failed: 2 });
});

Deno.test("tally counts a failure where deno test failed and no test did", () => {
  assertEquals(tally("error: Type checking failed.\n", false), { passed: 0, failed: 1 });
  assertEquals(tally("ok | 3 passed | 0 failed (2s)\nerror: leak", false), { passed: 3, failed: 1 });
});

Deno.test("tally counts lines where the process was killed before its summary", () => {
  const output = "a ... ok (1ms)\nb ...\n  step ... ok (1ms)\nb ... FAILED (2ms)\nc ... FAILED (2ms)\nd ...";
  assertEquals(tally(output, false), { passed: 1, failed: 2 });
});

Deno.test("tally counts nothing where nothing ran", () => {
  assertEquals(tally("ok | 0 passed | 0 failed | 8 filtered out (1s)\n", true), { passed: 0, failed: 0 });
});

Deno.test("testArguments passes flags on, and names the paths unless they are given", () => {
  assertEquals(testArguments(["--filter", "foo"], ["docs/"]).at(-1), "docs/");
  const own = testArguments(["--filter=foo", "tests/std/"], []);
  assertEquals([own.at(-1), own.includes("--no-check")], ["tests/std/", false]);
});

Deno.test("every test file is in one group, but those that other devices must not meet", async () => {
  const files = (await groupTests("tests")).flat(), there = new Set(files);
  const all = (await Array.fromAsync(Deno.readDir("tests/page"))).filter(({ name }) =>
    name.endsWith("_test.ts")
  );
  assertEquals([files.length, files.filter((file) => file.startsWith("tests/page/")).length], [
    there.size,
    all.length - 1,
  ]);
  assertEquals(there.has("tests/run_test.ts") && !there.has("tests/page/draw_test.ts"), true);
});

Deno.test("files that delete shared memory are in no group with others", async () => {
  for (const group of await groupTests("tests/devices")) {
    const texts = await Promise.all(group.map((file) => Deno.readTextFile(file)));
    assertEquals(new Set(texts.map((text) => /^import ".*own_thread.ts";$/m.test(text))).size, 1, `${group}`);
  }
});

Deno.test("--thorough and the seconds of random scripts are not passed on", () => {
  assertEquals(ownArguments(["--filter", "a", "--thorough", "--seconds", "3600", "tests/x.ts"]), {
    args: ["--filter", "a", "tests/x.ts"],
    isThorough: true,
    seconds: 3600,
  });
  assertEquals(ownArguments(["--fail-fast"]), { args: ["--fail-fast"], isThorough: false });
  assertEquals(ownArguments(["--seconds"]).seconds, NaN);
});

Deno.test("tests run with the packages of their own lock file", async () => {
  const lock = testArguments([], []).find((argument) => argument.startsWith("--lock="))!.slice(
    "--lock=".length,
  );
  assertStringIncludes(await Deno.readTextFile(lock), "fast-check");
});

Deno.test("the process of the tests ends after its threads", () => {
  const args = testArguments([], []), file = args[args.indexOf("--preload") + 1] ?? "";
  assertStringIncludes(file, "late_exit.ts");
});

/** Runs tests/run.ts on one file with this text; `seen.txt` beside the file says that its first line of results came. */
async function runOn(text: string, ...flags: string[]): Promise<{ lines: string[]; code: number }> {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/some_test.ts`;
  await Deno.writeTextFile(file, text);
  const permissions = ["--allow-env", "--allow-read", "--allow-run"];
  const args = ["run", "--no-prompt", ...permissions, RUN, ...flags, file];
  const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "null" }).spawn();
  let output = "";
  for await (const some of child.stdout.pipeThrough(new TextDecoderStream())) {
    output += some;
    if (/one \.\.\. .*\(/.test(output)) await Deno.writeTextFile(`${folder}/seen.txt`, "");
  }
  const { code } = await child.status;
  await Deno.remove(folder, { recursive: true });
  return { lines: output.trimEnd().split("\n"), code };
}

Deno.test("run ends with the tally alone, after passes and failures", async () => {
  const text = `
    Deno.test("one", () => {});
    Deno.test("two", () => { throw new Error("on purpose"); });
    Deno.test("three", () => {});
  `;
  const { lines, code } = await runOn(text, "--no-check");
  assertEquals([lines.at(-1), code], ["2 passed, 1 failed", 1]);
  assertStringIncludes(lines.join("\n"), "on purpose");
});

Deno.test("run counts what passed before the process was killed", async () => {
  const text = `
    Deno.test("one", () => {});
    Deno.test("two", async () => {
      while (!await Deno.lstat(new URL("seen.txt", import.meta.url)).catch(() => null)) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      Deno.kill(Deno.pid, "SIGKILL");
    });
  `;
  const { lines, code } = await runOn(text, "--no-check");
  assertEquals([lines.at(-1), code], ["1 passed, 1 failed", 1]);
});

Deno.test("run turns the slow tests on where it is asked to", async () => {
  const text = `Deno.test({ name: "slow", ignore: Deno.env.get("FACET_THOROUGH") !== "1", fn: () => {} });`;
  const usual = await runOn(text, "--no-check"), thorough = await runOn(text, "--no-check", "--thorough");
  assertEquals([usual.lines.at(-1), thorough.lines.at(-1)], ["0 passed, 0 failed", "1 passed, 0 failed"]);
});

Deno.test("run counts a file that does not type-check as failed", async () => {
  const { lines, code } = await runOn(`Deno.test("one", () => { const n: number = "text"; n; });`);
  assertEquals([lines.at(-1), code], ["0 passed, 1 failed", 1]);
});

Deno.test("run fails where nothing ran", async () => {
  const { lines, code } = await runOn("export {};", "--no-check");
  assertEquals([lines.at(-1), code], ["0 passed, 0 failed", 1]);
});
