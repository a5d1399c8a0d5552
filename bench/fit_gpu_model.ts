/**
 * Fits the prices of a GPU's record (`models/gpu_record.ts`) to recorded rates, and prints how far off its predictions are
 * before and after, with the prices to put into the record:
 *
 *     deno run -A bench/fit_gpu_model.ts H100 fixtures/h100/grids.jsonl.gz
 *
 * Another GPU gets a record of its own so: write its parts into a new record, from its data sheet, with the prices of the
 * record that it is most like; record some grids (`bench/record_grids.ts`, `deno task record`); fit. With `--only` the
 * other prices stay, with `--from` all begin at a multiple of the record's, which shows how much of them the recording
 * decides.
 *
 * A recording decides prices together: two that always act together may change places, at the same error. Judged is the
 * mean of |log(predicted / measured)|, in which what is far off counts no more than a factor of two.
 *
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { cellsOf } from "../kernels/stencils/stencil.ts";
import { traversalNamed } from "../kernels/traversals/all.ts";
import type { Demand } from "../kernels/traversals/traversal.ts";
import { type GpuRecord, H100, LLVMPIPE, type Price } from "../models/gpu_record.ts";
import { predictRate } from "../models/roofline.ts";
import { problemOf } from "../tuner/profile/profile_problem.ts";
import { readReplaySpaces } from "../tuner/replay/read_replay_space.ts";

/** A configuration that was measured. */
interface Sample {
  readonly space: string;
  readonly traversal: string;
  readonly demand: Demand;
  readonly cells: number;
  readonly copyBytesPerSecond: number;
  readonly rate: number;
}

/** Errors of more count as much. */
const FAR = Math.log(2);

/** Prices are changed by such factors, smaller ones where no larger one helps. */
const STEPS = [1.5, 1.2, 1.07, 1.025, 1.01];

/** What it counts if configurations of one traversal and grid are off by different factors, over being off. */
const OF_ORDER = 1;

/** What the square of log(price / the record's) counts, so that prices stay that a recording does not decide. */
const TRUST = 0.005;

/** Two rates count as different if they differ by more. */
const APART = Math.log(1.05);

const { _: [name, ...files], only, from, traversal: chosen } = parseArgs(Deno.args, {
  string: ["only", "from", "traversal"],
});
const record = [H100, LLVMPIPE].find((one) => one.name === name);
if (record === undefined || files.length === 0) {
  console.error("wanted the name of a record (H100, llvmpipe) and files recorded on that GPU");
  Deno.exit(2);
}
const samples = (await Promise.all(files.map((file) => samplesOf(String(file))))).flat();
const names = (only?.split(",") ?? Object.keys(record.prices)) as Price[];
const start = { ...record.prices };
for (const price of names) start[price] *= Number(from ?? 1);

printErrors("Record", record);
const fitted = { ...record, prices: fit(start) };
printErrors("Fitted", fitted);
console.log("\n| price | record | fitted |\n| --- | ---: | ---: |");
for (const price of names) console.log(`| ${price} | ${record.prices[price]} | ${fitted.prices[price]} |`);

/** What a file's spaces say of the GPU. */
async function samplesOf(file: string): Promise<Sample[]> {
  const { spaces } = await readReplaySpaces(file);
  return spaces.flatMap(({ facet, title, configurations }) => {
    const problem = facet && problemOf(facet.problem);
    if (!facet?.device.gpu || problem === undefined) return [];
    const copyBytesPerSecond = facet.device.measured.copyBytesPerSecond ?? record!.copyBytesPerSecond;
    return configurations.flatMap(({ traversal, parameters, rate }) => {
      if (rate === undefined || parameters.cpuWorkers !== undefined || (chosen ?? traversal) !== traversal) {
        return [];
      }
      const demand = traversalNamed(traversal).demand(problem, parameters), cells = cellsOf(problem.grid);
      return [{ space: `${file}, ${title}`, traversal, demand, cells, copyBytesPerSecond, rate }];
    });
  });
}

/** What a part of the values does not exceed. */
function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(part * (values.length - 1))]!;
}

/** log(predicted / measured). */
function errorOf({ demand, cells, copyBytesPerSecond, rate }: Sample, record: GpuRecord): number {
  return Math.log(predictRate(demand, { copyBytesPerSecond, record }, { cells }) / rate);
}

/** The prices that predict best, found one after the other. */
function fit(start: GpuRecord["prices"]): GpuRecord["prices"] {
  const alike = [...Map.groupBy(samples, ({ space, traversal }) => `${space} ${traversal}`).values()];
  const judge = (prices: GpuRecord["prices"]): number => {
    const its = { ...record!, prices };
    const moved = names.reduce((sum, name) => {
      return sum + (prices[name] === 0 ? 0 : Math.log(prices[name] / record!.prices[name]) ** 2);
    }, 0);
    return alike.reduce((sum, group) => {
      const errors = group.map((one) => errorOf(one, its)), level = quantile(errors, 0.5);
      const each = errors.map((error) =>
        Math.min(FAR, Math.abs(error)) + OF_ORDER * Math.min(FAR, Math.abs(error - level))
      );
      return sum + each.reduce((a, b) => a + b);
    }, TRUST * samples.length * moved);
  };
  let best = start, least = judge(start);
  for (const step of STEPS) {
    for (let hasChanged = true; hasChanged;) {
      const before = least;
      for (const price of names) {
        for (const factor of [step, 1 / step]) {
          for (let isBetter = true; isBetter;) {
            const tried = { ...best, [price]: Number((best[price] * factor).toPrecision(3)) };
            const judged = judge(tried);
            isBetter = judged < least;
            if (isBetter) [best, least] = [tried, judged];
          }
        }
      }
      hasChanged = least < before * (1 - 1e-3);
    }
  }
  return best;
}

/** Prints, of all and of each traversal, how far off predictions are and how well they order what was measured. */
function printErrors(title: string, record: GpuRecord): void {
  console.log(
    `\n${title}:\n\n| traversal | measured | half off by | a tenth | pairs in wrong order | the best predicted loses |`,
  );
  console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
  const kinds = [...new Set(samples.map(({ traversal }) => traversal))];
  for (const kind of ["all", ...kinds]) {
    const some = samples.filter(({ traversal }) => kind === "all" || traversal === kind);
    const errors = some.map((one) => Math.abs(errorOf(one, record)));
    const groups = [...Map.groupBy(some, ({ space }) => space).values()].map((group) =>
      group.map((one) => ({ rate: one.rate, predicted: one.rate * Math.exp(errorOf(one, record)) }))
    );
    let apart = 0, wrong = 0;
    for (const group of groups) {
      for (const [i, a] of group.entries()) {
        for (const b of group.slice(0, i)) {
          if (Math.abs(Math.log(a.rate / b.rate)) < APART) continue;
          apart++;
          if ((a.rate - b.rate) * (a.predicted - b.predicted) <= 0) wrong++;
        }
      }
    }
    const losses = groups.map((group) => {
      const liked = group.reduce((one, other) => other.predicted > one.predicted ? other : one);
      return 1 - liked.rate / Math.max(...group.map(({ rate }) => rate));
    });
    const mean = losses.reduce((a, b) => a + b, 0) / losses.length;
    const percents = [quantile(errors, 0.5), quantile(errors, 0.9), wrong / apart, mean];
    console.log(
      `| ${kind} | ${some.length} | ${percents.map((part) => `${(100 * part).toFixed(1)}%`).join(" | ")} |`,
    );
  }
}
