import type { Layout } from "../../../kernels/layout.ts";
import { compareWorkgroups, COMPARISON_WORDS } from "../../../kernels/wgsl/fields.ts";
import type { GpuDevice } from "./gpu_device.ts";
import type { LevelPart } from "./field_memory.ts";
import { compileCompare, compileCopy } from "./gpu_pipelines.ts";
import type { Uniforms } from "./gpu_uniforms.ts";
import { type Comparison, joinComparisons } from "../comparison.ts";

const COMPARISON_BYTES = 16;

/** Cells of some slices in a GPU's arrays, one for each time level. */
interface Slab {
  readonly arrays: readonly GPUBuffer[];
  readonly layout: Layout;
  readonly slice: number;
}

interface ComparisonOptions {
  readonly gpu: GpuDevice;
  /** Nothing else uses them meanwhile. */
  readonly uniforms: Uniforms;
  /** How many to compare. */
  readonly slices: number;
}

/** Slices of some levels, from one of the grid on. */
interface Slices {
  readonly levels: readonly (readonly LevelPart[])[];
  readonly slice: number;
}

/** Compares each level with another field's, all of a part in one submission. */
export async function compareLevels(
  result: Slices,
  reference: Slices,
  options: ComparisonOptions,
): Promise<Comparison> {
  const comparisons: Comparison[] = [];
  for (let done = 0; done < options.slices;) {
    const [mine, other] = [slabAt(result, done), slabAt(reference, done)];
    const slices = Math.min(options.slices - done, mine.slices, other.slices);
    comparisons.push(await compareSlabs(mine, other, { ...options, slices }));
    done += slices;
  }
  return joinComparisons(comparisons);
}

/** Copies a level to another field's, which may lie otherwise; slices that several of its parts hold to each of them. */
export async function copyLevel(
  from: readonly LevelPart[],
  to: readonly LevelPart[],
  { gpu, uniforms }: Omit<ComparisonOptions, "slices">,
): Promise<void> {
  for (const { array, layout, x } of to) {
    const [all, ny, nz] = layout.grid;
    for (let slice = 0; slice < all;) {
      const source = slabAt({ levels: [from], slice: x }, slice),
        slices = Math.min(all - slice, source.slices);
      const part: Layout = { ...layout, grid: [slices, ny, nz] };
      const copy = await compileCopy(gpu, part, source.layout);
      const [slot] = await uniforms.place([[slice, source.slice]]);
      const on = [[array, source.arrays[0]!]], workgroups = compareWorkgroups(part);
      await gpu.enqueue((encoder) => uniforms.dispatch(encoder, copy, { on, slot, workgroups }));
      slice += slices;
    }
  }
}

/** The slices from the one `after` the first on that lie in one part. */
function slabAt({ levels, slice }: Slices, after: number): Slab & { readonly slices: number } {
  const [first = []] = levels, x = slice + after;
  const which = first.findLastIndex((part) => part.x <= x);
  const { layout, x: from } = first[which]!;
  const arrays = levels.map((parts) => parts[which]!.array);
  return { arrays, layout, slice: x - from, slices: from + layout.grid[0] - x };
}

/** Compares each array of a slab with the other slab's on the device, all in one submission. */
async function compareSlabs(
  result: Slab,
  reference: Slab,
  { gpu, uniforms, slices }: ComparisonOptions,
): Promise<Comparison> {
  const [, ny, nz] = result.layout.grid;
  const mine: Layout = { ...result.layout, grid: [slices, ny, nz] };
  const compare = await compileCompare(gpu, mine, reference.layout);
  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const comparison = await gpu.buffer(COMPARISON_BYTES, STORAGE | COPY_SRC, "comparison");
  const readable = await gpu.buffer(COMPARISON_BYTES, COPY_DST | MAP_READ, "comparison, read back");
  try {
    const [slot] = await uniforms.place([[result.slice, reference.slice]]);
    await gpu.timed({
      passes: 1,
      outgoing: [readable],
      record: (encoder, timestamps) => {
        const on = result.arrays.map((array, i) => [array, reference.arrays[i]!, comparison]);
        uniforms.dispatch(encoder, compare, {
          on,
          slot,
          workgroups: compareWorkgroups(mine),
          pass: timestamps(),
        });
        encoder.copyBufferToBuffer(comparison, 0, readable, 0, COMPARISON_BYTES);
      },
    });
    const bits = gpu.mapped(readable);
    const words = new Uint32Array(bits), floats = new Float32Array(bits);
    return {
      maxError: floats[COMPARISON_WORDS.maxError]!,
      maxValue: floats[COMPARISON_WORDS.maxValue]!,
      notFinite: words[COMPARISON_WORDS.notFinite]!,
      cells: words[COMPARISON_WORDS.count]!,
    };
  } finally {
    comparison.destroy();
    readable.destroy();
  }
}
