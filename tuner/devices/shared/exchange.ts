/**
 * Rounds in which the parts of a grid advance: R steps of all of them at the same time, then an exchange of what these
 * steps used up, along x, y and z in turn: what the second and third axis send contains the ghost zones of those before, so
 * that edges and corners arrive without messages of their own (B2R, Table 1). Parts of this process hand pieces to each
 * other, those of other ranks get messages.
 *
 * **What hides behind what.** Each part goes its own way: it begins a round once it has its neighbours' cells of the round
 * before. A GPU needs no more than that, not even to be done itself, so that its next round is submitted before its own
 * cells of that round have reached the host, whose copies overlap with it. What the host computes with cannot be copied
 * while it is computed. What cannot hide is the copies of the device that is done last: a large R makes them rare.
 *
 * **Turns.** Two parts on one GPU compute by turns. What the one needs of the other stays on the GPU; what it needs of other
 * ranks travels while the other computes. Ranks beside each other take turns in opposite orders, so that the parts that
 * meet are computed at the same time. Since Deno blocks in a wait until the GPU's queue is empty, a part's end is awaited
 * once the other is prepared, which begins at once then; and once what leaves has left, since a neighbour would wait for
 * it as long as the host is blocked. Then the first one's cells are read and sent.
 *
 * @module
 */
import { type FloatArray, zeros } from "../../../kernels/precision.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { placeOf } from "../../../models/decomposition.ts";
import { type Exchange, exchangesOf, type RankPlan, rowOf } from "../../../models/rank_part.ts";
import { giveBack } from "../gpu/gpu_device.ts";
import { nextTurn } from "../next_turn.ts";
import type { World } from "../world.ts";
import { piecesOf } from "./boxes.ts";
import type { Arrival, HandedOver, PartField, Round } from "./part_field.ts";

/** How long a part took, all rounds together. */
export interface PartTimes {
  /** Its device: computing, and packing on a GPU, by the device's clock where it has one. */
  readonly deviceNs: number;
  /** The host's copies from what its device computes with, and to it. */
  readonly packNs: number;
  readonly unpackNs: number;
  /** From the end of its rounds until what it exchanged with others was there. */
  readonly exchangeNs: number;
}

/** Steps of all parts, and whether what they used up is exchanged then. */
export interface Steps {
  readonly steps: number;
  readonly renews: boolean;
}

interface Side extends Exchange {
  /**
   * From another rank, the memory that a message is received in: kept, since new memory of this size costs as much time as
   * the message.
   */
  readonly kept: readonly FloatArray<ArrayBuffer>[] | undefined;
  /** Whether the neighbour is on the same GPU. */
  readonly stays: boolean;
}

/** What has come from a neighbour; from one of this process it is taken then. */
type Arrived = Arrival & Partial<Pick<HandedOver, "taken">>;

/** Part `number` of a plan. */
export interface NumberedPart {
  readonly number: number;
  readonly field: PartField;
}

/** The exchanges between the parts of this process and all others. */
export class Exchanges {
  /** Of each part of this process, what it exchanges along each axis. */
  readonly #sides: readonly (readonly (readonly Side[])[])[];
  readonly #axes: number;
  /** Of each part, when its turn is; undefined where all compute at the same time. */
  readonly #turns: readonly number[] | undefined;

