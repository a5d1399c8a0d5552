/**
 * Records chosen configurations of many problems in one go, every result verified, as journals that `replay` reads. One
 * process per core takes problem after problem. They compile side by side and verify side by side, which keeps the GPU
 * busy, so that its clock does not fall; a batch that is timed has the GPU for itself.
 *
 *     deno run -A bench/record_grids.ts PLAN.json OUT_DIRECTORY SECONDS [PROCESSES]
 *
 * @module
 */
import { CostModel } from "../models/cost_model.ts";
import { cellsOf } from "../kernels/stencils/stencil.ts";
import { detectDevice } from "../tuner/devices/device.ts";
import type { GpuDevice } from "../tuner/devices/gpu/gpu_device.ts";
import { refute } from "../tuner/devices/reference.ts";
import { isFailure } from "../tuner/devices/run_failure.ts";
import { DeviceSession } from "../tuner/devices/session.ts";
import { type Configuration, configurationKey, traversalKey } from "../tuner/configuration.ts";
import { type Evaluation, measurementOf } from "../tuner/measuring/evaluate.ts";
import { Journal } from "../tuner/profile/journal.ts";
import { hashKernels } from "../tuner/profile/kernel_source.ts";
import { describeProblem, problemOf } from "../tuner/profile/profile_problem.ts";
import type { ProfileProblem } from "../tuner/profile/profile_types.ts";
import { auto } from "../tuner/search/auto.ts";
import { deviceModelOf } from "../tuner/devices/device_model.ts";
import { enumerateSpace } from "../tuner/search/space.ts";
import { TRAVERSALS } from "../kernels/traversals/all.ts";
import { TOOL } from "../tuner/version.ts";

/** What to record of one problem. */
interface Task {
  readonly problem: ProfileProblem;
  /** Measured in any case. */
  readonly configurations: readonly Pick<Configuration, "traversal" | "parameters">[];
  /** How many more the default search finds, which learns from those. */
  readonly search: number;
  /** Bytes per second of the device's copy. */
  readonly copyBytesPerSecond: number;
}

/** A batch, and other work before it. */
const BATCH_NS = 20e6, HEAT_NS = 5e6, MOST_REPETITIONS = 400;

/** Kernels whose loops are longer compile for too long to be searched here. */
const MOST_INSTRUCTIONS = 7000;

/** Below this part of the best one batch is enough. */
const NEAR = 0.8;

/** Work that keeps the device's clock up. */
class Heater {
  #iterations = 1000;

  private constructor(
    readonly gpu: GpuDevice,
    readonly pipeline: GPUComputePipeline,
    readonly bindings: GPUBindGroup,
    readonly buffer: GPUBuffer,
  ) {}

  static async start(gpu: GpuDevice): Promise<Heater> {
    const { device } = gpu;
    const module = device.createShaderModule({
      code: `@group(0) @binding(0) var<storage, read_write> data: array<f32>;
        @compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3u) {
          var a = data[id.x + 1]; let n = i32(data[0]);
          for (var i = 0; i < n; i++) { a = fma(a, 0.999, 0.001); }
          data[id.x + 1] = a;
        }`,
    });
    const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST;
    const buffer = device.createBuffer({ size: 4 * (256 * 1056 + 1), usage });
    const entries = [{ binding: 0, resource: { buffer } }];
    const bindings = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    const heater = new Heater(gpu, pipeline, bindings, buffer);
    for (let i = 0; i < 3; i++) {
      const ns = await gpu.timed({
        passes: 1,
        record: (encoder, stamps) => heater.#record(encoder, stamps(), 4),
      });
      heater.#iterations = Math.max(10, Math.round(heater.#iterations * 4e6 / ns));
    }
    return heater;
  }

  /** Submits work of some length, and does not wait for it. */
  heat(ns: number): void {
    const encoder = this.gpu.device.createCommandEncoder();
    this.#record(encoder, {}, Math.ceil(ns / 1e6));
    this.gpu.device.queue.submit([encoder.finish()]);
  }

