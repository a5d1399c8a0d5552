import { assert, assertEquals } from "@std/assert";
import { MEASURED } from "../../../models/gpu_record.ts";
import { measureConstants } from "../../../tuner/devices/gpu/device_constants.ts";
import { testOnGpu } from "../../test_on_gpu.ts";

testOnGpu("what kinds of work take on a device is measured, each in nanoseconds of a round", async (gpu) => {
  const found = await measureConstants(gpu, 2); // few workgroups, for software
  assertEquals(Object.keys(found), Object.keys(MEASURED));
  // how long they take says how busy the machine is
  for (const [name, ns] of Object.entries(found)) assert(ns > 0 && Number.isFinite(ns), `${name}: ${ns}`);
}, { precision: "f64" });
