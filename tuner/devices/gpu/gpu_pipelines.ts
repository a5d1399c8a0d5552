import type { Pattern } from "../../../kernels/initial_field.ts";
import type { Layout } from "../../../kernels/layout.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { shadersOf } from "../../../kernels/traversals/storage.ts";
import { bindingsOf } from "../../../kernels/wgsl/shader.ts";
import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import { compareShader, copyShader, fillShader } from "../../../kernels/wgsl/fields.ts";
import { remembered } from "../../../kernels/remembered.ts";
import { whyNoPrecision } from "../device.ts";
import { RunFailure } from "../run_failure.ts";
import type { GpuDevice } from "./gpu_device.ts";
import { UNIFORM_STRIDE, Uniforms } from "./gpu_uniforms.ts";

/** One compiled shader with the layout of its bindings. */
export interface Pipeline {
  /** The bindings of its storage buffers; 2 is the uniforms. */
  readonly storage: readonly number[];
  readonly pipeline: GPUComputePipeline;
  readonly bindings: GPUBindGroupLayout;
}

/** The last pipelines of each device by their shader's text: what was compiled, or is being, is not compiled again soon. */
const compiledOn = remembered((_: GPUDevice) => new Map<string, Promise<Pipeline>>());

/** Pipelines that are kept of a device. */
const MOST_KEPT = 64;

/** Compiles one shader whose storage bindings are `storage` and whose binding 2 is the uniforms. */
export async function compile(
  gpu: GpuDevice,
  code: string,
  label: string,
  storage: readonly number[],
): Promise<Pipeline> {
  const known = compiledOn(gpu.device);
  const pipeline = known.get(code) ??
    gpu.checked("compile", () => makePipeline(gpu.device, code, label, storage));
  known.delete(code);
  known.set(code, pipeline);
  if (known.size > MOST_KEPT) known.delete(known.keys().next().value!);
  pipeline.catch(() => known.delete(code));
  return await pipeline;
}

/** The same on any device; errors are WebGPU's own, and nothing is kept. */
export async function makePipeline(
  device: GPUDevice,
  code: string,
  label: string,
  storage: readonly number[],
): Promise<Pipeline> {
  const visibility = GPUShaderStage.COMPUTE;
  const arrays = storage.map((binding) => {
    const isA = (space: string) => code.includes(`@binding(${binding}) var<${space}>`);
    const type = isA("uniform") ? "uniform" : isA("storage, read") ? "read-only-storage" : "storage";
    return { binding, visibility, buffer: { type } } as const;
  });
  const uniforms = { type: "uniform", hasDynamicOffset: true, minBindingSize: UNIFORM_STRIDE } as const;
  const entries = [...arrays, { binding: 2, visibility, buffer: uniforms }];
  const bindings = device.createBindGroupLayout({ entries });
  const module = device.createShaderModule({ code, label });
  const layout = device.createPipelineLayout({ bindGroupLayouts: [bindings] });
  const compute = { module, entryPoint: "main" };
  const pipeline = await device.createComputePipelineAsync({ label, layout, compute });
  return { pipeline, bindings, storage };
}

/** Compiles a plan's shaders. */
export async function compilePlan(
  gpu: GpuDevice,
  plan: GpuPlan,
): Promise<{ readonly pipelines: readonly Pipeline[]; readonly compileNs: number }> {
  const started = performance.now(), lacking = whyNoPrecision(gpu.device, plan.storage.layout);
  if (lacking !== undefined) throw new RunFailure("limits", lacking);
  const pipelines = await Promise.all(
    shadersOf(plan).map((shader) =>
      compile(gpu, shader.code, `${plan.label}: ${shader.label}`, bindingsOf(shader))
    ),
  );
  await warmUp(gpu, pipelines);
  return { pipelines, compileNs: (performance.now() - started) * 1e6 };
}

/**
 * Lets a driver in software compile pipelines: it does so when they are first dispatched, if only with no workgroups, and
 * what is timed should not wait for that.
 */
async function warmUp(gpu: GpuDevice, pipelines: readonly Pipeline[]): Promise<void> {
  if (!gpu.isSoftware) return;
  const most = Math.max(1, ...pipelines.map(({ storage }) => storage.length));
  const uniforms = await Uniforms.create(gpu), buffers: GPUBuffer[] = [];
  try {
    while (buffers.length < most) {
      buffers.push(await gpu.buffer(2 ** 16, GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM, "not used"));
    }
    await gpu.timed({
      passes: pipelines.length,
      record: (encoder, timestamps) =>
        pipelines.forEach((pipeline) =>
          uniforms.dispatch(encoder, pipeline, { on: [buffers], workgroups: [0, 1, 1], pass: timestamps() })
        ),
    });
  } finally {
    uniforms.destroy();
    for (const buffer of buffers) buffer.destroy();
  }
}

export function compileFill(
  gpu: GpuDevice,
  problem: Problem,
  layout: Layout,
  kind: Pattern,
): Promise<Pipeline> {
  return compile(gpu, fillShader(layout, problem.stencil.update, kind), "fill", [0]);
}

export function compileCompare(gpu: GpuDevice, mine: Layout, reference: Layout): Promise<Pipeline> {
  return compile(gpu, compareShader(mine, reference), "compare", [0, 1, 3]);
}

/** What copies a level to where it lies otherwise. */
export function compileCopy(gpu: GpuDevice, to: Layout, from: Layout): Promise<Pipeline> {
  return compile(gpu, copyShader(to, from), "copy", [0, 1]);
}
