/**
 * `deno task balance`: shares a grid between the GPU and the CPU by B2R's Eq. 8 and prints the iterations, or
 * measures the time of a step for many R beside what the cost model predicts. Writes no file.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { balanceOnDevices } from "../sharing/balance_run.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { makeReference } from "../devices/reference.ts";
import { type Devices, prepare } from "../devices/runners.ts";
import { CpuPool } from "../devices/cpu/wasm_workers.ts";
import type { Configuration } from "../configuration.ts";
import { isFailure } from "../devices/run_failure.ts";
import { DeviceError } from "../devices/device_error.ts";
import { MAX_WORKERS } from "../problem/resolve_problem.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { evaluate, type Evaluation } from "../measuring/evaluate.ts";
import { sweepExchange } from "../sharing/exchange_sweep.ts";
import { enumerateSpace } from "../search/space.ts";
import { AttendedRun } from "./attended_run.ts";
import {
  type BalanceContext,
  balanceRecord,
  renderBalance,
  renderSweep,
  sweepRecord,
} from "./balance_report.ts";
import { EXIT } from "./report_error.ts";
import { type Options, type Reader, type Values, whole } from "./option.ts";
import { COMMON } from "./options.ts";
import { command } from "./parse_options.ts";
import { PROBLEM, type RequestedProblem, resolveOptions } from "./problem_options.ts";
import { RequestError } from "../problem/request_error.ts";

/** Copy bandwidth that configurations are compared with where none was measured: 1 TB/s. */
const ASSUMED_BYTES_PER_SECOND = 1e12;

/** R that anyone could mean; a typing error beyond. */
const readPeriod = whole(1, 10_000);

/** `A..B` as every R from A to B. */
const readSweep: Reader<readonly number[]> = (text, refuse, earlier) => {
  const [first, last] = (/^(\d+)\.\.(\d+)$/.exec(text) ?? []).slice(1)
    .map((part) => readPeriod(part, refuse, earlier));
  if (first === undefined || last === undefined || first > last) {
    return refuse("two whole numbers, the smaller first, as 1..32");
  }
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
};

const { noGpu: _, traversal, ...BALANCED } = PROBLEM;

/** The options of `balance`: the problem as for `tune`, where to start, and which R. */
export const OPTIONS = {
  ...BALANCED,
  traversal: {
    value: "NAME",
    help: `of the GPU's traversals: ${TRAVERSALS.map(({ name }) => name).join(", ")}`,
    read: traversal.read,
    default: "stepwise",
  },
  cpuWorkers: { ...PROBLEM.cpuWorkers, read: whole(1, MAX_WORKERS) },
  startShare: COMMON.startShare,
  exchangeEvery: {
    value: "R",
    help: "steps between two exchanges (default: the best predicted)",
    read: readPeriod,
    notWith: { "--sweep-exchange": "give either one R or several" },
  },
  sweepExchange: {
    value: "A..B",
    help: "measure these steps between exchanges beside their prediction",
    read: readSweep,
  },
  passes: {
    value: "N",
    help: "with --sweep-exchange: how often each is measured",
    read: whole(1, 1000),
    default: "7",
    onlyWith: { "--sweep-exchange": "only a sweep is repeated" },
  },
  json: COMMON.json,
  quiet: COMMON.quiet,
} as const satisfies Options;

/** Runs the command: exit code 1 where the balance does not settle, or no share verifies. */
export const run = command({
  usage: "deno task balance [OPTIONS]",
  about: "Shares a grid between the GPU and the CPU until both take equally long, and says what that brings.",
  options: OPTIONS,
}, async (options) => {
  const request = await resolveOptions("balance", { ...options, traversal: [options.traversal] });
  const { problem } = request;
  if (request.device.gpu === null) {
    throw new RequestError("Cannot balance: there is no WebGPU adapter to share a grid with");
  }
  if (problem.grid[0] < 2) {
    throw new RequestError(
      `Cannot balance: wanted a grid of at least 2 slices to share: found ${problem.grid.join("x")}`,
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
});

/** The best predicted configuration of the traversal that was asked for. */
function bestPredicted(problem: Problem, { traversals, device }: RequestedProblem): Configuration {
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
    throw new RequestError(`Cannot use --traversal ${traversal}: ${reason}`);
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
  readonly request: RequestedProblem;
  readonly problem: Problem;
  readonly configuration: Configuration;
  readonly attended: AttendedRun;
}

async function balanceDevices(options: Values<typeof OPTIONS>, setup: BalanceSetup): Promise<number> {
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
          progress.update({ stage: options.sweepExchange === undefined ? "balance" : "sweep", done, total }),
      };
      if (options.sweepExchange !== undefined) {
        const sweep = await sweepExchange({
          ...common,
          periods: options.sweepExchange,
          passes: options.passes,
        });
        progress.clear();
        if (sweep === undefined) {
          if (signal.aborted) return EXIT.interrupted;
          throw new RequestError(
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
