/**
 * Rounds of simulated parts whose devices, reads and messages take any time, against the oracle: what is read too early, kept
 * too short or taken in another order shows.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { FloatArray } from "../../../kernels/precision.ts";
import { runReference } from "../../../kernels/reference.ts";
import type { Grid, Problem } from "../../../kernels/stencils/stencil.ts";
import { cellsOf } from "../../../kernels/stencils/stencil.ts";
import {
  type Box,
  firstOf,
  ownerOf,
  partOfRank,
  type PartPlace,
  partsOfRank,
  planForPairs,
  planOf,
  problemOfRank,
  type RankPlan,
  turnsOf,
} from "../../../models/rank_part.ts";
import { PIECE, piecesOf } from "../../../tuner/devices/shared/boxes.ts";
import { Exchanges } from "../../../tuner/devices/shared/exchange.ts";
import type { Arrival, PartField, Round, RoundOptions } from "../../../tuner/devices/shared/part_field.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import { RankError } from "../../../tuner/devices/world.ts";
import { wholeNumberWave } from "../../kernels/whole_numbers.ts";
import { Dice } from "../../random/dice.ts";
import { localWorlds } from "../../ranks/local_world.ts";
import { THOROUGH } from "../../thorough.ts";

/** Both levels of the only field: F(t), F(t−1). */
type Levels = [Float32Array<ArrayBuffer>, Float32Array<ArrayBuffer>];

/** The places of the cells of boxes, in their order: x, y, z in a box. */
function* placesIn(boxes: readonly Box[], [, ny, nz]: Grid): Generator<readonly [ago: 0 | 1, index: number]> {
  for (const { ago, low: [x, y, z], size: [sx, sy, sz] } of boxes) {
    for (let i = 0; i < sx * sy * sz; i++) {
      const [dx, dy, dz] = [Math.floor(i / sy / sz), Math.floor(i / sz) % sy, i % sz];
      yield [ago, ((x + dx) * ny + y + dy) * nz + z + dz];
    }
  }
}

const FAILURE = new RunFailure("device-lost", "the device is gone");

/** A value that no result may have. */
const SPENT = 12345678;

/**
 * A part whose device takes any time. On a GPU all is done in the order in which it was handed over, and read when its round
 * has ended; on the host steps end at some time, and cells are copied when they are asked for.
 */
class LatePart {
  readonly #grid: Grid;
  readonly #local: Problem;
  #busy: Promise<unknown> = Promise.resolve();
  #arriving: (() => void) | undefined;
  #rounds = 0;

  constructor(
    problem: Problem,
    plan: RankPlan,
    readonly place: PartPlace,
    readonly levels: Levels,
    readonly dice: Dice,
    readonly onGpu: { readonly device: unknown } | undefined,
    /** The round that fails, and where. @default {none} */
    readonly failing?: readonly [round: number, at: "begin" | "end" | "take"],
  ) {
    this.#grid = place.part.grid;
    this.#local = problemOfRank(problem, plan, place.part);
    if (onGpu !== undefined) this.coming = (boxes) => this.#coming(boxes);
  }

  coming?: PartField["coming"];

