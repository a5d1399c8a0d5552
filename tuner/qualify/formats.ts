/**
 * A qualification as text: in words, as Markdown and as JUnit XML.
 *
 * @module
 */
import type { DeviceDescription } from "../devices/device.ts";
import {
  formatDuration,
  formatError,
  formatMeasured,
  formatPercent,
  formatPlural,
  formatRate,
  formatSmall,
  withoutBidi,
} from "../format.ts";
import {
  describeConfiguration,
  describeCpu,
  describeGpu,
  describeProfileProblem,
} from "../profile/describe.ts";
import type { ProfileDevice } from "../profile/schema.ts";
import { type Answer, type EntryResult, isPassing, judgedInterval, type Qualification } from "./verdict.ts";

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
    lines.push(`measured ${formatMeasured(measured)}${tries}`, `recorded ${formatMeasured(entry.result)}`);
    if (least !== null) {
      const most = formatRate(judgedInterval(measured)[1], { like: least });
      lines.push(`passes from ${formatRate(least)}; measured up to ${most}`);
    }
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
  return `${describeGpu(gpu)}, ${describeCpu(cpu)}, ${os}, Deno ${deno}`;
}

/** A sign before the answer and each verdict, so that a long table is read at a glance. */
const signOf = (isGood: boolean): string => isGood ? "✅" : "❌";

/**
 * Writes Markdown for a pull request's comment or a CI job's summary: the answer, a table with a row for each entry, and
 * what lies behind every verdict that is no pass.
 */
export function markdownOf(qualification: Qualification): string {
  const { results, device, recorded, tolerance, note, elapsedNs } = qualification;
  const behind = results.filter(({ verdict }) => !isPassing(verdict));
  const allowed = tolerance === null ? "" : `Tolerance ${formatPercent(tolerance)}, `;
  const [here, there] = [device, recorded].map((described) => escapeMarkdown(describeDevice(described)));
  const lines = [
    `## ${signOf(behind.length === 0)} ${escapeMarkdown(describeAnswer(qualification))}`,
    "",
    `On ${here}; recorded on ${there}. ${allowed}${formatDuration(elapsedNs)}.`,
    ...(note === null ? [] : ["", escapeMarkdown(note)]),
    "",
    "| | problem | configuration | recorded | measured | largest error |",
    "| --- | --- | --- | --: | --: | --: |",
    ...results.map(markdownRow),
    ...behind.flatMap((result) => [
      "",
      `**${escapeMarkdown(describeVerdict(result))}**: ` +
      escapeMarkdown(describeProfileProblem(result.entry.problem)),
      "",
      ...explainResult(result).map((line) => `- ${escapeMarkdown(line)}`),
    ]),
  ];
  return lines.join("\n") + "\n";
}

/** The same where there were no results. */
export const markdownError = (text: string): string => `## ${signOf(false)} ${escapeMarkdown(text)}\n`;

function markdownRow(result: EntryResult): string {
  const { entry: { problem, configuration, result: recorded }, verdict, measured, verification } = result;
  const cells = [
    `${signOf(isPassing(verdict))} ${describeVerdict(result)}`,
    describeProfileProblem(problem),
    describeConfiguration(configuration),
    formatRate(recorded.cellsPerSecond),
    measured === null ? "" : formatRate(measured.cellsPerSecond, { like: recorded.cellsPerSecond }),
    verification === null ? "" : formatSmall(verification.maxError),
  ];
  return `| ${cells.map(escapeMarkdown).join(" | ")} |`;
}

/** Text that Markdown and HTML leave as it is, on one line; a name after @ would notify somebody. */
export function escapeMarkdown(text: string): string {
  return withoutBidi(text.replace(/\s+/g, " "))
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replace(/[\\`*_[\]|~#]/g, (character) => `\\${character}`)
    .replaceAll("@", "@\u200b");
}

/**
 * Writes JUnit XML, which CI systems show as test results: a test case for each entry. A failed device is an error, any
 * other verdict but a pass a failure, for what was not run or compared has not passed either. The format is that of
 * https://github.com/testmoapp/junitxml, the common part of what its readers take.
 *
 * @param timestamp as `2026-11-21T10:00:00Z`
 */
export function junitOf(qualification: Qualification, timestamp: string): string {
  const { results, elapsedNs, device, recorded, tolerance, note } = qualification;
  const count = (kind: string): number => results.filter((result) => junitKind(result) === kind).length;
  const totals = `tests="${results.length}" failures="${count("failure")}" errors="${count("error")}" ` +
    `time="${seconds(elapsedNs)}"`;
  const properties = Object.entries({
    device: describeDevice(device),
    recorded: describeDevice(recorded),
    ...(tolerance === null ? {} : { tolerance: `${tolerance}` }),
    ...(note === null ? {} : { note }),
  }).map(([name, value]) => `      <property name="${name}" value="${escapeXml(value)}"/>`);
  return junitSuite(totals, timestamp, [
    `    <properties>`,
    ...properties,
    `    </properties>`,
    ...results.map(testCase),
  ]);
}

/** The same of a request that was refused, or a device that failed, before there were results: one case, an error. */
export function junitError(text: string, timestamp: string): string {
  const error = `<error type="refused" message="${escapeXml(text)}"/>`;
  const line = `    <testcase classname="facet" name="qualify" time="0.000">${error}</testcase>`;
  return junitSuite(`tests="1" failures="0" errors="1" time="0.000"`, timestamp, [line]);
}

function junitSuite(totals: string, timestamp: string, lines: readonly string[]): string {
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites name="facet qualify" ${totals}>`,
    `  <testsuite name="facet qualify" ${totals} timestamp="${escapeXml(timestamp)}">`,
    ...lines,
    `  </testsuite>`,
    `</testsuites>`,
    "",
  ].join("\n");
}

/** The element that a test case contains. */
function junitKind({ verdict }: EntryResult): "failure" | "error" | "passed" {
  return isPassing(verdict) ? "passed" : verdict === "failed" ? "error" : "failure";
}

function testCase(result: EntryResult): string {
  const { entry: { problem, configuration }, elapsedNs, verdict, reason } = result;
  // the configuration is no part of the name, by which CI systems know a case again after the next `tune`
  const kind = junitKind(result), name = escapeXml(describeProfileProblem(problem));
  const text = escapeXml([describeConfiguration(configuration), ...explainResult(result)].join("\n"));
  const message = escapeXml(`${describeVerdict(result)}${reason === null ? "" : `: ${reason}`}`);
  const classname = `facet.${escapeXml(problem.stencil)}`;
  return [
    `    <testcase classname="${classname}" name="${name}" time="${seconds(elapsedNs)}">`,
    ...(kind === "passed" ? [] : [`      <${kind} type="${verdict}" message="${message}">${text}</${kind}>`]),
    `      <system-out>${text}</system-out>`,
    `    </testcase>`,
  ].join("\n");
}

function seconds(timeNs: number): string {
  return (timeNs / 1e9).toFixed(3);
}

/**
 * Text for an element or an attribute. What XML 1.0 has no place for, as control characters, becomes U+FFFD; an
 * attribute's line ends and tabs would be read as spaces.
 */
export function escapeXml(text: string): string {
  return withoutBidi(text.toWellFormed()).replace(/[\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"'\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
