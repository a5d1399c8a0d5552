import { assertEquals, assertGreater } from "@std/assert";
import { acoustic } from "../../../../kernels/stencils/acoustic.ts";
import { heat } from "../../../../kernels/stencils/heat.ts";
import { life } from "../../../../kernels/stencils/life.ts";
import type { Problem } from "../../../../kernels/stencils/stencil.ts";
import { wave } from "../../../../kernels/stencils/wave.ts";
import { combine } from "../../../../kernels/traversals/traversal.ts";
import { diamondTorre } from "../../../../kernels/traversals/torre/diamond_torre.ts";
import { torreShader } from "../../../../kernels/traversals/torre/shader.ts";
import { shapeOf } from "../../../../kernels/traversals/torre/shape.ts";
import { H100_LIMITS } from "../../../h100_limits.ts";
import { THOROUGH } from "../../../thorough.ts";
import { wholeNumberStaggered, wholeNumberYee } from "../../whole_numbers.ts";
import { SMALL_TORRE } from "../../small_torre.ts";

/** Rows of workgroup memory that are written, and read by other threads, between the same two barriers. */
function racesIn(code: string): string[] {
  const [start, loop] = code.slice(code.indexOf("fn main")).split("for (var tier = 0;") as [string, string];
  const end = loop.indexOf("\n  }\n"), [body, finish] = [loop.slice(0, end), loop.slice(end)];
  const parts = body.split("workgroupBarrier();"), first = parts.shift()!, last = parts.pop()!;
  return [start + first, ...parts, last + first, last + finish].flatMap((part) => {
    const written = new Set([...part.matchAll(/(\w+\[\d+\])\[slot\] = /g)].map(([, row]) => row!));
    const read = new Set([...part.matchAll(/(\w+\[\d+\])\[slot [+-]/g)].map(([, row]) => row!));
    return [...written].filter((row) => read.has(row));
  });
}

Deno.test("no thread of a torre reads what another writes without a barrier in between", () => {
  let resting = 0;
  const others = THOROUGH ? [wave(4), life()] : [];
  for (const stencil of [wave(2), heat(1), wholeNumberYee(), wholeNumberStaggered(), ...others]) {
    const problem: Problem = { stencil, grid: [40, 40, 37], boundary: "zero", steps: 16 };
    const lists = diamondTorre.parameterLists(problem, H100_LIMITS);
    const some = {
      dts: THOROUGH ? [1, 2, 3] : [1, 2],
      nt: [8],
      bands: [1],
      zPerThread: [2],
      chunk: THOROUGH ? [1, 2, 3, 5, 8] : [1, 3, 8],
      threads: [19],
    };
    for (const any of combine({ ...lists, ...some })) {
      if (diamondTorre.infeasible(problem, any, H100_LIMITS) !== undefined) continue;
      const parameters = any as Parameters<typeof torreShader>[1], shape = shapeOf(problem, parameters);
      resting += Math.sign(shape.resting.length);
      const races = racesIn(torreShader(problem, parameters, shape).code);
      assertEquals(races, [], `${stencil.title} ${JSON.stringify(parameters)}`);
    }
  }
  assertGreater(resting, 0);
});

Deno.test("a torre binds profiles once more, as a uniform, where 64 KiB hold them", () => {
  const shaderOf = (nx: number, edges: readonly [number, number, number]) => {
    const stencil = acoustic({ edges });
    const problem: Problem = { stencil, grid: [nx, 9, 9], boundary: "zero", steps: 8 };
    const torre = { ...SMALL_TORRE, threads: 9, unroll: 1 };
    const { code, buffers } = diamondTorre.plan(problem, { ...torre, packed: 0, held: 0 }).shaders[0]!;
    return [buffers, code.includes("var<uniform> alike"), code.includes("alike[(x")];
  };
  assertEquals(shaderOf(8000, [2, 2, 2]), [["profiles", "profiles"], true, true]);
  assertEquals(shaderOf(8500, [2, 2, 2]), [["profiles"], false, false]);
  assertEquals(shaderOf(8000, [0, 0, 2]), [["profiles"], false, false]);
});
