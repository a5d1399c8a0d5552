/**
 * Runs a scene of this folder, and draws a field as a picture:
 *
 *     deno run --allow-read --allow-write --allow-sys examples/walls/show.ts basin basin.png
 *
 * @module
 */
import { encode } from "fast-png";
import { createSolver, type OpenProblem, type SolverOptions } from "../../mod.ts";

/** A problem in two dimensions, what it starts from, and the field that is shown, with the ends of its colours. */
export interface Scene extends Omit<OpenProblem, "steps"> {
  readonly start: Readonly<Record<string, (x: number, y: number) => number>>;
  readonly steps: number;
  /** Whether a step reads the one before, which is the same at the start. @default {false} */
  readonly isWave?: boolean;
  readonly shows: readonly [field: string, least: number, most: number];
}

/** The field that is shown, after the scene's steps. */
export async function run(
  { start, steps, isWave, shows, ...problem }: Scene,
  options?: SolverOptions,
): Promise<Float32Array> {
  await using solver = await createSolver(problem, options);
  for (const [field, values] of Object.entries(start)) {
    await solver.write(field, values);
    if (isWave) await solver.write(field, values, { ago: 1 });
  }
  await solver.run(steps);
  return await solver.read(shows[0]);
}

/** A picture of it, from blue to yellow; x runs to the right, y upwards. */
export function pictureOf({ grid, shows: [, least, most] }: Scene, field: Float32Array): Uint8Array {
  const [width, height = 1] = grid, data = new Uint8Array(3 * field.length);
  field.forEach((value, i) => {
    const part = Math.max(0, Math.min(1, (value - least) / (most - least))), x = Math.floor(i / height);
    data.set([20 + 230 * part, 30 + 190 * part, 90 - 50 * part], 3 * ((height - 1 - i % height) * width + x));
  });
  return encode({ width, height, channels: 3, data });
}

if (import.meta.main) {
  const [name = "", path] = Deno.args;
  if (path === undefined || !/^\w+$/.test(name)) {
    console.error("usage: show.ts basin|membrane|plate|plume|pond PICTURE");
    Deno.exit(2);
  }
  const scene: Scene = (await import(`./${name}.ts`)).default;
  await Deno.writeFile(path, pictureOf(scene, await run(scene)));
}
