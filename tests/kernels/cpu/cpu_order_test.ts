/**
 * The orders of the CPU's workers, played on a model of the two arrays: every visit must find what it reads, and must
 * overwrite only what nobody reads any more, however the workers of a round are interleaved.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  type CpuOrder,
  type CpuRun,
  forEachImage,
  type Rows,
  shareRows,
  stepwiseOrder,
  type VisitedGrid,
} from "../../../kernels/cpu/cpu_order.ts";
import { diamondOrder, refuseDiamonds } from "../../../kernels/cpu/diamond_order.ts";
import { BOUNDARIES, imageOf } from "../../../kernels/stencils/stencil.ts";
import { seededRandom } from "../../../tuner/measuring/seeded_random.ts";

interface Game {
  readonly grid: readonly [number, number];
  readonly boundaries: VisitedGrid["boundaries"];
  /** Reach of each sub-step along x and y. */
  readonly reaches: readonly (readonly [number, number])[];
  readonly steps: number;
  readonly parts: number;
  readonly ghost: readonly [boolean, boolean];
  readonly seed: number;
}

/** Plays an order, and throws where a visit reads what is not there. */
function play(game: Game, orderOf: (run: CpuRun) => CpuOrder): void {
  const { grid: [nx, ny], boundaries, reaches, steps, parts, ghost, seed } = game;
  const substeps = reaches.length, levels = steps * substeps;
  const lost = (level: number): number => {
    let sum = 0;
    for (let i = 0; i <= level; i++) sum += reaches[i % substeps]![0];
    return sum;
  };
  const run = {
    grid: [nx, ny],
    boundaries,
    reach: [Math.max(...reaches.map(([x]) => x)), Math.max(...reaches.map(([, y]) => y))],
    levels,
    slicesAt: (level: number) => [ghost[0] ? lost(level) : 0, nx - (ghost[1] ? lost(level) : 0)] as const,
    parts,
  } as const;
  /** The step of each field in both arrays: array, field, x, y. */
  const state = [0, -1].map((step) => reaches.map(() => new Int32Array(nx * ny).fill(step)));
  const visit = (level: number, { x0, x1, y0, y1 }: Rows): void => {
    const step = Math.floor(level / substeps), field = level % substeps;
    const now = state[step % 2]!, next = state[(step + 1) % 2]!;
    const [rx, ry] = reaches[field]!;
    const where = (x: number, y: number): string => `level ${level} at ${x},${y}`;
    assert(x0 >= 0 && x1 <= nx && y0 >= 0 && y1 <= ny, `${where(x0, y0)}: outside the grid`);
    for (let x = x0; x < x1; x++) {
      for (let y = y0; y < y1; y++) {
        for (let dx = -rx; dx <= rx; dx++) {
          for (let dy = -ry; dy <= ry; dy++) {
            const i = imageOf(x + dx, nx, boundaries[0]), j = imageOf(y + dy, ny, boundaries[1]);
            if (i === undefined || j === undefined) continue;
            const at = i * ny + j;
            now.forEach((values) => assertEquals(values[at], step, `${where(x, y)} reads ${dx},${dy}`));
            for (let made = 0; made < field; made++) {
              assertEquals(next[made]![at], step + 1, `${where(x, y)} reads what was made at ${dx},${dy}`);
            }
          }
        }
        assertEquals(next[field]![x * ny + y], step - 1, `${where(x, y)} overwrites`);
        next[field]![x * ny + y] = step + 1;
      }
    }
  };
  const orders = Array.from({ length: parts }, (_, part) => orderOf({ ...run, part }));
  const draw = seededRandom(seed);
  for (let round = 0; round < orders[0]!.rounds; round++) {
    const waiting = orders.map((order) => {
      const visits: (readonly [number, Rows])[] = [];
      order.visitRound(round, (level, box) => visits.push([level, box]));
      return visits;
    });
    while (waiting.some((visits) => visits.length > 0)) {
      const ready = waiting.filter((visits) => visits.length > 0);
      // a worker may make many visits while another makes none
      const one = ready[Math.floor(draw() * ready.length)]!;
      for (const [level, box] of one.splice(0, 1 + Math.floor(draw() * one.length))) visit(level, box);
    }
  }
  for (let field = 0; field < substeps; field++) {
    const [x0, x1] = levels === 0 ? [0, nx] : run.slicesAt((steps - 1) * substeps + field);
    const values = state[steps % 2]![field]!;
    for (let x = x0; x < x1; x++) {
      for (let y = 0; y < ny; y++) assertEquals(values[x * ny + y], steps, `field ${field} at ${x},${y}`);
    }
  }
}

