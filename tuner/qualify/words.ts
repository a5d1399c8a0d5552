import { formatError, formatInterval, formatPercent, formatPlural, formatRate } from "../format.ts";
import type { DeviceDescription } from "../devices/device.ts";
import { gpuName } from "../devices/vendors.ts";
import type { ProfileDevice } from "../profile/schema.ts";
import type { Answer, EntryResult, Qualification } from "./qualification.ts";
import type { Rate } from "./verdict.ts";

/** The verdict in short: `slower by 67%`. */
export function describeVerdict({ verdict, ratio }: EntryResult): string {
  if (ratio === null || (verdict !== "slower" && verdict !== "faster")) return verdict;
  return `${verdict} by ${formatPercent(Math.abs(1 - ratio))}`;
}

/** The figures or the reason behind a verdict, one line each. */
export function explainResult(result: EntryResult): string[] {
  const { entry, reason, verification, measured, leastCellsPerSecond: least, attempts } = result;
  const lines = reason === null ? [] : [reason];
  if (measured !== null) {
    const tries = attempts > 1 ? `, the best of ${attempts} measurements` : "";
    lines.push(`measured ${describeRate(measured)}${tries}`, `recorded ${describeRate(entry.result)}`);
    if (least !== null) lines.push(`passes from ${formatRate(least)} upwards`);
  }
  if (verification !== null) {
    lines.push(`verified against ${verification.against}: ${formatError(verification)}`);
    const { othersVerified } = result;
    if (othersVerified > 0) {
      const others = formatPlural(othersVerified, "other configuration");
      lines.push(`${others} of this entry verified as well: ties, and the best of each traversal`);
    }
    if (entry.bestOfEach === undefined) lines.push("the profile lists no best of each traversal to verify");
  }
  return lines;
}

/** A rate with its interval. */
function describeRate({ cellsPerSecond, confidence95 }: Rate): string {
  return `${formatRate(cellsPerSecond)}${formatInterval(confidence95)}`;
}

const ANSWERS: Readonly<Record<Answer, string>> = {
  yes: "Qualified",
  no: "Not qualified",
  "device failed": "The device failed",
  unanswered: "Not qualified, as not everything could be run and compared",
};

/** The answer in a sentence, and how many entries have each verdict: `Qualified: 2 pass, 1 faster`. */
export function describeAnswer({ answer, results, interrupted }: Qualification): string {
  const groups = Map.groupBy(results, ({ verdict }) => verdict);
  const counts = [...groups].map(([verdict, { length }]) => `${length} ${verdict}`);
  return `${interrupted ? "Interrupted" : ANSWERS[answer]}: ${counts.join(", ")}`;
}

/** A device in a line: `NVIDIA H100 80GB HBM3, Intel(R) Xeon(R) Processor (16 cores), linux x86_64`. */
export function describeDevice({ gpu, cpu, os, deno }: DeviceDescription | ProfileDevice): string {
  const name = gpu === null ? "no GPU" : gpuName(gpu);
  const kind = gpu?.isFallback ? " (software)" : "";
  return `${name}${kind}, ${cpu.model} (${formatPlural(cpu.cores, "core")}), ${os}, Deno ${deno}`;
}
