import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Demand } from "../../kernels/traversals/traversal.ts";
import { orderTies } from "../../tuner/measuring/tie_order.ts";
import { measurementNamed } from "./fake_runner.ts";

const DEMAND: Demand = {
  bytesPerUpdate: 12,
  registersPerThread: 10,
  threadsPerWorkgroup: 64,
  workgroupBytes: 0,
  workgroupsPerDispatch: 100,
  dispatchesPerStep: 1,
};

const DEMANDS: Readonly<Record<string, Demand>> = {
  small: DEMAND,
  twin: DEMAND,
  long: { ...DEMAND, loopInstructions: 1000 },
  threads: { ...DEMAND, threadsPerWorkgroup: 128 },
  memory: { ...DEMAND, workgroupBytes: 4096 },
};

const WANTED = ["small", "twin", "long", "threads", "memory", "unknown", "unknown-too"];

Deno.test("of those that tie the least demanding is chosen, whatever was measured and in any order", () => {
  const property = fc.property(
    fc.shuffledSubarray(WANTED, { minLength: WANTED.length }),
    fc.array(fc.double({ min: 90, max: 110, noNaN: true }), { minLength: 7, maxLength: 7 }),
    (names, rates) => {
      const ties = names.map((name, i) => ({ ...measurementNamed(name, rates[i]!), compileNs: rates[i]! }));
      const ordered = orderTies(ties, ({ traversal }) => DEMANDS[traversal]);
      assertEquals(ordered.map(({ configuration }) => configuration.traversal), WANTED);
    },
  );
  fc.assert(property, { seed: 1 });
});
