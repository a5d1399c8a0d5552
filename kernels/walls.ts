/**
 * Walls: what lies beyond each end of an axis, for all fields or each. A wall is a law, a u + b ∂u/∂n = g, that says what a
 * tap beyond the end reads: a sum of cells inside and a number. So walls become part of the equation, on a grid among
 * zeros: where a tap reads the frame's zero, axis profiles that are not 0 near the end alone add what it should have read.
 * Every traversal that knows axis profiles so knows walls, at any depth, in shares, windows and ranks.
 *
 * @module
 */
import { sampleProfile } from "./axis_profiles.ts";
import { checkStencil } from "./check_definition.ts";
import { isRecord } from "./check_expression.ts";
import { checkOptions } from "./check_options.ts";
import {
  type Ago,
  type Axis,
  constant,
  type Expression,
  fold,
  type Offset,
  type ProfileTap,
  SIGNAL,
  tap,
  tapsIn,
  TREE,
} from "./expression.ts";
import { add, atLeast, divide, formula, maximum, minimum, multiply, nodeOf, subtract } from "./operations.ts";
import { remembered } from "./remembered.ts";
import {
  axesOf,
  BOUNDARIES,
  boundariesOf,
  type Boundary,
  type EndCells,
  type OpenProblem,
  type OwnBoundaries,
  shortBoundary,
  type Stencil,
  type Wall,
  type WallPlace,
  type Walls,
  type WallShape,
  type WallValue,
} from "./stencils/stencil.ts";
import {
  type Assignment,
  type AxisProfile,
  offsetOf,
  reachOf,
  readsSignal,
  stepReach,
  type Update,
} from "./update.ts";

/** Where a wall lies, if not at the face. */
export interface WallOptions {
  /** Where it lies. @default {"face"} */
  readonly at?: WallPlace | undefined;
  /** What g counts along the side, as `{ y: (y) => multiply(4, y, subtract(1, y)) }`. @default {1} */
  readonly shape?: WallShape | undefined;
}

/**
 * A wall where the field has a value.
 *
 * @param g the value: a number, or a function of the time step
 */
export function value(g: WallValue, options: WallOptions = {}): Wall {
  return robin(1, 0, g, options);
}

/**
 * A wall where the field has a slope.
 *
 * @param g ∂u/∂n outwards, times the distance of cells: the difference from one cell to the next
 */
export function flux(g: WallValue, options: WallOptions = {}): Wall {
  return robin(0, 1, g, options);
}

/** A wall that nothing goes through: the slope is 0. The word `insulated` is such a wall at the centre. */
export function insulated(options: WallOptions = {}): Wall {
  return flux(0, options);
}

/** A mirror: `even`, of which the field is its own image, or `odd`, where it changes its sign. */
export function mirror(parity: "even" | "odd", options: WallOptions = {}): Wall {
  if (parity !== "even" && parity !== "odd") throw refused("mirror", "even or odd is wanted", parity);
  return parity === "odd" ? value(0, options) : flux(0, options);
}

/**
 * A wall where a u + b ∂u/∂n = g, with the slope outwards and from one cell to the next: as heat that goes over to the
 * air, with a = 1, b = conductivity / (transfer · spacing), and the air's temperature g.
 */
export function robin(a: number, b: number, g: WallValue, options: WallOptions = {}): Wall {
  checkOptions("build the walls", options, ["at", "shape"]);
  const { at = "face", shape } = options;
  return { a, b, g, at, ...(shape && { shape }) };
}

/** How an absorbing end damps. */
export interface AbsorbingOptions {
  /**
   * Cells before the end in which waves are damped: 2.3 wavelengths reflect some −40 dB straight on. They are the grid's
   * outermost, or around it, where the problem's `edges` are.
   */
  readonly cells: number;
  /** Cells that the fastest wave goes in a step, vΔt/h: no more than a step's taps reach. */
  readonly courant: number;
  /** What is left of a wave that goes in and comes back: less reflects more at once. @default {0.003} */
  readonly left?: number | undefined;
}

/**
 * An end that waves leave: in the cells before it a rate that grows with the square of the depth damps them, and beyond it
 * the field is 0. It is one of equations of second order in time, ∂²u/∂t² + d ∂u/∂t = …, where the new value of a field
 * reads the one before; and of first order, ∂u/∂t + d u = …, of which all fields of a wave want it.
 */
