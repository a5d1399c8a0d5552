import { assertEquals } from "@std/assert";
import { CPU_TRAVERSALS } from "../../../kernels/cpu/cpu_traversals.ts";
import { heat } from "../../../kernels/stencils/heat.ts";
import { maxwell } from "../../../kernels/stencils/maxwell.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { traversalNamed, TRAVERSALS } from "../../../kernels/traversals/all.ts";
import { axesNamed, featuresOf, namesOf } from "../../../kernels/traversals/parameter.ts";
import { H100_LIMITS } from "../../h100_limits.ts";

const COMMON = { boundary: "zero", steps: 32 } as const;
const PROBLEMS: readonly Problem[] = [
  { ...COMMON, stencil: heat(1), grid: [64, 64, 64] },
  { ...COMMON, stencil: maxwell(), grid: [64, 64, 64] },
  { ...COMMON, stencil: heat(1, { dimensions: 2 }), grid: [64, 1, 64] },
];

Deno.test("a traversal says itself what its parameters mean, those of every problem and no others", () => {
  for (const traversal of TRAVERSALS) {
    const { name, dimensions, parameters } = traversal;
    if (dimensions === 1) continue;
    const suited = PROBLEMS.filter(({ grid: [, ny] }) =>
      dimensions === undefined || (ny === 1) === (dimensions === 2)
    );
    const tried = suited.flatMap((one) =>
      Object.keys(traversal.parameterLists(one, { ...H100_LIMITS, subgroupSize: 32 }))
    );
    assertEquals([...new Set(tried)].sort(), Object.keys(parameters).sort(), name);
  }
  for (const traversal of CPU_TRAVERSALS) {
    const tried = PROBLEMS.flatMap((one) => traversal.candidates(one, 2, { fuses: true })).flatMap(
      Object.keys,
    );
    const others = tried.filter((name) => !Object.hasOwn(traversal.parameters, name));
    assertEquals(others, [], traversal.name);
  }
});

Deno.test("what parameters decide: the writing of a kernel, the order of dispatches, tiles and passes", () => {
  const decided = TRAVERSALS.flatMap((traversal) => {
    const of = (["writing", "ordering", "tile", "pass"] as const).map((role) => namesOf(traversal, role));
    return of.every(({ length }) => length === 0) ? [] : [[traversal.name, ...of]];
  });
  assertEquals(decided, [
    ["marching", ["exchange"], [], [], ["depth"]],
    ["diamond-torre", ["chunk", "unroll", "rest", "loads"], ["nt", "bands"], ["dts"], []],
    ["plane-torre", [], [], ["dts"], ["nt", "bands"]],
    ["volume-torre", [], [], ["side"], ["nt", "bands"]],
  ]);
  assertEquals(namesOf(undefined, "writing"), []);
  // what a device must grant for values
  const needed = (exchange: number) => featuresOf(traversalNamed("marching"), { depth: 2, exchange });
  assertEquals([needed(0), needed(1), featuresOf(undefined, { exchange: 1 })], [[], ["subgroups"], []]);
  // along one axis of a search lie those that were one parameter
  const axes = axesNamed(traversalNamed("diamond-torre"), "writing");
  assertEquals([...new Set(axes)], ["chunk", "unroll", "lookahead"]);
});
