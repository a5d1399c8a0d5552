/**
 * Which of several GPUs is taken. WebGPU offers one, and no choice between equal ones; but Mesa's device-select layer for
 * Vulkan puts the GPU that DRI_PRIME names first, whoever made its driver. Some versions take another than the named
 * one, so a process of its own tries first, and the GPU counts whose device files it then holds open.
 *
 * @module
 */
import { requestAdapter } from "./device.ts";
import { shell } from "./shell.ts";
import { gpuName } from "./vendors.ts";

export interface PciGpu {
  /** Where it is, as `0000:00:06.0`. */
  readonly pci: string;
  /** What it is called; its vendor's and its own number where the driver does not say. */
  readonly name: string;
  readonly files: readonly string[];
}

/** What cannot be chosen, and why. */
export class GpuChoiceError extends Error {
  override readonly name = "GpuChoiceError";
}

/**
 * Prints a line for every display or 3D controller: address, numbers, device files, name. A shell reads it: Deno reads
 * /sys and /proc with all permissions only.
 */
const LIST = `
for d in /sys/bus/pci/devices/*; do
  case "$(cat $d/class 2>/dev/null)" in 0x0300*|0x0302*) ;; *) continue ;; esac
  pci=\${d##*/}; info=/proc/driver/nvidia/gpus/$pci/information; files=; name=
  for r in $d/drm/renderD*; do [ -e "$r" ] && files="$files,/dev/dri/\${r##*/}"; done
  if [ -r $info ]; then
    name=$(sed -n 's/^Model:[ \\t]*//p' $info)
    files="$files,/dev/nvidia$(sed -n 's/^Device Minor:[ \\t]*//p' $info)"
  fi
  echo "$pci|$(cat $d/vendor):$(cat $d/device)|\${files#,}|$name"
done`;

/** This machine's GPUs, in the order of their addresses; none where the system does not tell. */
export async function listGpus(): Promise<PciGpu[]> {
  if (Deno.build.os !== "linux") return [];
  return parseGpus(await shell(LIST));
}

/** The GPUs in what {@linkcode listGpus} reads. */
export function parseGpus(text: string): PciGpu[] {
  return text.split("\n").flatMap((line) => {
    const [pci, numbers, files = "", name] = line.split("|");
    if (numbers === undefined) return [];
    return [{ pci: pci!, name: name || `GPU ${numbers}`, files: files.split(",").filter(Boolean) }];
  });
}

/** The GPU that an index, a part of a name, or a PCI address means. @throws {GpuChoiceError} if it is not exactly one */
export function findGpu(gpus: readonly PciGpu[], wanted: string): PciGpu {
  const small = wanted.toLowerCase();
  const [, domain, device] = /^(?:([\da-f]{4,8}):)?([\da-f]{2}:[\da-f]{2}\.\d)$/.exec(small) ?? [];
  const address = domain === undefined ? device : `${domain.slice(-4)}:${device}`;
  const found = /^\d+$/.test(small)
    ? gpus.slice(Number(small), Number(small) + 1)
    : gpus.filter(({ pci, name }) => address ? pci.endsWith(address) : name.toLowerCase().includes(small));
  const all = gpus.map(({ pci, name }, i) => `${i} ${name} ${pci}`).join(", ") || "none";
  if (found.length === 1) return found[0]!;
  throw new GpuChoiceError(
    `Cannot take GPU "${wanted}": wanted an index, a name or a PCI address of one of: ${all}`,
  );
}

/**
 * Sees to it that this process takes one GPU; to be called before it touches WebGPU.
 *
 * @throws {GpuChoiceError} if there is no such GPU, or it cannot be chosen here
 */
export async function takeGpu(wanted: string): Promise<PciGpu> {
  const onBus = await listGpus();
  const gpus = onBus.length > 0 ? onBus : await listAdapter(), gpu = findGpu(gpus, wanted);
  if (gpus.length === 1) return gpu;
  const opened: string[] = [];
  // first as it should be, then by any other name that leads there
  for (const named of [gpu, ...gpus.filter((other) => other !== gpu)]) {
    const prime = `pci-${named.pci.replace(/[:.]/g, "_")}`;
    const files = await tryOpening(prime);
    if (files.length > 0 && files.every((file) => gpu.files.includes(file))) {
      Deno.env.set("DRI_PRIME", prime);
      return gpu;
    }
    opened.push(files.join(" and ") || "no GPU");
  }
  const found = [...new Set(opened)].join(", ");
  throw new GpuChoiceError(
    `Cannot take GPU "${wanted}" (${gpu.pci}): with DRI_PRIME Vulkan opens ${found}; ` +
      "Mesa's device-select layer (apt-get install mesa-vulkan-drivers) can choose",
  );
}

/** Takes the GPU that an option or else FACET_GPU names; undefined where neither does. */
export async function takeWantedGpu(option: string | undefined): Promise<PciGpu | undefined> {
  const wanted = option ?? Deno.env.get("FACET_GPU");
  return wanted ? await takeGpu(wanted) : undefined;
}

/**
 * Takes the next of several GPUs, nothing where there is no choice. Where it cannot be taken, `note` says why, and what is
 * taken is the one that WebGPU offers.
 */
export async function takeInTurn(turn: number): Promise<{ taken?: PciGpu | undefined; note?: string }> {
  const gpus = await listGpus();
  if (gpus.length < 2) return {};
  return await takeGpu(`${turn % gpus.length}`).then((taken) => ({ taken }), async (error) => {
    if (!(error instanceof GpuChoiceError)) throw error;
    const files = await tryOpening(),
      taken = gpus.find((gpu) => files.some((file) => gpu.files.includes(file)));
    return { taken, note: `${error.message}: it takes the one that WebGPU offers` };
  });
}

/** What WebGPU offers where no GPU is on the PCI bus, as a software one. */
async function listAdapter(): Promise<PciGpu[]> {
  const adapter = await requestAdapter();
  return adapter === null ? [] : [{ pci: "", name: gpuName(adapter.info), files: [] }];
}

/** Device files that a process opens for its WebGPU device, if DRI_PRIME is this, or as it is. */
async function tryOpening(prime?: string): Promise<string[]> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-run", new URL("./opened_gpu.ts", import.meta.url).href],
    env: prime === undefined ? {} : { DRI_PRIME: prime },
    stderr: "null",
  }).output();
  return success ? new TextDecoder().decode(stdout).split(/\s+/).filter(Boolean) : [];
}
