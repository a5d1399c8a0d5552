import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Command, dispatch } from "../../tuner/cli/main.ts";
import { reportError } from "../../tuner/cli/report_error.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { DeviceError } from "../../tuner/devices/device_error.ts";

Deno.test("dispatch hands its options to the command, and its exit code back", async () => {
  const seen: string[][] = [];
  const run = (args: string[]): Promise<number> => {
    seen.push(args);
    return Promise.resolve(130);
  };
  const commands: Record<string, Command> = { tune: { title: "", load: () => Promise.resolve({ run }) } };
  assertEquals(await dispatch(["tune", "--grid", "64"], commands), 130);
  assertEquals(seen, [["--grid", "64"]]);
});

Deno.test("dispatch loads no command but the one called", async () => {
  const load = (): Promise<never> => Promise.reject(new Error("loaded"));
  const commands = { tune: { title: "", load }, space: { title: "", load } };
  await assertRejects(() => dispatch(["tune"], commands), Error, "loaded");
  await assertRejects(() => dispatch([], commands), RequestError, "the commands are tune, space");
  await assertRejects(() => dispatch(["toString"], commands), RequestError, 'Unknown command "toString"');
});

Deno.test("reportError ends wrong requests with 2, failed devices with 3, and shows no stack", () => {
  const cases: Array<[error: unknown, text: string, exitCode: number]> = [
    [new RequestError("Cannot tune: no"), "facet: Cannot tune: no", 2],
    [new DeviceError("The GPU is lost"), "facet: The GPU is lost", 3],
    [new Error("first\nsecond"), "facet: internal error: first (FACET_DEBUG=1 prints the stack)", 3],
    ["text", "facet: internal error: text (FACET_DEBUG=1 prints the stack)", 3],
    [
      new Deno.errors.NotCapable('Requires read access to "/x", run again with the --allow-read flag'),
      'facet: Requires read access to "/x": run the command as a task (deno task NAME), which grants what it needs',
      2,
    ],
  ];
  for (const [error, text, exitCode] of cases) assertEquals(reportError(error, false), { text, exitCode });
});

Deno.test("what an error quotes of a file reaches the terminal as text, never as commands", () => {
  const { text } = reportError(new RequestError("Cannot read x: found \x1f\x8b\x1b[2J\r\x07\nand é"), false);
  assertEquals(text, "facet: Cannot read x: found \ufffd\ufffd\ufffd[2J\ufffd\ufffd\nand é");
});

Deno.test("reportError shows the stack to developers", () => {
  assertStringIncludes(reportError(new Error("deep"), true).text, "main_test.ts");
});
