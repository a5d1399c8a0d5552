import { CostModel } from "../../models/cost_model.ts";
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { refusalOf } from "../../kernels/capability.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS as ALL } from "../../kernels/traversals/all.ts";
import type { Traversal } from "../../kernels/traversals/traversal.ts";
import { hashKernels } from "../../tuner/profile/kernel_source.ts";
import { enumerateSpace } from "../../tuner/search/space.ts";
import { H100_LIMITS } from "../h100_limits.ts";

const PROBLEM: Problem = { stencil: wave(2), grid: [12, 8, 8], boundary: "zero", steps: 32 };

/** Traversals with two values of each parameter: a small space. */
const TRAVERSALS = ALL.filter((one) => refusalOf(one, PROBLEM) === undefined).map((traversal): Traversal => ({
  ...traversal,
  parameterLists: (problem, limits) => {
    const lists = Object.entries(traversal.parameterLists(problem, limits));
    return Object.fromEntries(lists.map(([name, values]) => [name, values.slice(0, 2)]));
  },
}));

/** Hashes by name. */
async function hashesOf(
  { problem = PROBLEM, traversals = TRAVERSALS, copyBytesPerSecond = 3e12 }: {
    problem?: Problem;
    traversals?: readonly Traversal[];
    copyBytesPerSecond?: number;
  } = {},
) {
  const space = enumerateSpace(problem, {
    traversals,
    limits: H100_LIMITS,
    model: new CostModel({ copyBytesPerSecond }),
  });
  const text = await hashKernels({ problem, space });
  assertMatch(text, /^[a-z-]+=[0-9a-f]{32}( [a-z-]+=[0-9a-f]{32})*$/);
  return Object.fromEntries(text.split(" ").map((part) => part.split("=")));
}

Deno.test("hashes do not follow the ranking, nor which other traversals there are", async () => {
  const all = await hashesOf();
  assertEquals(Object.keys(all), ["cpu", ...TRAVERSALS.map(({ name }) => name)].sort());
  assertEquals(await hashesOf({ copyBytesPerSecond: 1e9 }), all);
  for (const traversal of TRAVERSALS) {
    const { [traversal.name]: hash } = await hashesOf({ traversals: [traversal] });
    assertEquals(hash, all[traversal.name]);
  }
});

Deno.test("a traversal that writes another kernel for some of its parameters has another hash, others do not", async () => {
  const all = await hashesOf();
  for (const changed of TRAVERSALS) {
    const plan: Traversal["plan"] = (problem, parameters) => {
      const { shaders, ...rest } = changed.plan(problem, parameters);
      const [last] = Object.values(parameters).slice(-1),
        [least] = Object.values(changed.parameterLists(problem, H100_LIMITS)).at(-1)!;
      return {
        ...rest,
        shaders: last === least ? shaders : shaders.map((one) => ({ ...one, code: `${one.code} ` })),
      };
    };
    const traversals = TRAVERSALS.map((one) => one === changed ? { ...one, plan } : one);
    const hashes = await hashesOf({ traversals });
    for (const name of Object.keys(all)) {
      (name === changed.name ? assertNotEquals : assertEquals)(
        hashes[name],
        all[name],
        `${changed.name}: ${name}`,
      );
    }
  }
});

Deno.test("another equation or time step has other kernels everywhere", async () => {
  const all = await hashesOf();
  for (const stencil of [wave(4), wave(2, { courant: 0.1 })]) {
    const other = await hashesOf({ problem: { ...PROBLEM, stencil } });
    for (const [name, hash] of Object.entries(other)) assertNotEquals(hash, all[name], name);
  }
});
