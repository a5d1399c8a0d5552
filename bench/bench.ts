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
import { formatRate, formatTable } from "../tuner/format.ts";
import {
  benchLines,
  DEFAULT_CPU_LENGTHS,
  DEFAULT_LENGTHS,
  lineEquations,
  renderLines,
} from "./bench_lines.ts";
import {
  type EarlierValues,
  number,
  oneOf,
  oneOfNumbers,
  type Options,
  readGrid,
  readLine,
  readText,
  type Refuse,
  type Values,
  whole,
} from "../tuner/cli/option.ts";
import { COMMON } from "../tuner/cli/options.ts";
import { command } from "../tuner/cli/parse_options.ts";
import { writeText } from "../tuner/cli/read_inputs.ts";
import { endWith } from "../tuner/cli/main.ts";
import { EXIT } from "../tuner/cli/report_error.ts";
import { RunFailure } from "../tuner/devices/run_failure.ts";
import { RequestError } from "../tuner/problem/request_error.ts";

/** Both time levels of the first fit a second-level cache, those of the second no cache of a desktop. */
const DEFAULT_GRIDS: readonly Grid[] = [[64, 64, 64], [256, 256, 256]];

const DEFAULT_ORDERS = [2, 4, 8, 14];

const DEFAULT_WORKERS = 2;

const ONLY_LINES = `it belongs to --stencil ${lineEquations().join(" or ")}`;

const OPTIONS = {
  stencil: {
    value: "NAME",
    help: `equation: wave, or in one dimension ${lineEquations().join(", ")} (default wave)`,
    read: (text: string, refuse: Refuse, earlier: EarlierValues) =>
      text === "wave" ? text : oneOf(lineEquations())(text, refuse, earlier),
    repeatable: true,
  },
  order: {
    value: "N",
    help: `order in space (default ${DEFAULT_ORDERS.join(", ")})`,
    read: oneOfNumbers(WAVE_ORDERS),
    repeatable: true,
  },
  grid: {
    value: "XxYxZ|N",
    help: `cells along x, y, z (default ${
      DEFAULT_GRIDS.map((grid) => grid.join("x")).join(", ")
    }), or points (default 2048, 4096, … 1048576)`,
    read: (text: string, refuse: Refuse, earlier: EarlierValues): Grid =>
      ((earlier.stencil as string[]).some((name) => name !== "wave") ? readLine : readGrid)(
        text,
        refuse,
        earlier,
      ),
    repeatable: true,
  },
  workers: {
    value: "N",
    help: `workers to compare with one, 1 leaves it out; one dimension: workers (default ${DEFAULT_WORKERS})`,
    read: whole(1, 1024),
    notWith: { "--no-cpu": "they are the CPU's" },
  },
  points: {
    value: "N",
    help: `ks: points of a sub-step: ${KS_POINTS.join(", ")} (default 5)`,
    read: oneOfNumbers(KS_POINTS),
  },
  steps: {
    value: "N",
    help: "one dimension: time steps of a run on the GPU (default: 16384 sub-steps)",
    read: whole(1, 1_000_000),
    notWith: { "--no-gpu": "they are those of a run on the GPU" },
  },
  noGpu: {
    help: "one dimension: leave the GPU out",
    notWith: { "--no-cpu": "nothing is left that could be measured" },
  },
  noCpu: { help: "one dimension: leave the CPU's workers out" },
  out: { value: "PREFIX", help: "one dimension: write PREFIX.json, and tables to PREFIX.md", read: readText },
  seconds: {
    value: "S",
    help: "time for each order or equation and grid",
    read: number("a number above 0 and at most 3600", (seconds) => seconds > 0 && seconds <= 3600),
    default: "3",
  },
  json: COMMON.json,
} as const satisfies Options;

/** Runs the command: exit code 1 where the ways to compute differ in any bit. */
export const run = command({
  usage: "deno task bench [OPTIONS]",
  about: "Measures one CPU worker against the same loops in C, and several workers against one, in turns.\n" +
    "Of an equation in one dimension it measures the swept rule against classic, on the GPU and on the workers.",
  options: OPTIONS,
}, async (options) => {
  if (options.stencil.some((name) => name !== "wave")) return await runLines(options);
  for (
    const [name, value] of Object.entries({ points: options.points, steps: options.steps, out: options.out })
  ) {
    if (value !== undefined) throw new RequestError(`Cannot use --${name}: ${ONLY_LINES}`);
  }
  if (options.noGpu) throw new RequestError(`Cannot use --no-gpu: ${ONLY_LINES}`);
  if (options.noCpu) throw new RequestError(`Cannot use --no-cpu: ${ONLY_LINES}`);
  const { workers = DEFAULT_WORKERS, seconds } = options;
  const orders = options.order.length > 0 ? options.order : DEFAULT_ORDERS;
  const grids = options.grid.length > 0 ? options.grid : DEFAULT_GRIDS;
  const comparisons = await compareAll({ orders, grids, workers, timeNs: seconds * 1e9 });
  console.log(
    options.json
      ? JSON.stringify({ compiler: C_COMPILER.join(" "), workers, comparisons }, null, 2)
      : render(comparisons, workers),
  );
  return comparisons.every(({ sameBits }) => sameBits) ? EXIT.done : EXIT.no;
});

/** The swept rule against classic. */
async function runLines(options: Values<typeof OPTIONS>): Promise<number> {
  const { stencil: stencils, workers = DEFAULT_WORKERS, points, steps } = options;
  if (options.order.length > 0) {
    throw new RequestError("Cannot use --order: equations in one dimension have none");
  }
  if (stencils.includes("wave")) {
    throw new RequestError(
      "Cannot use --stencil wave with an equation in one dimension: run them one by one",
    );
  }
  if (points !== undefined && !stencils.includes("ks")) {
    throw new RequestError("Cannot use --points: it belongs to --stencil ks");
  }
  const lengths = options.grid.length > 0 ? options.grid.map(([, , points]) => points) : DEFAULT_LENGTHS;
  const short = lengths.find((points) => points < 32);
  if (short !== undefined) {
    throw new RequestError(`Cannot use --grid ${short}: wanted at least 32 points, the smallest node`);
  }
  const paths = options.out === undefined ? [] : [`${options.out}.json`, `${options.out}.md`];
  for (const path of paths) await checkFileWritable(path);
  const found = await benchLines({
    stencils,
    lengths,
    cpuLengths: options.grid.length > 0 ? lengths : DEFAULT_CPU_LENGTHS,
    workers: options.noCpu ? 0 : workers,
    gpu: !options.noGpu,
    timeNs: 1e9 * options.seconds,
    points,
    steps,
  });
  if (found.gpu.length + found.cpu.length === 0) {
    throw new RequestError(
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
    if (error instanceof RunFailure && error.reason === "limits") throw new RequestError(error.message);
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
