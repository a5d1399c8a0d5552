/**
 * A scene that runs: the solver, what is painted into it while it runs, and what its receivers hear.
 *
 * @module
 */
import {
  chooseConfiguration,
  type Configuration,
  createSolver,
  type OpenProblem,
  type OwnGrid,
  type PointCounts,
  type Position,
  type Profile,
  type Solver,
  type Walls,
} from "../mod.ts";
import { forCells, painted, type Picture, type Stroke } from "./picture.ts";
import type { Place, Scene } from "../examples/scenes.ts";
import { beyondOf } from "./sides.ts";

/** What computes: a GPU, or workers of the CPU. */
export interface Machine {
  readonly device: GPUDevice | null;
  readonly cpuWorkers: number;
}

/** Sources and receivers that kernels are compiled for; there may be any number. */
const SURVEY: PointCounts = { sources: 1, receivers: 1 };

/** Samples of a trace that are kept. */
const MOST_SAMPLES = 4096;

/** Where the picture's cells lie in a level on the GPU. */
export type Drawn = NonNullable<ReturnType<Simulation["drawn"]>>;

/** The problem of a scene as a picture has it. */
export function problemOf(
  scene: Scene,
  picture: Pick<Picture, "size" | "walls">,
): OpenProblem & { readonly boundary: Walls } {
  const { stencil, depth, source } = scene, [rows, columns] = picture.size;
  const grid: OwnGrid = depth === 1 ? [rows, columns] : [rows, depth, columns];
  return { stencil, grid, ...beyondOf(scene, picture), ...(source && { survey: SURVEY }) };
}

/** A picture's scene on a machine, from its first step on. */
export class Simulation {
  /** What each receiver has heard, the newest last. */
  readonly traces: Float32Array[] = [];
  readonly size: Picture["size"];
  #frequency = 1;

  private constructor(readonly scene: Scene, picture: Picture, readonly solver: Solver) {
    this.size = picture.size;
  }

  /**
   * Compiles a picture's scene, and starts it.
   *
   * @param profiles what is known of this device
   * @param from what a solver has saved, to go on from
   * @throws {Error} if it cannot be computed here; the message is one line
   */
  static async open(
    scene: Scene,
    picture: Picture,
    { device, cpuWorkers }: Machine,
    profiles: readonly Profile[],
    from?: Blob,
  ): Promise<Simulation> {
    const problem = problemOf(scene, picture);
    const open = (configuration: Configuration) => createSolver(device, problem, configuration, { from });
    // a link's kernel may be one that this device cannot run, or want more workers than it has
    const fits = picture.kernel !== undefined && Number(picture.kernel.share?.cpuWorkers) <= cpuWorkers;
    const solver = await (fits ? open(picture.kernel!).catch(() => undefined) : undefined) ??
      await open(
        chooseConfiguration(profiles, problem, device, { cpuWorkers: device ? 0 : cpuWorkers }).configuration,
      );
    const simulation = new Simulation(scene, picture, solver);
    if (from === undefined) await simulation.restart(picture);
    else {
      simulation.#frequency = picture.parameters?.frequency ?? scene.parameters?.frequency?.[3] ?? 1;
      for (const place of picture.receivers) await simulation.addReceiver(place);
    }
    return simulation;
  }

  /** Steps of which the kernel makes a whole number fastest. */
  get height(): number {
    const { nt = 1, bands = 1, steps = 1 } = this.solver.configuration.parameters;
    return Number(nt) * Number(bands) * Number(steps);
  }

