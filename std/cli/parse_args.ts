// @ts-types="npm:@types/minimist@^1.2.5"
import minimist from "npm:minimist@^1.2.8";

/** Type of one option: known by its name in `boolean`, `string`, `collect`, `negatable` and `default`. */
type Option<
  K extends string,
  B extends string,
  S extends string,
  C extends string,
  N extends string,
  D extends Defaults,
> =
  | (K extends B ? boolean : K extends C ? string[] : string | (K extends N ? false : never))
  | (K extends keyof D ? Widen<D[K]> : K extends B | C ? never : undefined);

/** `boolean` for `true`, `string` for `"text"`: a default does not narrow what may be given. */
type Widen<T> = T extends boolean ? boolean : T extends string ? string : T extends number ? number : T;

/** Values of options that are not given. */
type Defaults = Readonly<Record<string, unknown>>;

/** What {@linkcode parseArgs} returns: the options by name, and the other arguments in `_`. */
export type Args<
  B extends string = never,
  S extends string = never,
  C extends string = never,
  N extends string = never,
  D extends Defaults = Record<never, never>,
> =
  & Record<string, unknown>
  & { [K in B | S | C | (string & keyof D)]: K extends B | S | C ? Option<K, B, S, C, N, D> : Widen<D[K]> }
  & { _: Array<string | number> };

/** Options of {@linkcode parseArgs}. */
export interface ParseOptions<
  B extends string = string,
  S extends string = string,
  C extends string = string,
  N extends string = string,
  D extends Defaults = Defaults,
> {
  /**
   * Options that are true or false; `true`: all without a value.
   * @default {[]}
   */
  boolean?: boolean | B | readonly B[];
  /**
   * Options that take a text, numbers included.
   * @default {[]}
   */
  string?: S | readonly S[];
  /**
   * Options that may be repeated; each becomes a list. Other options keep the last value given.
   * @default {[]}
   */
  collect?: C | readonly C[];
  /**
   * Options that `--no-NAME` sets to false.
   * @default {[]}
   */
  negatable?: N | readonly N[];
  /**
   * Values of options that are not given.
   * @default {{}}
   */
  default?: D;
  /**
   * Other names of options.
   * @default {{}}
   */
  alias?: Readonly<Record<string, string | readonly string[]>>;
  /**
   * Called with every argument that is no option named above; returning false drops it.
   * @param arg the argument as given
   * @param key its name, if it is an option
   * @param value its value, where written as `--key=value`
   */
  unknown?: (arg: string, key?: string, value?: unknown) => unknown;
  /**
   * Put everything from the first argument that is no option into `_`.
   * @default {false}
   */
  stopEarly?: boolean;
  /**
   * Put what follows `--` into the property of that name, not into `_`.
   * @default {false}
   */
  "--"?: boolean;
}

/** Hides `no-` at the start of a name: minimist takes every `--no-NAME` as a negation. */
const SHIELD = "\0";

/**
 * Reads command line arguments.
 *
 * @param args the arguments, as `Deno.args`
 * @param options which options exist, and their types
 * @returns the options by name, and the other arguments in `_`
 *
 * @example
 * ```ts
 * import { parseArgs } from "@std/cli/parse-args";
 * import { assertEquals } from "@std/assert";
 *
 * const args = parseArgs(["--json", "--grid", "64"], { boolean: ["json"], string: ["grid"] });
 * assertEquals([args.json, args.grid], [true, "64"]);
 * ```
 */
export function parseArgs<
  const B extends string = never,
  const S extends string = never,
  const C extends string = never,
  const N extends string = never,
  const D extends Defaults = Record<never, never>,
>(
  args: readonly string[],
  options: ParseOptions<B, S, C, N, D> = {},
): Args<NoInfer<B>, NoInfer<S>, NoInfer<C>, NoInfer<N>, NoInfer<D>> {
  const { boolean = [], stopEarly = false, unknown } = options;
  const booleans = typeof boolean === "boolean" ? [] : listOf(boolean);
  const strings = listOf(options.string);
  const collected = listOf(options.collect);
  const negatable = listOf(options.negatable);
  const defaults: Defaults = options.default ?? {};
  const alias = Object.fromEntries(
    Object.entries(options.alias ?? {}).map(([name, others]) => [shield(name), listOf(others).map(shield)]),
  );
  const parsed: Record<string, unknown> = minimist(shieldArguments(args, negatable), {
    boolean: boolean === true ? true : booleans.map(shield),
    string: strings.map(shield),
    default: Object.fromEntries(Object.entries(defaults).map(([name, value]) => [shield(name), value])),
    alias,
    stopEarly,
    "--": options["--"] ?? false,
    unknown: unknown && ((shielded) => {
      const arg = expose(shielded);
      const match = /^--?([^=]+)(?:=(.*))?$/s.exec(arg);
      return (match ? unknown(arg, match[1], match[2]) : unknown(arg)) !== false;
    }),
  });
  const result: Record<string, unknown> = {};
  const repeatable = new Set<string>();
  for (const name of collected) [name, ...namesBeside(name, options.alias)].forEach((n) => repeatable.add(n));
  for (const [shielded, value] of Object.entries(parsed)) {
    const name = expose(shielded);
    if (name === "_" || name === "--") {
      result[name] = (value as unknown[]).map(expose);
    } else if (value === defaults[name]) {
      result[name] = value;
    } else if (repeatable.has(name)) {
      result[name] = Array.isArray(value) ? value.map(expose) : [expose(value)];
    } else {
      result[name] = expose(Array.isArray(value) ? value.at(-1) : value);
    }
  }
  for (const name of repeatable) result[name] ??= [];
  return result as Args<B, S, C, N, D>;
}

function listOf(names: string | readonly string[] | undefined): string[] {
  return typeof names === "string" ? [names] : [...(names ?? [])];
}

/** Every name of an option but the one given. */
function namesBeside(name: string, alias: ParseOptions["alias"] = {}): string[] {
  const groups = Object.entries(alias).map(([first, others]) => [first, ...listOf(others)]);
  return groups.filter((names) => names.includes(name)).flat().filter((other) => other !== name);
}

function shield(name: string): string {
  return name.startsWith("no-") ? SHIELD + name : name;
}

function expose<T>(value: T): T {
  return (typeof value === "string" ? value.replace(SHIELD, "") : value) as T;
}

/** Shields every `--no-NAME` before `--` whose NAME is not negatable. */
function shieldArguments(args: readonly string[], negatable: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, index) => {
    const isOption = arg.startsWith("--no-") && (end < 0 || index < end);
    return isOption && !negatable.includes(arg.slice("--no-".length)) ? `--${shield(arg.slice(2))}` : arg;
  });
}