  /** @param isWhole whether all planes are exchanged, materials too: see {@linkcode exchangesOf} */
  constructor(
    readonly problem: Problem,
    readonly plan: RankPlan,
    readonly parts: readonly NumberedPart[],
    readonly world: World,
    /** The rank that computes a part. @default {this one: all parts are here} */
    readonly rankOf: (part: number) => number = () => world.rank,
    isWhole = false,
  ) {
    const isHere = new Set(parts.map(({ number }) => number));
    const axes = [0, 1, 2].filter((axis) => plan.parts[axis]! > 1);
    this.#axes = axes.length;
    this.#turns = turnsIn(plan, parts);
    this.#sides = parts.map(({ field }) => {
      const sides = exchangesOf(problem, plan, field.place.part, isWhole).flat().map((one): Side => {
        const kept = isHere.has(one.rank)
          ? undefined
          : piecesOf(one.receive).map(({ cells }) => zeros(problem.stencil.update, cells));
        return { ...one, kept, stays: this.#turns !== undefined && kept === undefined };
      });
      return axes.map((axis) => sides.filter((one) => one.axis === axis));
    });
  }

  /**
   * Advances all parts of this process; every rank calls it with the same rounds.
   *
   * @returns what each part took
   */
  async run(rounds: readonly Steps[]): Promise<PartTimes[]> {
    const run = new Run(this.parts.length);
    const ways = this.parts.map((_, i) => this.#advance(i, rounds, run));
    const ended = await Promise.allSettled(ways);
    await run.unlessFailed(Promise.resolve());
    return ended.flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
  }

  /** A part's own way through all rounds. */
  async #advance(index: number, rounds: readonly Steps[], run: Run): Promise<PartTimes> {
    const { field } = this.parts[index]!, isOnHost = field.onGpu === undefined;
    const times = { deviceNs: 0, packNs: 0, unpackNs: 0, exchangeNs: 0, endedMs: Infinity };
    const leaving: Promise<unknown>[] = [];
    let arriving: Promise<readonly Arrived[]> | undefined, packed: Promise<unknown> | undefined;
    /** Sets what has arrived, before what `begin` hands to the device. */
    const take = async <T>(begin: () => Promise<T>): Promise<T> => {
      const arrived = await run.unlessFailed(Promise.resolve(arriving));
      // what the host computes with must be done, and packed
      if (isOnHost) await run.unlessFailed(Promise.resolve(packed));
      if (arrived === undefined) return await begin();
      const started = performance.now();
      await field.unpack(arrived);
      const nowMs = performance.now(), isFar = arrived.some(({ pieces }) => pieces.length > 0);
      times.unpackNs += (nowMs - started) * 1e6;
      if (isFar) times.exchangeNs += Math.max(0, nowMs - times.endedMs) * 1e6;
      times.endedMs = Infinity;
      const begun = await begin();
      for (const { taken } of arrived) taken?.();
      return begun;
    };
    try {
      for (const [i, { steps, renews }] of rounds.entries()) {
        for (let axis = 0; axis < (renews ? Math.max(1, this.#axes) : 1); axis++) {
          const leg = `${i} ${axis}`, sides = renews ? this.#sides[index]![axis] ?? [] : [];
          const [far, near] = [false, true].map((stays) => sides.filter((one) => one.stays === stays));
          const turn = this.#turns && { at: 2 * i + this.#turns[index]!, end: 2 * rounds.length };
          const round = await take(async () => {
            const coming = sides.length > 0 ? this.#receive(index, sides, { leg, run, times }) : undefined;
            coming?.catch((error) => run.fail(error));
            arriving = coming;
            return await field.begin(axis === 0 ? steps : 0, {
              pack: far!.map(({ send }) => send),
              stay: near!.map(({ send }) => send),
              turn: turn && (() => run.inTurn(turn.at)),
            });
          });
          const { promise, resolve: isPacked } = Promise.withResolvers<void>();
          packed = promise;
          round.staying?.forEach((cells, j) => run.meeting(meetingOf(leg, near![j]!)).resolve(cells));
          const begun = turn === undefined ? run.begin(leg) : undefined;
          const before = leaving.at(-1);
          const sent = this.#send(round, far!, { leg, run, times, begun, turn, before, isPacked });
          sent.catch((error) => run.fail(error));
          leaving.push(sent);
        }
      }
      await take(() => field.settle());
      await Promise.all(leaving);
      return times;
    } catch (error) {
      run.fail(error);
      throw error;
    } finally {
      await Promise.allSettled(leaving);
    }
  }

  /**
   * Waits for a part's round, and hands its cells to its neighbours until they have taken them: after those of the round
   * before, since a message goes in pieces, which must not pass each other.
   */
  async #send(
    round: Round,
    sides: readonly Side[],
    { leg, run, times, begun, turn, before, isPacked }: {
      readonly leg: string;
      readonly run: Run;
      readonly times: { deviceNs: number; packNs: number; endedMs: number };
      readonly begun: Promise<void> | undefined;
      readonly turn: Turn | undefined;
      readonly before: Promise<unknown> | undefined;
      readonly isPacked: () => void;
    },
  ): Promise<void> {
    const { world, parts } = this;
    let finished: Promise<number> | undefined;
    try {
      if (turn !== undefined) {
        await run.endOfTurn(turn, sides.length > 0, () => {
          finished = round.finish();
          finished.catch(() => {}); // thrown once it is awaited
        });
      } else if (parts.length > 1) {
        // the others begin first: on a software device the host's wait for the GPU blocks it
        await run.unlessFailed(begun!);
        await nextTurn();
      }
    } catch (error) {
      (finished ?? round.finish()).catch(() => {}); // left over
      throw error;
    }
    times.deviceNs += await (finished ?? round.finish());
    const started = times.endedMs = performance.now(), pieces = round.pieces();
    times.packNs += (performance.now() - started) * 1e6;
    isPacked();
    await before;
    const leaving = Promise.all(sides.map(async (one, i) => {
      const { rank, axis, side, kept } = one;
      if (kept !== undefined) {
        const tag = tagOf(rank, axis, 1 - side);
        for (const cells of pieces[i]!) {
          // of a failure nobody waits for what a neighbour that has failed as well may never receive
          await run.unlessFailed(world.finish([world.send(this.rankOf(rank), tag, cells)]));
          giveBack(cells.buffer);
        }
        return;
      }
      const { promise, resolve: taken } = Promise.withResolvers<void>();
      run.meeting(meetingOf(leg, one)).resolve({ pieces: [...pieces[i]!], taken });
      await run.unlessFailed(promise);
    }));
    if (turn !== undefined) run.leave(leaving);
    await leaving;
    round.release();
  }

  /** Waits for what comes from a part's neighbours; of a message a GPU takes each piece while the next ones travel. */
  async #receive(
    index: number,
    sides: readonly Side[],
    { leg, run, times }: { readonly leg: string; readonly run: Run; readonly times: { unpackNs: number } },
  ): Promise<Arrived[]> {
    const { world } = this, { number, field } = this.parts[index]!;
    return await Promise.all(sides.map(async ({ rank, axis, side, kept, receive: boxes }) => {
      if (kept === undefined) {
        const { promise } = run.meeting(`${leg} ${number} ${axis} ${side}`);
        return { boxes, ...await run.unlessFailed(promise) };
      }
      const tag = tagOf(number, axis, side);
      const receiving = kept.map((piece) => world.receive(this.rankOf(rank), tag, piece));
      const onDevice = await field.coming?.(boxes);
      if (onDevice === undefined) await world.finish(receiving);
      else {
        for (const [i, piece] of receiving.entries()) {
          await world.finish([piece]);
          const started = performance.now();
          onDevice.set(i, kept[i]!);
          times.unpackNs += (performance.now() - started) * 1e6;
        }
      }
      return { boxes, pieces: kept, ...onDevice };
    }));
  }
}

