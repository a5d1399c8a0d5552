/**
 * A script of calls by chance: what is written, when points are added, how far it runs, what is read.
 *
 * @module
 */
import type { Dice } from "./dice.ts";
import {
  axesOf,
  type Call,
  type Pattern,
  type RandomCase,
  readsBefore,
  visibleFields,
} from "./random_case.ts";

type Undone = Omit<RandomCase, "calls">;

/** Whether the numbers of an equation are whole, so that nothing is rounded. */
function isWhole({ definition: { fields } }: Undone): boolean {
  return fields.every(({ range: [, most] }) => most === 3);
}

/** Draws the calls of some scripts, one after another on the same solver. */
export function drawCalls(dice: Dice, one: Undone, scripts: number): Call[] {
  const calls: Call[] = [];
  for (let i = 0; i < scripts; i++) {
    if (i > 0) calls.push({ call: "reset" });
    calls.push(...new Script(dice, one, i === 0).calls);
  }
  return calls;
}

class Script {
  readonly calls: Call[] = [];
  readonly #dice: Dice;
  readonly #case: Undone;
  readonly #isWhole: boolean;
  /** Steps from one sample to the next, of all receivers. */
  readonly #every: number;
  #hasPoints = false;

  constructor(dice: Dice, one: Undone, isFirst: boolean) {
    [this.#dice, this.#case, this.#isWhole, this.#every] = [
      dice,
      one,
      isWhole(one),
      dice.weighted([[3, 1], [1, 2], [1, 3]] as const),
    ];
    const { definition: { materials, profiles = [] } } = one;
    if (dice.chance(0.2)) {
      const kind = this.#isWhole
        ? dice.oneOf(["integers", "binary", "zero"] as const)
        : dice.oneOf(["noise", "binary"] as const);
      this.calls.push({ call: "initialise", kind, seed: dice.from(0, 99) });
    } else {
      for (const name of visibleFields(one.definition)) if (dice.chance(0.9)) this.#write(name);
    }
    // those of the caller's buffers are the caller's
    const isOwn = one.where.on === "solver" && one.where.hasBuffers === true && isFirst;
    for (const { name } of [...materials, ...profiles]) if (isOwn || dice.chance(0.6)) this.#write(name);
    const canLate = this.#canHavePoints;
    if (canLate && dice.chance(0.5)) this.#points();
    if (dice.chance(0.2)) this.#snapshots();
    const runs = dice.weighted([[4, 1], [3, 2], [2, 3]] as const);
    for (let i = 0; i < runs; i++) {
      if (i > 0) this.#between(canLate);
      this.calls.push({ call: "run", steps: this.#steps() });
    }
    this.#readAll();
  }

  /** Whether points may be added, late ones where the problem has no survey. */
  get #canHavePoints(): boolean {
    const { definition: { dimensions }, where, survey } = this.#case;
    if (dimensions === 1) return false;
    if (survey !== undefined) return true;
    // with buffers of the caller a survey is wanted
    return !(where.on === "solver" && where.hasBuffers) && where.canAddPoints === true;
  }

  #steps(): number {
    const { steps } = this.#case;
    return this.#dice.weighted([[0.3, 0], [2, 1], [2, 2], [2, 3], [1, 5], [1, 8], [2, steps], [
      0.7,
      steps + 1,
    ], [0.5, Math.min(24, 2 * steps + 1)]]);
  }

  #pattern(name: string): Pattern {
    const dice = this.#dice,
      { definition: { materials, fields, profiles = [] }, grid } = this.#case,
      seed = dice.from(0, 999);
    const material = [...materials, ...profiles].find((one) => one.name === name);
    if (material !== undefined) {
      const values = material.values, [least, most] = [Math.min(...values), Math.max(...values)];
      if (material.packed && !this.#isWhole) {
        return { kind: "real", seed, least: material.packed[0], most: material.packed[1] };
      }
      const isSame = dice.chance(0.1);
      if (isSame) return { kind: "same", value: dice.oneOf(values) };
      return this.#isWhole
        ? { kind: "whole", seed, least, count: most - least + 1 }
        : { kind: "real", seed, least, most };
    }
    const { range: [least, most] } = fields.find((one) => one.name === name)!;
    if (dice.chance(0.12)) {
      return { kind: "same", value: this.#isWhole ? dice.from(-2, 3) : dice.real(least, most) };
    }
    if (dice.chance(0.12)) {
      return {
        kind: "spike",
        at: grid.map((cells) => dice.below(cells)),
        value: this.#isWhole ? dice.from(1, 5) : dice.real(least, most),
        other: 0,
      };
    }
    const isBinary = this.#case.definition.initialField === "binary";
    if (isBinary) return { kind: "whole", seed, least: 0, count: 2 };
    return this.#isWhole ? { kind: "whole", seed, least: -2, count: 6 } : { kind: "real", seed, least, most };
  }

  #write(name: string, isPart = false): void {
    const dice = this.#dice, { definition, grid: [nx = 1] } = this.#case;
    const isProfile = definition.profiles?.some((one) => one.name === name) ?? false;
    const isField = visibleFields(definition).includes(name), values = this.#pattern(name);
    const x = isPart && !isProfile ? dice.below(nx) : undefined;
    const some = x === undefined ? {} : { x, ...(dice.chance(0.7) && { slices: dice.from(1, nx - x) }) };
    const isList = values.kind !== "same" && !isProfile && dice.chance(0.3) ? { isList: true } : {};
    const fits = isProfile && values.kind === "spike"
      ? { kind: "same", value: 1 } as const
      : this.#inLayers(name, values);
    this.calls.push({ call: "write", name, values: fits, ...some, ...isList });
    if (isField && readsBefore(definition) && dice.chance(0.8)) {
      this.calls.push({ call: "write", name, values: this.#pattern(name), ago: 1, ...some });
    }
  }

  /** A PML's profile is 0 where its memory is not kept. */
  #inLayers(name: string, values: Pattern): Pattern {
    const { definition: { layers = [], profiles = [], dimensions }, grid } = this.#case;
    const profile = profiles.find((one) => one.name === name);
    const cells = layers.find((one) => one.axis === profile?.axis)?.cells ?? 0;
    if (profile === undefined || cells === 0 || name.startsWith("wall")) return values;
    const axis = axesOf({ dimensions }).indexOf(profile.axis);
    const numbers = profile.values, [least, most] = [Math.min(...numbers), Math.max(...numbers)];
    const zeros = [cells - 1, grid[axis]! - cells] as const;
    return {
      kind: "real",
      seed: this.#dice.from(0, 999),
      least,
      most,
      ...(zeros[1] > zeros[0] && { zeros }),
    };
  }

  /** Positions at the ends, in cells that have others, and between cells. */
  #positions(isWhole: boolean, most: number): number[][] {
    const dice = this.#dice, { grid, definition: { surface } } = this.#case;
    const one = (): number[] =>
      grid.map((cells, axis) => {
        const isDepth = axis === grid.length - 1 && surface !== undefined;
        if (isDepth && dice.chance(0.2) && !isWhole) return -0.5;
        if (dice.chance(0.3)) return dice.oneOf([0, cells - 1]);
        if (isWhole || dice.chance(0.5)) return dice.below(cells);
        const at = dice.below(4 * (cells - 1) + 1) / 4;
        return dice.chance(0.5) ? at : Math.round(2 * at) / 2;
      });
    const first = Array.from({ length: dice.from(1, most) }, one);
    return dice.chance(0.3) ? [...first, first[0]!] : first;
  }

  #placed(isExact: boolean, most: number) {
    const dice = this.#dice, isWhole = dice.chance(isExact ? 1 : 0.4);
    const positions = this.#positions(isWhole, most);
    const isSinc = !isWhole && dice.chance(0.5) ? { interpolation: "sinc" as const } : {};
    return { positions, ...isSinc, ...(dice.chance(0.15) && { slope: 1 }) };
  }

  #points(): void {
    const dice = this.#dice,
      { definition, definition: { sources = [] } } = this.#case,
      fields = visibleFields(definition);
    const near: number[][] = [];
    for (const { name } of dice.some(sources, 0.8)) {
      // sources between cells are no whole numbers
      const placed = this.#placed(this.#isWhole && dice.chance(0.7), 3);
      near.push(...placed.positions);
      const send = (): number[] =>
        Array.from({ length: dice.from(0, 8) }, () => this.#isWhole ? dice.from(-3, 3) : dice.real(-1, 1));
      const signatures = Array.from({ length: dice.chance(0.5) ? placed.positions.length : 1 }, send);
      if (signatures.length > 1 && signatures[0]!.length === 0) signatures[0]!.push(1);
      this.calls.push({ call: "sources", name, signatures, ...placed });
    }
    const groups = sources.length > 0 && dice.chance(0.2) ? 0 : dice.weighted([[3, 1], [1, 2]] as const);
    for (let i = 0; i < groups; i++) {
      const placed = this.#placed(false, 4), isThere = near.length > 0 && dice.chance(0.5);
      const positions = isThere ? [...placed.positions, ...near] : placed.positions;
      const takes = dice.weighted<"samples" | readonly number[] | undefined>([
        [4, undefined],
        [1, "samples"],
        [1, [0, 0.125 / this.#every]],
      ]);
      this.calls.push({
        call: "receivers",
        name: dice.oneOf(fields),
        every: this.#every,
        ...placed,
        positions,
        ...(takes !== undefined && { takes }),
      });
    }
    this.#hasPoints ||= groups > 0 || sources.length > 0;
  }

  #snapshots(): void {
    const dice = this.#dice, { definition, grid } = this.#case;
    const low = grid.map((cells) => dice.below(cells)),
      size = grid.map((cells, axis) => dice.from(1, cells - low[axis]!));
    this.calls.push({
      ...{
        call: "snapshots",
        name: dice.oneOf(visibleFields(definition)),
        every: dice.from(1, 4),
        stride: dice.from(1, 3),
      },
      ...(dice.chance(0.7) && { box: { low, size } }),
    });
  }

  #between(canLate: boolean): void {
    const dice = this.#dice, { definition, definition: { materials, profiles = [] }, where } = this.#case;
    if (dice.chance(0.3)) this.#write(dice.oneOf(visibleFields(definition)), dice.chance(0.6));
    for (const { name } of [...materials, ...profiles]) {
      if (dice.chance(0.3)) this.#write(name, dice.chance(0.3));
    }
    if (canLate && dice.chance(0.25)) this.#points();
    if (dice.chance(0.15)) this.calls.push({ call: "continue" });
    if (dice.chance(0.1)) this.#snapshots();
    if (this.#hasPoints && dice.chance(0.15)) this.calls.push({ call: "traces" });
    if (dice.chance(0.25)) this.#read(dice.oneOf(visibleFields(definition)), true);
    if (dice.chance(0.08)) {
      if (this.#hasPoints && where.on === "ranks") this.calls.push({ call: "traces" });
      this.calls.push({
        call: "initialise",
        kind: this.#isWhole ? "integers" : "noise",
        seed: dice.from(0, 9),
      });
    }
  }

  #read(name: string, isPart = false, ago?: 1): void {
    const dice = this.#dice, { grid: [nx = 1] } = this.#case, x = isPart ? dice.below(nx) : undefined;
    this.calls.push({
      ...{ call: "read", name },
      ...(ago !== undefined && { ago }),
      ...(x !== undefined && { x, slices: dice.from(1, nx - x) }),
    });
  }

  #readAll(): void {
    const { definition, definition: { materials, profiles = [] } } = this.#case;
    for (const name of visibleFields(definition)) {
      this.#read(name);
      if (readsBefore(definition)) this.#read(name, false, 1);
    }
    for (const { name } of [...materials, ...profiles]) if (this.#dice.chance(0.5)) this.#read(name);
    if (this.#hasPoints) this.calls.push({ call: "traces" }, { call: "spectra" });
  }
}
