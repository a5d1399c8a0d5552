/**
 * Imports the module at a file's URL, and ends with its equation's definition, or with why there is none, as the last line
 * on stdout. All files are read before the first line of the module runs, which then may do nothing but compute.
 *
 * @module
 */
import { checkStencil } from "../../kernels/check_definition.ts";
import { type Definition, definitionOf } from "../../kernels/definition.ts";
import type { Stencil } from "../../kernels/stencils/stencil.ts";
import { reasonOf } from "../profile/profile_error.ts";

/** What the process says of the module. */
export type EquationAnswer = { readonly definition: Definition } | { readonly why: string };

/** Characters of another error's message at most: those of equations name a place. */
const LONGEST_LINE = 300;

const [url = ""] = Deno.args;

/** What went wrong, in a line: nobody can add permissions or packages to an equation. */
function reasonIn(error: unknown): string {
  const { message = `${error}` } = Object(error);
  const [, kind, of = ""] = /^Requires (\w+) access(?: to "(.*)")?, run again/.exec(message) ?? [];
  if (kind === "read") return `it may read only what it imports of its own folder and Facet's: found ${of}`;
  if (kind !== undefined) return `it may use no ${kind}: found ${of}`;
  const [, missing] = /"([^"]+)", (?:but --no-remote|--cached-only) is specified/.exec(message) ?? [];
  if (missing !== undefined) return `it may download nothing: found ${missing}`;
  return reasonOf(error).slice(0, LONGEST_LINE);
}

async function equationOf(): Promise<EquationAnswer> {
  // a module's imports are read together, and then run one after another
  const [confine, own] = [import.meta.resolve("./confine.ts"), url].map((name) => JSON.stringify(name));
  const code = `import ${confine}; import * as own from ${own}; export { own };`;
  let module: { readonly default?: Stencil };
  try {
    module = (await import(`data:text/javascript,${encodeURIComponent(code)}`)).own;
  } catch (error) {
    const [line] = /^\d+/.exec(`${Object(error).stack}`.split(`${url}:`)[1] ?? "") ?? [];
    return { why: `it cannot be imported: ${reasonIn(error)}${line === undefined ? "" : `, line ${line}`}` };
  }
  if (!("default" in module)) return { why: "an equation is wanted as its default export: it has none" };
  try {
    checkStencil(module.default!);
    return { definition: definitionOf(module.default!) };
  } catch (error) {
    return { why: `its default export is not an equation: ${reasonIn(error)}` };
  }
}

// a module that never ends would outlive whoever waits for it
new Worker(new URL("../measuring/process/orphan_watch.ts", import.meta.url), { type: "module" });
const bytes = new TextEncoder().encode(`\n${JSON.stringify(await equationOf())}`);
for (let sent = 0; sent < bytes.length;) sent += Deno.stdout.writeSync(bytes.subarray(sent));
Deno.exit(0);
