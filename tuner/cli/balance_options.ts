/**
 * The options of `balance`: the problem as for `tune`, where to start, and which R.
 *
 * @module
 */
import { readNumber, wrong } from "./option_values.ts";
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
import { readStartShare } from "./tune_options.ts";
import { UserError } from "./user_error.ts";

/** What `balance` is asked to do. */
export interface BalanceCommandOptions extends ProblemOptions {
  /** The CPU's share of the slices when balancing begins. @default {0.1} */
  readonly startShare: number;
  /** R. @default {undefined} the best predicted */
  readonly exchangeEvery: number | undefined;
  /** R to measure one by one, instead of balancing. @default {undefined} balance */
  readonly sweep: readonly number[] | undefined;
  /** Times that every R of a sweep is measured. @default {7} */
  readonly passes: number;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** R that anyone could mean; a typing error beyond. */
const MOST_STEPS = 10_000;

function balanceSpecs(choices: Pick<Choices, "traversals">) {
  const { "no-gpu": _gpu, traversal: _several, ...specs } = problemSpecs(choices);
  return {
    ...specs,
    traversal: { ...string("NAME", `of the GPU: ${choices.traversals.join(", ")}`), default: "stepwise" },
    "start-share": { ...string("F", "the CPU's share when balancing begins, 0 to 1"), default: "0.1" },
    "exchange-every": string("R", "steps between two exchanges (default: the best predicted)"),
    "sweep-exchange": string("A..B", "measure these steps between exchanges beside their prediction"),
    passes: { ...string("N", "with --sweep-exchange: times that each is measured"), default: "7" },
    json: { type: "boolean", help: "print the results as JSON" },
    quiet: { type: "boolean", help: "show no progress" },
  } as const satisfies OptionSpecs;
}

/**
 * Reads and checks the options of `balance`.
 *
 * @param args the arguments after the command's name
 * @param choices the traversals there are
 * @throws {UserError} naming the option, what is wanted and what was found
 *
 * @example
 * ```ts
 * import { parseBalanceOptions } from "./balance_options.ts";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const options = parseBalanceOptions(["--sweep-exchange", "2..4"], { traversals: ["stepwise"] });
 * assert(!("help" in options));
 * assertEquals([options.sweep, options.startShare], [[2, 3, 4], 0.1]);
 * ```
 */
export function parseBalanceOptions(
  args: readonly string[],
  choices: Pick<Choices, "traversals">,
): BalanceCommandOptions | HelpRequest {
  const specs = balanceSpecs(choices);
  const values = parseOptions(joinNegatives(args, specs), specs);
  if (values.help) {
    return {
      help: renderHelp(
        "deno task balance [OPTIONS]\n\nShares a grid between the GPU and the CPU until both take equally long, " +
          "and says what that brings.",
        specs,
      ),
    };
  }
  const problem = readProblem({ ...values, "no-gpu": false, traversal: [values.traversal] }, choices);
  if (problem.cpuWorkers === 0) {
    throw new UserError("Cannot use --cpu-workers 0: wanted at least 1: a balance needs both devices");
  }
  const exchangeEvery = values["exchange-every"], sweep = values["sweep-exchange"];
  if (exchangeEvery !== undefined && sweep !== undefined) {
    throw new UserError("Cannot use --exchange-every with --sweep-exchange: either one R or several");
  }
  if (sweep !== undefined && isGiven(args, "start-share")) {
    throw new UserError("Cannot use --start-share with --sweep-exchange: a sweep takes the model's shares");
  }
  if (sweep === undefined && isGiven(args, "passes")) {
    throw new UserError("Cannot use --passes without --sweep-exchange: only a sweep is repeated");
  }
  return {
    ...problem,
    startShare: readStartShare(values["start-share"]),
    exchangeEvery: exchangeEvery === undefined ? undefined : readPeriod("exchange-every", exchangeEvery),
    sweep: sweep === undefined ? undefined : readSweep(sweep),
    passes: readNumber("passes", values.passes, {
      wanted: "a whole number from 1 to 1000",
      isRight: (passes) => Number.isInteger(passes) && passes >= 1 && passes <= 1000,
    }),
    json: values.json,
    quiet: values.quiet,
  };
}

function readPeriod(option: string, text: string): number {
  return readNumber(option, text, {
    wanted: `a whole number from 1 to ${MOST_STEPS}`,
    isRight: (steps) => Number.isInteger(steps) && steps >= 1 && steps <= MOST_STEPS,
  });
}

/** `A..B` as every R from A to B. */
function readSweep(text: string): number[] {
  const [first, last] = (/^(\d+)\.\.(\d+)$/.exec(text) ?? []).slice(1)
    .map((part) => readPeriod("sweep-exchange", part));
  if (first === undefined || first > last) {
    throw wrong("sweep-exchange", "two whole numbers, the smaller first, as 1..32", text);
  }
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
