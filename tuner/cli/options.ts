import type { Dimensions, Grid, OwnGrid } from "../../kernels/stencils/stencil.ts";
import { MAX_WORKERS } from "../configuration.ts";
import { formatPlural } from "../format.ts";
import { countCores } from "../platform.ts";
import { RequestError } from "../problem/request_error.ts";
import { journalPath } from "../profile/journal.ts";
import { STRATEGIES } from "../search/all.ts";
import { say } from "./terminal.ts";

/** Rejects the text of an option: what is wanted, and what was found where that is not the text itself. */
export type Refuse = (wanted: string, found?: string) => never;

/** The values of the options declared before the one that is read. */
export type EarlierValues = Readonly<Record<string, unknown>>;

/** Turns the text of an option into its value, or a promise of it. */
export type Reader<T> = (text: string, refuse: Refuse, earlier: EarlierValues) => T;

/** One option. Its key in {@linkcode Options} is its name: `cpuWorkers` is given as `--cpu-workers`. */
export interface Option {
  readonly help: string;
  /** The placeholder of the value in `--help`, as `XxYxZ`. A switch has none. */
  readonly value?: string;
  /** Reads the value. A switch has none. */
  readonly read?: Reader<unknown>;
  /** Read where the option is not given. */
  readonly default?: string;
  /** The same, of what other options were given, by their keys: undefined where they do not say it. */
  readonly implied?: (given: ReadonlyMap<string, readonly string[]>) => Promise<string | undefined>;
  /** For an option that must be given: what it is for. */
  readonly required?: string;
  /** May be given several times. */
  readonly repeatable?: true;
  /** Whether an argument without an option is one of its values. */
  readonly isBare?: true;
  /** Options that it cannot be combined with, as `--no-gpu` or `--cpu-workers 0`, and why. */
  readonly notWith?: Readonly<Record<string, string>>;
  /** Options that it needs, as `--profile`, and why. */
  readonly onlyWith?: Readonly<Record<string, string>>;
  /** The files that it reads, by its text. */
  readonly reads?: (text: string) => readonly string[];
  /** The files that it writes, by its text and the values of all options: none that another option reads or writes. */
  readonly writes?: (text: string, values: EarlierValues) => readonly string[];
}

/** The options of a command by name, in the order of `--help`. The option `--help` itself is always there. */
export type Options = Readonly<Record<string, Option>>;

type ValueOf<O extends Option> = O extends { read: Reader<infer T> }
  ? O extends { repeatable: true } ? readonly Awaited<T>[]
  : O extends { default: string } | { required: string } ? Awaited<T>
  : Awaited<T> | undefined
  : boolean;

/** The values of options: a switch is true or false; what is not given and has no default is undefined. */
export type Values<S extends Options> = { readonly [K in keyof S]: ValueOf<S[K]> };

