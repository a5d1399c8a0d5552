/**
 * `deno task balance`: shares a grid between the GPU and the CPU by B2R's Eq. 8 and prints the iterations, or
 * measures the time of a step for many R beside what the cost model predicts. Writes no file.
 *
 * @module
 */
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { balanceOnDevices } from "../sharing/balance_run.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { makeReference } from "../devices/reference.ts";
import { type Devices, prepare } from "../devices/runners.ts";
import { CpuPool } from "../devices/cpu/wasm_workers.ts";
import type { Configuration } from "../configuration.ts";
import { DEFAULT_STEPS, defaultGrid } from "../problem/default_problem.ts";
import { DeviceError } from "../devices/device_error.ts";
import { evaluate, type Evaluation } from "../measuring/evaluate.ts";
import { sweepExchange } from "../sharing/exchange_sweep.ts";
import { enumerateSpace } from "../search/space.ts";
import { AttendedRun } from "./attended_run.ts";
import { type BalanceCommandOptions, parseBalanceOptions } from "./balance_options.ts";
import {
  type BalanceContext,
  balanceRecord,
  renderBalance,
  renderSweep,
  sweepRecord,
} from "./balance_report.ts";
import { EXIT } from "./report_error.ts";
import { type Request, resolveRequest } from "./request.ts";
import { UserError } from "./user_error.ts";
import { isFailure } from "../devices/run_failure.ts";

/** Copy bandwidth that configurations are compared with where none was measured: 1 TB/s. */
const ASSUMED_BYTES_PER_SECOND = 1e12;

/**
 * Runs the command.
 *
 * @param args its options
 * @returns the exit code: 1 where the balance does not settle, or no share verifies
 */
export async function run(args: string[]): Promise<number> {
  const options = parseBalanceOptions(args, { traversals: TRAVERSALS.map(({ name }) => name) });
  if ("help" in options) {
    console.log(options.help);
    return EXIT.done;
  }
  const request = await resolveRequest(options);
  if (request.device.gpu === null) {
    throw new UserError("Cannot balance: there is no WebGPU adapter to share a grid with");
  }
  const { limits, isFallback } = request.device.gpu;
  const problem: Problem = {
    stencil: request.stencil,
    grid: options.grid ?? defaultGrid(request.stencil, { limits, isFallback }),
    boundary: options.boundary,
    steps: options.steps ?? DEFAULT_STEPS,
  };
  if (problem.grid[0] < 2) {
    throw new UserError(
      `Cannot balance: wanted a grid of 2 slices or more to share: found ${problem.grid.join("x")}`,
    );
  }
  const configuration = bestPredicted(problem, request);
  using attended = new AttendedRun(options);
  try {
    return await balanceDevices(options, { request, problem, configuration, attended });
  } catch (error) {
    if (isFailure(error)) throw new DeviceError(`The devices failed: ${error.reason}: ${error.message}`);
    throw error;
  }
}

/** The best predicted configuration of the traversal that was asked for. */
function bestPredicted(problem: Problem, { traversals, device }: Request): Configuration {
  const space = enumerateSpace(problem, {
    traversals,
    limits: device.gpu!.limits,
    device: { copyBytesPerSecond: ASSUMED_BYTES_PER_SECOND },
  });
  if (space.candidates.length === 0) {
    const [{ traversal, reason }] = [
      ...space.refused,
      ...space.infeasible.map(({ traversal, example }) => ({ traversal, reason: example })),
    ];
    throw new UserError(`Cannot use --traversal ${traversal}: ${reason}`);
  }
  const { traversal, parameters } = space.candidates.reduce((best, one) =>
    one.predicted > best.predicted ? one : best
  );
  const share = {
    cpuSlices: 0,
    gpuSlices: problem.grid[0],
    exchangeEvery: problem.steps,
    cpuWorkers: 0,
  };
  return { traversal: traversal.name, parameters, share };
}

/** What the command found out before it opened the devices. */
interface BalanceSetup {
  readonly request: Request;
  readonly problem: Problem;
  readonly configuration: Configuration;
  readonly attended: AttendedRun;
}

async function balanceDevices(options: BalanceCommandOptions, setup: BalanceSetup): Promise<number> {
  const { request: { cpuWorkers }, problem, configuration, attended: { signal, progress } } = setup;
  using gpu = await GpuDevice.open();
  if (gpu === undefined) throw new DeviceError("The GPU could not be opened");
  const cpuPool = await CpuPool.create({ workers: cpuWorkers });
  try {
    progress.update({ stage: "reference", done: 0, total: 0 });
    const reference = await makeReference({ gpu, problem });
    try {
      const devices = { gpu, cpuPool, reference };
      const context = await measureAlone(devices, setup);
      const { gpuAlone, cpuAlone } = context;
      if (signal.aborted) return EXIT.interrupted;
      const common = {
        ...devices,
        problem,
        configuration,
        alone: { cpu: cpuAlone?.cellsPerSecond, gpu: gpuAlone?.cellsPerSecond },
        now,
        signal,
        onProgress: (done: number, total: number) =>
          progress.update({ stage: options.sweep === undefined ? "balance" : "sweep", done, total }),
      };
      if (options.sweep !== undefined) {
        const sweep = await sweepExchange({ ...common, periods: options.sweep, passes: options.passes });
        progress.clear();
        if (sweep === undefined) {
          if (signal.aborted) return EXIT.interrupted;
          throw new UserError(
            `Cannot use --sweep-exchange: no R fits: two shares of ${
              problem.grid[0]
            } slices hold no ghost zones`,
          );
        }
        print(options.json, () => sweepRecord(sweep, context), () => renderSweep(sweep, context));
        return signal.aborted ? EXIT.interrupted : sweep.failed.length > 0 ? EXIT.no : EXIT.done;
      }
      const result = await balanceOnDevices({
        ...common,
        startShare: options.startShare,
        exchangeEvery: options.exchangeEvery === undefined ? undefined : [options.exchangeEvery],
      });
      progress.clear();
      print(options.json, () => balanceRecord(result, context), () => renderBalance(result, context));
      if (signal.aborted) return EXIT.interrupted;
      const isWrong = result.evaluations.some((evaluation) => "failure" in evaluation);
      if (gpu.lost !== undefined) return EXIT.deviceFailed;
      return result.settled && !isWrong ? EXIT.done : EXIT.no;
    } finally {
      reference.dispose();
    }
  } finally {
    cpuPool.dispose();
  }
  function print(json: boolean, record: () => unknown, text: () => string): void {
    console.log(json ? JSON.stringify(record(), null, 2) : text());
  }
}

/** Verifies and times each device with the whole grid. */
async function measureAlone(
  devices: Devices,
  { request: { device, cpuWorkers }, problem, configuration, attended: { progress } }: BalanceSetup,
): Promise<BalanceContext> {
  const [slices] = problem.grid;
  const measure = async (configuration: Configuration): Promise<Evaluation> =>
    await evaluate(configuration, () => prepare(devices, problem, configuration), { problem, now });
  progress.update({ stage: "GPU alone", done: 0, total: 0 });
  const gpuAlone = await measure(configuration);
  progress.update({ stage: "CPU alone", done: 0, total: 0 });
  const share = { cpuSlices: slices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers };
  const cpuAlone = await measure({ traversal: "stepwise", parameters: {}, share });
  return {
    problem,
    device,
    gpuAlone: "measurement" in gpuAlone ? gpuAlone.measurement : undefined,
    cpuAlone: "measurement" in cpuAlone ? cpuAlone.measurement : undefined,
  };
}

function now(): number {
  return performance.now() * 1e6;
}
