/**
 * Makes an equation of text that a visitor wrote, in a worker of its own: it cannot touch the page, and one that never ends
 * is ended.
 *
 * @module
 */
import * as facet from "./words.ts";

/** The library's words that a text calls and does not make itself. */
export function wordsOf(text: string): string[] {
  return Object.keys(facet).filter((word) =>
    new RegExp(`\\b${word}\\(`).test(text) &&
    !new RegExp(`\\b(?:const|let|function)\\s+${word}\\b`).test(text)
  );
}

/** Milliseconds that a text may take. */
const LONGEST_MS = 5000;

/**
 * The definition of an equation that a module's text exports as default. The words of the library need no import.
 *
 * @param library where the library's module is
 * @throws {Error} if it makes none; the message is one line, and says in which line of the text, where that is known
 */
export async function definitionOfText(text: string, library: URL): Promise<unknown> {
  if (!/^export default\b/m.test(text)) throw new Error("`export default equation({ … })` is wanted");
  // in one line, so that lines keep their numbers; not a module, of whose mistakes browsers do not tell the line
  const before =
    `Error.stackTraceLimit = 100; (async () => { const { definitionOf: $definitionOf, ${
      wordsOf(text).join(", ")
    } } = ` +
    `await import(${JSON.stringify(library.href)});`;
  const after = "\npostMessage({ definition: $definitionOf($own) }); })()" +
    ".catch(({ message, stack }) => postMessage({ message, stack }));";
  const code = `${before} ${text.replace(/^export default\b/m, "const $own =")}${after}`;
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const worker = new Worker(url);
  try {
    return await new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`it was not done after ${LONGEST_MS / 1000} s`)), LONGEST_MS);
      worker.onmessage = ({ data: { definition, message, stack = "" } }) => {
        const [, line] = stack.split(`${url}:`)[1]?.match(/^(\d+)/) ?? [];
        if (message === undefined) resolve(definition);
        else reject(new Error(line === undefined ? message : `Line ${line}: ${message}`));
      };
      worker.onerror = (event) => {
        event.preventDefault();
        // Firefox says neither what nor where
        const { message = "something in it is no JavaScript, such as a missing bracket", lineno } = event;
        const where = lineno === undefined ? "" : `Line ${lineno}: `;
        reject(new Error(where + message.replace(/^Uncaught (?:\w*Error: )?/, "")));
      };
    });
  } finally {
    worker.terminate();
    URL.revokeObjectURL(url);
  }
}
