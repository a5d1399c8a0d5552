/**
 * The rounds in which two shares of a grid advance: R steps of both at the same time, then an exchange. Ghost zones,
 * and what R and S are: `shared_field.ts`.
 *
 * **Exchange.** After R steps the outermost R·S own slices of F(t), and (R−1)·S of F(t−1), replace the other's
 * ghost zone: the first of the R steps needs F(t−1) only where it computes a valid F(t+1).
 *
 * **What hides behind what.** A round of the GPU is one submission: R steps, copy out. It needs nothing
 * but the CPU's slices of the round before, so it is submitted before the GPU's own slices of that round have
 * reached the host. The host's wait for the mapping (at least one 10 ms tick of Deno's poll timer) and the
 * unpacking of the GPU's slices then overlap with the GPU's next round. The CPU begins its round once it has the
 * GPU's slices; packing its own hides behind the GPU where that takes longer. What cannot hide is the tick when
 * the GPU is done last, and the packing when the CPU is: a large R makes both small. The workers are told to begin
 * before the host waits for the GPU: on llvmpipe that wait blocks the host, and the devices would take turns
 * (2026-11-21, 512×256×128, R = 8: 0.71 instead of 1.14 Gcells/s).
 *
 * @module
 */
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { type Box, exchangesOf, type RankPlan } from "../../../models/rank_part.ts";
import type { PartField, Round } from "./part_field.ts";

/** How long the parts of a run took, all rounds together. */
export interface RoundTimes {
  /** The workers' computing. */
  readonly computeNs: number;
  /** The GPU's part: computing and packing by the device's clock, where it has one. */
  readonly gpuNs: number;
  /** The host's copies: the GPU's slices to the CPU's memory, and the CPU's to the GPU. */
  readonly unpackNs: number;
  readonly packNs: number;
}

/** A way of the exchange: the boxes as the one part sends them, and as the other receives them. */
interface Way {
  readonly send: readonly Box[];
  readonly receive: readonly Box[];
}

/** What one part sends another, wherever they meet along x. */
export function wayBetween(problem: Problem, plan: RankPlan, from: PartField, to: PartField): Way {
  const [sides = []] = exchangesOf(problem, plan, from.place.part);
  const [others = []] = exchangesOf(problem, plan, to.place.part);
  return {
    send: sides.flatMap(({ send }) => send),
    // the one's low end is the other's high end
    receive: others.toReversed().flatMap(({ receive }) => receive),
  };
}

/** Advances both parts of a grid, round by round. @param rounds the steps of each */
export async function runRounds(
  { cpu, gpu, toCpu, toGpu }: {
    readonly cpu: PartField;
    readonly gpu: PartField;
    readonly toCpu: Way;
    readonly toGpu: Way;
  },
  rounds: readonly number[],
): Promise<RoundTimes> {
  const times = { computeNs: 0, gpuNs: 0, unpackNs: 0, packNs: 0 };
  /** The GPU's round before; its time is undefined until someone waits for it. */
  let last: { readonly round: Round; timeNs?: Promise<number> } | undefined;
  /** Copies the GPU's slices of that round into the CPU's ghost zones. */
  const receive = async (): Promise<void> => {
    if (last === undefined) return;
    times.gpuNs += await last.timeNs!;
    const started = performance.now();
    await cpu.unpack(toCpu.receive, last.round.pieces()[0]!);
    last.round.release();
    times.unpackNs += (performance.now() - started) * 1e6;
  };
  try {
    for (const steps of rounds) {
      const next: typeof last = { round: await gpu.begin(steps, { pack: [toCpu.send] }) };
      await receive().finally(() => last = next);
      const computing = await cpu.begin(steps, { pack: [toGpu.send] });
      // the workers begin first: on a software device the host's wait for the GPU blocks it
      await new Promise((resolve) => setTimeout(resolve));
      next.timeNs = next.round.finish();
      next.timeNs.catch(() => {}); // awaited a round later
      times.computeNs += await computing.finish();
      const started = performance.now();
      await gpu.unpack(toGpu.receive, computing.pieces()[0]!);
      times.packNs += (performance.now() - started) * 1e6;
    }
    await receive();
    await gpu.settle();
    return times;
  } finally {
    // where the CPU failed, the GPU's round is left over
    if (last !== undefined && last.timeNs === undefined) last.round.finish().catch(() => {});
  }
}
