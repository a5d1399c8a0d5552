import { type EntryResult, isPassing, type Qualification } from "./qualification.ts";
import { describeConfiguration, describeProfileProblem } from "../profile/describe.ts";
import { describeDevice, describeVerdict, explainResult } from "./words.ts";

/**
 * Writes JUnit XML, which CI systems show as test results: a test case for each entry. A failed device is an error, any
 * other verdict but a pass a failure, for what was not run or compared has not passed either. The format is that of
 * https://github.com/testmoapp/junitxml, the common part of what its readers take.
 *
 * @param timestamp as `2026-11-21T10:00:00Z`
 */
export function junitOf(qualification: Qualification, timestamp: string): string {
  const { results, elapsedNs, device, recorded, tolerance, note } = qualification;
  const kinds = results.map(kindOf);
  const count = (kind: string): number => kinds.filter((one) => one === kind).length;
  const totals = `tests="${results.length}" failures="${count("failure")}" errors="${count("error")}" ` +
    `time="${seconds(elapsedNs)}"`;
  const properties = Object.entries({
    device: describeDevice(device),
    recorded: describeDevice(recorded),
    ...(tolerance === null ? {} : { tolerance: `${tolerance}` }),
    ...(note === null ? {} : { note }),
  }).map(([name, value]) => `      <property name="${name}" value="${escapeXml(value)}"/>`);
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites name="facet qualify" ${totals}>`,
    `  <testsuite name="facet qualify" ${totals} timestamp="${escapeXml(timestamp)}">`,
    `    <properties>`,
    ...properties,
    `    </properties>`,
    ...results.map(testCase),
    `  </testsuite>`,
    `</testsuites>`,
    "",
  ].join("\n");
}

/** The element that a test case contains. */
function kindOf({ verdict }: EntryResult): "failure" | "error" | "passed" {
  return isPassing(verdict) ? "passed" : verdict === "failed" ? "error" : "failure";
}

function testCase(result: EntryResult): string {
  const { entry: { problem, configuration }, elapsedNs, verdict, reason } = result;
  const kind = kindOf(result), text = escapeXml(explainResult(result).join("\n"));
  const name = escapeXml(`${describeProfileProblem(problem)}: ${describeConfiguration(configuration)}`);
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

/** Text for an element or an attribute. What XML 1.0 has no place for, as control characters, becomes U+FFFD. */
export function escapeXml(text: string): string {
  return text.toWellFormed()
    // deno-lint-ignore no-control-regex -- these are what is meant
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
    // an attribute's line ends and tabs would be read as spaces
    .replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
