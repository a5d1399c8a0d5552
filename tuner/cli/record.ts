/**
 * `deno task record`: measures a whole space into a file for `replay`.
 *
 * @module
 */
import { dirname } from "node:path";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import type { Configuration } from "../configuration.ts";
import { defaultGrid, defaultSteps } from "../problem/default_problem.ts";
import { DeviceError } from "../devices/device_error.ts";
import { measureCopyBandwidth } from "../measuring/copy_bandwidth.ts";
import { ProfileError, reasonOf } from "../profile/profile_error.ts";
import { describeProblem, isSameProblem } from "../profile/profile_problem.ts";
import { checkFileWritable, isSameDevice, replaceFile } from "../profile/store.ts";
import { chooseConfigurations } from "../replay/choose_configurations.ts";
import { keyOf, type RecordedConfiguration } from "../replay/replay_space.ts";
import { recordConfigurations } from "../replay/recorder.ts";
import { packSpace, readSpaceFile, type SpaceHeader } from "../replay/space_file.ts";
import { hashKernels, hasSameKernels } from "../profile/kernel_source.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { enumerateSpace } from "../search/space.ts";
import { AttendedRun } from "./attended_run.ts";
import { formatCount, formatDuration, formatRate } from "./format.ts";
import { ProcessEvaluator } from "../measuring/process/process_evaluator.ts";
import { parseRecordOptions, type RecordOptions } from "./record_options.ts";
import { EXIT } from "./report_error.ts";
import { resolveRequest } from "./request.ts";
import { measuredDevice, TOOL } from "./tune.ts";
import { UserError } from "./user_error.ts";
import { isFailure } from "../devices/run_failure.ts";

/** Time between two checkpoints: what a crash can cost. */
const CHECKPOINT_NS = 10e9;

/**
 * Runs the command.
 *
 * @param args its options
 * @returns the exit code
 */
export async function run(args: string[]): Promise<number> {
  const options = parseRecordOptions(args, { traversals: TRAVERSALS.map(({ name }) => name) });
  if ("help" in options) {
    console.log(options.help);
    return EXIT.done;
  }
  return await record(options);
}

async function record(options: RecordOptions): Promise<number> {
  const { out, resume, limit, seed, workers, eachLimitMs } = options;
  const earlier = await earlierRecording(out, resume);
  await checkFileWritable(out);
  await Deno.mkdir(dirname(out), { recursive: true });
  const { header, configurations, request } = await plan(options, earlier?.header);
  if (earlier !== undefined) refuseOther(out, earlier.header, { header, configurations });
  const recorded: RecordedConfiguration[] = [...earlier?.configurations ?? []];
  const known = new Set(recorded.map(keyOf));
  const left = configurations.filter((configuration) => !known.has(keyOf(configuration)));

  using attended = new AttendedRun(options);
  const { progress, signal } = attended;
  const began = now();
  let saved = began, done = 0, best = recorded.reduce((most, { rate = 0 }) => Math.max(most, rate), 0);
  const save = async (): Promise<void> => {
    try {
      await replaceFile(out, packSpace({ header, configurations: recorded }));
    } catch (error) {
      throw new ProfileError(`Cannot write ${out}: ${reasonOf(error)}`);
    }
    saved = now();
  };
  try {
    progress.update({ stage: "record", done: recorded.length, total: configurations.length });
    const { workersGivenUp } = await recordConfigurations(left, {
      workers,
      signal,
      start: (turn) => ProcessEvaluator.start({ problem: request, limitMs: eachLimitMs, turn }),
      async onRecorded(one) {
        recorded.push(one);
        done++;
        best = Math.max(best, one.rate ?? 0);
        progress.update({
          stage: "record",
          done: recorded.length,
          total: Math.max(recorded.length, configurations.length),
          bestCellsPerSecond: best || undefined,
          leftNs: (now() - began) / done * (left.length - done),
        });
        if (now() - saved > CHECKPOINT_NS) await save();
      },
    });
    progress.clear();
    if (workersGivenUp > 0) {
      console.error(`The device has no memory for ${workers} processes: ${workersGivenUp} were given up.`);
    }
  } catch (error) {
    throw isFailure(error)
      ? new DeviceError(`The process that measures cannot start: ${error.reason}: ${error.message}`)
      : error;
  } finally {
    if (recorded.length > 0) await save();
  }
  console.log(summary(recorded, { header, out, elapsedNs: now() - began, done }));
  if (signal.aborted) return EXIT.interrupted;
  return recorded.some(({ rate }) => rate !== undefined) ? EXIT.done : EXIT.no;

  /** What there is to measure, and under what. */
  async function plan(options: RecordOptions, earlier: SpaceHeader | undefined) {
    const { stencil, traversals, device } = await resolveRequest(options);
    if (device.gpu === null) throw new UserError("Cannot record: there is no WebGPU adapter");
    const { limits, isFallback } = device.gpu;
    const grid = options.grid ?? defaultGrid(stencil, { limits, isFallback });
    const { equation, variant, timeStep, boundary, steps = defaultSteps(stencil) } = options;
    const problem: Problem = { stencil, grid, boundary, steps };
    using gpu = await GpuDevice.open();
    if (gpu === undefined) throw new DeviceError("The GPU that was there a moment ago is gone");
    // the ranking, and so the sample, follows the bandwidth: what goes on keeps the first one's
    const copyBytesPerSecond = earlier?.device.measured.copyBytesPerSecond ??
      await measureCopyBandwidth(gpu, { isFallback });
    const space = enumerateSpace(problem, {
      traversals,
      limits,
      device: deviceModelOf(device, copyBytesPerSecond),
    });
    if (space.candidates.length === 0) {
      const reasons = space.refused.map(({ traversal, reason }) => `${traversal}: ${reason}`).join("; ");
      throw new UserError(`Cannot record: no configuration can run this problem: ${reasons}`);
    }
    const share = { cpuSlices: 0, gpuSlices: grid[0], exchangeEvery: steps, cpuWorkers: 0 };
    const header: SpaceHeader = {
      tool: TOOL,
      recordedAt: new Date().toISOString(),
      device: JSON.parse(JSON.stringify(measuredDevice(device, copyBytesPerSecond))),
      problem: JSON.parse(JSON.stringify(describeProblem(problem))),
      kernelSource: await hashKernels({ problem, space }),
      space: { candidates: space.candidates.length, limit: limit ?? null, seed },
    };
    return {
      header,
      configurations: chooseConfigurations(space.candidates, { limit, seed }).map((
        { traversal, parameters },
      ): Configuration => ({ traversal: traversal.name, parameters, share })),
      request: { equation: equation.name, variant, timeStep, grid, boundary, steps },
    };
  }
}

