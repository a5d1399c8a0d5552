import { assertEquals, assertThrows } from "@std/assert";
import { findGpu, GpuChoiceError, listGpus, parseGpus } from "../../tuner/devices/gpu_choice.ts";

const LISTED = `0000:05:00.0|0x10de:0x2330|/dev/nvidia0|NVIDIA H100 80GB HBM3
0000:06:00.0|0x10de:0x2330|/dev/dri/renderD128,/dev/nvidia1|NVIDIA H100 80GB HBM3
0001:06:00.0|0x1002:0x74a1|/dev/dri/renderD129|
`;

Deno.test("a GPU is found by its index, its address, or a name that only it has", () => {
  const gpus = parseGpus(LISTED);
  assertEquals(gpus.map(({ files }) => files.length), [1, 2, 1]);
  const found = (wanted: string) => findGpu(gpus, wanted).pci;
  assertEquals(["1", "05:00.0", "0001:06:00.0", "00000000:06:00.0", "74A1"].map(found), [
    "0000:06:00.0",
    "0000:05:00.0",
    "0001:06:00.0",
    "0000:06:00.0",
    "0001:06:00.0",
  ]);
  const all = "one of: 0 NVIDIA H100 80GB HBM3 0000:05:00.0, 1 NVIDIA H100 80GB HBM3 0000:06:00.0, 2 GPU";
  for (const wanted of ["3", "h100", "06:00.0", "07:00.0", "arc"]) {
    assertThrows(() => found(wanted), GpuChoiceError, all);
  }
});

Deno.test("this machine's GPUs are listed, in the order of their addresses", async () => {
  const addresses = (await listGpus()).map(({ pci }) => pci);
  assertEquals(addresses, addresses.toSorted());
});