/** Tags of a part that are no exchange's: what is gathered. */
export const TAGS = 8;

/** The tag of what arrives at a side of a part. */
function tagOf(part: number, axis: number, side: number): number {
  return TAGS * part + 2 * axis + side;
}

/** Where a part's cells are handed over: what leaves a low end arrives at a high end. */
function meetingOf(leg: string, { rank, axis, side }: Side): string {
  return `${leg} ${rank} ${axis} ${1 - side}`;
}

/** A part's place among all turns of a run, and how many there are. */
interface Turn {
  readonly at: number;
  readonly end: number;
}

/** When the parts of this process have their turns, if two share a GPU: of ranks beside each other in opposite orders. */
function turnsIn(plan: RankPlan, parts: readonly NumberedPart[]): number[] | undefined {
  const row = rowOf(plan), [first, second] = parts.map(({ field }) => field.onGpu);
  if (row === undefined || parts.length !== 2 || !first || !second) return undefined;
  if (first.device !== second.device) return undefined;
  return parts.map(({ number }) => {
    const place = placeOf(number, plan.parts)[row];
    return (place + (place >> 1)) % 2;
  });
}

/** How long a wait lets messages leave first; a neighbour that has failed may never take them. */
const LEAVING_MS = 50;

/** Where the parts of this process meet in a run, until one fails. */
class Run {
  readonly #failure = Promise.withResolvers<never>();
  readonly #meetings = new Map<string, PromiseWithResolvers<HandedOver>>();
  readonly #events = new Map<string, PromiseWithResolvers<void>>();
  readonly #begun = new Map<string, PromiseWithResolvers<void> & { left: number }>();
  #leaving: Promise<unknown> = Promise.resolve();