  /** Begins anew, with what is painted now. */
  async restart(picture: Picture): Promise<void> {
    const { starts = {}, paints, shown, presets, brushes, parameters = {} } = this.scene;
    await this.solver.reset();
    this.traces.length = 0;
    for (const [name, at] of Object.entries(starts)) {
      await this.#write(name, painted({ ...picture, strokes: [] }, at, []));
    }
    const [, preset] = presets[picture.preset] ?? presets[0]!;
    const cells = painted(picture, preset, brushes.map(([, value]) => value));
    await this.#write(paints, cells);
    // at rest, where the equation reads the step before
    if (paints === shown) await this.#write(paints, cells, 1).catch(() => {});
    for (const name of Object.keys(parameters)) await this.set(name, picture.parameters?.[name]);
    for (const place of picture.sources) await this.addSource(place);
    for (const place of picture.receivers) await this.addReceiver(place);
  }

  /** Gives a parameter a value, from this step on. */
  async set(name: string, value = this.scene.parameters![name]![3]): Promise<void> {
    if (name === "frequency") this.#frequency = value;
    else await this.solver.write(name, value);
  }

  /** Paints what a stroke covers, into the medium or into the field as it is now. */
  async paint(stroke: Stroke): Promise<void> {
    const { paints, brushes } = this.scene, [, value] = brushes[stroke.brush]!;
    const cells = await this.readPicture(paints);
    forCells(stroke, this.size, (i) => cells[i] = value);
    await this.#write(paints, cells);
  }

  /** A source that sends its wavelet from now on. */
  async addSource(place: Place): Promise<void> {
    const { source } = this.scene;
    if (source === undefined) return;
    const [name, signatureOf] = source, signature = signatureOf(this.#frequency);
    const late = new Float32Array(this.solver.step + signature.length);
    late.set(signature, this.solver.step);
    await this.solver.addSources(name, [this.#position(place)], late);
  }

  /** A receiver that hears from now on. */
  async addReceiver(place: Place): Promise<void> {
    const { traces } = this, mine = traces.push(new Float32Array()) - 1;
    await this.solver.addReceivers(this.scene.shown, [this.#position(place)], {
      onSamples(_, values) {
        const old = traces[mine] ?? [], all = new Float32Array(old.length + values.length);
        all.set(old);
        all.set(values, old.length);
        traces[mine] = all.slice(-MOST_SAMPLES);
      },
    });
  }

  /** What a shader needs to draw the picture from the solver's own memory; undefined where the CPU computes. */
  drawn() {
    const { layout } = this.solver, { update } = this.solver.problem.stencil;
    if (layout === undefined) return undefined;
    const names = [...update.fields, ...update.materials.map(({ name }) => name)];
    const { shown, paints } = this.scene, medium = names.indexOf(paints);
    const planes = { field: names.indexOf(shown), medium: medium < update.fields.length ? -1 : medium };
    return { level: this.solver.level(), layout, planes };
  }

  /** The picture's cells of a field or a material, row by row; in three dimensions those of the cut. */
  async readPicture(name = this.scene.shown): Promise<Float32Array<ArrayBuffer>> {
    const [rows, columns] = this.size, [, ny] = this.solver.problem.grid;
    const cells = await this.solver.read(name), found = new Float32Array(rows * columns);
    for (let row = 0; row < rows; row++) {
      const start = (row * ny + this.cut) * columns;
      found.set(cells.subarray(start, start + columns), row * columns);
    }
    return found;
  }

  /** Where along y the picture lies. */
  get cut(): number {
    return Math.floor(this.solver.problem.grid[1] / 2);
  }

  #position([down, across]: Place): Position {
    const [x, y] = ([down, across] as const).map((part, i) =>
      Math.min(this.size[i]! - 1, part / 1000 * this.size[i]!)
    ) as [number, number];
    return this.scene.depth === 1 ? [x, y] : [x, this.cut, y];
  }

  /** Sets a material or a field to the picture's cells, through the depth. */
  async #write(name: string, cells: ArrayLike<number>, ago: 0 | 1 = 0): Promise<void> {
    const [rows, columns] = this.size, [, ny] = this.solver.problem.grid;
    const values = Float32Array.from({ length: rows * ny * columns }, (_, i) => {
      return cells[Math.floor(i / ny / columns) * columns + i % columns]!;
    });
    await this.solver.write(name, values, { ago });
  }
}
