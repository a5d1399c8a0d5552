import { existsSync } from "node:fs";
import { requestAdapter } from "../devices/device.ts";
import { quietMesa } from "../devices/mesa_environment.ts";

/** How one system installs Mesa's software Vulkan driver. */
export interface DriverPackage {
  /** Path of the package manager; where it exists, this is the system. */
  readonly manager: string;
  /** The command that installs the driver, for root. */
  readonly install: readonly [program: string, ...args: string[]];
}

/** The systems whose packages are known. */
export const DRIVER_PACKAGES: readonly DriverPackage[] = [
  { manager: "/usr/bin/apt-get", install: ["apt-get", "install", "-y", "libvulkan1", "mesa-vulkan-drivers"] },
  { manager: "/usr/bin/dnf", install: ["dnf", "install", "-y", "vulkan-loader", "mesa-vulkan-drivers"] },
  { manager: "/usr/bin/zypper", install: ["zypper", "install", "-y", "libvulkan1", "libvulkan_lvp"] },
  {
    manager: "/usr/bin/pacman",
    install: ["pacman", "-S", "--noconfirm", "vulkan-icd-loader", "vulkan-swrast"],
  },
];

/** The package of this system; undefined on a system that is not known. */
export function findDriverPackage(exists: (path: string) => boolean): DriverPackage | undefined {
  return DRIVER_PACKAGES.find(({ manager }) => exists(manager));
}

/** The command to type, for root or for anyone. */
export function commandToType({ install }: DriverPackage, isRoot: boolean): string {
  return [...(isRoot ? [] : ["sudo"]), ...install].join(" ");
}

/** The machine as {@linkcode setUp} sees it; tests give another one. */
export interface SetupHost {
  /** Whether WebGPU finds an adapter. */
  hasAdapter(): Promise<boolean>;
  readonly os: string;
  /** What the variable FACET_SETUP says: `off` where nothing may be installed. */
  readonly setting: string | undefined;
  /** Asked only where there is no adapter. */
  isRoot(): boolean;
  exists(path: string): boolean;
  /** Runs a command to its end, silently; what it wrote is one text. */
  run(command: DriverPackage["install"]): Promise<{ readonly success: boolean; readonly output: string }>;
  say(line: string): void;
}

/** Files by which the Vulkan loader finds Mesa's software driver. */
const SOFTWARE_DRIVERS = ["lvp_icd.x86_64.json", "lvp_icd.aarch64.json", "lvp_icd.json"]
  .map((name) => `/usr/share/vulkan/icd.d/${name}`);

/** Gives up on a mirror that does not answer, instead of hanging for minutes. */
const PATIENCE = ["-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=1"];

/**
 * Sees to it that WebGPU has an adapter, before `tune` and `test`. Says nothing where it has; installs Mesa's software
 * Vulkan driver where it can and may, and says so before; otherwise names the command to type. Without a GPU the CPU
 * still computes.
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
  // whatever else it says, nobody sets it to have something installed
  const isOff = (host.setting ?? "") !== "";
  if (isOff || !isRoot || driver.install[0] !== "apt-get") {
    return host.say(`facet: no WebGPU adapter found; ${goingOn}; ${advice}`);
  }
  const [manager, ...install] = driver.install;
  const typed = driver.install.join(" "), what = "Mesa's software Vulkan driver";
  host.say(`facet: no WebGPU adapter found; installing ${what}, once: ${typed} (not with FACET_SETUP=off)`);
  // A failed update alone is no reason to stop: older package lists may do
  const update = await host.run([manager, ...PATIENCE, "update"]);
  const installation = await host.run([manager, ...PATIENCE, ...install]);
  if (installation.success) return;
  const { output } = update.success ? installation : update;
  const lastLines = output.trim().split("\n").slice(-3);
  host.say([...lastLines, `facet: apt-get failed; ${goingOn}; ${advice}`].join("\n"));
}

function thisHost(): SetupHost {
  return {
    hasAdapter: async () => await requestAdapter() !== null,
    os: Deno.build.os,
    setting: Deno.env.get("FACET_SETUP"),
    isRoot: () => Deno.uid() === 0,
    exists: existsSync,
    run: async ([program, ...args]) => {
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
  if (Deno.args.length > 0) {
    console.error(`facet: setup takes no options: found ${Deno.args[0]}`);
    Deno.exit(2);
  }
  try {
    quietMesa();
    await setUp(thisHost());
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(`facet: setup found no way to a GPU: ${message}`);
  }
  Deno.exit(0);
}
