/**
 * The process that evaluates, with traversals among those that it finds that hang, end the process, or lose the
 * device. It is started in place of `evaluator_main.ts`.
 *
 * @module
 */
import { TRAVERSALS } from "../../../kernels/traversals/all.ts";
import { serveEvaluations } from "../../../tuner/measuring/process/evaluator_main.ts";
import { FAULTY } from "./faulty_traversals.ts";

let device: GPUDevice | undefined;
const request = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function (descriptor) {
  device = await request.call(this, descriptor);
  return device;
};

(TRAVERSALS as unknown[]).push(...FAULTY({ loseDevice: () => device?.destroy() }));
await serveEvaluations();
