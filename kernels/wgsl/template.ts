/**
 * The `wgsl` tag: a shader as one template that reads top-down.
 *
 * @module
 */

/**
 * Dedents the template, indents every line of a multi-line hole like its first, and drops a line whose holes
 * are all empty and that holds nothing else.
 */
export function wgsl(strings: TemplateStringsArray, ...holes: (string | number)[]): string {
  // Holes are marked by a character that no shader contains, then filled line by line.
  const MARK = "\u0000";
  const lines = strings.join(MARK).replace(/^\n/, "").replace(/\n[ ]*$/, "\n").split("\n");
  const margin = Math.min(
    ...lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length),
  );
  let next = 0;
  const filled: string[] = [];
  for (const line of lines) {
    const body = line.slice(Math.min(margin, line.length));
    const indent = body.slice(0, body.length - body.trimStart().length);
    const pieces = body.split(MARK);
    const values = pieces.slice(1).map(() => `${holes[next++]}`);
    if (values.length > 0 && pieces.join("").trim() === "" && values.join("") === "") continue;
    const text = pieces.reduce((before, piece, i) => before + values[i - 1]!.trimEnd() + piece);
    filled.push(text.replaceAll("\n", `\n${indent}`));
  }
  return filled.join("\n");
}
