import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type Command, dispatch } from "../../tuner/cli/main.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { UnstableProblem } from "../../tuner/devices/run_failure.ts";
import { reportError } from "../../tuner/cli/report_error.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { DeviceError, deviceFailed } from "../../tuner/devices/device_error.ts";

Deno.test("dispatch hands its options to the command, and its exit code back", async () => {
  const seen: string[][] = [];
  const run = (args: string[]): Promise<number> => {
    seen.push(args);
    return Promise.resolve(130);
  };
  const commands: Record<string, Command> = { tune: () => Promise.resolve({ run }) };
  assertEquals(await dispatch(["tune", "--grid", "64"], commands), 130);
  assertEquals(seen, [["--grid", "64"]]);
});

Deno.test("dispatch loads no command but the one called", async () => {
  const load = (): Promise<never> => Promise.reject(new Error("loaded"));
  const commands = { tune: load, space: load };
  await assertRejects(() => dispatch(["tune"], commands), Error, "loaded");
  await assertRejects(() => dispatch([], commands), RequestError, "the commands are tune, space");
  await assertRejects(() => dispatch(["toString"], commands), RequestError, 'Unknown command "toString"');
});

Deno.test("reportError ends wrong requests with 2, failed devices with 3, in one line", () => {
  const denied = new Deno.errors.NotCapable(
    'Requires write access to "/x", run again with the --allow-write flag',
  );
  const guarded = new Deno.errors.NotCapable(
    'Requires all access to "/proc/x", run again with the --allow-all flag',
  );
  const unstable = new UnstableProblem({ stencil: wave(2), grid: [1, 2, 3], boundary: "zero", steps: 4 });
  assertThrows(() => deviceFailed("The GPU failed")(unstable), UnstableProblem);
  const full = {
    cause: Object.assign(new Error("No space left on device (os error 28)"), { code: "ENOSPC" }),
  };
  const cases: Array<[error: unknown, text: string, exitCode: number]> = [
    [new RequestError("Cannot tune: no"), "Cannot tune: no", 2],
    [new DeviceError("The GPU is lost"), "The GPU is lost", 3],
    [unstable, unstable.message, 2],
    [new Error("first\nsecond"), "internal error: first (FACET_DEBUG=1 prints the stack)", 3],
    ["text", "internal error: text (FACET_DEBUG=1 prints the stack)", 3],
    [
      denied,
      "Cannot go on: Deno may not write it: run it as a task (deno task NAME), or add --allow-write=/x",
      2,
    ],
    ...[new ProfileError("Cannot write p.json: full", full), new RequestError("Cannot write x: full", full)]
      .map((error): [error: unknown, text: string, exitCode: number] => [error, error.message, 3]),
    [full.cause, "No space left on device", 3],
    [guarded, "Cannot go on: Deno guards what the system keeps there", 2],
  ];
  for (const [error, text, exitCode] of cases) assertEquals(reportError(error), { text, exitCode });
});
