/**
 * `bench`: measures the CPU's workers against the same loops in C.
 *
 * @module
 */
import type { Grid } from "../../kernels/stencils/stencil.ts";
import { wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { C_COMPILER } from "../backends/native_loops.ts";
import { CpuFailure, CpuPool } from "../backends/wasm_workers.ts";
import { compareCpu, type CpuComparison } from "../measure/compare_cpu.ts";
import { formatRate, formatTable } from "./format.ts";
import { readGrid, readNumber } from "./option_values.ts";
import { parseOptions, renderHelp } from "./parse_options.ts";
import { EXIT } from "./report_error.ts";
import { UserError } from "./user_error.ts";

const USAGE = "deno task bench [OPTIONS]\n\n" +
  "Measures one CPU worker against the same loops in C, and several workers against one, in turns.";

/** Both time levels of the first fit a second-level cache, those of the second no cache of a desktop. */
const DEFAULT_GRIDS = ["64x64x64", "256x256x256"];

const DEFAULT_ORDERS = [2, 4, 8, 14];

const OPTIONS = {
  order: { type: "strings", value: "N", help: `order in space (default ${DEFAULT_ORDERS.join(", ")})` },
  grid: {
    type: "strings",
    value: "XxYxZ",
    help: `cells along x, y, z (default ${DEFAULT_GRIDS.join(", ")})`,
  },
  workers: { type: "string", value: "N", default: "2", help: "workers to compare with one; 1 leaves it out" },
  seconds: { type: "string", value: "S", default: "3", help: "time for the samples of each order and grid" },
  json: { type: "boolean", help: "print the results as JSON" },
} as const;

/**
 * Runs the command.
 *
 * @param args its options
 * @returns the exit code: 1 when the ways to compute differ in any bit
 * @throws {UserError} naming the option that is wrong
 */
export async function run(args: string[]): Promise<number> {
  const options = parseOptions(args, OPTIONS);
  if (options.help) {
    console.log(renderHelp(USAGE, OPTIONS));
    return EXIT.done;
  }
  const orders = options.order.length > 0 ? options.order.map(readOrder) : DEFAULT_ORDERS;
  const grids = (options.grid.length > 0 ? options.grid : DEFAULT_GRIDS).map((text) => readGrid(text));
  const workers = readNumber("workers", options.workers, {
    wanted: "a whole number from 1 to 1024",
    isRight: (n) => Number.isInteger(n) && n >= 1 && n <= 1024,
  });
  const seconds = readNumber("seconds", options.seconds, {
    wanted: "a number above 0 and at most 3600",
    isRight: (s) => s > 0 && s <= 3600,
  });
  const comparisons = await compareAll({ orders, grids, workers, timeNs: seconds * 1e9 });
  console.log(
    options.json
      ? JSON.stringify({ compiler: C_COMPILER.join(" "), workers, comparisons }, null, 2)
      : render(comparisons, workers),
  );
  return comparisons.every(({ sameBits }) => sameBits) ? EXIT.done : EXIT.no;
}

function readOrder(text: string): number {
  return readNumber("order", text, {
    wanted: `one of ${WAVE_ORDERS.join(", ")}`,
    isRight: (order) => (WAVE_ORDERS as readonly number[]).includes(order),
  });
}

/** What to compare. */
interface BenchRequest {
  readonly orders: readonly number[];
  readonly grids: readonly Grid[];
  readonly workers: number;
  readonly timeNs: number;
}

async function compareAll({ orders, grids, workers, timeNs }: BenchRequest): Promise<CpuComparison[]> {
  const one = await CpuPool.create({ workers: 1 });
  const many = workers > 1 ? await CpuPool.create({ workers }) : undefined;
  try {
    const comparisons: CpuComparison[] = [];
    for (const grid of grids) {
      for (const order of orders) {
        comparisons.push(await compareCpu({ stencil: wave(order), grid, one, many, timeNs }));
      }
    }
    return comparisons;
  } catch (error) {
    if (error instanceof CpuFailure && error.reason === "limits") throw new UserError(error.message);
    throw error;
  } finally {
    one.dispose();
    many?.dispose();
  }
}

/**
 * The results for people.
 *
 * @param comparisons in the order they were measured
 * @param workers of the pool of several
 * @returns text of whole lines, without the last line end
 */
export function render(comparisons: readonly CpuComparison[], workers: number): string {
  const rate = (cellsPerSecond: number | null): string =>
    cellsPerSecond === null ? "–" : formatRate(cellsPerSecond);
  const ratio = (value: number | null): string => value === null ? "–" : value.toFixed(2);
  const header = ["grid", "MiB", "order", "C", "1 worker", "of C", `${workers} workers`, "of 1", "samples"];
  const rows = comparisons.map((found) => [
    found.grid.join("x"),
    (found.bytes / 2 ** 20).toFixed(0),
    String(found.order),
    rate(found.cCellsPerSecond),
    rate(found.oneCellsPerSecond),
    ratio(found.oneOverC),
    rate(found.manyCellsPerSecond),
    ratio(found.manyOverOne),
    String(found.samples),
  ]);
  const hasC = comparisons.some(({ cCellsPerSecond }) => cCellsPerSecond !== null);
  const differing = comparisons.filter(({ sameBits }) => !sameBits);
  return [
    `Wave equation, boundary zero, f32; medians of samples taken in turns. C: plain loops, ${
      C_COMPILER.join(" ")
    }, one thread.`,
    ...(hasC ? [] : ["There is no gcc on this machine: the loops in C are left out."]),
    "",
    formatTable([header, ...rows], { right: [1, 2, 3, 4, 5, 6, 7, 8] }),
    "",
    differing.length === 0
      ? "All ways gave the same field, bit for bit."
      : `DIFFERENT FIELDS: ${
        differing.map(({ grid, order }) => `order ${order} on ${grid.join("x")}`).join(", ")
      }`,
  ].join("\n");
}
