/**
 * The swept rule against classic on the CPU's workers: classic, and nodes of several sizes, in turns, so that whatever
 * else the machine does meets each alike. All must have the same bits in the end.
 *
 * @module
 */
import { hashBits } from "./write_c.ts";
import { layOut } from "../kernels/layout.ts";
import { planesOf, reachOf } from "../kernels/update.ts";
import type { Parameters } from "../kernels/traversals/traversal.ts";
import type { CpuField } from "../tuner/devices/cpu/cpu_field.ts";
import type { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { cpuConfigurations } from "../tuner/search/cpu_configurations.ts";
import { MAX_TURNS, MIN_TURNS, type SweptComparisonOptions } from "./compare_swept.ts";
import { type LineRate, lineRate } from "./line_rate.ts";

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

/** Turns before the first sample that counts: V8 replaces its first code within them. */
const WARM_UP_TURNS = 3;

/** Cell updates of one sample. */
const SAMPLE_UPDATES = 6e7;

/**
 * Compares on the CPU's workers.
 *
 * @throws {RunFailure} if a worker fails, or a line does not fit the memory
 */
export async function compareSweptOnCpu(
  pool: CpuPool,
  { stencil, points, timeNs, now, updates = SAMPLE_UPDATES }:
    & Omit<SweptComparisonOptions, "steps" | "limits">
    & {
      readonly updates?: number | undefined;
    },
): Promise<CpuSweptComparison> {
  const { update } = stencil;
  const [boundary] = stencil.boundaries ?? ["zero"];
  const grid = [1, 1, points] as const;
  const layout = layOut(grid, { pad: [0, 0, reachOf(update).z], planes: planesOf(update) });
  const steps = Math.ceil(updates / points);
  const contenders: {
    configuration: { traversal: string; parameters: Parameters };
    field: CpuField;
    samples: number[];
  }[] = [];
  try {
    for (const configuration of cpuConfigurations({ stencil, grid, boundary, steps }, pool.workers)) {
      const nodePoints = configuration.traversal === "swept" ? configuration.parameters.points : 0;
      const field = await pool.load({ update, layout, boundary, nodePoints });
      await field.setInitial("noise", { seed: 1 });
      contenders.push({ configuration, field, samples: [] });
    }
    const begun = now();
    for (let turn = 0; turn < WARM_UP_TURNS + MAX_TURNS; turn++) {
      if (turn >= WARM_UP_TURNS + MIN_TURNS && now() - begun > timeNs) break;
      for (const { field, samples } of contenders) {
        const timeNs = await field.run({ steps });
        if (turn >= WARM_UP_TURNS) samples.push(timeNs / steps);
      }
    }
    const hashes = contenders.map(({ field }) => hashBits(field.current, layout));
    const [{ samples: base }] = contenders;
    return {
      stencil: stencil.name,
      variant: stencil.variant,
      points,
      workers: pool.workers,
      rates: contenders.map(({ configuration, samples }) => lineRate({ ...configuration, samples }, base)),
      sameBits: hashes.every((hash) => hash === hashes[0]),
    };
  } finally {
    for (const { field } of contenders) await field.dispose().catch(() => {});
  }
}
