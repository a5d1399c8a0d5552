import { parseArgs } from "@std/cli/parse-args";
import { UserError } from "./user_error.ts";

/** One option of a command: how it is given, and its line of `--help`. */
export interface OptionSpec {
  /** `boolean`: a switch. `string`: takes a value. `strings`: takes a value and may be repeated. */
  readonly type: "boolean" | "string" | "strings";
  /** What stands for the value in `--help`, as `XxYxZ`; not for a switch. */
  readonly value?: string;
  /** The value where a `string` is not given. */
  readonly default?: string;
  /** One line for people. */
  readonly help: string;
}

/** The options of a command by name. `help` comes by itself. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The values of options: a switch is true or false, a value is text, undefined where it is not given. */
export type Options<S extends OptionSpecs> =
  & { readonly help: boolean }
  & {
    readonly [K in keyof S]: S[K]["type"] extends "boolean" ? boolean
      : S[K]["type"] extends "strings" ? readonly string[]
      : S[K] extends { default: string } ? string
      : string | undefined;
  };

/**
 * Reads the options of a command strictly: what is unknown, repeated or without its value is an error.
 *
 * @param args the arguments after the command's name
 * @param specs the options there are
 * @returns the values of all options
 * @throws {UserError} naming the argument at fault
 *
 * @example
 * ```ts
 * import { parseOptions } from "./parse_options.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const specs = {
 *   json: { type: "boolean", help: "print JSON" },
 *   order: { type: "string", value: "N", default: "2", help: "order in space" },
 * } as const;
 * const { json, order } = parseOptions(["--order", "4"], specs);
 * assertEquals([json, order], [false, "4"]);
 * ```
 */
export function parseOptions<const S extends OptionSpecs>(args: readonly string[], specs: S): Options<S> {
  const all: OptionSpecs = { ...specs, help: { type: "boolean", help: "print this help" } };
  const switches = Object.keys(all).filter((name) => all[name].type === "boolean");
  const valued = Object.keys(all).filter((name) => all[name].type !== "boolean");
  const parsed: Record<string, unknown> = parseArgs(args, {
    boolean: switches,
    string: ["_", ...valued],
    // Every option is collected: a repetition must not go unseen
    collect: valued,
    alias: { help: "h" },
    unknown: (arg) => {
      throw new UserError(describeUnknown(arg, Object.keys(all)));
    },
  });
  // What follows a lone -- is never "unknown"
  const [stray] = parsed._ as string[];
  if (stray !== undefined) throw new UserError(describeUnknown(stray, []));
  const values: Record<string, boolean | string | undefined | readonly string[]> = {};
  for (const name of switches) {
    if (args.some((arg) => arg.startsWith(`--${name}=`))) {
      throw new UserError(`Cannot read --${name}: it is a switch and takes no value`);
    }
    values[name] = parsed[name] === true;
  }
  for (const name of valued) {
    const { type, value = "VALUE", default: fallback } = all[name];
    const given = (parsed[name] as unknown[]).map(String);
    if (given.includes("")) {
      throw new UserError(`Cannot read --${name}: it needs a value: --${name} ${value}`);
    }
    if (type === "string" && given.length > 1) {
      throw new UserError(`Cannot read --${name}: it may be given once: found ${given.join(" and ")}`);
    }
    values[name] = type === "strings" ? given : given[0] ?? fallback;
  }
  return values as Options<S>;
}

/** Whether an option is among a command's arguments: one that is left out has its default, and looks alike. */
export function isGiven(args: readonly string[], name: string): boolean {
  return args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
}

/**
 * The text of a command's `--help`.
 *
 * @param usage the command with what it does, as `deno task space [OPTIONS]\n\nLists …`
 * @param specs the options there are
 * @returns text of whole lines, without the last line end
 */
export function renderHelp(usage: string, specs: OptionSpecs): string {
  const all: OptionSpecs = { ...specs, help: { type: "boolean", help: "print this help" } };
  const rows = Object.entries(all).map(([name, { type, value = "VALUE", default: fallback, help }]) => {
    const left = type === "boolean" ? `--${name}` : `--${name} ${value}`;
    const notes = [
      fallback === undefined ? "" : ` (default ${fallback})`,
      type === "strings" ? " (repeatable)" : "",
    ];
    return [left, help + notes.join("")];
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  return [
    `Usage: ${usage}`,
    "",
    "Options:",
    ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`),
  ]
    .join("\n");
}

function describeUnknown(arg: string, names: readonly string[]): string {
  if (!arg.startsWith("-") || names.length === 0) {
    return `Unexpected argument "${arg}": every option begins with --`;
  }
  const [given] = arg.replace(/^-+/, "").split("=");
  // of a short name, two letters are nearly all
  const near = names.find((name) => editDistance(given, name) <= Math.min(2, name.length / 2 - 1 / 2));
  return `Unknown option ${arg.split("=")[0]}: ${
    near ? `did you mean --${near}?` : "--help lists the options"
  }`;
}

/** Letters to insert, delete, replace or swap with a neighbour to turn one word into the other. */
function editDistance(one: string, other: string): number {
  const table = Array.from({ length: one.length + 1 }, (_, i) => {
    return Array.from({ length: other.length + 1 }, (_, j) => i === 0 ? j : j === 0 ? i : 0);
  });
  for (let i = 1; i <= one.length; i++) {
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      table[i][j] = Math.min(
        table[i - 1][j] + 1,
        table[i][j - 1] + 1,
        table[i - 1][j - 1] + (isSame ? 0 : 1),
        isSwap ? table[i - 2][j - 2] + 1 : Infinity,
      );
    }
  }
  return table[one.length][other.length];
}