const small = (min: number, max: number) => fc.integer({ min, max });
const games = fc.record({
  grid: fc.tuple(
    small(1, 24),
    fc.oneof({ weight: 3, arbitrary: small(1, 24) }, { weight: 1, arbitrary: fc.constant(1) }),
  ),
  boundaries: fc.tuple(fc.constantFrom(...BOUNDARIES), fc.constantFrom(...BOUNDARIES)),
  reaches: fc.array(fc.tuple(small(0, 2), small(0, 2)), { minLength: 1, maxLength: 3 }),
  steps: small(0, 7),
  parts: small(1, 5),
  ghost: fc.tuple(fc.boolean(), fc.boolean()),
  seed: small(0, 1000),
}).filter(({ boundaries, ghost, grid, reaches, steps }) => {
  if (boundaries[0] === "periodic" && (ghost[0] || ghost[1])) return false;
  const lost = steps * reaches.reduce((sum, [x]) => sum + x, 0);
  return (Number(ghost[0]) + Number(ghost[1])) * lost <= grid[0];
});

Deno.test("stepwise visits everything once, and reads what is there, with any strips and workers", () => {
  fc.assert(
    fc.property(games, small(0, 9), (game, strip) => play(game, (run) => stepwiseOrder(run, { strip }))),
    { seed: 1, numRuns: 150 },
  );
});

Deno.test("diamonds visit everything once, and read what is there, with any shape and workers", () => {
  let played = 0;
  fc.assert(
    fc.property(
      games,
      fc.record({ tiles: small(1, 5), band: small(1, 4), block: small(1, 3) }),
      (game, shape) => {
        const reach = [0, 1].map((axis) => Math.max(...game.reaches.map((one) => one[axis]!))) as [
          number,
          number,
        ];
        if (refuseDiamonds({ ...game, reach }, shape) !== undefined) return;
        if (game.steps > 1) played++;
        play(game, (run) => diamondOrder(run, shape));
      },
    ),
    { seed: 2, numRuns: 800 },
  );
  assert(played > 150, `${played}`);
});

Deno.test("a grid that diamonds fit exactly is not refused, and one row or slice less is", () => {
  const shape = { tiles: 3, band: 2, block: 1 };
  const run = { grid: [16, 24], boundaries: ["periodic", "periodic"], reach: [2, 2] } as const;
  assertEquals(refuseDiamonds(run, shape), undefined);
  assertStringIncludes(
    refuseDiamonds({ ...run, grid: [15, 24] }, shape)!.message,
    "16 slices open at the seam",
  );
  assertStringIncludes(refuseDiamonds({ ...run, grid: [16, 23] }, shape)!.message, "4 rows: it has 3");
  const game = { ...run, reaches: [[2, 2]], steps: 5, parts: 2, ghost: [false, false], seed: 3 } as const;
  play(game, (one) => diamondOrder(one, shape));
  for (const grid of [[15, 30], [16, 22]] as const) {
    assertThrows(() => play({ ...game, grid }, (one) => diamondOrder(one, shape)), Error, "level");
  }
});

/** Changes of an order that make it wrong. */
const MUTANTS: Readonly<Record<string, (orderOf: (run: CpuRun) => CpuOrder) => (run: CpuRun) => CpuOrder>> = {
  "the wave follows one slice too close": (orderOf) => (run) =>
    orderOf({ ...run, reach: [run.reach[0] - 1, run.reach[1]] }),
  "tiles lose one row too little": (orderOf) => (run) =>
    orderOf({ ...run, reach: [run.reach[0], run.reach[1] - 1] }),
  "two rounds without a meeting": (orderOf) => (run) => {
    const { rounds, visitRound } = orderOf(run);
    const both = (round: number) => [2 * round, 2 * round + 1].filter((one) => one < rounds);
    return {
      rounds: Math.ceil(rounds / 2),
      visitRound: (round, visit) => both(round).forEach((one) => visitRound(one, visit)),
    };
  },
  "a round backwards": (orderOf) => (run) => {
    const { rounds, visitRound } = orderOf(run);
    return {
      rounds,
      visitRound(round, visit) {
        const visits: [number, Rows][] = [];
        visitRound(round, (...one) => visits.push(one));
        visits.reverse().forEach((one) => visit(...one));
      },
    };
  },
  "the last row of a box left out": (orderOf) => (run) => {
    const { rounds, visitRound } = orderOf(run);
    return {
      rounds,
      visitRound: (round, visit) =>
        visitRound(round, (level, box) => visit(level, level === 2 ? { ...box, y1: box.y1 - 1 } : box)),
    };
  },
  "every worker has the first one's share": (orderOf) => (run) => orderOf({ ...run, part: 0 }),
};

