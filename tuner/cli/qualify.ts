/**
 * `deno task qualify`: whether this device still computes what a profile says, as fast as it says.
 *
 * @module
 */
import { readProfile } from "../profile/store.ts";
import { type Answer, qualify } from "../qualify/qualify.ts";
import { junitOf } from "../qualify/junit.ts";
import { markdownOf } from "../qualify/markdown.ts";
import { checkFileWritable } from "../profile/store.ts";
import { AttendedRun } from "./attended_run.ts";
import { ifGiven, readNumber, wrong } from "./option_values.ts";
import { parseOptions, renderHelp } from "./parse_options.ts";
import { qualificationRecord, renderQualification } from "./qualify_report.ts";
import { required, writeText } from "./read_inputs.ts";
import { EXIT } from "./report_error.ts";
import { UserError } from "./user_error.ts";

const OPTIONS = {
  profile: { type: "string", value: "FILE", help: "the profile to hold this device against" },
  tolerance: {
    type: "string",
    value: "PERCENT",
    help: "how far below the recorded interval a rate may fall (default 10%)",
  },
  quick: { type: "boolean", help: "end within a minute: fewer samples" },
  numerics: { type: "boolean", help: "verify results and compare no rates: for profiles of other devices" },
  junit: { type: "string", value: "FILE", help: "write the outcome as JUnit XML" },
  markdown: { type: "string", value: "FILE", help: "write the outcome as Markdown" },
  json: { type: "boolean", help: "print a record for machines" },
  quiet: { type: "boolean", help: "show no progress" },
} as const;

const USAGE = `deno task qualify --profile FILE [OPTIONS]

Verifies and measures every configuration of a profile on this device.
Exit code 0: every entry passes; 1: at least one is slower or wrong, or could not be run or compared;
2: the profile or an option is wrong; 3: the device failed; 130: interrupted.`;

/** Exit codes of the answers. */
const EXIT_OF: Readonly<Record<Answer, number>> = {
  yes: EXIT.done,
  no: EXIT.no,
  unanswered: EXIT.no,
  "device failed": EXIT.deviceFailed,
};

/**
 * Runs the command.
 *
 * @param args its options
 * @returns the exit code
 */
export async function run(args: string[]): Promise<number> {
  const options = parseOptions(args, OPTIONS);
  if (options.help) {
    console.log(renderHelp(USAGE, OPTIONS));
    return EXIT.done;
  }
  const path = required("profile", options.profile, "the profile to hold this device against");
  const tolerance = ifGiven(options.tolerance, readTolerance);
  if (options.numerics && tolerance !== undefined) {
    throw new UserError("Cannot use --tolerance with --numerics: no rates are compared");
  }
  const profile = await readProfile(path);
  for (const out of [options.junit, options.markdown]) {
    if (out !== undefined) await checkFileWritable(out);
  }
  using attended = new AttendedRun(options);
  const { progress, signal } = attended;
  const qualification = await qualify(profile, {
    tolerance,
    quick: options.quick,
    numericsOnly: options.numerics,
    signal,
    onProgress: ({ stage, done, total }) =>
      progress.update({ stage: stage === "measure" ? "qualify" : "slower ones again", done, total }),
  });
  progress.clear();
  if (options.junit !== undefined) {
    await writeText(options.junit, junitOf(qualification, new Date().toISOString()));
  }
  if (options.markdown !== undefined) await writeText(options.markdown, markdownOf(qualification));
  console.log(
    options.json
      ? JSON.stringify(qualificationRecord(qualification, path), null, 2)
      : renderQualification(qualification),
  );
  return qualification.interrupted ? EXIT.interrupted : EXIT_OF[qualification.answer];
}

/** A percentage as a fraction. */
export function readTolerance(text: string): number {
  const wanted = "a percentage from 0% to below 100%, as 10%";
  if (!text.endsWith("%")) throw wrong("tolerance", wanted, text);
  const isRight = (percent: number): boolean => percent >= 0 && percent < 100;
  try {
    return readNumber("tolerance", text.slice(0, -1), { wanted, isRight }) / 100;
  } catch {
    throw wrong("tolerance", wanted, text); // with the sign, as it was given
  }
}
