import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stencilOf } from "../../kernels/definition.ts";
import type { Equation, Stencil } from "../../kernels/stencils/stencil.ts";
import { RequestError } from "../problem/request_error.ts";
import { isMissing, reasonOf } from "../profile/profile_error.ts";
import type { EquationAnswer } from "./equation_main.ts";
import { say } from "./terminal.ts";

/** Milliseconds for a module, with the start of Deno. */
const LIMIT_MS = 30_000;

/** Characters that a module may print, its definition with it. */
const MOST_PRINTED = 16 * 2 ** 20;

/** Until the module runs, the process may run programs: to end itself when this one is gone. */
const FLAGS = [
  ...["--no-prompt", "--no-remote", "--cached-only", "--no-lock", "--allow-run"],
  // Deno takes no path with a comma, as the module's folder may have: it is the process's own
  `--allow-read=${dirname(fileURLToPath(new URL("../../mod.ts", import.meta.url)))},.`,
  "--v8-flags=--max-heap-size=1024",
];

/** Whether `--stencil` names a module instead of a built-in equation. */
export function isModule(text: string): boolean {
  return /[\\/:]|\.[cm]?[jt]s$/.test(text);
}

/**
 * The equation that a module exports by default, which is as the built-in ones are, but has nothing to set. The module is
 * someone's program: it runs in a process that reads what it imports of its own folder and of Facet, and nothing else.
 *
 * @param text a path, or a file's URL
 * @param limitMs milliseconds after which the process is ended
 * @throws {RequestError} if there is no such module, it throws or does not end, or exports something else
 */
export async function loadEquation(text: string, limitMs = LIMIT_MS): Promise<Equation> {
  const refuse = (why: string): never => {
    throw new RequestError(`Cannot use --stencil ${text}: ${why}`);
  };
  const isUrl = /^[a-z][a-z0-9+.-]+:/i.test(text); // a single letter is a drive
  if (isUrl && !/^file:\/\/\//i.test(text)) refuse("a path or a file's URL is wanted");
  const answer = await ask(isUrl ? new URL(text) : pathToFileURL(text), limitMs);
  if ("why" in answer) return refuse(answer.why);
  let stencil: Stencil;
  try {
    stencil = stencilOf(answer.definition);
  } catch (error) {
    return refuse(`its default export is not an equation: ${reasonOf(error)}`);
  }
  const { name, title, dimensions = 3 } = stencil;
  return { name, title, dimensions: [dimensions], create: () => stencil };
}

/** Starts the process, and says on stderr what the module prints. */
async function ask(url: URL, limitMs: number): Promise<EquationAnswer> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", ...FLAGS, new URL("./equation_main.ts", import.meta.url).href, url.href],
    cwd: dirname(fileURLToPath(url)),
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  let child: Deno.ChildProcess;
  try {
    child = command.spawn();
  } catch (error) {
    if (isMissing(error)) return { why: "there is no such folder" };
    throw error;
  }
  let why = "it ended before its equation was there";
  const end = (reason: string): void => {
    why = reason;
    try {
      child.kill("SIGKILL");
    } catch {
      // it has ended by itself
    }
  };
  const timer = setTimeout(() => end(`it was not done after ${limitMs / 1000} s`), limitMs);
  const linesOf = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string[]> => {
    let text = "";
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      if ((text += piece).length > MOST_PRINTED) end(`it printed more than ${MOST_PRINTED} characters`);
    }
    return text.split("\n");
  };
  const [lines, errors, { success }] = await Promise.all([
    linesOf(child.stdout),
    linesOf(child.stderr),
    child.status,
  ]);
  clearTimeout(timer);
  const error = errors.findLast((line) => line.startsWith("error: "))?.replace(
    /^error: (?:Uncaught )?/,
    ": ",
  );
  if (!success) return { why: why + (error ?? "") };
  try {
    const answer = Object(JSON.parse(lines.pop()!));
    for (const line of [...lines, ...errors]) if (line !== "") say(line);
    return answer;
  } catch {
    return { why };
  }
}
