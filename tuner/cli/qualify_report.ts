/**
 * What `qualify` says at its end: for people as text, for machines as a record.
 *
 * @module
 */
import { describeConfiguration, describeProfileProblem } from "../profile/describe.ts";
import type { EntryResult, Qualification } from "../qualify/qualify.ts";
import { describeAnswer, describeDevice, describeVerdict, explainResult } from "../qualify/words.ts";
import { formatDuration, formatPercent } from "../format.ts";

/** The outcome as a record for `--json`. */
export function qualificationRecord(qualification: Qualification, profile: string) {
  const { answer, device, recorded, tolerance, note, interrupted, elapsedNs } = qualification;
  return {
    profile,
    answer,
    device,
    recorded,
    tolerance,
    note,
    results: qualification.results.map(entryRecord),
    interrupted,
    elapsedMs: elapsedNs / 1e6,
  };
}

function entryRecord({ entry, elapsedNs, ...result }: EntryResult) {
  const { problem, configuration, result: { cellsPerSecond, confidence95 } } = entry;
  return {
    problem,
    configuration,
    recorded: { cellsPerSecond, confidence95 },
    ...result,
    elapsedMs: elapsedNs / 1e6,
  };
}

/** The outcome as text for people. */
export function renderQualification(qualification: Qualification): string {
  const { device, recorded, tolerance, note, results, elapsedNs } = qualification;
  const here = describeDevice(device), there = describeDevice(recorded);
  const lines = [
    here,
    ...(here === there ? [] : [`recorded on ${there}`]),
    ...(note === null ? [] : [note]),
    "",
  ];
  for (const result of results) {
    const { problem, configuration } = result.entry;
    lines.push(
      `${describeVerdict(result)}: ${describeProfileProblem(problem)}`,
      `  ${describeConfiguration(configuration)}`,
      ...explainResult(result).map((line) => `  ${line}`),
      "",
    );
  }
  const isCompared = results.some(({ leastCellsPerSecond }) => leastCellsPerSecond !== null);
  const allowed = isCompared ? `, tolerance ${formatPercent(tolerance)}` : "";
  lines.push(`${describeAnswer(qualification)}${allowed}, in ${formatDuration(elapsedNs)}`);
  if (qualification.answer === "unanswered" && results.some(({ verdict }) => verdict === "not comparable")) {
    lines.push("--numerics asks for right results only.");
  }
  return lines.join("\n");
}
