/**
 * The options of `record`.
 *
 * @module
 */
import { ifGiven, readNumber } from "./option_values.ts";
import { type OptionSpecs, parseOptions, renderHelp } from "./parse_options.ts";
import {
  type Choices,
  type HelpRequest,
  joinNegatives,
  type ProblemOptions,
  problemSpecs,
  readProblem,
} from "./problem_options.ts";
import { UserError } from "./user_error.ts";

/** What `record` is asked to do. */
export interface RecordOptions extends ProblemOptions {
  readonly out: string;
  readonly resume: boolean;
  /** @default {undefined} every configuration */
  readonly limit: number | undefined;
  readonly seed: number;
  readonly workers: number;
  readonly eachLimitMs: number;
  readonly quiet: boolean;
}

const USAGE = "deno task record --out FILE.jsonl [OPTIONS]\n\n" +
  "Measures the space of a problem, every result verified, into a journal that replay reads. Every evaluation is\n" +
  "on disk before the next: a recording that was cut short goes on with --resume.";

const OPTIONS = {
  out: { type: "string", value: "FILE", help: "the journal to write, as wave.jsonl (required)" },
  resume: {
    type: "boolean",
    help: "go on with the journal where it exists: what it has is not measured again",
  },
  limit: {
    type: "string",
    value: "N",
    help: "configurations at most: the models' best, and a random sample of each traversal (default: all)",
  },
  seed: { type: "string", value: "N", default: "1", help: "whole number that makes the sample repeatable" },
  workers: {
    type: "string",
    value: "N",
    default: "1",
    help: "processes that compile side by side; one at a time measures; each takes memory for a reference",
  },
  "each-limit": {
    type: "string",
    value: "S",
    default: "20",
    help: "seconds to compile a configuration, and again to measure it; a longer one is recorded as timeout",
  },
  quiet: { type: "boolean", help: "show no progress" },
} as const satisfies OptionSpecs;

/**
 * Reads and checks the options of `record`.
 *
 * @param args the arguments after the command's name
 * @param choices the traversals there are
 * @returns the options, or the text of `--help`
 * @throws {UserError} naming the option, what is wanted and what was found
 */
export function parseRecordOptions(
  args: readonly string[],
  choices: Pick<Choices, "traversals">,
): RecordOptions | HelpRequest {
  // nothing here computes on the CPU
  const { "cpu-workers": _, "no-gpu": __, ...problem } = problemSpecs(choices);
  const specs = { ...problem, ...OPTIONS };
  const values = parseOptions(joinNegatives(args, specs), specs);
  if (values.help) return { help: renderHelp(USAGE, specs) };
  if (values.out === undefined) {
    throw new UserError("Cannot record: --out FILE is missing: it names the journal to write, as wave.jsonl");
  }
  const whole = (option: string, text: string, [least, most]: readonly [number, number]): number =>
    readNumber(option, text, {
      wanted: `a whole number from ${least} to ${most}`,
      isRight: (value) => Number.isInteger(value) && value >= least && value <= most,
    });
  return {
    ...readProblem({ ...values, "cpu-workers": "0", "no-gpu": false }, choices),
    out: values.out,
    resume: values.resume,
    limit: ifGiven(values.limit, (text) => whole("limit", text, [1, 1e6])),
    seed: whole("seed", values.seed, [0, 2 ** 32 - 1]),
    workers: whole("workers", values.workers, [1, 64]),
    eachLimitMs: 1000 * readNumber("each-limit", values["each-limit"], {
      wanted: "seconds above 0 and at most 3600",
      isRight: (seconds) => seconds > 0 && seconds <= 3600,
    }),
    quiet: values.quiet,
  };
}
