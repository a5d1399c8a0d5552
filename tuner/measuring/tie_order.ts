/**
 * Which of several configurations that cannot be told apart is chosen: the one that asks least of the device.
 *
 * @module
 */
import type { Demand } from "../../kernels/traversals/traversal.ts";
import type { Configuration, Measurement } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";

/**
 * Orders a tie set: the smallest use of the device's memory on chip first (registers and workgroup memory of a
 * workgroup), of equals the kernel that compiles fastest, of equals the first by name and parameters. Only what a
 * configuration is counts, not what was measured of it: compile times stand for themselves by the instructions that
 * they grow with. So whenever the same configurations tie, the same one is chosen.
 *
 * @param ties configurations that cannot be told apart
 * @param demandOf what one asks of the device; undefined where nobody knows, and then it comes last
 *
 * @example
 * ```ts
 * import { orderTies } from "./tie_order.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(orderTies([], () => undefined), []);
 * ```
 */
export function orderTies(
  ties: readonly Measurement[],
  demandOf: (configuration: Configuration) => Demand | undefined,
): Measurement[] {
  const placed = ties.map((tie) => {
    const demand = demandOf(tie.configuration);
    const bytes = demand === undefined
      ? Infinity
      : 4 * demand.registersPerThread * demand.threadsPerWorkgroup + demand.workgroupBytes;
    return {
      tie,
      bytes,
      instructions: demand?.loopInstructions ?? 0,
      key: configurationKey(tie.configuration),
    };
  });
  placed.sort((a, b) =>
    (a.bytes === b.bytes ? 0 : a.bytes - b.bytes) || a.instructions - b.instructions ||
    (a.key < b.key ? -1 : 1)
  );
  return placed.map(({ tie }) => tie);
}
