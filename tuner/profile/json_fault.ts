const SPACE = /[ \t\r\n]*/y;

/** A text up to what cannot belong to it: its closing quote, a line end, an unknown escape. */
// deno-lint-ignore no-control-regex -- JSON forbids them in texts
const OPEN_TEXT = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\x00-\x1f]*)*/yu;

const TOKEN = new RegExp(
  String.raw`[{}[\],:]|${OPEN_TEXT.source}"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null`,
  "yu",
);

/** A place in a file, both from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a text that is not JSON: the line, the column, what is wanted and what is found there. */
export function jsonFault(text: string, start: TextPlace = { line: 1, column: 1 }): string {
  const { at, wanted, found } = findFault(text);
  const before = text.slice(0, at), lines = before.split("\n").length;
  const column = at - before.lastIndexOf("\n") + (lines === 1 ? start.column - 1 : 0);
  return `line ${start.line + lines - 1}, column ${column}: wanted ${wanted}, found ${found}`;
}

/** Where a text stops being JSON: the engine's own message often does not say. */
function findFault(text: string): { at: number; wanted: string; found: string } {
  const open: string[] = [];
  for (let at = 0, wanted = "a value";;) {
    at = endOf(SPACE, text, at);
    const end = endOf(TOKEN, text, at), token = text.slice(at, end);
    const next = follow(wanted, token, open);
    if (next !== undefined) [at, wanted] = [end, next];
    else {
      const cut = token === "" ? endOf(OPEN_TEXT, text, at) : at;
      if (cut > at) [at, wanted] = [cut, "the rest of a text in quotes"];
      const [found = "the end"] = /^(?:[\w.+-]+|"[^"]*"?|[^])/u.exec(text.slice(at, at + 30)) ?? [];
      return { at, wanted, found: /\p{Cc}/u.test(found) ? "a line end or a control character" : found };
    }
  }
}

/** Where a match that begins at a place ends; the place where there is none. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** What is wanted after a token where this is wanted; undefined if the token is something else. Keeps the open brackets. */
function follow(wanted: string, token: string, open: string[]): string | undefined {
  const after = (): string => {
    const bracket = open.at(-1);
    return bracket === undefined ? "nothing more" : `a comma or ${bracket === "{" ? "}" : "]"}`;
  };
  if (/^[\]}]$/.test(token) && wanted.endsWith(token)) {
    open.pop();
    return after();
  }
  if (wanted.startsWith("a value") && /^[{[]/.test(token)) {
    open.push(token);
    return token === "{" ? "a name in quotes or }" : "a value or ]";
  }
  if (wanted.startsWith("a value") && /^[^\]},:]/.test(token)) return after();
  if (wanted.startsWith("a name") && token.startsWith('"')) return "a colon";
  if (wanted === "a colon" && token === ":") return "a value";
  if (wanted.startsWith("a comma") && token === ",") {
    return open.at(-1) === "{" ? "a name in quotes" : "a value";
  }
}
