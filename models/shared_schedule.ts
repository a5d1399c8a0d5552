/**
 * When a run of shared rounds ends: the schedule of `tuner/devices/shared/shared_rounds.ts`, event by event. The CPU's and
 * the GPU's part of a round are neither a sum nor a maximum: what waits for what decides.
 *
 * A round on the host's thread:
 *
 * 1. *submit*: the GPU's round is handed over, and it begins at once;
 * 2. *wait*: until the GPU's slices of the round before are mapped, then *unpack* them;
 * 3. the CPU's workers begin; one timer later the host asks for the mapping of this round, and Deno's `mapAsync`
 *    **blocks the host until the GPU is done**, then sleeps for 10 ms (`device_poll(wait)`, then a sleep, in
 *    Deno 2.9.6's ext/webgpu; measured on llvmpipe, 2026-11-21: 10.9 to 11.5 ms after the GPU's end, whatever the
 *    work). The sleep does not block: the next round is packed and submitted in it;
 * 4. once the CPU's workers are done, *pack* their slices for the GPU's next round.
 *
 * So the GPU's next round hides behind the sleep, the CPU's rounds behind the GPU's, and a sleep that nothing hides
 * behind ends every short round. Where the GPU is software both compute on the same cores: while both are busy each
 * advances at 1/(1 + contention) of its pace. And where workers have all cores, the host's timer is late: with two
 * workers on two cores a round took a wait and the *whole* of the CPU's part (15.8 ms at R = 14, of which the CPU's
 * 3.6), with one worker it hid most of it (2026-11-21); `starvation` is the part that does not hide.
 *
 * @module
 */

/** What one round costs each side. Times in nanoseconds. */
export interface RoundCosts {
  /** Steps of the round: work that the host does once a step. */
  readonly steps: number;
  /** The CPU's workers, undisturbed (Eq. 2). */
  readonly cpuNs: number;
  /** The GPU with its copies, undisturbed (Eq. 3). */
  readonly gpuNs: number;
  /** The host's copies: the GPU's slices to the CPU's memory, and the CPU's to the GPU (Eq. 4). */
  readonly unpackNs: number;
  readonly packNs: number;
}

/** What the host and the pair of devices add to every round. */
export interface ScheduleCosts {
  /** Host time to hand over a round. */
  readonly submitNs: number;
  /** Time from the workers' start to the host's wait for the GPU: one timer. */
  readonly timerNs: number;
  /** Time from the GPU's end to the mapping. */
  readonly waitNs: number;
  /** How much slower each device is while both compute: 0 not at all, 1 half as fast. */
  readonly contention: number;
  /** Part of the CPU's round by which the host's wait begins later: 0 where the host has a core of its own. */
  readonly starvation: number;
}

/** How a run went. */
export interface ScheduledRun {
  /** From beginning to end. */
  readonly wallNs: number;
  /** Time that each device took for the last round, as a clock of its own would show. */
  readonly cpuNs: number;
  readonly gpuNs: number;
}

/**
 * Follows rounds through the schedule.
 *
 * @param rounds what each costs, in order, at least one
 * @param costs of every round
 *
 * @example
 * ```ts
 * import { scheduleRounds } from "./shared_schedule.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const costs = { submitNs: 0, timerNs: 0, waitNs: 10, contention: 0, starvation: 0 };
 * const round = { steps: 1, cpuNs: 3, gpuNs: 2, unpackNs: 0, packNs: 0 };
 * // the GPU is done after 2, mapped at 12; then the CPU begins again
 * assertEquals(scheduleRounds([round, round], costs).wallNs, 12 + 10);
 * ```
 */
export function scheduleRounds(
  rounds: readonly RoundCosts[],
  { submitNs, timerNs, waitNs, contention, starvation }: ScheduleCosts,
): ScheduledRun {
  let host = 0, mapped = 0, cpuNs = 0, gpuNs = 0, unpackNs = 0;
  for (const [i, round] of rounds.entries()) {
    host += submitNs;
    const gpuStart = host; // idle: the host was blocked until the round before had ended
    if (i > 0) host = Math.max(host, mapped) + unpackNs;
    const cpuStart = host;
    const ends = overlap({ start: cpuStart, workNs: round.cpuNs }, {
      start: gpuStart,
      workNs: round.gpuNs,
    }, contention);
    cpuNs = ends.cpu - cpuStart;
    gpuNs = ends.gpu - gpuStart;
    const asked = host + timerNs + starvation * cpuNs;
    const waiting = Math.max(asked, ends.gpu); // the host is blocked until here
    mapped = waiting + waitNs;
    host = Math.max(waiting, ends.cpu) + round.packNs;
    unpackNs = round.unpackNs;
  }
  return { wallNs: Math.max(host, mapped) + unpackNs, cpuNs, gpuNs };
}

/** Work that begins at a time and takes so long where nothing disturbs it. */
interface Work {
  readonly start: number;
  readonly workNs: number;
}

/** When both end; they slow each other down while both are busy. */
function overlap(cpu: Work, gpu: Work, contention: number): { cpu: number; gpu: number } {
  const [first, second] = gpu.start <= cpu.start ? [gpu, cpu] : [cpu, gpu];
  // the first is alone until the second starts
  const left = Math.max(0, first.workNs - (second.start - first.start));
  const both = Math.min(left, second.workNs);
  const ends = [
    left === 0 ? first.start + first.workNs : second.start + left + contention * both,
    second.start + second.workNs + contention * both,
  ];
  const [firstEnd, secondEnd] = ends;
  return first === gpu ? { gpu: firstEnd, cpu: secondEnd } : { cpu: firstEnd, gpu: secondEnd };
}
