import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runTask } from "./run_task.ts";
import { setUp, type SetupHost } from "../../tuner/cli/setup.ts";

/** What a set-up said and ran. */
interface Trace {
  said: string[];
  ran: string[];
}

/** Sets up a Debian machine without an adapter, root at the keyboard, but for the deviation. */
async function setUpWith(deviation: Partial<SetupHost> = {}): Promise<Trace> {
  const trace: Trace = { said: [], ran: [] };
  await setUp({
    hasAdapter: () => Promise.resolve(false),
    os: "linux",
    setting: undefined,
    isRoot: () => true,
    exists: (path) => path === "/usr/bin/apt-get",
    say: (line) => trace.said.push(line),
    ...deviation,
    run: (command) => {
      trace.ran.push(command.filter((word) => word !== "-o" && !word.startsWith("Acquire")).join(" "));
      return deviation.run?.(command) ?? Promise.resolve({ success: true, output: "" });
    },
  });
  return trace;
}

Deno.test("setUp says and runs nothing with an adapter", async () => {
  assertEquals(await setUpWith({ hasAdapter: () => Promise.resolve(true) }), { said: [], ran: [] });
});

Deno.test("setUp installs Mesa's driver for root on Debian, and says before what it runs and what prevents it", async () => {
  const before: string[] = [];
  const { said, ran } = await setUpWith({
    say: (line) => before.push(line),
    run: () => Promise.resolve({ success: before.length === 1, output: "nothing was said" }),
  });
  const command = "apt-get install -y libvulkan1 mesa-vulkan-drivers";
  assertEquals([ran, said], [["apt-get update", command], []]);
  assertEquals(before.length, 1, before.join());
  assertStringIncludes(
    before[0]!,
    `installing Mesa's software Vulkan driver, once: ${command} (not with FACET_SETUP=off)`,
  );
});

Deno.test("with FACET_SETUP=off, or anything else that it says, setUp installs nothing and names the command", async () => {
  for (const setting of ["off", "0", "no"]) {
    const { said, ran } = await setUpWith({ setting });
    assertEquals([said.length, ran], [1, []]);
    assertMatch(said[0]!, /going on without a GPU; for a software one, type: apt-get install -y libvulkan1/);
  }
  assertEquals((await setUpWith({ setting: "" })).ran.length, 2);
});

Deno.test("the task setup reads FACET_SETUP, and says nothing where there is an adapter", async () => {
  const { code, stdout, stderr } = await runTask("setup", [], { FACET_SETUP: "off" });
  const hasAdapter = await navigator.gpu?.requestAdapter() !== null;
  assertEquals([code, stdout], [0, ""]);
  assertMatch(stderr, hasAdapter ? /^$/ : /^facet: no WebGPU adapter found[^\n]*; going on without a GPU/);
});

Deno.test("setUp names the command to type where it is not root", async () => {
  const { said, ran } = await setUpWith({ isRoot: () => false });
  assertEquals(ran, []);
  assertMatch(said.join(), /^[^\n]*sudo apt-get install -y libvulkan1 mesa-vulkan-drivers$/);
});

Deno.test("setUp names the command of another package manager, and runs none", async () => {
  const { said, ran } = await setUpWith({ exists: (path) => path === "/usr/bin/pacman" });
  assertEquals(ran, []);
  assertStringIncludes(said.join(), "type: pacman -S");
});

Deno.test("setUp goes on where nothing can be installed", async () => {
  for (const deviation of [{ os: "darwin" }, { exists: () => false }]) {
    const { said, ran } = await setUpWith(deviation);
    assertEquals([said.length, ran], [1, []]);
    assertStringIncludes(said.join(), "going on without a GPU");
  }
});

Deno.test("setUp does not install again what is there and does not help", async () => {
  const { said, ran } = await setUpWith({ exists: () => true });
  assertEquals(ran, []);
  assertStringIncludes(said.join(), "is installed");
});

Deno.test("setUp installs from older package lists where the update fails", async () => {
  const run = ([...command]: readonly string[]): ReturnType<SetupHost["run"]> =>
    Promise.resolve({ success: !command.includes("update"), output: "no network" });
  const { said, ran } = await setUpWith({ run });
  assertEquals([said.length, ran.length], [1, 2]);
});

Deno.test("setUp shows the end of what apt-get said when it fails, and what to type", async () => {
  const output = "one\ntwo\nthree\nE: no network\n";
  const { said } = await setUpWith({ run: () => Promise.resolve({ success: false, output }) });
  const [, report = ""] = said;
  assertMatch(report, /^two\nthree\nE: no network\nfacet: .*type: apt-get install -y libvulkan1/);
});