export function absorbing(options: AbsorbingOptions): Wall {
  checkOptions("build the walls", options, ["cells", "courant", "left"]);
  const { cells, courant, left = 0.003 } = options;
  const areCells = Number.isSafeInteger(cells) && cells > 0;
  if (!areCells) throw refused("absorbing", "a whole number of cells is wanted", cells);
  if (!(courant > 0 && courant < Infinity)) {
    throw refused("absorbing", "a courant above 0 is wanted", courant);
  }
  if (!(left > 0 && left < 1)) throw refused("absorbing", "a part left between 0 and 1 is wanted", left);
  return {
    ...value(0, { at: "beyond" }),
    damping: { cells, peak: 1.5 * Math.log(1 / left) * courant / cells, courant },
  };
}

function refused(where: string, wanted: string, found: unknown): RangeError {
  const words = typeof found === "function" ? "a function" : JSON.stringify(found) ?? `${found}`;
  return new RangeError(`Cannot build the walls: ${where}: ${wanted}: found ${words}`);
}

/** Words as walls of one end. */
const ENDS: Readonly<Record<string, Wall>> = {
  zero: value(0, { at: "beyond" }),
  insulated: insulated({ at: "centre" }),
};

/** The wall at each end of an axis. */
type Pair = readonly [low: Wall, high: Wall];

const NAMES = ["x", "y", "z"] as const;

/** A problem whose walls, if it has any, are part of its equation; what else lies around it is said in words. */
export function withWalls(given: OpenProblem): OpenProblem {
  const { stencil, grid, boundary, edges } = given;
  if (!isWalls(boundary)) return given;
  const made = walled(stencil, edges === "around")(boundary), { x, y, z } = reachOf(stencil.update);
  const axes = axesOf(stencil);
  axes.forEach((axis, i) => {
    const reach = [x, y, z][axis]!, cells = grid[axes.length === 1 ? 2 : grid.length === 3 ? axis : i];
    const isWide = made.stencil === stencil || cells === undefined || cells > reach;
    if (!isWide) {
      throw refused(
        "grid",
        `more than ${reach} cells between walls are wanted, as far as taps reach,`,
        cells,
      );
    }
  });
  return { ...given, ...made };
}

function isWalls(boundary: OwnBoundaries | Walls): boundary is Walls {
  return isRecord(boundary);
}

const walled = remembered((stencil: Stencil, areAround: boolean) =>
  remembered((walls: Walls): Pick<OpenProblem, "stencil" | "boundary"> => {
    const axes = axesOf(stencil), names = NAMES.slice(0, axes.length);
    const { fields } = stencil.update, { x, y, z } = stepReach(stencil.update);
    const other = Object.keys(walls).find((key) => !names.some((name) => name === key));
    if (other !== undefined) throw refused("axes", `${names.join(", ")} are wanted`, other);
    const words: Boundary[] = [], pairs = new Map<Axis, readonly Pair[]>(), frames: Axis[] = [];
    names.forEach((name, i) => {
      const allowed = boundariesOf(stencil), ends = walls[name] ?? allowed[0]!;
      if (typeof ends === "string") {
        if (!allowed.includes(ends)) throw refused(name, `${allowed.join(", ")}, or walls, are wanted`, ends);
        words.push(ends);
        if (ends === "zero") frames.push(axes[i]!);
        return;
      }
      const sides = names.filter((other) => other !== name);
      const byField = fields.map((field) =>
        endsOf(ends, { where: `${name}, field ${field}`, field, fields, sides })
      );
      const isFrame = byField.flat().every(({ b, g, at, damping }) => {
        return b === 0 && g === 0 && at === "beyond" && !damping;
      });
      words.push("zero");
      const reach = [x, y, z][axes[i]!]!,
        fastest = byField.flat().map(({ damping }) => damping?.courant ?? 0);
      if (Math.max(...fastest) > reach) {
        throw refused(name, `a courant up to ${reach}, a step's reach, is wanted`, Math.max(...fastest));
      }
      if (isFrame) frames.push(axes[i]!);
      else pairs.set(axes[i]!, byField);
    });
    if (stencil.surface !== undefined && pairs.has(axes.at(-1)!)) {
      throw refused(names.at(-1)!, "zero below a free surface is wanted", "walls");
    }
    const boundary = shortBoundary(words as unknown as OwnBoundaries & readonly Boundary[]);
    const all = { words, pairs, frames, areAround };
    return { stencil: pairs.size === 0 ? stencil : withPairs(stencil, all), boundary };
  })
);

