/**
 * The process that evaluates, with a stopwatch: after every submission it appends to the file that its argument names
 * how long the device worked, and how long the host waited. See `overhead.ts`.
 *
 * @module
 */
import { GpuDevice } from "../tuner/devices/gpu/gpu_device.ts";
import { serveEvaluations } from "../tuner/measuring/process/evaluator_main.ts";

const [path = "submissions.jsonl"] = Deno.args;
const timed = GpuDevice.prototype.timed;
GpuDevice.prototype.timed = async function (recording) {
  const began = performance.now();
  const deviceNs = await timed.call(this, recording);
  const hostNs = (performance.now() - began) * 1e6;
  Deno.writeTextFileSync(path, `${JSON.stringify({ deviceNs, hostNs })}\n`, { append: true });
  return deviceNs;
};
await serveEvaluations();