  constructor(readonly parts: number) {
    this.#failure.promise.catch(() => {}); // thrown by whoever waits
  }

  fail(error: unknown): void {
    this.#failure.reject(error);
  }

  unlessFailed<T>(waiting: Promise<T>): Promise<T> {
    return Promise.race([this.#failure.promise, waiting]);
  }

  /** Says that a part has begun a leg; what is returned waits for all of them. */
  begin(leg: string): Promise<void> {
    const all = this.#begun.get(leg) ?? { ...Promise.withResolvers<void>(), left: this.parts };
    this.#begun.set(leg, all);
    if (--all.left === 0) {
      all.resolve();
      this.#begun.delete(leg);
    }
    return all.promise;
  }

  /** Waits for a part's turn, which is ready for it: those before were begun, and the end of the last is awaited. */
  async inTurn(at: number): Promise<void> {
    this.#event("ready", at).resolve();
    if (at > 0) await this.unlessFailed(this.#event("awaited", at - 1).promise);
  }

  /**
   * Begins to wait for the end of a turn's round, when the next one is ready, and goes on once that was begun.
   *
   * @param isSent whether something is sent then: if not, the next need not wait for it
   */
  async endOfTurn({ at, end }: Turn, isSent: boolean, wait: () => void): Promise<void> {
    this.#event("begun", at).resolve();
    const isLast = at + 1 === end;
    if (!isSent) this.#event("awaited", at).resolve();
    if (!isLast) await this.unlessFailed(this.#event(isSent ? "ready" : "awaited", at + 1).promise);
    // where nothing is sent this comes before the next submission, for which the wait would block the host
    if (isSent) await this.#left();
    wait();
    this.#event("awaited", at).resolve();
    if (isSent && !isLast) await this.unlessFailed(this.#event("begun", at + 1).promise);
  }

  /** What a wait for the end of a turn lets leave first: messages need the host, which is blocked then. */
  leave(sent: Promise<unknown>): void {
    this.#leaving = Promise.all([this.#leaving, sent]);
    this.#leaving.catch(() => {}); // thrown by who sends
  }

  async #left(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>(), timer = setTimeout(resolve, LEAVING_MS);
    try {
      await this.unlessFailed(Promise.race([this.#leaving, late]));
    } finally {
      clearTimeout(timer);
    }
  }

  #event(what: "ready" | "awaited" | "begun", turn: number): PromiseWithResolvers<void> {
    const key = `${what} ${turn}`, known = this.#events.get(key) ?? Promise.withResolvers<void>();
    this.#events.set(key, known);
    return known;
  }

  /** Where one part leaves its cells for another, in one leg. */
  meeting(key: string): PromiseWithResolvers<HandedOver> {
    const known = this.#meetings.get(key);
    if (known === undefined) {
      const made = Promise.withResolvers<HandedOver>();
      this.#meetings.set(key, made);
      return made;
    }
    this.#meetings.delete(key); // both are here
    return known;
  }
}