/** The walls of a field at both ends of an axis. */
function endsOf(
  given: unknown,
  { where, field, fields, sides }: Readonly<
    Record<"where" | "field", string> & Record<"fields" | "sides", readonly string[]>
  >,
): Pair {
  if (isRecord(given) && !isWall(given)) {
    const other = Object.keys(given).find((key) => !fields.includes(key));
    if (other !== undefined) throw refused(where, `walls of ${fields.join(", ")} are wanted`, other);
  }
  const ends = isRecord(given) && !isWall(given) ? given[field] : given;
  const pair: readonly unknown[] = Array.isArray(ends) ? ends : [ends, ends];
  if (pair.length !== 2) throw refused(where, "a wall, or one for each end, is wanted", pair.length);
  return pair.map((end) => {
    const wall = wallOf(end, where), { shape = {} } = wall;
    const areFunctions = isRecord(shape) && Object.entries(shape).every(([key, of]) => {
      return typeof of === "function" && sides.includes(key);
    });
    if (!areFunctions) {
      throw refused(where, `functions of ${sides.join(", ") || "no other axis"} are wanted`, shape);
    }
    return wall;
  }) as unknown as Pair;
}

function isWall(given: unknown): given is Wall {
  return isRecord(given) && typeof given.at === "string";
}

function wallOf(given: unknown, where: string): Wall {
  const wall = typeof given === "string" ? ENDS[given] : given;
  if (!isWall(wall)) {
    throw refused(
      where,
      "value, flux, insulated, mirror, robin, absorbing, or zero or insulated as a word, is wanted",
      given,
    );
  }
  const { a, b, g, at, damping = { cells: 1, peak: 0 } } = wall;
  if (at !== "face" && at !== "centre" && at !== "beyond") {
    throw refused(where, "a place at the face, the centre, or beyond is wanted", at);
  }
  const { cells, peak } = damping;
  const isDamping = Number.isSafeInteger(cells) && cells > 0 && peak >= 0 && peak < Infinity;
  if (!isDamping) throw refused(where, "cells and a peak of damping are wanted", damping);
  const isLaw = [a, b].every((number) => Number.isFinite(Math.fround(number))) && (a !== 0 || b !== 0);
  if (!isLaw) throw refused(where, "numbers a and b, not both 0, are wanted", [a, b]);
  if (typeof g !== "function" && !(typeof g === "number" && Number.isFinite(Math.fround(g)))) {
    throw refused(where, "a number, or a function of the step, is wanted", g);
  }
  if (at === "beyond" && b !== 0) throw refused(where, "beyond the end a value is wanted", "a slope");
  if (at === "face" && a * b < 0 && Number.isInteger(0.5 - b / a)) {
    throw refused(where, "a law that says what lies beyond is wanted", [a, b]);
  }
  return wall;
}

/** What a ghost cell is: cells inside, counted from the end, times numbers, and g times one. */
interface Ghost {
  readonly cells: readonly (readonly [cell: number, weight: number])[];
  readonly ofG: number;
}

/** The ghost `m` cells beyond an end. */
function ghostOf({ a, b, at }: Wall, m: number): Ghost {
  if (at === "beyond") return { cells: [], ofG: 1 / a };
  if (at === "centre") {
    return b === 0
      ? { cells: [[0, 2], [m, -1]], ofG: 0 }
      : { cells: [[m, 1], [0, -2 * m * a / b]], ofG: 2 * m / b };
  }
  // halfway between the ghost and its image lies the wall
  const slope = b / (2 * m - 1), divisor = a / 2 + slope;
  return { cells: [[m - 1, (slope - a / 2) / divisor]], ofG: 1 / divisor };
}

/** One cell of an axis, counted from an end. */
interface Cell {
  readonly axis: Axis;
  readonly end: 0 | 1;
  readonly index: number;
}

/** What a tap lacks: in a cell, or where cells of two or three axes meet, this times a number. */
interface Lack {
  readonly cells: readonly Cell[];
  readonly weight: number;
  /** A tap; or of a wall's g what is no number: undefined, or what changes with time or along the side. */
  readonly of: Expression | undefined;
  readonly isG: boolean;
}

