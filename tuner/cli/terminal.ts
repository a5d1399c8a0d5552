import { formatTable, wrapText } from "../format.ts";

/** Rows in columns, for {@linkcode formatTable}. The first column is never broken: a command alone in its row can be copied. */
export interface Table {
  readonly rows: readonly (readonly string[])[];
  readonly right?: readonly number[];
  readonly indent?: string;
}

export type Line = string | Table;

/** Columns where a terminal does not say how many it has. */
const USUAL_COLUMNS = 80;

export function terminalColumns(): number {
  try {
    return Deno.consoleSize().columns || USUAL_COLUMNS;
  } catch {
    return USUAL_COLUMNS;
  }
}

/**
 * Longest line for a stream. One column of a terminal stays free, so that none wraps the line itself; in a pipe or a
 * file nothing is wrapped: a line stays a line for whoever reads it.
 */
export function widthOf(stream: { isTerminal(): boolean }): number {
  return stream.isTerminal() ? terminalColumns() - 1 : Infinity;
}

/** Stands for a space at which no line ends, while lines are laid out. */
const FIXED_SPACE = "\ue000";

/** Keeps a path with spaces, and that of its folder, on one line: whatever was typed as one argument. */
function keepWhole(text: string, typed: readonly string[]): string {
  return typed.map((argument) => argument.replace(/^--[\w-]+=/, ""))
    .flatMap((path) => [path, path.replace(/[\\/][^\\/]*$/, "")])
    .filter((path) => /\S \S/.test(path))
    .reduce((kept, path) => kept.replaceAll(path, path.replaceAll(" ", FIXED_SPACE)), text);
}

/** A text on one line, in which what a terminal would take for a command is replaced. */
export function withoutControls(text: string): string {
  return text.replace(/\s*[\n\r\t]\s*/g, " ").replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\ufffd");
}

/**
 * Lines as text of this width; what is wrapped is indented by two more than its line, or as far as a list's text.
 * Control characters, which names from files may hold, are replaced.
 *
 * @param typed what was typed; no line ends within one of its arguments
 */
export function fitLines(
  lines: readonly Line[],
  width: number,
  typed: readonly string[] = Deno.args,
): string {
  const prepare = (text: string): string => keepWhole(withoutControls(text), typed);
  return lines.map((line) => {
    if (typeof line !== "string") {
      return formatTable(line.rows.map((row) => row.map(prepare)), { ...line, width });
    }
    const [start = ""] = /^ *(- )?/.exec(line) ?? [];
    const indent = " ".repeat(start.endsWith("- ") ? start.length : start.length + 2);
    const [first = "", ...more] = wrapText(prepare(line.slice(start.length)), width - indent.length);
    return [(start + first).trimEnd(), ...more.map((rest) => indent + rest)].join("\n");
  }).join("\n").replaceAll(FIXED_SPACE, " ");
}

/** Prints a command's result on stdout: lines for people, or a record as JSON. */
export function print(result: readonly Line[] | Readonly<Record<string, unknown>>): void {
  const isText = (value: typeof result): value is readonly Line[] => Array.isArray(value);
  console.log(
    isText(result)
      ? fitLines(result, widthOf(Deno.stdout))
      : JSON.stringify(result, null, 2).replace(/[\x7f-\x9f]/g, (code) =>
        `\\u00${code.charCodeAt(0).toString(16)}`),
  );
}

/** Says a line on stderr. */
export function say(text: string): void {
  console.error(fitLines([text], widthOf(Deno.stderr)));
}
