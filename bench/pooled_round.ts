/**
 * One final round of what several runs chose: measured beside each other, do their choices differ?
 *
 * @module
 */
import { GpuDevice } from "../tuner/devices/gpu/gpu_device.ts";
import { makeReference } from "../tuner/devices/reference.ts";
import { prepare } from "../tuner/devices/runners.ts";
import { configurationKey } from "../tuner/configuration_key.ts";
import { type Finalist, finalRound } from "../tuner/measuring/final_round.ts";
import { problemOf } from "../tuner/profile/profile_problem.ts";
import type { ProfileEntry } from "../tuner/profile/schema.ts";

/** Time for the round. */
const ROUND_NS = 60e9;

/**
 * Measures the configurations of entries of one problem again, each once, in blocks.
 *
 * @returns what became of each; undefined where the CPU takes part in one, which no round compares
 */
export async function pooledRound(
  entries: readonly ProfileEntry[],
): Promise<readonly Finalist[] | undefined> {
  const [{ problem: { grid: [slices] } }] = entries;
  if (entries.some(({ configuration: { share } }) => share.gpuSlices < slices)) return undefined;
  using gpu = await GpuDevice.open();
  const problem = problemOf(entries[0].problem)!;
  const reference = await makeReference({ gpu, problem });
  const each = new Map(entries.map((entry) => [configurationKey(entry.configuration), entry]));
  const now = (): number => performance.now() * 1e6;
  return await finalRound(
    [...each.values()].map(({ configuration, result, verification }) => ({
      ...result,
      configuration,
      verification,
      spread: 0,
      compileNs: 0,
    })),
    {
      problem,
      prepare: (configuration) => prepare({ gpu, reference }, problem, configuration),
      seed: 1,
      deadlineNs: now() + ROUND_NS,
      now,
      signal: new AbortController().signal,
      onEvaluation: () => {},
    },
  );
}