  /** Memory of the device that takes pieces as they come. */
  async #coming(boxes: readonly Box[]) {
    await this.#late();
    const buffers = piecesOf(boxes).map(({ cells }) => new Float32Array(cells).fill(SPENT));
    const set = (i: number, piece: FloatArray): void => buffers[i]!.set(piece as Float32Array);
    const taken = () => buffers.forEach((buffer) => buffer.fill(SPENT));
    return { buffers: buffers as unknown as GPUBuffer[], set, taken };
  }

  async #late(): Promise<void> {
    const ms = this.dice.oneOf([0, 0, 0, 1, 4]);
    if (this.dice.chance(0.7)) await new Promise((resolve) => setTimeout(resolve, ms));
  }

  #fail(round: number, at: "begin" | "end" | "take"): void {
    if (this.failing?.join() === `${round},${at}`) throw FAILURE;
  }

  #advance(steps: number): void {
    const { stencil: { update }, boundary } = this.#local, [current, previous] = this.levels;
    const grid = this.#grid, made = runReference({ current, previous }, { update, grid, boundary, steps });
    this.levels[0].set(made.current);
    this.levels[1].set(made.previous);
  }

  #pack(boxes: readonly Box[]): Float32Array<ArrayBuffer>[] {
    const values = Float32Array.from(placesIn(boxes, this.#grid), ([ago, i]) => this.levels[ago]![i]!);
    let at = 0;
    return piecesOf(boxes).map(({ cells }) => values.slice(at, at += cells));
  }

  async begin(steps: number, { pack = [], stay = [], turn }: RoundOptions = {}): Promise<Round> {
    const isOnHost = this.onGpu === undefined, ended = Promise.withResolvers<number>();
    await this.#late();
    await turn?.();
    await this.settle();
    const round = ++this.#rounds;
    this.#fail(round, "begin");
    if (!isOnHost) this.#advance(steps);
    const packed = isOnHost ? [] : pack.map((boxes) => this.#pack(boxes)), all = packed.flat();
    const staying = stay.map((boxes) => {
      const its = this.#pack(boxes);
      // behind what takes them in the device's queue they may hold anything
      const taken = () => its.forEach((piece) => piece.fill(SPENT));
      return { pieces: [], buffers: its as unknown as GPUBuffer[], taken };
    });
    const before = this.#busy;
    const run = async (): Promise<number> => {
      await before;
      await this.#late();
      if (isOnHost) this.#advance(steps);
      return 1;
    };
    this.#busy = run().then(ended.resolve);
    return {
      finish: async () => {
        const ns = await ended.promise;
        await this.#late();
        this.#fail(round, "end");
        return ns;
      },
      pieces: () => isOnHost ? pack.map((boxes) => this.#pack(boxes)) : packed,
      // but for what was given back
      release: () => all.forEach((piece) => piece.length > 0 && piece.fill(SPENT)),
      staying,
    };
  }

  async unpack(arrived: readonly Arrival[]): Promise<void> {
    await this.settle();
    this.#fail(this.#rounds, "take");
    // what comes from the host is copied at once, what lies on the device when its turn is
    const copies = arrived.map((one) => ({ ...one, pieces: one.pieces.map((piece) => piece.slice()) }));
    this.#arriving = () => this.#unpack(copies);
    if (this.onGpu === undefined) await this.settle();
  }

  #unpack(arrived: readonly Arrival[]): void {
    for (const { boxes, pieces, buffers } of arrived) {
      const values = ((buffers as unknown as FloatArray[] | undefined) ?? pieces).flatMap((
        piece,
      ) => [...piece]);
      let i = 0;
      for (const [ago, index] of placesIn(boxes, this.#grid)) this.levels[ago]![index] = values[i++]!;
    }
  }

  async settle(): Promise<void> {
    await this.#late();
    this.#arriving?.();
    this.#arriving = undefined;
  }
}

/** Runs a case by its seed, and compares it with the oracle; if it fails, all ranks must end, and that one with the failure. */
async function tryLate(seed: number, fails = false): Promise<void> {
  const dice = new Dice(seed), grid = [dice.from(6, 14), dice.from(6, 14), dice.from(2, 12)] as const;
  const boundary = [0, 1, 2].map(() => dice.oneOf(["zero", "periodic", "insulated"] as const));
  const problem = { stencil: wholeNumberWave(2), grid, boundary, steps: 1 } as unknown as Problem;
  const parts = dice.oneOf([[2, 1, 1], [1, 2, 1], [3, 1, 1], [2, 2, 1], [1, 2, 2], [4, 1, 1]] as const);
  const ranks = parts.reduce<number>((a, b) => a * b, 1), exchangeEvery = dice.from(1, 3);
  const rates = Array.from({ length: ranks }, () => dice.from(1, 2));
  const kind = dice.oneOf(["gpu", "host", "both", "turns"] as const);
  const coarse = planOf(problem, { parts, exchangeEvery, rates });
  const plan = coarse &&
    (kind === "both"
      ? planForPairs(problem, coarse, rates.map(() => dice.oneOf([0.3, 0.5])))
      : kind === "turns"
      ? turnsOf(problem, { ...coarse, inTurns: true })
      : coarse);
  if (plan === undefined) return;
  if (!fails) PIECE.cells = dice.oneOf([3, 20, 1000]);
  const whole: Levels = [0, 1].map(() =>
    Float32Array.from({ length: cellsOf(grid) }, () => dice.from(-2, 2))
  ) as Levels;
  const [nx, ny, nz] = grid;
  const all: LatePart[] = [], rounds: { steps: number; renews: boolean }[][] = [];
  for (let run = 0; run < 2; run++) {
    rounds.push(
      Array.from({ length: dice.from(1, 4) }, () => ({ steps: dice.from(1, exchangeEvery), renews: true })),
    );
  }
  rounds.at(-1)!.push({ steps: dice.from(0, exchangeEvery), renews: false });
  const worlds = localWorlds(ranks, { seed, limitMs: fails ? 1500 : 20_000 });
  const failing = dice.below(plan.extents.length),
    failure = [dice.from(1, 3), dice.oneOf(["begin", "end", "take"] as const)] as const;
  const ended = await Promise.allSettled(worlds.map(async (world) => {
    const device = {}, numbers = partsOfRank(plan, world.rank);
    const its = numbers.map((number, i) => {
      const place = { part: partOfRank(problem, plan, number), whole: grid }, [x, y, z] = firstOf(place);
      const [px, py, pz] = place.part.grid;
      const levels = whole.map((level) =>
        Float32Array.from({ length: px * py * pz }, (_, cell) => {
          const at = [x + Math.floor(cell / py / pz), y + Math.floor(cell / pz) % py, z + cell % pz] as const;
          const inGrid = [(at[0] + nx) % nx, (at[1] + ny) % ny, (at[2] + nz) % nz] as const;
          return level[(inGrid[0] * ny + inGrid[1]) * nz + inGrid[2]]!;
        })
      ) as Levels;
      const isOnHost = kind === "host" || (kind === "both" && i === 0);
      const onGpu = isOnHost ? undefined : { device };
      const field = new LatePart(
        problem,
        plan,
        place,
        levels,
        new Dice(seed + 1000 * number),
        onGpu,
        fails && number === failing ? failure : undefined,
      );
      all.push(field);
      return { number, field: field as unknown as PartField };
    });
    const exchanges = new Exchanges(problem, plan, its, world, (part) => ownerOf(plan, part));
    for (const run of rounds) await exchanges.run(run);
  }));
  const errors = ended.map((one) => one.status === "rejected" ? one.reason : undefined);
  if (fails) {
    const [own] = errors.splice(ownerOf(plan, failing), 1);
    if (own === undefined) return; // there were no such rounds
    assertEquals(own, FAILURE, `seed ${seed}`);
    for (const one of errors) if (one !== undefined) assert(one instanceof RankError, `seed ${seed}: ${one}`);
    return;
  }
  assertEquals(errors, worlds.map(() => undefined), `seed ${seed}`);
  const steps = rounds.flat().reduce((sum, one) => sum + one.steps, 0), { update } = problem.stencil;
  const expected = runReference({ current: whole[0], previous: whole[1] }, {
    update,
    grid,
    boundary: problem.boundary,
    steps,
  });
  for (const { place, levels: [current] } of all) {
    const { own, before, grid: [, py, pz] } = place.part, [sx, sy, sz] = own.size;
    for (let x = 0; x < sx; x++) {
      for (let y = 0; y < sy; y++) {
        const at = ((x + before[0]) * py + y + before[1]) * pz + before[2];
        const from = ((own.low[0] + x) * ny + own.low[1] + y) * nz + own.low[2];
        const what = `seed ${seed}: ${kind} ${parts}, R = ${exchangeEvery}, cells (${own.low[0] + x}, ${
          own.low[1] + y
        })`;
        assertEquals(current.slice(at, at + sz), expected.current.slice(from, from + sz), what);
      }
    }
  }
  assertEquals(worlds[0]!.left(), 0, `seed ${seed}`);
}

Deno.test("parts whose devices and messages take any time give the oracle's bits, whatever comes first", async () => {
  const usual = PIECE.cells, first = THOROUGH ? Date.now() % 1e9 : 1;
  try {
    for (let seed = first; seed < first + (THOROUGH ? 500 : 12); seed++) await tryLate(seed);
  } finally {
    PIECE.cells = usual;
  }
});

Deno.test("a part that fails at any moment ends its rank with its failure, and the others after their patience", async () => {
  const usual = PIECE.cells, first = THOROUGH ? Date.now() % 1e9 : 1;
  PIECE.cells = 20;
  try {
    for (let seed = first; seed < first + (THOROUGH ? 800 : 16); seed += 16) {
      await Promise.all(Array.from({ length: 16 }, (_, i) => tryLate(seed + i, true)));
    }
  } finally {
    PIECE.cells = usual;
  }
});
