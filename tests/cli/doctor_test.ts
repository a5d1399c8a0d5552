import { assertEquals, assertStringIncludes } from "@std/assert";
import { advise, type Machine, render } from "../../tuner/cli/doctor.ts";
import { fitLines } from "../../tuner/cli/terminal.ts";
import { DRIVER_PACKAGES } from "../../tuner/cli/setup.ts";
import type { GpuDescription } from "../../tuner/devices/device.ts";
import { H100_LIMITS } from "../h100_limits.ts";
import { runCommand, runTask } from "./run_task.ts";

const GPU: GpuDescription = {
  vendor: "4318",
  architecture: "",
  device: "9008",
  description: "NVIDIA H100 80GB HBM3",
  isFallback: false,
  limits: H100_LIMITS,
  features: ["timestamp-query"],
  timestampQuery: true,
};

/** A machine that lacks nothing. */
const GOOD: Machine = {
  device: { gpu: GPU, cpu: { model: "AMD EPYC", cores: 16 }, os: "linux x86_64", deno: "2.9.6" },
  gpus: [],
  granted: [],
  webAssembly: { simd: true, relaxedSimd: true, threads: true },
  memory: { totalBytes: 128 * 2 ** 30, availableBytes: 120.5 * 2 ** 30 },
};

const DEBIAN = { driverPackage: DRIVER_PACKAGES[0], isRoot: false };
const HEADING = { version: "1.2.3", system: "Debian GNU/Linux 12 (bookworm)" };

Deno.test("render says in plain words what was found", () => {
  assertEquals(fitLines(render(HEADING, GOOD, []), 100).split("\n"), [
    "Facet 1.2.3 on Deno 2.9.6, Debian GNU/Linux 12 (bookworm), linux x86_64",
    "",
    "GPU  NVIDIA H100 80GB HBM3",
    "     kind               hardware",
    "     vendor             NVIDIA",
    "     architecture       not reported by the driver",
    "     timestamp queries  yes: the device itself times the kernels",
    "     largest binding    2 GiB: a time level of more than 536,870,911 cells is cut into sections",
    "     largest buffer     4 GiB",
    "     workgroup memory   48 KiB: bounds tiles and exchange slots",
    "     workgroup          at most 1024 threads, 1024 × 1024 × 64 along the axes",
    "     dispatch           at most 65,535 workgroups along an axis",
    "     double precision   no: the CPU computes it",
    "     granted unlisted   nothing",
    "",
    "CPU  AMD EPYC, 16 cores",
    "     WebAssembly SIMD  yes: four f32 at a time",
    "     relaxed SIMD      yes",
    "     shared memory     yes: workers share one grid",
    "     memory            128 GiB, 120.5 GiB available",
    "",
    "Nothing is missing.",
  ]);
});

Deno.test("render copes with a machine that has and reports nothing", () => {
  const device = { gpu: null, cpu: { model: "aarch64 CPU", cores: 1 }, os: "linux aarch64", deno: "2.9.6" };
  const findings = {
    device,
    gpus: [],
    granted: [],
    webAssembly: { simd: false, relaxedSimd: false, threads: false },
    memory: null,
  };
  const advice = [{ text: "Do this", command: "do --it" }];
  const text = fitLines(render({ version: "1.2.3", system: "" }, findings, advice), 100);
  const words = ["Deno 2.9.6, linux aarch64\n", "GPU  none", "1 core\n", "memory            unknown"];
  for (const part of [...words, "  - Do this:\n    do --it"]) assertStringIncludes(text, part);
});

Deno.test("advise finds nothing to better on a good machine", () => {
  assertEquals(advise(GOOD, DEBIAN), []);
});

Deno.test("advise names each thing that is missing, and it alone", () => {
  const { device } = GOOD;
  const deviations: Array<[name: string, findings: Machine, part: string]> = [
    ["no adapter", { ...GOOD, device: { ...device, gpu: null } }, "no WebGPU adapter"],
    ["software", { ...GOOD, device: { ...device, gpu: { ...GPU, isFallback: true } } }, "is software"],
    [
      "no timestamps",
      { ...GOOD, device: { ...device, gpu: { ...GPU, timestampQuery: false } } },
      "10 ms tick",
    ],
    ["one core", { ...GOOD, device: { ...device, cpu: { ...device.cpu, cores: 1 } } }, "Only 1 core is"],
    ["no SIMD", { ...GOOD, webAssembly: { ...GOOD.webAssembly, simd: false } }, "no SIMD"],
    ["no threads", { ...GOOD, webAssembly: { ...GOOD.webAssembly, threads: false } }, "no shared memory"],
    ["little memory", { ...GOOD, memory: { totalBytes: 2 ** 31, availableBytes: 2 ** 28 } }, "Only 0.3 GiB"],
  ];
  for (const [name, findings, part] of deviations) {
    const advice = advise(findings, DEBIAN);
    assertEquals(advice.length, 1, name);
    assertStringIncludes(advice[0]?.text ?? "", part);
  }
});

Deno.test("advise gives the command that installs a driver on this system", () => {
  const findings = { ...GOOD, device: { ...GOOD.device, gpu: null } };
  assertEquals(
    advise(findings, DEBIAN)[0]?.command,
    "sudo apt-get install -y libvulkan1 mesa-vulkan-drivers",
  );
  assertEquals(advise(findings, { driverPackage: undefined, isRoot: true })[0]?.command, undefined);
});

Deno.test("doctor prints JSON, and nothing else", async () => {
  const { code, stdout, stderr } = await runCommand("doctor", ["--json"]);
  assertEquals([code, stderr], [0, ""]);
  const { device, webAssembly, granted } = JSON.parse(stdout);
  assertEquals([webAssembly.simd, device.deno], [true, Deno.version.deno]);
  const listed = new Set(device.gpu?.features ?? []);
  // what f64 needs was asked for together, and each alone
  assertEquals(listed.has("wgpu-shader-f64"), granted.includes("wgpu-shader-f64"));
  assertEquals(new Set(granted).size, granted.length);
});

Deno.test({
  name: "the task doctor says what to do without an adapter",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    // the loader finds no driver, and OpenGL may not step in
    const noAdapter = { VK_DRIVER_FILES: "/none", VK_ICD_FILENAMES: "/none", DENO_WEBGPU_BACKEND: "vulkan" };
    const { code, stdout, stderr } = await runTask("doctor", [], { XDG_RUNTIME_DIR: "", ...noAdapter });
    assertEquals([code, stderr], [0, ""]);
    assertStringIncludes(stdout, "GPU  none");
    assertStringIncludes(stdout, "What would help");
  },
});