function withPairs(
  stencil: Stencil,
  { words, pairs, frames, areAround }: {
    /** By the equation's own axes. */
    readonly words: readonly Boundary[];
    /** The walls of each field, along axes that have some. */
    readonly pairs: ReadonlyMap<Axis, readonly Pair[]>;
    /** Axes with zeros at both ends. */
    readonly frames: readonly Axis[];
    /** Whether edges lie around the grid. */
    readonly areAround: boolean;
  },
): Stencil {
  const { update } = stencil, made: AxisProfile[] = [], known = new Map<string, number>();
  const own = axesOf(stencil);
  let signal = update.signal;
  /** Cells of the edges at both ends of each axis. */
  const edges = own.map((axis, i): EndCells => {
    const [low, high] = ([0, 1] as const).map((end) =>
      Math.max(
        stencil.edges?.[i]?.[end] ?? 0,
        ...(pairs.get(axis) ?? []).map((pair) => pair[end].damping?.cells ?? 0),
      )
    );
    return [low!, high!];
  });
  /** A formula of i and n that does not know of the edges around its grid: in these it goes on as it is at the end. */
  const extended = (axis: Axis, of: Expression): Expression => {
    const [low, high] = edges[own.indexOf(axis)]!, cells = subtract(formula("n"), low + high);
    if (!areAround || low + high === 0) return of;
    const i = minimum(maximum(subtract(formula("i"), low), 0), subtract(cells, 1));
    return fold<Expression>(of, {
      ...TREE,
      formula: (name, operands) =>
        name === "i" ? i : name === "n" ? cells : { kind: "formula", name, operands },
    });
  };
  // those of an equation with edges of its own know of them
  const profiles = (update.profiles ?? []).map((profile): AxisProfile => {
    if (!profile.formula || !areAround || stencil.edges) return profile;
    const formula = extended(profile.axis, profile.formula);
    return { ...profile, formula, values: sampleProfile(formula) };
  });
  /** A profile by its formula. */
  const profileOf = (axis: Axis, of: Expression): ProfileTap => {
    const key = JSON.stringify([axis, of]), index = known.get(key) ?? made.length;
    if (index === made.length) {
      made.push({
        name: `wall${profiles.length + index + 1}`,
        axis,
        values: sampleProfile(of),
        formula: of,
      });
      known.set(key, index);
    }
    return { kind: "profile", profile: profiles.length + index, axis, offset: 0 };
  };
  /** 1 in one cell. */
  const isCell = ({ end, index }: Cell): Expression => {
    const i = formula("i"), at = end === 0 ? nodeOf(index) : subtract(formula("n"), index + 1);
    return multiply(atLeast(i, at), atLeast(at, i));
  };
  /** A wall's value in the step from `step` to `step` + 1, or after it: a number, or 1, where it is the signal's. */
  const takenAs = ({ g, shape = {} }: Wall, ago: Ago, offset: Offset): Pick<Lack, "weight" | "of"> => {
    const factors = own.flatMap((axis, i) => {
      const along = shape[(["x", "y", "z"] as const)[i]!];
      if (along === undefined) return [];
      // beyond a word's end the profile itself is that of an image
      const isImage = words[i] !== "zero", from = isImage ? 0 : offset[axis];
      const place = divide(add(formula("i"), from + 0.5), formula("n"));
      return [{ ...profileOf(axis, extended(axis, nodeOf(along(place)))), offset: offset[axis] - from }];
    });
    const asFactors = (all: readonly Expression[]) => all.length === 0 ? undefined : joined("multiply", all);
    if (typeof g === "number") return { weight: g, of: asFactors(factors) };
    const moving = nodeOf(g(ago === -1 ? add(formula("step"), 1) : formula("step")));
    signal ??= moving;
    if (JSON.stringify(signal) !== JSON.stringify(moving)) {
      throw refused(
        "value",
        "one value that changes with the step is wanted",
        "two, or a signal of the equation",
      );
    }
    return { weight: 1, of: asFactors([...factors, SIGNAL]) };
  };
  /** A field's walls; materials are their own images, about the centre where all fields have their wall there. */
  const wallsOf = (axis: Axis, plane = Infinity): Pair => {
    const byField = pairs.get(axis);
    if (byField === undefined) return [ENDS.zero!, ENDS.zero!];
    const imageAt = (end: 0 | 1): Wall => {
      return insulated({ at: byField.every((pair) => pair[end].at === "centre") ? "centre" : "face" });
    };
    return byField[plane] ?? [imageAt(0), imageAt(1)];
  };
  /** What a tap lacks along an axis, with what that lacks along those after it. */
  const lacksOf = (tap: Tapped, [axis, ...others]: readonly Axis[]): Lack[] => {
    if (axis === undefined) return [];
    const offset = tap.kind === "tap" ? tap.offset : offsetOf(tap);
    const d = offset[axis]!, end = d < 0 ? 0 : 1, later = lacksOf(tap, others), found = [...later];
    const pair = wallsOf(axis, tap.kind === "tap" ? tap.plane : undefined);
    for (let m = 1; m <= Math.abs(d); m++) {
      // the cell from which the tap reaches m cells beyond the end
      const cell: Cell = { axis, end, index: Math.abs(d) - m }, { cells, ofG } = ghostOf(pair[end]!, m);
      // beyond this end too, a tap reads zeros whatever it should have read beyond another; a number would be added
      const numbers = later.filter(({ isG }) => isG);
      found.push(...numbers.map((lack) => ({ ...lack, cells: [cell, ...lack.cells], weight: -lack.weight })));
      for (const [inside, weight] of cells) {
        if (weight === 0) continue;
        const to = (inside - cell.index) * (end === 0 ? 1 : -1), of = moved(tap, axis, to);
        found.push({ cells: [cell], weight, of, isG: false });
        for (const lack of lacksOf(of, others)) {
          found.push({ ...lack, cells: [cell, ...lack.cells], weight: weight * lack.weight });
        }
      }
      if (ofG === 0 || pair[end]!.g === 0) continue;
      const { weight, of } = takenAs(pair[end]!, tap.kind === "tap" ? tap.ago : 0, offset);
      found.push({ cells: [cell], weight: ofG * weight, of, isG: true });
    }
    return found;
  };
  /** The sum of what is lacking, each cell or number once, weighed by the sum of a profile along each axis. */
  const sumOf = (lacks: readonly Lack[]): Expression[] => {
    const groups = Map.groupBy(lacks, ({ of, cells }) => JSON.stringify([of, cells.slice(1)]));
    return [...groups.values()].map((group) => {
      const [{ cells: [, ...others], of }] = group as [Lack];
      const along = [...Map.groupBy(group, ({ cells }) => cells[0]!.axis)].map(([axis, those]) => {
        const shares = those.map(({ cells, weight }) => multiply(weight, isCell(cells[0]!)));
        return profileOf(axis, shares.reduce((sum, share) => add(sum, share)));
      });
      const parts = [joined("add", along), ...others.map((cell) => profileOf(cell.axis, isCell(cell)))];
      return joined("multiply", of === undefined ? parts : [...parts, of]);
    });
  };
  const axes = own.filter((axis) => pairs.has(axis) || frames.includes(axis));
  const isHeld = (field: number, { axis, end, index }: Cell): boolean => {
    const { at, b } = wallsOf(axis, field)[end];
    return index === 0 && at === "centre" && b === 0;
  };
  /** An expression of which no tap lacks anything in a cell where it counts. */
  const complete = (field: number, of: Expression): Expression => {
    const lacks: Lack[] = [];
    const visit = (node: Expression, weight: number): Expression => {
      if (node.kind === "tap" || node.kind === "profile") {
        lacks.push(...lacksOf(node, axes).map((lack) => ({ ...lack, weight: weight * lack.weight })));
        return node;
      }
      if (!("operands" in node)) return node;
      const [left, right] = node.operands as [Expression, Expression],
        by = right?.kind === "constant" ? right.value : 1;
      const factors = node.kind === "add"
        ? [1, 1]
        : node.kind === "subtract"
        ? [1, -1]
        : node.kind === "multiply" && left.kind === "constant"
        ? [0, left.value]
        : node.kind === "multiply" && right.kind === "constant"
        ? [by, 0]
        : node.kind === "divide" && right.kind === "constant"
        ? [1 / by, 0]
        : undefined;
      const operands = node.operands.map((operand, i) =>
        factors ? visit(operand, weight * factors[i]!) : complete(field, operand)
      );
      return operands.every((operand, i) => operand === node.operands[i]) ? node : { ...node, operands };
    };
    const visited = visit(of, 1);
    const counted = lacks.filter(({ cells }) => !cells.some((cell) => isHeld(field, cell)));
    return joined("add", [visited, ...sumOf(counted)]);
  };
  /** A field's new value, damped before absorbing ends: (1 + δ) u(t+1) is what it was, and δ u(t−1) more or δ u(t) less. */
  const damped = (field: number, value: Expression): Expression => {
    const rates = axes.flatMap((axis) => {
      const shares = wallsOf(axis, field).flatMap(({ damping }, end) => {
        if (!damping) return [];
        const { cells, peak } = damping, i = formula("i");
        const inside = end === 0
          ? subtract(cells - 0.5, i)
          : subtract(i, subtract(formula("n"), cells + 0.5));
        const depth = divide(maximum(0, inside), cells);
        return [multiply(peak, depth, depth)];
      });
      return shares.length === 0 ? [] : [profileOf(axis, shares.reduce((sum, share) => add(sum, share)))];
    });
    if (rates.length === 0) return value;
    const before = tapsIn([value]).find(({ plane, ago }) => plane === field && ago === 1);
    const kept = before ?? tap(0, 0, 0, 0, field), rate = joined("add", rates);
    const lost: Expression = { kind: "multiply", operands: [rate, kept] };
    const whole: Expression = { kind: before ? "add" : "subtract", operands: [value, lost] };
    return { kind: "divide", operands: [whole, { kind: "add", operands: [constant(1), rate] }] };
  };
  /** The cells on a wall keep its value. */
  const held = (field: number, value: Expression): Expression =>
    axes.toReversed().reduce((inner, axis) => {
      const cells = ([0, 1] as const).map((end): Cell => ({ axis, end, index: 0 }));
      const kept = cells.filter((cell) => isHeld(field, cell)).map((cell): Lack => {
        const wall = wallsOf(axis, field)[cell.end], { weight, of } = takenAs(wall, -1, [0, 0, 0]);
        return { cells: [cell], weight: weight / wall.a, of, isG: true };
      });
      if (kept.length === 0) return inner;
      const mask = profileOf(
        axis,
        kept.map(({ cells: [cell] }) => isCell(cell!)).reduce((sum, where) => add(sum, where)),
      );
      const then = joined("add", sumOf(kept));
      return { kind: "choose", operands: [mask, then, inner] };
    }, value);
  const substeps = update.substeps.map((substep) =>
    substep.map(({ field, value }) => ({
      field,
      value: held(field, damped(field, complete(field, fold(value, TREE)))),
    }))
  );
  /** What a source counts: nothing in the cells that keep a wall's value. */
  const fed = ({ field, value }: Assignment): Assignment => {
    const factors = axes.flatMap((axis) => {
      const cells = ([0, 1] as const).map((end): Cell => ({ axis, end, index: 0 }));
      const kept = cells.filter((cell) => isHeld(field, cell)).map(isCell);
      return kept.length === 0
        ? []
        : [profileOf(axis, kept.reduce((left, one) => subtract(left, one), nodeOf(1)))];
    });
    return { field, value: joined("multiply", [complete(field, fold(value, TREE)), ...factors]) };
  };
  const sources = update.sources?.map((source) => ({ ...source, into: source.into.map(fed) }));
  const { planeWave: _, ...others } = stencil;
  // all that reads a wall whose value changes may keep another wall's
  const moves = signal !== undefined && readsSignal(substeps.flat());
  const whole: Update = {
    ...update,
    substeps,
    ...(sources && { sources }),
    ...(moves && { signal }),
    profiles: [...profiles, ...made],
  };
  const found: Stencil = {
    ...others,
    boundaries: BOUNDARIES,
    ...(edges.flat().some((cells) => cells > 0) && { edges }),
    title: `${stencil.title}, between walls`,
    update: whole,
  };
  checkStencil(found);
  return found;
}

type Tapped = Extract<Expression, { kind: "tap" | "profile" }>;

function moved(tap: Tapped, axis: Axis, to: number): Tapped {
  if (tap.kind === "profile") return { ...tap, offset: to };
  return { ...tap, offset: tap.offset.with(axis, to) as unknown as Offset };
}

function joined(kind: "add" | "multiply", operands: readonly Expression[]): Expression {
  return operands.reduce((left, right) => ({ kind, operands: [left, right] }));
}
