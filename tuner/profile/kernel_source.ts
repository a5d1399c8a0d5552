import { layOut } from "../../kernels/layout.ts";
import { alongAxes, type Problem } from "../../kernels/stencils/stencil.ts";
import { coordinatesOf } from "../../kernels/traversals/all.ts";
import { planesOf, reachOf } from "../../kernels/update.ts";
import { writeWasm } from "../../kernels/wasm/write_wasm.ts";
import type { Configuration } from "../configuration.ts";
import type { Candidate } from "../search/enumeration.ts";
import type { Space } from "../search/space.ts";
import { slicesOf } from "../shares.ts";

/** What the CPU's kernel is called; no traversal has this name. */
const CPU = "cpu";

/**
 * Hashes of the kernels that a run measures, as `cpu=0123456789abcdef marching=… stepwise=…`: rates of older kernels
 * must not be taken for those of new ones, and a change to one traversal leaves what is known of the others. Which
 * candidates represent a traversal does not depend on their ranking, which follows the bandwidth measured just before.
 */
export async function hashKernels(
  { problem, space }: { readonly problem: Problem; readonly space: Space },
): Promise<string> {
  const byTraversal = Map.groupBy(space.candidates, ({ traversal: { name } }) => name);
  const hashes = [...byTraversal].map(async ([name, candidates]) => {
    const code = witnessesOf(candidates).flatMap(({ traversal, parameters }) =>
      traversal.plan(problem, parameters).shaders.map((shader) => shader.code)
    );
    return `${name}=${await digest(new TextEncoder().encode(code.join("\n")))}`;
  });
  return (await Promise.all([...hashes, hashCpuKernel(problem)])).sort().join(" ");
}

/** The first few in a fixed order in which every value along every axis occurs: any of them may write the kernel. */
function witnessesOf(candidates: readonly Candidate[]): Candidate[] {
  const placeOf = ({ traversal, parameters }: Candidate) => coordinatesOf(traversal.name, parameters);
  const keys = new Map(candidates.map((way) => [way, JSON.stringify(Object.entries(placeOf(way)))]));
  const seen = new Set<string>();
  return candidates.toSorted((a, b) => keys.get(a)! < keys.get(b)! ? -1 : 1).filter((way) => {
    const before = seen.size;
    for (const [name, value] of Object.entries(placeOf(way))) seen.add(`${name}=${value}`);
    return seen.size > before;
  });
}

async function hashCpuKernel({ stencil: { update }, grid, boundary }: Problem): Promise<string> {
  const { x, y, z } = reachOf(update);
  const layout = layOut(grid, { pad: [x, y, z], planes: planesOf(update) });
  const code = writeWasm({ update, layout, boundaries: alongAxes(boundary) });
  return `${CPU}=${await digest(code)}`;
}

/** Whether a configuration's kernels are the same in both {@linkcode hashKernels}; older versions wrote other texts. */
export function hasSameKernels({ traversal, share }: Configuration, a: string, b: string): boolean {
  const names = slicesOf(share).map(({ device }) => device === "gpu" ? traversal : CPU);
  const hashesOf = (text: string) =>
    new Map(text.split(" ").map((part) => part.split("=") as [string, string]));
  const ours = hashesOf(a), theirs = hashesOf(b);
  return names.every((name) => ours.get(name) !== undefined && ours.get(name) === theirs.get(name));
}

/** Half of a SHA-256. */
async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