/** What the file holds already, to go on with; a file that is not to be gone on with is not overwritten. */
async function earlierRecording(out: string, resume: boolean) {
  const exists = await Deno.stat(out).then(() => true, () => false);
  if (!exists) return undefined;
  if (!resume) {
    throw new UserError(
      `Cannot record to ${out}: it exists: --resume goes on with it, another --out leaves it alone`,
    );
  }
  return await readSpaceFile(out);
}

/** Refuses to go on with what was recorded under anything else. */
function refuseOther(
  out: string,
  earlier: SpaceHeader,
  { header, configurations }: { header: SpaceHeader; configurations: readonly Configuration[] },
): void {
  const hasOtherKernels = configurations.some((configuration) =>
    !hasSameKernels(configuration, earlier.kernelSource, header.kernelSource)
  );
  const other = !isSameDevice(earlier.device, header.device)
    ? "on another device"
    : !isSameProblem(earlier.problem, header.problem)
    ? `for another problem, ${JSON.stringify(earlier.problem)}`
    : hasOtherKernels
    ? "with other kernels"
    : undefined;
  if (other !== undefined) {
    throw new UserError(`Cannot go on with ${out}: it was recorded ${other}: choose another file with --out`);
  }
}

function summary(
  recorded: readonly RecordedConfiguration[],
  { header, out, elapsedNs, done }: { header: SpaceHeader; out: string; elapsedNs: number; done: number },
): string {
  const rates = recorded.flatMap(({ rate }) => rate ?? []);
  const failures = Object.entries(Object.groupBy(
    recorded.flatMap(({ failure }) => failure ?? []),
    (reason) => reason,
  )).map(([reason, list]) => `${list!.length} ${reason}`);
  return [
    `${formatCount(recorded.length)} of ${formatCount(header.space.candidates)} configurations, ` +
    `${formatCount(done)} of them now, in ${formatDuration(elapsedNs)}`,
    `${formatCount(rates.length)} with a rate` +
    (rates.length > 0 ? `, the best ${formatRate(rates.reduce((a, b) => Math.max(a, b)))}` : "") +
    (failures.length > 0 ? `; failed: ${failures.join(", ")}` : ""),
    `Recorded: ${out}`,
  ].join("\n");
}

function now(): number {
  return performance.now() * 1e6;
}
