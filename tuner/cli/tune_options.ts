/**
 * The options of `tune` and `space`: what there is, what is said of it in `--help`, and what is a wrong request.
 *
 * @module
 */
import { type Budget, oneOf, readBudget, readNumber } from "./option_values.ts";
import { isGiven, type OptionSpecs, parseOptions, renderHelp } from "./parse_options.ts";
import {
  type Choices,
  type HelpRequest,
  joinNegatives,
  type ProblemOptions,
  problemSpecs,
  readProblem,
  string,
} from "./problem_options.ts";
import { UserError } from "./user_error.ts";

/** What `tune` is asked to do. */
export interface TuneOptions extends ProblemOptions {
  /** @default the first of the strategies there are */
  readonly strategy: string;
  /** @default {{ timeNs: 60e9 }} */
  readonly budget: Budget;
  /** @default {1} */
  readonly seed: number;
  /** The CPU's share of the slices when balancing begins. @default {0.1} */
  readonly startShare: number;
  /** The profile. @default {undefined} profiles/<device>.json */
  readonly out: string | undefined;
  /** Measures nothing again that the journal knows. @default {false} */
  readonly resume: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** What `space` is asked to show. */
export interface SpaceOptions extends ProblemOptions {
  readonly json: boolean;
}

/** Options that say how to search and where to put what was found. */
function searchSpecs({ strategies }: Pick<Choices, "strategies">) {
  return {
    strategy: {
      ...string("NAME", `how to search: ${strategies.join(", ")}`),
      default: strategies[0],
    },
    budget: { ...string("TIME|N", "when to stop: 60s, 2m, or evaluations as 500"), default: "60s" },
    "start-share": { ...string("F", "the CPU's share when balancing begins, 0 to 1"), default: "0.1" },
    seed: { ...string("N", "whole number that makes random choices repeatable"), default: "1" },
    out: string("FILE", "the profile to write or add to (default: profiles/<device>.json)"),
    resume: {
      type: "boolean",
      help: "measure nothing again that the journal beside the profile knows; it counts as evaluations",
    },
    json: { type: "boolean", help: "print the summary as JSON on stdout" },
    quiet: { type: "boolean", help: "show no progress" },
  } as const satisfies OptionSpecs;
}

/**
 * Reads and checks the options of `tune`.
 *
 * @param args the arguments after the command's name
 * @param choices the traversals and strategies there are
 * @returns the options, or the text of `--help`
 * @throws {UserError} naming the option, what is wanted and what was found
 *
 * @example
 * ```ts
 * import { parseTuneOptions } from "./tune_options.ts";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const choices = { traversals: ["stepwise"], strategies: ["exhaustive", "random"] };
 * const options = parseTuneOptions(["--grid", "96x96x64", "--budget", "20s"], choices);
 * assert(!("help" in options));
 * assertEquals([options.grid, options.budget], [[96, 96, 64], { timeNs: 20e9 }]);
 * ```
 */
export function parseTuneOptions(args: readonly string[], choices: Choices): TuneOptions | HelpRequest {
  const specs = { ...problemSpecs(choices), ...searchSpecs(choices) };
  const values = parseOptions(joinNegatives(args, specs), specs);
  if (values.help) {
    return {
      help: renderHelp(
        "deno task tune [OPTIONS]\n\nFinds the fastest configuration for this device and writes it to a profile.",
        specs,
      ),
    };
  }
  const problem = readProblem(values, choices);
  refuseIdle(args, problem);
  return {
    ...problem,
    strategy: oneOf("strategy", values.strategy, choices.strategies),
    budget: readBudget(values.budget),
    startShare: readStartShare(values["start-share"]),
    seed: readNumber("seed", values.seed, {
      wanted: `a whole number from 0 to ${2 ** 32 - 1}`,
      isRight: (seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32,
    }),
    out: values.out,
    resume: values.resume,
    json: values.json,
    quiet: values.quiet,
  };
}

/** Refuses what would have no effect: only the GPU's space is searched, and only what both compute is shared. */
function refuseIdle(args: readonly string[], { gpu, cpuWorkers }: ProblemOptions): void {
  const refuse = (names: readonly string[], beside: string, reason: string): void => {
    const given = names.find((name) => isGiven(args, name));
    if (given !== undefined) throw new UserError(`Cannot use --${given} beside ${beside}: ${reason}`);
  };
  if (!gpu) {
    refuse(["strategy", "seed"], "--no-gpu", "the CPU's few ways are all measured");
    refuse(["start-share"], "--no-gpu", "nothing is shared");
  }
  if (cpuWorkers === 0) refuse(["start-share"], "--cpu-workers 0", "nothing is shared");
}

/**
 * Reads and checks the options of `space`: those of `tune` that say which problem, and `--json`.
 *
 * @param args the arguments after the command's name
 * @param choices the traversals there are
 * @throws {UserError} naming the option, what is wanted and what was found
 */
export function parseSpaceOptions(
  args: readonly string[],
  choices: Pick<Choices, "traversals">,
): SpaceOptions | HelpRequest {
  const specs = {
    ...problemSpecs(choices),
    json: { type: "boolean", help: "print the space as JSON" },
  } as const satisfies OptionSpecs;
  const values = parseOptions(joinNegatives(args, specs), specs);
  if (values.help) {
    return {
      help: renderHelp(
        "deno task space [OPTIONS]\n\nShows every configuration that tune would try, best prediction first.",
        specs,
      ),
    };
  }
  return { ...readProblem(values, choices), json: values.json };
}

/** The CPU's share of the slices when balancing begins. */
export function readStartShare(text: string): number {
  return readNumber("start-share", text, {
    wanted: "a number from 0 to 1",
    isRight: (share) => share >= 0 && share <= 1,
  });
}
