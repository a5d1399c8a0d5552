import { requestAdapter } from "../devices/device.ts";
import { type CommandLine, commandToType, fileExists, findDriverPackage } from "./driver_package.ts";
import { quietMesa } from "../devices/mesa_environment.ts";

/** What a command left behind: both streams as text. */
export type CommandOutcome = { readonly success: boolean; readonly output: string };

/** The machine as {@linkcode setUp} sees it; tests give another one. */
export interface SetupHost {
  /** Whether WebGPU finds an adapter. */
  hasAdapter(): Promise<boolean>;
  readonly os: string;
  /** Asked only where there is no adapter. */
  isRoot(): boolean;
  exists(path: string): boolean;
  /** Runs a command to its end, silently. */
  run(command: CommandLine): Promise<CommandOutcome>;
  /** Shows a line to the person. */
  say(line: string): void;
}

/** Files by which the Vulkan loader finds Mesa's software driver. */
const SOFTWARE_DRIVERS = ["lvp_icd.x86_64.json", "lvp_icd.aarch64.json", "lvp_icd.json"]
  .map((name) => `/usr/share/vulkan/icd.d/${name}`);

/** Gives up on a mirror that does not answer, instead of hanging for minutes. */
const PATIENCE = ["-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=1"];

/**
 * Sees to it that WebGPU has an adapter, before `tune` and `test`. Says nothing where it has; installs Mesa's software
 * Vulkan driver where it can; otherwise names the command to type. Without a GPU the CPU still computes.
 */
export async function setUp(host: SetupHost): Promise<void> {
  if (await host.hasAdapter()) return;
  const goingOn = "going on without a GPU";
  if (host.os !== "linux") {
    const why = "the system's graphics driver is missing or too old";
    return host.say(`facet: no WebGPU adapter found: ${why}; ${goingOn}`);
  }
  if (SOFTWARE_DRIVERS.some((path) => host.exists(path))) {
    return host.say(`facet: no WebGPU adapter found, though Mesa's software driver is installed; ${goingOn}`);
  }
  const driver = findDriverPackage((path) => host.exists(path));
  if (driver === undefined) {
    const what = "install a Vulkan driver (Mesa has a software one)";
    return host.say(`facet: no WebGPU adapter found: ${what}; ${goingOn}`);
  }
  const isRoot = host.isRoot();
  const advice = `for a software one, type: ${commandToType(driver, isRoot)}`;
  if (!isRoot || driver.install[0] !== "apt-get") {
    return host.say(`facet: no WebGPU adapter found; ${goingOn}; ${advice}`);
  }
  host.say("facet: no WebGPU adapter found; installing Mesa's software Vulkan driver with apt-get, once");
  const [manager, ...install] = driver.install;
  // A failed update alone is no reason to stop: older package lists may do
  const update = await host.run([manager, ...PATIENCE, "update"]);
  const installation = await host.run([manager, ...PATIENCE, ...install]);
  if (installation.success) return;
  const { output } = update.success ? installation : update;
  const lastLines = output.trim().split("\n").slice(-3);
  host.say([...lastLines, `facet: apt-get failed; ${goingOn}; ${advice}`].join("\n"));
}

/** This machine. */
function thisHost(): SetupHost {
  return {
    hasAdapter: async () => await requestAdapter() !== null,
    os: Deno.build.os,
    isRoot: () => Deno.uid() === 0,
    exists: fileExists,
    run: async ([program, ...args]: CommandLine) => {
      const env = { DEBIAN_FRONTEND: "noninteractive" };
      const { success, stdout, stderr } = await new Deno.Command(program, { args, env, stdin: "null" })
        .output();
      const decoder = new TextDecoder();
      return { success, output: decoder.decode(stdout) + decoder.decode(stderr) };
    },
    say: (line) => console.error(line),
  };
}

if (import.meta.main) {
  try {
    quietMesa();
    await setUp(thisHost());
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(`facet: setup found no way to a GPU: ${message}`);
  }
  Deno.exit(0);
}
