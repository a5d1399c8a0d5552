import { pathToFileURL } from "node:url";
import { checkStencil } from "../../kernels/check_definition.ts";
import { definitionOf, stencilOf } from "../../kernels/definition.ts";
import type { Equation, Stencil } from "../../kernels/stencils/stencil.ts";
import { RequestError } from "../problem/request_error.ts";
import { reasonOf } from "../profile/profile_error.ts";

/** Characters of another error's message at most: those of equations name a place. */
const LONGEST_LINE = 300;

/** Whether `--stencil` names a module instead of a built-in equation. */
export function isModule(text: string): boolean {
  return /[\\/:]|\.[cm]?[jt]s$/.test(text);
}

/**
 * The equation that a module exports by default, which is as the built-in ones are, but has nothing to set.
 *
 * @param text a path, or a file's URL
 * @throws {RequestError} if there is no such module, it throws, or exports something else
 */
export async function loadEquation(text: string): Promise<Equation> {
  const refuse = (why: string): never => {
    throw new RequestError(`Cannot use --stencil ${text}: ${why}`);
  };
  const scheme = /^[a-z][a-z0-9+.-]+:/i.exec(text)?.[0]; // a single letter is a drive
  if (scheme !== undefined && scheme !== "file:") refuse("a path or a file's URL is wanted");
  const url = scheme === undefined ? pathToFileURL(text).href : text;
  const module = await import(url).catch((error) => {
    const [line] = /^\d+/.exec(`${error?.stack}`.split(`${url}:`)[1] ?? "") ?? [];
    const why = reasonOf(error).slice(0, LONGEST_LINE) + (line === undefined ? "" : `, line ${line}`);
    return refuse(`it cannot be imported: ${why}`);
  });
  if (!("default" in module)) refuse("an equation is wanted as its default export: it has none");
  let stencil: Stencil;
  try {
    checkStencil(module.default);
    // what other processes and programs make of it
    stencil = stencilOf(definitionOf(module.default));
  } catch (error) {
    return refuse(`its default export is not an equation: ${reasonOf(error).slice(0, LONGEST_LINE)}`);
  }
  const { name, title, dimensions = 3 } = stencil;
  return { name, title, dimensions: [dimensions], create: () => stencil };
}
