import { takeWantedGpu } from "../devices/gpu_choice.ts";
import { formatDuration, formatPercent } from "../format.ts";
import { describeConfiguration, describeProfileProblem, describeStencil } from "../profile/describe.ts";
import { checkFileWritable } from "../profile/store.ts";
import { type Answer, type EntryResult, type Qualification, qualify } from "../qualify/qualify.ts";
import {
  describeAnswer,
  describeDevice,
  describeVerdict,
  explainResult,
  junitError,
  junitOf,
  markdownError,
  markdownOf,
} from "../qualify/formats.ts";
import { AttendedRun } from "./attended_run.ts";
import { slicesOf } from "../shares.ts";
import { COMMON, type Options, output, readPercentage, type Values } from "./options.ts";
import { command } from "./parse_options.ts";
import { PROBLEM } from "./problem_options.ts";
import { readProfileSaying, writeText } from "./read_inputs.ts";
import { EXIT, reportError } from "./report_error.ts";
import { print } from "./terminal.ts";

export const OPTIONS = {
  profile: COMMON.profile,
  tolerance: {
    value: "PERCENT",
    help: "how far below the recorded interval a rate may fall (default 10%)",
    read: readPercentage,
    notWith: { "--numerics": "no rates are compared" },
  },
  quick: { help: "end within a minute: fewer samples" },
  numerics: { help: "verify results and compare no rates: for profiles of other devices" },
  junit: output("write the outcome as JUnit XML"),
  markdown: output("write the outcome as Markdown"),
  gpu: { ...PROBLEM.gpu, notWith: {} },
  json: COMMON.json,
  quiet: COMMON.quiet,
} as const satisfies Options;

const EXIT_OF: Readonly<Record<Answer, number>> = {
  yes: EXIT.done,
  no: EXIT.no,
  unanswered: EXIT.no,
  "device failed": EXIT.deviceFailed,
};

export const run = command({
  usage: "deno task qualify --profile FILE [OPTIONS]",
  about: `Measures every entry of a profile on this device, and verifies the best of each traversal.
Exit code 0: every entry passes; 1: at least one is slower or wrong, or could not be run or compared;
2: the profile or an option is wrong; 3: the device failed; 130, 143: interrupted.`,
  options: OPTIONS,
}, async (options) => {
  const write = async (junit: string, markdown: string): Promise<void> => {
    if (options.junit !== undefined) await writeText(options.junit, junit);
    if (options.markdown !== undefined) await writeText(options.markdown, markdown);
  };
  return await qualifyAll(options, write).catch(async (error): Promise<never> => {
    const { text } = reportError(error);
    await write(junitError(text, new Date().toISOString()), markdownError(text)).catch(() => {});
    throw error;
  });
});

/** Qualifies; what it found is written as JUnit and as Markdown. */
async function qualifyAll(
  options: Values<typeof OPTIONS>,
  write: (junit: string, markdown: string) => Promise<void>,
): Promise<number> {
  const { profile: path, tolerance } = options;
  const profile = await readProfileSaying(path);
  await takeWantedGpu(options.gpu);
  for (const out of [options.junit, options.markdown]) {
    if (out !== undefined) await checkFileWritable(out);
  }
  using attended = new AttendedRun(options);
  const { progress, signal } = attended;
  const qualification = await qualify(profile, {
    ...(tolerance === undefined ? {} : { tolerance }),
    quick: options.quick,
    numericsOnly: options.numerics,
    signal,
    onProgress: ({ stage, entry: { problem, configuration: { share } }, done, total }) => {
      const devices = slicesOf(share).map(({ device }) => device.toUpperCase()).join(" and ");
      const what = `${describeStencil(problem)}, ${problem.grid.join("x")} on ${devices}`;
      progress.update({ stage: stage === "again" ? `slower, again: ${what}` : what, done, total });
    },
  });
  progress.clear();
  await write(junitOf(qualification, new Date().toISOString()), markdownOf(qualification));
  print(options.json ? qualificationRecord(qualification, path) : renderQualification(qualification));
  return qualification.interrupted ? attended.exitCode : EXIT_OF[qualification.answer];
}

/** The outcome as a record for `--json`. */
export function qualificationRecord(qualification: Qualification, profile: string) {
  const { elapsedNs, ...found } = qualification;
  return { profile, ...found, results: found.results.map(entryRecord), elapsedMs: elapsedNs / 1e6 };
}

function entryRecord({ entry, elapsedNs, ...result }: EntryResult) {
  const { problem, configuration, result: { cellsPerSecond, confidence95 } } = entry;
  const recorded = { cellsPerSecond, confidence95 };
  return { problem, configuration, recorded, ...result, elapsedMs: elapsedNs / 1e6 };
}

export function renderQualification(qualification: Qualification): string[] {
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
  const allowed = tolerance === null ? "" : `, tolerance ${formatPercent(tolerance)}`;
  lines.push(`${describeAnswer(qualification)}${allowed}, in ${formatDuration(elapsedNs)}`);
  if (qualification.answer === "unanswered" && results.some(({ verdict }) => verdict === "not comparable")) {
    lines.push("With --numerics only the results count, not the rates.");
  }
  return lines;
}
