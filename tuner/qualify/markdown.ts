import { formatDuration, formatPercent, formatRate, formatSmall } from "../format.ts";
import { describeConfiguration, describeProfileProblem } from "../profile/describe.ts";
import { type EntryResult, isPassing, type Qualification } from "./qualification.ts";
import { describeAnswer, describeDevice, describeVerdict, explainResult } from "./words.ts";

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
  const [here, there] = [device, recorded].map((one) => escapeMarkdown(describeDevice(one)));
  const lines = [
    `## ${signOf(behind.length === 0)} ${escapeMarkdown(describeAnswer(qualification))}`,
    "",
    `On ${here}; recorded on ${there}. ${allowed}${formatDuration(elapsedNs)}.`,
    ...(note === null ? [] : ["", escapeMarkdown(note)]),
    "",
    "| | problem | configuration | recorded | measured | largest error |",
    "| --- | --- | --- | --: | --: | --: |",
    ...results.map(row),
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

function row(result: EntryResult): string {
  const { entry: { problem, configuration, result: recorded }, verdict, measured, verification } = result;
  const cells = [
    `${signOf(isPassing(verdict))} ${describeVerdict(result)}`,
    describeProfileProblem(problem),
    describeConfiguration(configuration),
    formatRate(recorded.cellsPerSecond),
    measured === null ? "" : formatRate(measured.cellsPerSecond),
    verification === null ? "" : formatSmall(verification.maxError),
  ];
  return `| ${cells.map(escapeMarkdown).join(" | ")} |`;
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" } as const;

/** Text that Markdown and HTML leave as it is, on one line. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[&<>]/g, (character) => ENTITIES[character as keyof typeof ENTITIES])
    .replace(/[\\`*_[\]|~#]/g, (character) => `\\${character}`)
    // a name after @ would notify somebody
    .replaceAll("@", "@\u200b");
}
