import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { decode, encode, forCells, LONGEST, painted, type Picture, simplified } from "../../page/picture.ts";
import type { Place } from "../../examples/scenes.ts";

const PLAIN = { noNullPrototype: true } as const;
const PLACE = fc.tuple(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 0, max: 1000 }));
const STROKE = fc.record({
  brush: fc.integer({ min: 0, max: 3 }),
  radius: fc.integer({ min: 5, max: 120 }),
  places: fc.array(PLACE, { minLength: 1, maxLength: 20 }),
}, PLAIN);
const EMPTY: Picture = { scene: "sound", size: [20, 32], preset: 0, strokes: [], sources: [], receivers: [] };

Deno.test("a link holds the picture, whatever was painted", async () => {
  const pictures = fc.record({
    strokes: fc.array(STROKE, { maxLength: 20 }),
    sources: fc.array(PLACE, { maxLength: 9 }),
  }, PLAIN);
  await fc.assert(
    fc.asyncProperty(pictures, async (part) => {
      const picture = { ...EMPTY, ...part }, text = await encode(picture);
      assert(text !== undefined && /^[\w-]+$/.test(text) && text.length <= LONGEST);
      assertEquals(await decode(text), picture);
    }),
    { numRuns: 30 },
  );
});

Deno.test("a picture too large for a link has none, and a damaged or foreign link is refused in a line", async () => {
  const places = Array.from({ length: 20_000 }, (_, i): Place => [i * 7919 % 1001, i * 104729 % 1001]);
  assertEquals(await encode({ ...EMPTY, strokes: [{ brush: 0, radius: 10, places }] }), undefined);
  const text = (await encode(EMPTY))!;
  for (const wrong of [text.slice(0, 20), "x".repeat(40), "%"]) {
    await assertRejects(() => decode(wrong), Error, "The link is damaged");
  }
  for (
    const part of [{ size: [20, 1e9] }, { sources: [[0, 2000]] }, {
      strokes: [{ brush: 0, radius: 5, places: [] }],
    }]
  ) {
    const foreign = (await encode({ ...EMPTY, ...part } as unknown as Picture))!;
    await assertRejects(() => decode(foreign), Error, "something else than a picture");
  }
});

Deno.test("a link that would take gigabytes or minutes is refused before any work", async () => {
  const places: Place[] = [[0, 0], [1000, 1000]], stroke = { brush: 0, radius: 1000, places };
  const strokes = Array.from({ length: 5000 }, () => stroke);
  const heavy = (await encode({ ...EMPTY, size: [2048, 2048], strokes }))!;
  await assertRejects(() => decode(heavy), Error, "cover too many cells");
  const large = (await encode({ ...EMPTY, equation: " ".repeat(2 ** 21) }))!;
  await assertRejects(() => decode(large), Error, "The link is damaged");
  await assertRejects(() => decode("A".repeat(LONGEST + 1)), Error, "The link is too long");
});

Deno.test("a simplified stroke covers the same cells but for some at its rim", () => {
  const wave = Array.from(
    { length: 300 },
    (_, i): Place => [500 + Math.round(200 * Math.sin(i / 40)), 3 * i],
  );
  const few = simplified(wave);
  assert(few.length < 60, `${few.length} places are left`);
  const covered = (places: readonly Place[]): Set<number> => {
    const cells = new Set<number>();
    forCells({ radius: 40, places }, [200, 320], (i) => cells.add(i));
    return cells;
  };
  const [all, left] = [covered(wave), covered(few)];
  assert(all.symmetricDifference(left).size < 0.03 * all.size);
});

Deno.test("strokes lie over the preset and over each other, where their places are", () => {
  const stroke = (brush: number, ...places: Place[]) => ({ brush, radius: 50, places });
  const strokes = [stroke(0, [500, 0], [500, 1000]), stroke(1, [500, 500])];
  const cells = painted({ size: [20, 40], strokes }, (down) => down < 0.1 ? 7 : 1, [3, 4]);
  assertEquals([cells[0], cells[10 * 40], cells[10 * 40 + 20], cells[19 * 40]], [7, 3, 4, 1]);
});