/** How an option is written: `cpuWorkers` as `cpu-workers`. */
export function nameOf(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function wrongValue(option: string, wanted: string, found: string): RequestError {
  const shown = found.length > 60 ? `${found.slice(0, 57)}…` : found;
  return new RequestError(`Cannot use --${option}: wanted ${wanted}: found ${JSON.stringify(shown)}`);
}

export const readText: Reader<string> = (text) => text;

const itself = (path: string): readonly string[] => [path];

/** A profile's file, and its journal's. */
const withJournal = (path: string): readonly string[] => [path, journalPath(path)];

/** An option that takes the path of a file to read. */
export function input(help: string, reads: NonNullable<Option["reads"]> = itself) {
  return { value: "FILE", help, read: readText, reads };
}

/** An option that takes the path of a file to write. */
export function output(help: string, writes: NonNullable<Option["writes"]> = itself) {
  return { value: "FILE", help, read: readText, writes };
}

/** The same of a profile to write, beside which its journal goes. */
export const profileOutput = (help: string) => output(help, withJournal);

/** The same of a profile to read. */
export const profileInput = (help: string) => input(help, withJournal);

/** An option that takes a whole number within bounds. */
export function count(help: string, ...bounds: [least: number, most?: number]) {
  return { value: "N", help, read: whole(...bounds) };
}

export function oneOf<T extends string>(names: readonly T[]): Reader<T> {
  return (text, refuse) =>
    names.find((name) => name === text) ??
      refuse(names.length === 1 ? `${names[0]}` : `one of ${names.join(", ")}`);
}

/** A decimal number; no hexadecimal and no exponent, which hide typing errors. */
export function number(wanted: string, isRight: (value: number) => boolean): Reader<number> {
  return (text, refuse) => {
    const value = /^-?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : NaN;
    return Number.isFinite(value) && isRight(value) ? value : refuse(wanted);
  };
}

/** A whole number within bounds. */
export function whole(least: number, most = Number.MAX_SAFE_INTEGER): Reader<number> {
  const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  const wanted = `a whole number ${bounds}`;
  return number(wanted, (value) => Number.isInteger(value) && value >= least && value <= most);
}

/** An option that takes a number of workers on the CPU: no more than it has cores, since others would wait. */
export function workers(help: string, least: number) {
  const read = whole(least, MAX_WORKERS), cores = countCores();
  return {
    value: "N",
    help,
    read(text: string, refuse: Refuse, earlier: EarlierValues): number {
      const wanted = Number(read(text, refuse, earlier));
      if (wanted > cores) {
        say(`facet: --cpu-workers ${wanted}: ${formatPlural(cores, "worker")}, one for each core`);
      }
      return Math.min(wanted, cores);
    },
  };
}

/** A percentage from 0% to below 100%, as a fraction. */
export const readPercentage: Reader<number> = (text, refuse, earlier) => {
  const wanted = "a percentage from 0% to below 100%, such as 10%";
  if (!text.endsWith("%")) return refuse(wanted);
  return number(wanted, (percent) => percent >= 0 && percent < 100)(text.slice(0, -1), refuse, earlier) / 100;
};

/** When a search ends. */
export type Budget = { readonly timeNs: number } | { readonly evaluations: number };

/** A time or a number of evaluations. */
export const readBudget: Reader<Budget> = (text, refuse) => {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  const unitNs = { ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };
  const value = Number(match?.[1]);
  const unit = match?.[2] as keyof typeof unitNs | undefined;
  const isRight = unit === undefined ? Number.isSafeInteger(value) : value * unitNs[unit] <= 1e18;
  if (!(value > 0) || !isRight) {
    return refuse("a time such as 60s or 2m, or a number of evaluations such as 500");
  }
  return unit === undefined ? { evaluations: value } : { timeNs: value * unitNs[unit] };
};

/** How many cells along each axis, of as many axes as are wanted. */
export function gridOf(...dimensions: readonly Dimensions[]): Reader<OwnGrid> {
  const forms = dimensions.map((axes) => axes === 2 ? "XxY" : "XxYxZ");
  const such = dimensions[0] === 2 ? "4096x4096" : "384x256x256";
  return (text, refuse) => {
    const cells = /^\d+(x\d+)*$/i.test(text) ? text.toLowerCase().split("x").map(Number) : [];
    const isRight = cells.every((count) => Number.isSafeInteger(count) && count >= 1) &&
      dimensions.some((axes) => axes === cells.length);
    if (isRight) return cells as readonly number[] as OwnGrid;
    return refuse(`${forms.join(" or ")} with whole numbers of at least 1, such as ${such}`);
  };
}

/** The same; N alone is the side of a cube or a square. */
export function sidesOf(...dimensions: readonly Dimensions[]): Reader<OwnGrid> {
  const [axes = 3] = dimensions, read = gridOf(...dimensions), shape = axes === 2 ? "square" : "cube";
  return (text, refuse, earlier) =>
    read(
      /^\d+$/.test(text) ? Array(axes).fill(text).join("x") : text,
      (wanted, found = text) => refuse(`${wanted}, or N for a ${shape}`, found),
      earlier,
    );
}

/** The points of a line, as their number or as `1x1xN`. */
export const readLine: Reader<Grid> = (text, refuse) => {
  const points = Number(/^(?:1x1x)?(\d+)$/i.exec(text)?.[1] ?? 0);
  const isRight = Number.isSafeInteger(points) && points >= 1;
  return isRight ? [1, 1, points] : refuse("a whole number of points, at least 1, such as 65536");
};

/** An amount of memory, in bytes. */
const readSize: Reader<number> = (text, refuse) => {
  const [, value, unit] = /^(\d+(?:\.\d+)?)(MiB|GiB)$/.exec(text) ?? [];
  const bytes = Math.floor(Number(value) * (unit === "GiB" ? 2 ** 30 : 2 ** 20));
  return bytes > 0 ? bytes : refuse("an amount of memory in MiB or GiB, such as 512MiB or 4GiB");
};

const STRATEGY_NAMES = STRATEGIES.map(({ name }) => name);

/** The CPU's configurations are few. */
const NO_SEARCH = { "--no-gpu": "only the GPU's configurations are searched; all of the CPU's are measured" };

/** The options that several commands take, by their usual names; those of a problem are in `problem_options.ts`. */
export const COMMON = {
  /** Of commands that can move a grid through a window. */
  deviceMemory: {
    value: "SIZE",
    help:
      "most GPU memory to use, such as 4GiB; a larger grid stays in the host's and passes through (default: all)",
    read: readSize,
    notWith: { "--no-gpu": "it is the GPU's memory" },
  },
  strategy: {
    value: "NAME",
    help: `how to search: ${STRATEGY_NAMES.join(", ")}`,
    read: oneOf(STRATEGY_NAMES),
    notWith: NO_SEARCH,
  },
  budget: {
    value: "TIME|N",
    help: "when to stop: a time such as 60s or 2m, or a number of evaluations in all, such as 500",
    read: readBudget,
  },
  startShare: {
    value: "F",
    help: "the CPU's share of the slices when balancing begins, 0 to 1 (default: by the rates of both alone)",
    read: number("a number from 0 to 1", (share) => share >= 0 && share <= 1),
    notWith: { "--no-gpu": "nothing is shared", "--cpu-workers 0": "nothing is shared" },
  },
  seed: {
    ...count("whole number that makes random choices repeatable", 0, 2 ** 32 - 1),
    default: "1",
    notWith: NO_SEARCH,
  },
  workers: {
    ...count(
      "evaluations under way at once: processes compile side by side, one at a time is measured",
      1,
      64,
    ),
    default: "1",
  },
  profile: { ...profileInput("the profile to read"), required: "the profile to read" },
  journal: {
    ...input("its journal (default: PROFILE.journal.jsonl, if it exists)"),
    onlyWith: { "--profile": "a journal belongs to a profile" },
  },
  entry: {
    ...count("the entry of the profile, counted from 1", 1),
    onlyWith: { "--profile": "a profile has entries" },
  },
  json: { help: "print the result as JSON" },
  quiet: { help: "show no progress" },
  verbose: { help: "say all: parameters of the CPU's kernels, and how sharing was tried" },
} as const satisfies Options;
