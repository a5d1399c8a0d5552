/**
 * The swept rule against classic on the CPU's workers: classic and nodes of several sizes, in turns. All must have the
 * same bits in the end.
 *
 * @module
 */
import { layOut } from "../kernels/layout.ts";
import { planesOf, reachOf } from "../kernels/update.ts";
import type { CpuField } from "../tuner/devices/cpu/cpu_field.ts";
import type { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { cpuCandidates } from "../tuner/search/cpu_space.ts";
import type { SweptComparisonOptions } from "./compare_swept.ts";
import { type LineRate, lineRate, takeTurns, WARM_UP_TURNS } from "./take_turns.ts";
import { hashBits } from "./write_c.ts";

/** What was found for one length on the CPU's workers. */
export interface CpuSweptComparison {
  readonly stencil: string;
  readonly variant: Readonly<Record<string, number | string>>;
  readonly points: number;
  readonly workers: number;
  /** Classic first. */
  readonly rates: readonly LineRate[];
  /** Whether all gave the same bits. */
  readonly sameBits: boolean;
}

/** Cell updates of one sample. */
const SAMPLE_UPDATES = 6e7;

const MOST_TURNS = 25;

/** Options of {@linkcode compareSweptOnCpu}. */
export interface CpuComparisonOptions extends Pick<SweptComparisonOptions, "stencil" | "points" | "timeMs"> {
  /** Cell updates of one sample. @default {6e7} */
  readonly updates?: number | undefined;
}

/**
 * Compares on the CPU's workers.
 *
 * @throws {RunFailure} if a worker fails, or a line does not fit the memory
 */
export async function compareSweptOnCpu(
  pool: CpuPool,
  { stencil, points, timeMs, updates = SAMPLE_UPDATES }: CpuComparisonOptions,
): Promise<CpuSweptComparison> {
  const { update } = stencil;
  const [boundary = "zero"] = stencil.boundaries ?? [];
  const grid = [1, 1, points] as const;
  const layout = layOut(grid, { pad: [0, 0, reachOf(update).z], planes: planesOf(update) });
  const steps = Math.ceil(updates / points);
  const configurations = cpuCandidates({ stencil, grid, boundary, steps }, pool.workers)
    .map(({ configuration }) => configuration)
    .sort((a, b) => Number(a.parameters.points ?? 0) - Number(b.parameters.points ?? 0));
  const fields: CpuField[] = [];
  try {
    for (const { parameters: { points = 0 } } of configurations) {
      const field = await pool.load({ update, layout, boundary, shape: { points: Number(points) } });
      fields.push(field);
      await field.initialise({ kind: "noise", seed: 1 });
    }
    const samples = await takeTurns(
      fields.map((field) => async () => await field.run({ steps }) / steps),
      { untilMs: performance.now() + timeMs, warmUp: WARM_UP_TURNS, mostTurns: MOST_TURNS },
    );
    return {
      stencil: stencil.name,
      variant: stencil.variant,
      points,
      workers: pool.workers,
      rates: configurations.map((configuration, i) => lineRate(configuration, samples[i]!, samples[0]!)),
      sameBits: new Set(fields.map((field) => hashBits(field.current, layout))).size === 1,
    };
  } finally {
    for (const field of fields) await field.dispose().catch(() => {});
  }
}
