/**
 * The options that several commands take, declared once; those of the problem are in `problem_options.ts`. A command
 * lists those that it takes, and declares its own beside them.
 *
 * @module
 */
import { STRATEGIES } from "../search/all.ts";
import { file, number, oneOf, type Options, readBudget, whole } from "./option.ts";

const STRATEGY_NAMES = STRATEGIES.map(({ name }) => name);

/** The CPU's configurations are few. */
const NO_SEARCH = { "--no-gpu": "only the GPU's configurations are searched; all of the CPU's are measured" };

/** Options by the name under which most commands take them. */
export const COMMON = {
  strategy: {
    value: "NAME",
    help: `how to search: ${STRATEGY_NAMES.join(", ")}`,
    read: oneOf(STRATEGY_NAMES),
    notWith: NO_SEARCH,
  },
  budget: {
    value: "TIME|N",
    help: "when to stop: a time as 60s or 2m, or a number of evaluations as 500",
    read: readBudget,
  },
  startShare: {
    value: "F",
    help: "the CPU's share of the slices when balancing begins, 0 to 1",
    read: number("a number from 0 to 1", (share) => share >= 0 && share <= 1),
    default: "0.1",
    notWith: {
      "--no-gpu": "nothing is shared",
      "--cpu-workers 0": "nothing is shared",
      "--sweep-exchange": "a sweep uses the shares that the cost model predicts",
    },
  },
  seed: {
    value: "N",
    help: "whole number that makes random choices repeatable",
    read: whole(0, 2 ** 32 - 1),
    default: "1",
    notWith: NO_SEARCH,
  },
  workers: {
    value: "N",
    help: "evaluations under way at once: processes compile side by side, one at a time measures",
    read: whole(1, 64),
    default: "1",
  },
  profile: { ...file("the profile to read"), required: "the profile to read" },
  journal: {
    ...file("its journal (default: PROFILE.journal.jsonl, if it exists)"),
    onlyWith: { "--profile": "a journal belongs to a profile" },
  },
  entry: {
    value: "N",
    help: "the entry of the profile, counted from 1",
    read: whole(1),
    onlyWith: { "--profile": "a profile has entries" },
  },
  json: { help: "print the result as JSON" },
  quiet: { help: "show no progress" },
} as const satisfies Options;

/** The name of the default strategy. */
export const DEFAULT_STRATEGY: string = STRATEGY_NAMES[0]!;
