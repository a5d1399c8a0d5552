/**
 * `bench`: measures the CPU's workers against the same loops in C; in one dimension the swept rule against classic.
 *
 * @module
 */
import type { Grid } from "../kernels/stencils/stencil.ts";
import { KS_POINTS } from "../kernels/stencils/ks.ts";
import { wave, WAVE_ORDERS } from "../kernels/stencils/wave.ts";
import { C_COMPILER } from "./native_loops.ts";
import { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { compareCpu, type CpuComparison } from "./compare_cpu.ts";
import { checkFileWritable } from "../tuner/profile/store.ts";
import { formatRate, formatTable } from "../tuner/cli/format.ts";
import {
  benchLines,
  DEFAULT_CPU_LENGTHS,
  DEFAULT_LENGTHS,
  lineEquations,
  renderLines,
} from "./bench_lines.ts";
import { ifGiven, oneOf, readGrid, readNumber } from "../tuner/cli/option_values.ts";
import { type Options, parseOptions, renderHelp } from "../tuner/cli/parse_options.ts";
import { writeText } from "../tuner/cli/read_inputs.ts";
import { endWith } from "../tuner/cli/main.ts";
import { EXIT } from "../tuner/cli/report_error.ts";
import { UserError } from "../tuner/cli/user_error.ts";
import { RunFailure } from "../tuner/devices/run_failure.ts";

const USAGE = "deno task bench [OPTIONS]\n\n" +
  "Measures one CPU worker against the same loops in C, and several workers against one, in turns.\n" +
  "Of an equation in one dimension it measures the swept rule against classic, on the GPU and on the workers.";

/** Both time levels of the first fit a second-level cache, those of the second no cache of a desktop. */
const DEFAULT_GRIDS = ["64x64x64", "256x256x256"];

const DEFAULT_ORDERS = [2, 4, 8, 14];

const DEFAULT_WORKERS = "2";

const OPTIONS = {
  stencil: {
    type: "strings",
    value: "NAME",
    help: `equation: wave, or in one dimension ${lineEquations().join(", ")} (default wave)`,
  },
  order: { type: "strings", value: "N", help: `order in space (default ${DEFAULT_ORDERS.join(", ")})` },
  grid: {
    type: "strings",
    value: "XxYxZ|N",
    help: `cells along x, y, z (default ${
      DEFAULT_GRIDS.join(", ")
    }), or points (default 2048, 4096, … 1048576)`,
  },
  workers: {
    type: "string",
    value: "N",
    help: "workers to compare with one, 1 leaves it out; one dimension: workers (default 2)",
  },
  points: {
    type: "string",
    value: "N",
    help: `ks: points of a sub-step: ${KS_POINTS.join(", ")} (default 5)`,
  },
  steps: {
    type: "string",
    value: "N",
    help: "one dimension: time steps of a run on the GPU (default: 16384 sub-steps)",
  },
  "no-gpu": { type: "boolean", help: "one dimension: leave the GPU out" },
  "no-cpu": { type: "boolean", help: "one dimension: leave the CPU's workers out" },
  out: { type: "string", value: "PREFIX", help: "one dimension: write PREFIX.json, and tables to PREFIX.md" },
  seconds: { type: "string", value: "S", default: "3", help: "time for each order or equation and grid" },
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
  if (options.stencil.some((name) => name !== "wave")) return await runLines(options);
  const onlyLines = (["points", "steps", "no-gpu", "no-cpu", "out"] as const).find((name) =>
    options[name] !== undefined && options[name] !== false
  );
  if (onlyLines !== undefined) {
    throw new UserError(`Cannot use --${onlyLines}: it belongs to --stencil ${lineEquations().join(" or ")}`);
  }
  const orders = options.order.length > 0 ? options.order.map(readOrder) : DEFAULT_ORDERS;
  const grids = (options.grid.length > 0 ? options.grid : DEFAULT_GRIDS).map((text) => readGrid(text));
  const workers = readNumber("workers", options.workers ?? DEFAULT_WORKERS, {
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

/** The swept rule against classic. */
async function runLines(options: Options<typeof OPTIONS>): Promise<number> {
  if (options.order.length > 0) {
    throw new UserError("Cannot use --order: equations in one dimension have none");
  }
  const stencils = options.stencil.map((name) => oneOf("stencil", name, lineEquations()));
  refuseIdle(options, stencils);
  const lengths = options.grid.length > 0
    ? options.grid.map((text) => readGrid(text, 1)[2])
    : DEFAULT_LENGTHS;
  const short = lengths.find((points) => points < 32);
  if (short !== undefined) {
    throw new UserError(`Cannot use --grid ${short}: wanted at least 32 points, the smallest node`);
  }
  const whole = (name: string, text: string, least: number, most: number): number =>
    readNumber(name, text, {
      wanted: `a whole number from ${least} to ${most}`,
      isRight: (n) => Number.isInteger(n) && n >= least && n <= most,
    });
  const paths = options.out === undefined ? [] : [`${options.out}.json`, `${options.out}.md`];
  for (const path of paths) await checkFileWritable(path);
  const found = await benchLines({
    stencils: [...new Set(stencils)],
    lengths,
    cpuLengths: options.grid.length > 0 ? lengths : DEFAULT_CPU_LENGTHS,
    workers: options["no-cpu"] ? 0 : whole("workers", options.workers ?? DEFAULT_WORKERS, 1, 1024),
    gpu: !options["no-gpu"],
    timeNs: 1e9 * readNumber("seconds", options.seconds, {
      wanted: "a number above 0 and at most 3600",
      isRight: (s) => s > 0 && s <= 3600,
    }),
    points: ifGiven(options.points, (text) =>
      readNumber("points", text, {
        wanted: `one of ${KS_POINTS.join(", ")}`,
        isRight: (points) => (KS_POINTS as readonly number[]).includes(points),
      })),
    steps: ifGiven(options.steps, (text) => whole("steps", text, 1, 1_000_000)),
  });
  if (found.gpu.length + found.cpu.length === 0) {
    throw new UserError(
      "Cannot measure the swept rule: there is no WebGPU adapter, and --no-cpu leaves the CPU out",
    );
  }
  const texts = [JSON.stringify(found, null, 2), renderLines(found, true)];
  for (const [i, path] of paths.entries()) await writeText(path, `${texts[i]}\n`);
  console.log(options.json ? JSON.stringify(found, null, 2) : renderLines(found));
  const isRight = found.gpu.every(({ failed }) => failed.length === 0) &&
    found.cpu.every(({ sameBits }) => sameBits);
  return isRight ? EXIT.done : EXIT.no;
}

/** Refuses options that nothing of what is asked for would use. */
function refuseIdle(options: Options<typeof OPTIONS>, stencils: readonly string[]): void {
  const gpu = !options["no-gpu"], cpu = !options["no-cpu"];
  if (!gpu && !cpu) {
    throw new UserError("Cannot use --no-gpu with --no-cpu: nothing is left that could be measured");
  }
  if (!gpu && options.steps !== undefined) {
    throw new UserError("Cannot use --steps with --no-gpu: they are those of a run on the GPU");
  }
  if (!cpu && options.workers !== undefined) {
    throw new UserError("Cannot use --workers with --no-cpu: they are the CPU's");
  }
  if (options.points !== undefined && !stencils.includes("ks")) {
    throw new UserError("Cannot use --points: it belongs to --stencil ks");
  }
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
    if (error instanceof RunFailure && error.reason === "limits") throw new UserError(error.message);
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

if (import.meta.main) await endWith(() => run(Deno.args));
