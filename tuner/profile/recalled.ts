import { isDeepStrictEqual } from "node:util";
import type { Evaluation } from "../measuring/evaluate.ts";
import { hasSameKernels } from "./kernel_source.ts";
import { configurationKey } from "../configuration.ts";
import { configurationIn, type JournalHeader, type JournalRecord, type RunRecord } from "./journal_format.ts";
import { isSameProblem } from "./profile_problem.ts";

/**
 * What a run need not measure again, by {@linkcode configurationKey}: what was measured with the same device, driver,
 * kernels and problem. Of several measurements of one configuration the one with most samples counts, of equals the
 * last. What failed and was not measured since is not tried again, except if it ran out of memory: other programs may
 * have used it.
 */
export function recallEvaluations(
  records: readonly JournalRecord[],
  header: JournalHeader,
): Map<string, Evaluation> {
  const runs = new Map<string, RunRecord>();
  const recalled = new Map<string, Evaluation>();
  for (const record of records) {
    if (record.kind === "run") {
      if (isSameSystem(record, header) && isSameProblem(record.problem, header.problem)) {
        runs.set(record.run, record);
      }
      continue;
    }
    const run = runs.get(record.run);
    const configuration = configurationIn(record);
    if (run === undefined || !hasSameKernels(configuration, run.kernelSource, header.kernelSource)) continue;
    const key = configurationKey(configuration), before = recalled.get(key);
    if (record.kind === "failure") {
      const { failure } = record;
      if (failure.reason !== "out-of-memory") recalled.set(key, { configuration, failure });
      continue;
    }
    const { measurement } = record;
    const samples = before !== undefined && "measurement" in before ? before.measurement.samples.length : 0;
    if (measurement.samples.length >= samples) recalled.set(key, { configuration, measurement });
  }
  return recalled;
}

/** The same hardware, driver, system and Deno, whose part it is to compile for the driver. */
function isSameSystem(a: JournalHeader, b: JournalHeader): boolean {
  const { measured: _, ...device } = a.device, { measured: __, ...otherDevice } = b.device;
  return a.driver === b.driver && isDeepStrictEqual(device, otherDevice);
}