  #record(encoder: GPUCommandEncoder, descriptor: GPUComputePassDescriptor, count: number): void {
    this.gpu.device.queue.writeBuffer(this.buffer, 0, new Float32Array([this.#iterations]));
    const pass = encoder.beginComputePass(descriptor);
    pass.setPipeline(this.pipeline);
    pass.setBindGroup(0, this.bindings);
    for (let i = 0; i < count; i++) pass.dispatchWorkgroups(1056);
    pass.end();
  }
}

/** Many may hold it at once, or one alone, who need not wait for those that come later. */
class SharedLock implements Disposable {
  readonly #gate: Deno.FsFile;
  readonly #room: Deno.FsFile;

  constructor(directory: string) {
    const open = (name: string) =>
      Deno.openSync(`${directory}/${name}`, { read: true, write: true, create: true });
    [this.#gate, this.#room] = [open("gate"), open("room")];
  }

  async hold<T>(alone: boolean, action: () => Promise<T>): Promise<T> {
    await this.#gate.lock(true);
    await this.#room.lock(alone);
    await this.#gate.unlock();
    try {
      return await action();
    } finally {
      await this.#room.unlock();
    }
  }

  [Symbol.dispose](): void {
    this.#gate.close();
    this.#room.close();
  }
}

/** Takes problem after problem until all are taken or time is up. */
async function work(tasks: readonly Task[], out: string, untilMs: number): Promise<void> {
  const device = await detectDevice();
  using session = new DeviceSession({ device, checksReference: false });
  using lock = new SharedLock(out);
  const gpu = await session.openGpu();
  const heater = await lock.hold(true, () => Heater.start(gpu));
  for (const [i, task] of tasks.entries()) {
    const isMine = await Deno.mkdir(`${out}/task${i}`).then(() => true, () => false);
    if (isMine && Date.now() < untilMs) await record(task, `${out}/${i}.jsonl`);
  }

  async function record(task: Task, path: string): Promise<void> {
    const problem = problemOf(task.problem)!, { copyBytesPerSecond } = task;
    const updates = cellsOf(problem.grid) * problem.steps;
    const space = enumerateSpace(problem, {
      traversals: TRAVERSALS,
      limits: device.gpu!.limits,
      model: new CostModel(deviceModelOf(device, copyBytesPerSecond)),
    });
    const journal = await Journal.open(path, {
      tool: TOOL,
      device: { ...device, measured: { copyBytesPerSecond } },
      problem: describeProblem(problem),
      kernelSource: await hashKernels({ problem, space }),
    });
    const short = space.candidates.filter(({ demand }) =>
      (demand.loopInstructions ?? 0) <= MOST_INSTRUCTIONS
    );
    const candidates = new Map(
      [...short, ...space.candidates].map((one) => [
        traversalKey({ ...one, traversal: one.traversal.name }),
        one,
      ]),
    );
    const search = task.search > 0 ? auto.begin(short, { seed: 1 }) : undefined;
    await lock.hold(false, () => session.open(problem));
    let best = 0;
    const measured = new Set<string>();
    const take = async (configuration: Configuration): Promise<number | undefined> => {
      const key = configurationKey(configuration);
      if (measured.has(key)) return undefined;
      measured.add(key);
      const began = performance.now();
      const evaluation = await evaluate(configuration);
      await journal.record(evaluation, (performance.now() - began) * 1e6);
      if ("failure" in evaluation) return undefined;
      best = Math.max(best, evaluation.measurement.cellsPerSecond);
      return evaluation.measurement.cellsPerSecond;
    };
    for (const wanted of task.configurations) {
      const candidate = candidates.get(traversalKey(wanted));
      if (candidate === undefined || Date.now() > untilMs) continue;
      const rate = await take(candidate.configuration);
      if (short.includes(candidate)) search?.tell(candidate, { rate, spentNs: 0 });
    }
    for (let n = 0; n < task.search && Date.now() < untilMs; n++) {
      const candidate = search?.next();
      if (candidate === undefined) break;
      search!.tell(candidate, { rate: await take(candidate.configuration), spentNs: 0 });
    }
    journal.close();
    session.releaseReference();
    const { grid, steps: _, ...names } = task.problem;
    console.log(JSON.stringify(names), grid.join("x"), measured.size, (best / 1e9).toFixed(1));

    async function evaluate(configuration: Configuration): Promise<Evaluation> {
      let runner: Awaited<ReturnType<typeof session.prepare>> | undefined;
      try {
        runner = await session.prepare(problem, configuration);
        const { run, compileNs } = { run: runner.run, compileNs: runner.compileNs };
        const [firstNs, verification] = await lock.hold(false, async () => {
          await runner!.initialise();
          return [await run(1), await runner!.verify()] as const;
        });
        const failure = refute(verification);
        if (failure !== undefined) return { configuration, failure };
        const rates = await lock.hold(true, async () => {
          const rates: number[] = [];
          let eachNs = firstNs;
          // others ran beside the first one: it took longer than it takes alone
          while (rates.length === 0 || (rates.length < 2 && rates[0]! > NEAR * best)) {
            const repetitions = Math.min(MOST_REPETITIONS, Math.ceil(BATCH_NS / eachNs));
            heater.heat(HEAT_NS);
            const batchNs = await run(repetitions);
            eachNs = batchNs / repetitions;
            if (batchNs > BATCH_NS / 2 || repetitions === MOST_REPETITIONS) {
              rates.push(updates / eachNs * 1e9);
            }
          }
          return rates;
        });
        return {
          configuration,
          measurement: measurementOf(configuration, rates, { verification, compileNs }),
        };
      } catch (error) {
        if (!isFailure(error)) throw error;
        return { configuration, failure: { reason: error.reason, message: error.message } };
      } finally {
        runner?.dispose();
      }
    }
  }
}

if (import.meta.main) {
  const [plan, out, seconds, processes = `${navigator.hardwareConcurrency}`, untilMs] = Deno.args;
  const tasks: readonly Task[] = JSON.parse(await Deno.readTextFile(plan!));
  await Deno.mkdir(out!, { recursive: true });
  if (untilMs !== undefined) {
    await work(tasks, out!, Number(untilMs));
  } else {
    const until = `${Date.now() + 1000 * Number(seconds)}`;
    const args = [
      "run",
      "-A",
      "--cached-only",
      import.meta.filename!,
      plan!,
      out!,
      seconds!,
      processes,
      until,
    ];
    await Promise.all(Array.from({ length: Number(processes) }, async () => {
      await new Deno.Command(Deno.execPath(), { args, stdout: "inherit", stderr: "inherit" }).output();
    }));
  }
}
