/**
 * The scenes of `examples/walls/`: each at most 25 lines, with what it must keep or come to, and a picture.
 *
 * @module
 */
import { assert, assertAlmostEquals, assertEquals, assertLess } from "@std/assert";
import { decode } from "fast-png";
import basin from "../examples/walls/basin.ts";
import membrane, { courant, n } from "../examples/walls/membrane.ts";
import plate from "../examples/walls/plate.ts";
import plume from "../examples/walls/plume.ts";
import pond from "../examples/walls/pond.ts";
import { pictureOf, run, type Scene } from "../examples/walls/show.ts";
import "./own_thread.ts";

const CPU = { device: null };
const sum = (of: Float32Array): number => of.reduce((all, one) => all + one, 0);

Deno.test("scenes between walls have at most 25 lines, and pictures as large as their grids", async () => {
  for (const [name, scene] of Object.entries({ basin, membrane, plate, plume, pond })) {
    const text = await Deno.readTextFile(new URL(`../examples/walls/${name}.ts`, import.meta.url));
    assertLess(text.trimEnd().split("\n").length, 26, name);
    const picture = decode(
      pictureOf(scene, new Float32Array(scene.grid[0] * scene.grid[1]!).fill(1e9)),
    );
    assertEquals([picture.width, picture.height, ...picture.data.subarray(0, 3)], [
      ...scene.grid,
      250,
      220,
      40,
    ]);
  }
});

Deno.test("a basin keeps its water, and is the same when seen in a mirror", async () => {
  const scene: Scene = { ...basin, grid: [32, 24], steps: 90 };
  const flipped: Scene = { ...scene, start: { h: (x, y) => scene.start.h!(31 - x, 23 - y) } };
  const [found, mirrored] = [await run(scene, CPU), await run(flipped, CPU)];
  const start = Float32Array.from({ length: 768 }, (_, i) => scene.start.h!(Math.floor(i / 24), i % 24));
  assertAlmostEquals(sum(found), sum(start), 2e-3);
  assert(Math.max(...found) - Math.min(...found) > 0.02);
  found.forEach((one, i) => assertAlmostEquals(one, mirrored[767 - i]!, 1e-5));
});

Deno.test("a heated plate comes to a slope from 1 on the left face", async () => {
  const found = await run({ ...plate, steps: 12_000 }, CPU);
  found.forEach((one, i) => assertAlmostEquals(one, 1 + 0.05 * (Math.floor(i / 16) + 0.5), 1e-3));
});

Deno.test("a quarter of a membrane swings as the whole one does", async () => {
  const found = await run(membrane, CPU), phase = 3 * Math.PI / (2 * n);
  const symbol = 2 * (4 / 3 * (2 * Math.cos(phase) - 2) - 1 / 12 * (2 * Math.cos(2 * phase) - 2));
  const omega = Math.acos(1 + courant ** 2 * symbol / 2);
  const swing = Math.cos(omega * (membrane.steps + 0.5)) / Math.cos(omega / 2);
  const mode = (i: number) => Math.sin(phase * (i + 0.5));
  found.forEach((one, i) => assertAlmostEquals(one, swing * mode(Math.floor(i / n)) * mode(i % n), 1e-4));
});

Deno.test("a plume has the inflow's puffs at its distance, and leaves through the outflow", async () => {
  const found = await run(plume, CPU), [nx, ny] = plume.grid;
  const along = Array.from({ length: nx }, (_, x) => found[x * ny + ny / 2]!);
  // half a period of puffs is half a wavelength: 0.4 cells a step, 2π / 0.08 steps
  const half = Math.round(0.4 * Math.PI / 0.08), first = along.indexOf(Math.max(...along.slice(0, 2 * half)));
  assertAlmostEquals(
    along.indexOf(Math.min(...along.slice(first, first + half + 4)), first) - first,
    half,
    3,
  );
  assert(Math.min(...found) > -1e-6 && Math.max(...found) < 1);
  // the free end takes what comes: nothing gathers there
  assertAlmostEquals(along[nx - 1]!, along[nx - 2]!, 0.02);
});

Deno.test("a pond's rings leave through its open ends, and come back from the quay", async () => {
  const [early, late] = [await run({ ...pond, steps: 60 }, CPU), await run({ ...pond, steps: 500 }, CPU)];
  const most = (of: Float32Array) => Math.max(...of.map(Math.abs));
  assert(most(early) > 0.05 && most(late) < 0.07 * most(early), `${most(early)}, ${most(late)}`);
});