for (const [name, mutate] of Object.entries(MUTANTS)) {
  Deno.test(`a mutant of the diamonds' order is rejected: ${name}`, () => {
    const shape = { tiles: 3, band: 3, block: 1 };
    const diamonds = (run: CpuRun): CpuOrder => diamondOrder(run, shape);
    for (const along of BOUNDARIES) {
      const game = {
        grid: [12, 24],
        boundaries: [along, along],
        reaches: [[1, 1]],
        steps: 7,
        parts: 2,
        ghost: [false, false],
      } as const;
      play({ ...game, seed: 1 }, diamonds);
      const rejected = [1, 2, 3].filter((seed) => {
        try {
          play({ ...game, seed }, mutate(diamonds));
          return false;
        } catch {
          return true;
        }
      });
      assert(rejected.length > 0, along);
    }
  });
}

Deno.test("workers have whole diamonds each where their number divides the tiles", () => {
  for (const along of BOUNDARIES) {
    const rows = Array.from({ length: 4 }, (_, part) => {
      let sum = 0;
      const run: CpuRun = {
        grid: [8, 64],
        boundaries: ["zero", along],
        reach: [1, 1],
        levels: 16,
        slicesAt: () => [0, 8],
        part,
        parts: 4,
      };
      const order = diamondOrder(run, { tiles: 8, band: 4, block: 1 });
      for (let round = 0; round < order.rounds; round++) {
        order.visitRound(round, (_, { x0, x1, y0, y1 }) => sum += (x1 - x0) * (y1 - y0));
      }
      return sum;
    });
    assert(Math.max(...rows) <= 1.2 * Math.min(...rows), `${rows}`);
  }
});

Deno.test("images are the pads' rows, each once, of any grid", () => {
  fc.assert(
    fc.property(
      fc.record({
        grid: fc.tuple(small(1, 6), small(1, 6)),
        boundaries: fc.tuple(fc.constantFrom(...BOUNDARIES), fc.constantFrom(...BOUNDARIES)),
        reach: fc.tuple(small(0, 8), small(0, 8)),
        parts: small(1, 3),
      }),
      ({ grid: [nx, ny], boundaries, reach, parts }) => {
        const found: string[] = [], [alongX, alongY] = boundaries;
        for (let part = 0; part < parts; part++) {
          for (const box of shareRows([{ x0: 0, x1: nx, y0: 0, y1: ny }], { part, parts })) {
            forEachImage(box, { grid: [nx, ny], boundaries, reach }, ({ x0, x1, y0, y1 }) => {
              for (let x = x0; x < x1; x++) {
                for (let y = y0; y < y1; y++) {
                  const i = imageOf(x, nx, alongX)!, j = imageOf(y, ny, alongY)!;
                  const isOfBox = i >= box.x0 && i < box.x1 && j >= box.y0 && j < box.y1;
                  found.push(isOfBox ? `${x},${y}` : "no image of the box");
                }
              }
            });
          }
        }
        const wanted: string[] = [];
        const [rx, ry] = [alongX === "zero" ? 0 : reach[0], alongY === "zero" ? 0 : reach[1]];
        for (let x = -rx; x < nx + rx; x++) {
          for (let y = -ry; y < ny + ry; y++) {
            if (x < 0 || x >= nx || y < 0 || y >= ny) wanted.push(`${x},${y}`);
          }
        }
        assertEquals(found.sort(), wanted.sort());
      },
    ),
    { seed: 3, numRuns: 200 },
  );
});
