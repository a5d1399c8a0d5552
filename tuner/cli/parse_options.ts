import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { refuserOf, RequestError } from "../problem/request_error.ts";
import { type EarlierValues, nameOf, type Option, type Options, type Values, wrongValue } from "./options.ts";
import { EXIT } from "./report_error.ts";
import { fitLines, type Line, widthOf } from "./terminal.ts";

/** Columns of a line of `--help` at most. */
const WIDEST = 110;

const HELP: Option = { help: "print this help" };

/**
 * Reads the options of a command: an unknown, repeated, malformed or missing one is an error, and so are options that
 * cannot be combined.
 *
 * @returns the values of all options; undefined where `--help` was asked for
 * @throws {RequestError} naming the option at fault
 */
export async function parseOptions<const S extends Options>(
  args: readonly string[],
  options: S,
): Promise<Values<S> | undefined> {
  const given = readTexts(args, { ...options, help: HELP });
  if (given.has("help")) return undefined;
  const values: Record<string, unknown> = {};
  for (const [key, option] of Object.entries<Option>(options)) {
    const implied = given.has(key) ? undefined : await option.implied?.(given);
    const texts = implied === undefined ? given.get(key) : [implied];
    const shown = nameOf(key) + (implied ? ", as a file has it" : "");
    values[key] = await valueOf(shown, option, { texts, earlier: values });
  }
  for (const key of given.keys()) refuseCombinations(key, options, { given, values });
  await refuseOverwriting(options, given, values);
  return values as Values<S>;
}

/** The texts that each option was given, by key; a switch has none. */
function readTexts(args: readonly string[], options: Options): Map<string, string[]> {
  const keys = new Map(Object.keys(options).map((key) => [nameOf(key), key]));
  const bare = Object.keys(options).find((key) => options[key]!.isBare);
  const types = [...keys].map(([name, key]) =>
    [name, { type: options[key]!.read === undefined ? "boolean" : "string", multiple: true }] as const
  );
  const declared = { ...Object.fromEntries(types), help: { type: "boolean", short: "h" } } as const;
  const { tokens } = parseArgs({ args: [...args], options: declared, strict: false, tokens: true });
  const given = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    const key = token.kind === "positional" ? bare : keys.get(token.name);
    const text = token.value;
    if (key === undefined) {
      throw new RequestError(
        token.kind === "option"
          ? describeUnknown(token.rawName, [...keys.keys()])
          : `Unexpected argument "${text}": every option begins with --`,
      );
    }
    const name = nameOf(key), { read, value, repeatable } = options[key]!, texts = given.get(key) ?? [];
    given.set(key, texts);
    if (read === undefined) {
      if (text === undefined) continue;
      throw new RequestError(`Cannot read --${name}: it is a switch and takes no value`);
    }
    if (!text || text.startsWith("--")) {
      throw new RequestError(`Cannot read --${name}: it needs a value: --${name} ${value}`);
    }
    if (!repeatable || !texts.includes(text)) texts.push(text);
    if (texts.length > 1 && !repeatable) {
      refuserOf(`read --${name}`)("it can only be given once", texts.join(" and "));
    }
  }
  return given;
}

/** The checked value of one option. */
async function valueOf(
  name: string,
  { read, default: fallback, required, repeatable }: Option,
  { texts, earlier }: { texts: readonly string[] | undefined; earlier: EarlierValues },
): Promise<unknown> {
  if (read === undefined) return texts !== undefined;
  const readOne = (text: string): unknown =>
    read(text, (wanted, found = text) => {
      throw wrongValue(name, wanted, found);
    }, earlier);
  if (texts === undefined && required !== undefined) {
    throw new RequestError(`Missing option --${name}: wanted ${required}`);
  }
  if (repeatable) return await Promise.all((texts ?? []).map(readOne));
  const [text = fallback] = texts ?? [];
  return text === undefined ? undefined : await readOne(text);
}

/** Rejects an option beside one that it excludes, or without one that it needs. */
function refuseCombinations(
  key: string,
  options: Options,
  { given, values }: { given: ReadonlyMap<string, unknown>; values: EarlierValues },
): void {
  const { notWith = {}, onlyWith = {} } = options[key]!;
  const keys = new Map(Object.keys(options).map((key) => [`--${nameOf(key)}`, key]));
  /** Whether an option is given, with this value where one is named. */
  const isGiven = (option: string): boolean => {
    const [name = "", value] = option.split(" ");
    const other = keys.get(name);
    return other !== undefined && given.has(other) && (value === undefined || value === `${values[other]}`);
  };
  for (const [option, reason] of Object.entries(notWith)) {
    if (isGiven(option)) throw new RequestError(`Cannot use --${nameOf(key)} with ${option}: ${reason}`);
  }
  for (const [option, reason] of Object.entries(onlyWith)) {
    if (!isGiven(option)) throw new RequestError(`Cannot use --${nameOf(key)} without ${option}: ${reason}`);
  }
}

