import type { Layout } from "../../../kernels/layout.ts";
import { remembered } from "../../../kernels/remembered.ts";
import type { Update } from "../../../kernels/update.ts";
import type { AxisBoundaries } from "../../../kernels/stencils/stencil.ts";
import type { WasmSource } from "../../../kernels/wasm/rows.ts";
import { writeLine } from "../../../kernels/wasm/write_line.ts";
import { writeWasm } from "../../../kernels/wasm/write_wasm.ts";
import type { CpuWork } from "./cpu_commands.ts";

/** By update, then by all else that the text of a module depends on. */
const modulesOf = remembered((_: Update) => new Map<string, Promise<WebAssembly.Module>>());

/**
 * The module of a field, compiled once for each update and layout: one that is used again keeps the fast code that the
 * engine has made of it meanwhile, whichever workers made it run.
 *
 * @param source with how workers visit the field: a line has kernels of its own
 * @throws {RangeError} when the update cannot be written for the layout
 */
export function compileOnce(
  { work, ...source }: WasmSource & { readonly work: CpuWork },
): Promise<WebAssembly.Module> {
  const { update, layout, boundaries, fused } = source, modules = modulesOf(update);
  const isLine = "ends" in work, lanes = isLine ? work.swept?.lanes : undefined;
  const text = update.profiles === undefined ? sameText(layout, boundaries) : layout;
  const key = JSON.stringify([text, boundaries, fused, isLine, lanes]);
  let module = modules.get(key);
  if (module === undefined) {
    const write = () => isLine ? writeLine({ update, layout, lanes }) : writeWasm(source);
    module = Promise.resolve().then(write).then(WebAssembly.compile);
    module.catch(() => modules.delete(key));
    modules.set(key, module);
  }
  return module;
}

/** What a module depends on in a layout: the number of slices counts only where images lie beyond x. */
function sameText({ grid: [nx, ...slice], length: _, ...layout }: Layout, [x]: AxisBoundaries): object {
  return { ...layout, grid: [x === "zero" ? 0 : nx, ...slice] };
}
