import { assert, assertEquals } from "@std/assert";
import { type Preset, type Scene, SCENES } from "../../examples/scenes.ts";
import * as facet from "../../mod.ts";
import type { Picture } from "../../page/picture.ts";
import { textOfWalls } from "../../page/program.ts";
import { beyondOf } from "../../page/sides.ts";
import { Simulation } from "../../page/simulation.ts";

const EMPTY = { preset: 0, strokes: [], sources: [], receivers: [] } as const;

/** A picture's cells after some steps on one worker. */
async function after(
  steps: number,
  scene: Scene,
  picture: Omit<Picture, keyof typeof EMPTY | "scene"> & Partial<Picture>,
) {
  const simulation = await Simulation.open(scene, { scene: "", ...EMPTY, ...picture }, {
    device: null,
    cpuWorkers: 1,
  }, []);
  try {
    await simulation.solver.run(steps);
    return { cells: await simulation.readPicture(), grid: simulation.solver.problem.grid };
  } finally {
    await simulation.solver[Symbol.asyncDispose]();
  }
}

Deno.test("every scene runs with each of its sides beside each other, and its program makes the same walls", async () => {
  for (const [name, scene] of Object.entries(SCENES)) {
    const size = scene.depth === 1 ? [20, 24] as const : [16, 17] as const;
    assert(scene.sides.length >= 3, name);
    for (const i of scene.sides.keys()) {
      const walls = [i, (i + 1) % scene.sides.length, 0, i];
      for (const made of Object.values(beyondOf(scene, { walls }).boundary)) {
        const text = textOfWalls(made),
          words = Object.keys(facet).filter((word) => text.includes(`${word}(`));
        const remade = new Function(...words, `return ${text}`)(
          ...words.map((word) => facet[word as keyof typeof facet]),
        );
        assertEquals(remade, made, text);
      }
      if (i % 2 === 0) continue; // others have them, too
      const { cells } = await after(scene.depth === 1 ? 200 : 20, scene, {
        size,
        walls,
        sources: scene.sources ?? [],
      });
      const most = cells.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      assert(most > 0 && most < 100, `${name}, walls ${walls}: ${most}`);
    }
  }
});

const HALVES = ["top", "bottom", "left", "right"] as const;

for (const [name, even] of [["sound", 1], ["heat", 2], ["life", 1]] as const) {
  Deno.test(`${name} between an even wall and its other sides is half of a symmetric picture`, async () => {
    const size: readonly [number, number] = [20, 24], steps = name === "life" ? 9 : 90, known = SCENES[name]!;
    for (const [side, title] of HALVES.entries()) {
      const axis = side < 2 ? 0 : 1, isLow = side % 2 === 0, count = size[axis];
      /** Where a place of the half lies in the whole, in cells, and where its image does. */
      const placesOf = (at: number) => isLow ? [count + at, count - 1 - at] : [at, 2 * count - 1 - at];
      const folded = (part: number) => isLow ? Math.abs(2 * part - 1) : 1 - Math.abs(2 * part - 1);
      const at: Preset = (y, x) =>
        known.paints === known.shown
          ? Number(Math.sin(9 * x + 40 * y * y) > 0.4)
          : 1500 + 1000 * Number(y + x > 1);
      const scene = { ...known, presets: [["half", at]] as const };
      const whole: Preset = (y, x, size) => axis === 0 ? at(folded(y), x, size) : at(y, folded(x), size);
      const place = [0.25, 0.75].map((part, i) => part * size[i]!);
      const inThousandths = (
        place: readonly number[],
        size: readonly number[],
      ) => [place.map((one, i) => 1000 * one / size[i]!) as [number, number]];
      const both = size.with(axis, 2 * count) as unknown as typeof size;
      const isSent = known.source !== undefined;
      const half = await after(steps, scene, {
        size,
        walls: [0, 0, 0, 0].with(side, even),
        sources: isSent ? inThousandths(place, size) : [],
      });
      const all = await after(steps, { ...known, presets: [["whole", whole]] }, {
        size: both,
        sources: isSent
          ? placesOf(place[axis]!).flatMap((one) => inThousandths(place.with(axis, one), both))
          : [],
      });
      assertEquals([half, all].map(({ grid }) => [grid[0], grid[2]]), [[...size], [...both]], title);
      const largest = Math.max(...half.cells.map(Math.abs));
      assert(largest > 1e-3, `${title}: ${largest}`);
      half.cells.forEach((value, i) => {
        const [row, column] = [Math.floor(i / size[1]), i % size[1]],
          [there] = placesOf(axis === 0 ? row : column) as [number];
        const found = all.cells[axis === 0 ? there * size[1] + column : row * both[1] + there]!;
        assert(
          Math.abs(value - found) <= 2e-5 * largest,
          `${title}, cell ${row}, ${column}: ${value}, ${found}`,
        );
      });
    }
  });
}

for (const [name, fields] of Object.entries({ light: ["e", "hx", "hy"], antenna: ["ex", "ey", "h"] })) {
  Deno.test(`metal keeps the energy of ${name}, and absorbing sides let it go`, async () => {
    const scene = SCENES[name]!,
      picture = { scene: name, size: [20, 24], ...EMPTY, preset: scene.presets.length - 1 } as const;
    const parts = await Promise.all([[1, 1, 1, 1], [0, 1, 1, 1]].map(async (walls) => {
      const { solver } = await Simulation.open(
        scene,
        { ...picture, walls },
        { device: null, cpuWorkers: 1 },
        [],
      );
      try {
        await solver.write(
          fields.at(name === "light" ? 0 : 2)!,
          (x, y) => Math.exp(-((x - 9) ** 2 + (y - 13) ** 2) / 4),
        );
        const energy = async () => {
          const all = await Promise.all(fields.map((field) => solver.read(field)));
          return all.flatMap((cells) => [...cells]).reduce((sum, one) => sum + one * one, 0);
        };
        await solver.run(1);
        const before = await energy();
        await solver.run(600);
        // along metal the electric field is 0
        const [down, across] = name === "light" ? ["e", "e"] : ["ey", "ex"], columns = solver.problem.grid[2];
        const top = (await solver.read(down)).slice(0, columns),
          left = (await solver.read(across)).filter((_, i) => i % columns === 0);
        assert(Math.max(...walls[0] ? top.map(Math.abs) : [], ...left.map(Math.abs)) < 1e-7);
        return await energy() / before;
      } finally {
        await solver[Symbol.asyncDispose]();
      }
    }));
    assert(Math.abs(parts[0]! - 1) < 0.2 && parts[1]! < 0.1, `${parts}`);
  });
}
