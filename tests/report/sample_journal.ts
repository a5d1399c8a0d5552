import type { Configuration, Measurement } from "../../tuner/configuration.ts";
import type { JournalRecord } from "../../tuner/profile/journal_format.ts";
import type { Profile } from "../../tuner/profile/schema.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { DEVICE, ENTRY, PROBLEM, PROFILE } from "../profile/sample_profile.ts";

const RUN = {
  kind: "run",
  version: 1,
  run: "a",
  startedAt: "2026-11-21T10:00:00.000Z",
  kernelSource: "x",
} as const;

/** Values of a torre's parameters: 27,648 combinations. */
const LISTS = {
  dts: [1, 2, 3, 4, 5, 6, 7, 8],
  nt: [8, 16, 24, 32, 48, 64, 80, 96, 128],
  bands: [1, 2, 4, 8],
  zPerThread: [1, 2, 4],
  threads: [64, 128],
  chunk: [2, 4, 8, 16],
  unroll: [1, 2],
  loads: ["when needed", "tier start"],
} as const;

/** A profile and its journal with this many made-up measurements of torres, and some of stepwise kernels. */
export function sampleReport(
  count: number,
  failures = 0,
): { profile: Profile; journal: readonly JournalRecord[] } {
  const share = { cpuSlices: 0, gpuSlices: 100, exchangeEvery: 96, cpuWorkers: 0 };
  const random = seededRandom(1);
  const journal: JournalRecord[] = [
    { ...RUN, tool: PROFILE.tool, device: DEVICE, problem: PROBLEM },
  ];
  const names = Object.keys(LISTS) as (keyof typeof LISTS)[];
  const measurements: Measurement[] = [];
  const measure = (traversal: string, parameters: Configuration["parameters"], rate: number): void => {
    const measurement: Measurement = {
      configuration: { traversal, parameters, share },
      cellsPerSecond: rate,
      confidence95: [0.99 * rate, 1.01 * rate],
      samples: [0.99 * rate, rate, 1.01 * rate],
      spread: 0.02,
      verification: { maxError: 1e-6, bound: 1e-4, against: "gpu stepwise 64x4x1" },
      compileNs: 1e8,
    };
    measurements.push(measurement);
    journal.push({ kind: "measurement", run: "a", at: RUN.startedAt, measurement });
  };
  for (const threadsY of [2, 4, 8]) {
    measure("stepwise", { threadsZ: 80, threadsY, threadsX: 1 }, 200e9 + threadsY * 1e9);
  }
  // every combination has its number; a step without a divisor in common visits all of them
  const total = names.reduce((product, name) => product * LISTS[name].length, 1);
  for (let i = 0, at = 0; i < count; i++, at = (at + 10007) % total) {
    let rest = at;
    const parameters = Object.fromEntries(names.map((name) => {
      const value: number | string = LISTS[name][rest % LISTS[name].length]!;
      rest = Math.floor(rest / LISTS[name].length);
      return [name, value];
    }));
    const [dts = 0, nt = 0, , zPerThread = 0] = names.map((name) => Number(parameters[name]));
    const fit = Math.exp(-(((dts - 5) / 3) ** 2) - (Math.log2(nt / 96) / 3) ** 2 - 0.2 * (zPerThread - 1));
    measure("diamond-torre", parameters, 780e9 * fit * (0.7 + 0.3 * random()));
  }
  const reasons = ["compile", "limits", "incorrect", "timeout", "device-lost", "out-of-memory"] as const;
  for (let i = 0; i < failures; i++) {
    const configuration = { traversal: "diamond-torre", parameters: { dts: 20 + i, nt: 8 }, share };
    const failure = { reason: reasons[i % reasons.length]!, message: `<b>message ${i}</b>` };
    journal.push({ kind: "failure", run: "a", at: RUN.startedAt, configuration, failure });
  }
  measurements.sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  const best = measurements[0]!, second = measurements[1]!;
  const { configuration, cellsPerSecond, confidence95, samples, verification } = best;
  const tie = ({ configuration, cellsPerSecond, confidence95 }: Measurement) => ({
    configuration,
    cellsPerSecond,
    confidence95,
  });
  const entry = {
    ...ENTRY,
    configuration,
    result: { ...ENTRY.result, cellsPerSecond, confidence95, samples },
    tieSet: [tie(best), tie(second)],
    verification,
    search: { ...ENTRY.search, evaluated: measurements.length + failures, spaceSize: 27648 },
  };
  return { profile: { ...PROFILE, entries: [entry] }, journal };
}
