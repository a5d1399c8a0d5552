import type { Layout } from "../../../kernels/layout.ts";
import { precisionOf } from "../../../kernels/precision.ts";
import { compareWorkgroups, COMPARISON_WORDS } from "../../../kernels/wgsl/fields.ts";
import type { ArrayRange, LevelPart } from "./field_memory.ts";
import { compileCompare, compileCopy } from "./gpu_pipelines.ts";
import type { PlanOnGpu } from "./plan_on_gpu.ts";
import { type Comparison, joinComparisons } from "../comparison.ts";

const COMPARISON_BYTES = 16;

/** What copies and comparisons run on; nothing else uses the uniforms meanwhile. */
type Work = Pick<PlanOnGpu, "gpu" | "uniforms">;

/** Slices of one or several levels, whose parts are alike, from one of the grid on. */
interface Slices {
  readonly levels: readonly (readonly LevelPart[])[];
  readonly slice: number;
}

/** Some slices that lie in one part of each of two fields' levels. */
interface Pair {
  /** The part of each level, the one's and the other's. */
  readonly arrays: readonly (readonly [ArrayRange, ArrayRange])[];
  /** The layout of these slices alone, and the other part's. */
  readonly layout: Layout;
  readonly other: Layout;
  /** Where they begin in each part. */
  readonly first: readonly [number, number];
}

/** Compares slices of each level with another field's, all of a part in one submission. */
export async function compareLevels(
  result: Slices,
  reference: Slices,
  slices: number,
  work: Work,
): Promise<Comparison> {
  const comparisons: Comparison[] = [];
  for (const pair of pairsOf(result, reference, slices)) comparisons.push(await comparePair(pair, work));
  return joinComparisons(comparisons);
}

/** Copies a level to another field's, which may lie otherwise; slices that several of its parts hold to each of them. */
export async function copyLevel(
  from: readonly LevelPart[],
  to: readonly LevelPart[],
  { gpu, uniforms }: Work,
): Promise<void> {
  for (const part of to) {
    const target = { levels: [[part]], slice: part.x }, source = { levels: [from], slice: part.x };
    for (const { arrays: on, layout, other, first } of pairsOf(target, source, part.layout.grid[0])) {
      const copy = await compileCopy(gpu, layout, other), workgroups = compareWorkgroups(layout);
      const [slot] = await uniforms.place([first]);
      await gpu.enqueue((encoder) => uniforms.dispatch(encoder, copy, { on, slot, workgroups }));
    }
  }
}

/** Cuts slices where a part of either field ends. */
function* pairsOf(a: Slices, b: Slices, slices: number): Generator<Pair> {
  for (let done = 0; done < slices;) {
    const mine = partAt(a, done), others = partAt(b, done);
    const count = Math.min(slices - done, mine.left, others.left), [, ny, nz] = mine.layout.grid;
    yield {
      arrays: mine.arrays.map((array, i) => [array, others.arrays[i]!]),
      layout: { ...mine.layout, grid: [count, ny, nz] },
      other: others.layout,
      first: [mine.first, others.first],
    };
    done += count;
  }
}

/** The part where the slice `after` the first lies, and how many slices of it follow. */
function partAt({ levels, slice }: Slices, after: number) {
  const x = slice + after, which = levels[0]!.findLastIndex((part) => part.x <= x);
  const { layout, x: from } = levels[0]![which]!;
  const arrays = levels.map((parts) => parts[which]!.array);
  return { arrays, layout, first: x - from, left: from + layout.grid[0] - x };
}

async function comparePair(
  { arrays, layout, other, first }: Pair,
  { gpu, uniforms }: Work,
): Promise<Comparison> {
  const compare = await compileCompare(gpu, layout, other), workgroups = compareWorkgroups(layout);
  const { STORAGE, COPY_SRC } = GPUBufferUsage;
  const comparison = await gpu.buffer(COMPARISON_BYTES, STORAGE | COPY_SRC, "comparison");
  const readable = await gpu.readable(COMPARISON_BYTES, "comparison, read back");
  try {
    const [slot] = await uniforms.place([first]), on = arrays.map((pair) => [...pair, comparison]);
    await gpu.timed({
      passes: 1,
      outgoing: [readable],
      record: (encoder, timestamps) => {
        uniforms.dispatch(encoder, compare, { on, slot, workgroups, pass: timestamps() });
        encoder.copyBufferToBuffer(comparison, 0, readable, 0, COMPARISON_BYTES);
      },
    });
    const words = new Uint32Array(gpu.mapped(readable)), { bytes, Values } = precisionOf(layout);
    const valueOf = (word: number): number =>
      new Values(
        Uint32Array.from({ length: bytes / 4 }, (_, i) => i < bytes / 4 - 1 ? 0 : words[word]!).buffer,
      )[0]!;
    return {
      maxError: valueOf(COMPARISON_WORDS.maxError),
      maxValue: valueOf(COMPARISON_WORDS.maxValue),
      notFinite: words[COMPARISON_WORDS.notFinite]!,
      cells: words[COMPARISON_WORDS.count]!,
    };
  } finally {
    comparison.destroy();
    readable.destroy();
  }
}
