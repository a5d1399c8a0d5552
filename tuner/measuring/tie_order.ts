/**
 * Which configuration of a tie set is chosen: the one that needs least of the device.
 *
 * @module
 */
import type { Demand } from "../../kernels/traversals/traversal.ts";
import type { Configuration, Measurement } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";

/**
 * Orders a tie set: the smallest use of on-chip memory first (registers and workgroup memory of a workgroup), then the
 * fewest instructions (they stand in for compile time), then by name and parameters. Measurements do not count, so
 * whenever the same configurations tie, the same one is chosen.
 * One whose demand is unknown comes last.
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
