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

/** A text on one line, in which what a terminal would take for a command is replaced. */
export function withoutControls(text: string): string {
  return text.replace(/\s*[\n\r\t]\s*/g, " ").replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\ufffd");
}

/**
 * Lines as text of this width; what is wrapped is indented by two more than its line, or as far as a list's text.
 * Control characters, which names from files may hold, are replaced.
 */
export function layOut(lines: readonly Line[], width: number): string {
  return lines.map((line) => {
    if (typeof line !== "string") {
      return formatTable(line.rows.map((row) => row.map(withoutControls)), { ...line, width });
    }
    const [start = ""] = /^ *(- )?/.exec(line) ?? [];
    const indent = " ".repeat(start.endsWith("- ") ? start.length : start.length + 2);
    const [first = "", ...more] = wrapText(withoutControls(line.slice(start.length)), width - indent.length);
    return [(start + first).trimEnd(), ...more.map((rest) => indent + rest)].join("\n");
  }).join("\n");
}

/** Prints a command's result on stdout: lines for people, or a record as JSON. */
export function print(result: readonly Line[] | Readonly<Record<string, unknown>>): void {
  const isText = (value: typeof result): value is readonly Line[] => Array.isArray(value);
  console.log(
    isText(result)
      ? layOut(result, widthOf(Deno.stdout))
      : JSON.stringify(result, null, 2).replace(/[\x7f-\x9f]/g, (code) =>
        `\\u00${code.charCodeAt(0).toString(16)}`),
  );
}

/** Says a line on stderr. */
export function say(text: string): void {
  console.error(layOut([text], widthOf(Deno.stderr)));
}