/** Rejects a file to write that another option reads or writes, by whatever name. */
async function refuseOverwriting(
  options: Options,
  given: ReadonlyMap<string, readonly string[]>,
  values: EarlierValues,
): Promise<void> {
  const filesOf = (role: "reads" | "writes") =>
    Promise.all(
      Object.entries<Option>(options).flatMap(([key, option]) =>
        (given.get(key) ?? (option.default === undefined ? [] : [option.default]))
          .flatMap((text) => option[role]?.(text, values) ?? [])
          .map(async (path) => ({ key, path, same: await identityOf(path) }))
      ),
    );
  const written = await filesOf("writes");
  const all = Map.groupBy([...await filesOf("reads"), ...written], ({ same }) => same);
  for (const { key, path, same } of written) {
    const other = all.get(same)!.find((option) => option.key !== key);
    if (other) throw wrongValue(nameOf(key), `another file than --${nameOf(other.key)}`, path);
  }
}

/** What two names of a file have in common, links followed: the file, or where it would be. */
async function identityOf(path: string): Promise<string> {
  const found = await Deno.stat(path).catch(() => undefined);
  if (found?.ino) return `${found.dev}:${found.ino}`;
  const parent = await Deno.realPath(dirname(path)).catch(() => resolve(dirname(path)));
  return await Deno.realPath(path).catch(() => join(parent, basename(path)));
}

/** What a command says of itself: how it is called, what it does in a few sentences, and its options. */
export interface Usage<S extends Options> {
  readonly usage: string;
  readonly about: string;
  readonly options: S;
}

export function renderHelp({ usage, about, options }: Usage<Options>): Line[] {
  const rows = Object.entries<Option>({ ...options, help: HELP }).map(([key, option]) => {
    const { help, value, default: fallback, required, repeatable } = option;
    const notes = [
      fallback === undefined ? "" : ` (default ${fallback})`,
      required === undefined ? "" : " (required)",
      repeatable ? " (repeatable)" : "",
    ];
    return [value === undefined ? `--${nameOf(key)}` : `--${nameOf(key)} ${value}`, help + notes.join("")];
  });
  return [`Usage: ${usage}`, "", ...about.split("\n"), "", "Options:", { rows, indent: "  " }];
}

/** Makes the `run` of a command: parses the options, and prints `--help` or does the work: done unless it returns another exit code. */
export function command<const S extends Options>(
  usage: Usage<S>,
  action: (values: Values<S>) => Promise<number | void>,
): (args: readonly string[]) => Promise<number> {
  return async (args) => {
    const values = await parseCommand(usage, args);
    return values === undefined ? EXIT.done : await action(values) ?? EXIT.done;
  };
}

/** Parses the options of a command; prints `--help`, where this process is to print, and returns undefined. */
export async function parseCommand<const S extends Options>(
  usage: Usage<S>,
  args: readonly string[],
  isPrinting = true,
): Promise<Values<S> | undefined> {
  const values = await parseOptions(args, usage.options);
  if (values === undefined && isPrinting) {
    console.log(fitLines(renderHelp(usage), Math.min(WIDEST, widthOf(Deno.stdout))));
  }
  return values;
}

function describeUnknown(shown: string, names: readonly string[]): string {
  const given = shown.replace(/^-+/, "").slice(0, 40);
  // in a short name, two letters are nearly all of it, and the first is seldom wrong
  const near = names.find((name) =>
    name[0] === given[0] && lettersApart(given, name) <= Math.min(2, name.length / 2 - 1 / 2)
  );
  return `Unknown option ${shown}: ${near ? `did you mean --${near}?` : "--help lists the options"}`;
}

/** How many letters of the one word the other lacks, or the other way round, wherever they stand. */
function lettersApart(a: string, b: string): number {
  const rest = [...b];
  const missing = [...a].filter((letter) => {
    const at = rest.indexOf(letter);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  return Math.max(missing.length, rest.length);
}
