/** A command: the program and its arguments. */
export type CommandLine = readonly [program: string, ...args: string[]];

/** How one system installs Mesa's software Vulkan driver. */
export interface DriverPackage {
  /** Path of the package manager; where it exists, this is the system. */
  readonly manager: string;
  /** The command that installs the driver, for root. */
  readonly install: CommandLine;
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

/** Whether a file exists. */
export function fileExists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
