/**
 * Sums of weighted values, as finite differences are. Operators make them; what is then added to one, or multiplied by a
 * number, is collected: in `add(u, multiply(0.1, laplacian(u)))` each value is read and weighed once, in the order of
 * operations that kernels know as sums, and weights are rounded so that their total is kept (`weights.ts`).
 *
 * @module
 */
import { type Axis, constant, type Expression, type Offset, type Operation } from "./expression.ts";
import { conservingWeights, unitOf } from "./weights.ts";

/** A value times a number. */
export interface Term {
  /** A tap of the cell itself, or any other expression. */
  readonly of: Expression;
  /** Where its value is taken, in cells along a plan's axes. */
  readonly offset: Offset;
  readonly weight: number;
}

/** A number, in f32 and in f64, times an expression, as it is written. */
type Weighted = readonly [weight: number, exact: number, of: Expression];

/** Bits of the numbers that hold weights, in f32 and in f64: fewer than all, so that f64 computes their sums exactly. */
const BITS = [24, 50] as const;

/** Weights that keep a total, in every precision. */
export function weightNodes(total: number, sides: readonly number[], count: number) {
  const [rounded, exact] = BITS.map((bits) => conservingWeights(total, sides, count, bits));
  return {
    centre: constant(rounded!.centre, exact!.centre),
    sides: rounded!.sides.map((side, i) => constant(side, exact!.sides[i])),
  };
}

const HERE: Offset = [0, 0, 0];

/** The terms of sums that operators have made. */
const SUMS = new WeakMap<Expression, readonly Term[]>();

/** A plan's axes of the equation whose step is being written; undefined where none is. */
let written: readonly Axis[] | undefined;

/** What `write` returns, while operators take derivatives along these axes. */
export function writingAlong<T>(axes: readonly Axis[], write: () => T): T {
  const before = written;
  written = axes;
  try {
    return write();
  } finally {
    written = before;
  }
}

/** A plan's axes of the equation whose step is being written, in the order of its own. */
export function writtenAxes(): readonly Axis[] {
  if (written) return written;
  throw new RangeError(
    "Cannot take a derivative: operators are used in an equation's step, which knows its axes",
  );
}

/** The sum of terms as an expression, of which what is added to it will be part. */
export function sumOf(terms: readonly Term[]): Expression {
  const places = new Map<string | Expression, Map<string, Term>>();
  for (const term of terms) {
    const { of } = term, key = of.kind === "tap" ? `${of.plane} ${of.ago}` : of;
    const there = places.get(key) ?? places.set(key, new Map()).get(key)!;
    const before = there.get(`${term.offset}`)?.weight ?? 0;
    there.set(`${term.offset}`, { ...term, weight: before + term.weight });
  }
  const merged = [...places.values()].map((there) => [...there.values()]);
  // the newest level first; what is no tap comes last, in the order in which it was added
  const rank = ({ of }: Term): number =>
    of.kind === "tap" ? 1e6 * [0, 1, -1].indexOf(of.ago) + of.plane : 1e7;
  const values = merged.sort(([a], [b]) => rank(a!) - rank(b!)).map(weigh);
  const taps = merged.filter(([first]) => first!.of.kind === "tap").length;
  const written = [values.slice(0, taps), ...values.slice(taps).map((value) => [value])].flatMap((few) => [
    ...few.flatMap(({ own }) => own),
    ...few.flatMap(({ arms }) => arms),
  ]);
  const sum = chain(written);
  if (sum.kind !== "tap") SUMS.set(sum, merged.flat());
  return sum;
}

/** An expression as terms, where they are taken. */
export function termsOf(of: Expression, weight = 1, offset = HERE): readonly Term[] {
  const known = SUMS.get(of);
  const moved = (at: Offset): Offset => [at[0] + offset[0], at[1] + offset[1], at[2] + offset[2]];
  if (known) return known.map((tap) => ({ ...tap, offset: moved(tap.offset), weight: weight * tap.weight }));
  if (of?.kind === "tap") return [{ of: { ...of, offset: HERE }, offset: moved(of.offset), weight }];
  if (of?.kind === "add" || of?.kind === "subtract" || of?.kind === "multiply" || of?.kind === "divide") {
    const [left, right] = of.operands as [Expression, Expression];
    if (of.kind === "add" || of.kind === "subtract") {
      const sign = of.kind === "add" ? 1 : -1;
      return [...termsOf(left, weight, offset), ...termsOf(right, sign * weight, offset)];
    }
    if (right?.kind === "constant") {
      return termsOf(left, of.kind === "divide" ? weight / right.value : weight * right.value, offset);
    }
    if (left?.kind === "constant" && of.kind === "multiply") {
      return termsOf(right, weight * left.value, offset);
    }
  }
  return [{ of, offset, weight }];
}

/** What an operation makes of sums of operators, if that is such a sum again. */
export function collected(kind: Operation, operands: readonly Expression[]): Expression | undefined {
  if (!operands.some((operand) => SUMS.has(operand))) return undefined;
  const node = { kind, operands } as Expression, terms = termsOf(node);
  return terms.length === 1 && terms[0]!.of === node ? undefined : sumOf(terms);
}

/**
 * The terms of one value: what it weighs in the cell itself, and the groups of cells that weigh alike. Pairs of cells
 * opposite to each other come first: a short chain of additions is what a thread waits for.
 */
function weigh(terms: readonly Term[]): { own: Weighted[]; arms: Weighted[] } {
  const most = Math.max(...terms.map(({ weight }) => Math.abs(weight)));
  const isSame = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-12 * most;
  const distance = ({ offset }: Term): number => Math.hypot(...offset);
  const sizes = ({ offset }: Term): readonly number[] => offset.map(Math.abs);
  const away = terms.filter((term) => distance(term) > 0 && !isSame(term.weight, 0))
    .sort((a, b) => distance(a) - distance(b) || compare(sizes(a), sizes(b)) || compare(a.offset, b.offset));
  const groups: { weight: number; cells: Term[] }[] = [];
  for (const term of away) {
    const group = groups.find(({ weight }) => isSame(Math.abs(weight), Math.abs(term.weight)));
    if (group) group.cells.push(term);
    else groups.push({ weight: term.weight, cells: [term] });
  }
  const sum = terms.reduce((all, { weight }) => all + weight, 0), total = isSame(sum, 0) ? 0 : sum;
  const own = terms.find((term) => distance(term) === 0);
  // a difference of two
  const other = total === 0 &&
    groups.find(({ weight, cells }) => cells.length === 1 && isSame(-weight, own?.weight ?? 0));
  if (own && other) other.cells.push(own);
  const counts = groups.map(({ weight, cells }) =>
    cells.reduce((count, cell) => count + Math.sign(cell.weight / weight), 0)
  );
  const kept = groups.filter((_, i) => counts[i] !== 0), [count] = counts.filter((count) => count !== 0);
  const [rounded, exact] = BITS.map((bits) =>
    roundedTo(total, kept.map(({ weight }) => weight), counts.filter((count) => count !== 0), bits)
  );
  const centre = count === undefined ? own && !other ? own.weight : 0 : rounded!.centre;
  return {
    own: isSame(centre, 0) && (own === undefined || count === undefined)
      ? []
      : [[centre, count === undefined ? centre : exact!.centre, placed(terms[0]!.of, HERE)]],
    arms: groups.map((group) => {
      const { cells } = group,
        [weight, ofF64] = [rounded!, exact!].map(({ sides }) => sides[kept.indexOf(group)] ?? group.weight);
      const sumOfSign = (sign: number): Expression | undefined => {
        const alike = cells.filter((cell) => Math.sign(cell.weight / group.weight) === sign);
        return alike.length === 0 ? undefined : pairwise(alike);
      };
      const plus = sumOfSign(1)!, minus = sumOfSign(-1);
      return [weight!, ofF64!, minus ? { kind: "subtract", operands: [plus, minus] } : plus];
    }),
  };
}

/** Weights rounded so that they and the centre, `count` cells of each, come to the total exactly. */
function roundedTo(whole: number, weights: readonly number[], counts: readonly number[], bits: number) {
  const unit = unitOf(Math.max(Math.abs(whole), ...weights.map(Math.abs)), bits);
  const total = bits === 24 ? Math.fround(whole) : Math.round(whole / unit) * unit;
  if (counts.every((count) => count === counts[0])) {
    return conservingWeights(total, weights, counts[0] ?? 1, bits);
  }
  const summed = (of: readonly number[]): number =>
    of.reduce((sum, weight, i) => sum + counts[i]! * weight, 0);
  const most = Math.max(Math.abs(total), Math.abs(total - summed(weights)), ...weights.map(Math.abs));
  const sides = weights.map((weight) => Math.round(weight / unitOf(most, bits)) * unitOf(most, bits));
  return { centre: total - summed(sides), sides };
}

/** The sum of cells, each first with the one opposite to it. */
function pairwise(cells: readonly Term[]): Expression {
  const sums: Expression[] = [];
  for (let i = 0; i < cells.length; i++) {
    const [term, next] = [cells[i]!, cells[i + 1]], value = placed(term.of, term.offset);
    const isPair = next && compare(term.offset.map(Math.abs), next.offset.map(Math.abs)) === 0;
    sums.push(isPair ? { kind: "add", operands: [value, placed(next.of, next.offset)] } : value);
    if (isPair) i++;
  }
  return sums.reduce((left, right) => ({ kind: "add", operands: [left, right] }));
}

/** A value at another cell; shifts of expressions have as many numbers as a plane has axes. */
function placed(of: Expression, offset: Offset): Expression {
  if (of.kind === "tap") return { ...of, offset };
  if (of.kind === "profile") return { ...of, offset: of.offset + offset[of.axis] };
  if (offset.every((cells) => cells === 0)) return of;
  const own = writtenAxes().length === 2 ? [offset[0], offset[2]] as unknown as Offset : offset;
  return { kind: "partial", of, offset: own };
}

function chain([first, ...rest]: readonly Weighted[]): Expression {
  const product = ([weight, exact, of]: Weighted): Expression =>
    weight === 1 && exact === 1 ? of : { kind: "multiply", operands: [constant(weight, exact), of] };
  return first === undefined ? constant(0) : rest.reduce<Expression>((sum, term) => {
    const [weight, exact, of] = term;
    return weight === -1 && exact === -1
      ? { kind: "subtract", operands: [sum, of] }
      : { kind: "add", operands: [sum, product(term)] };
  }, product(first));
}

/** Which list of numbers comes first. */
function compare(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((number, at) => number !== b[at]);
  return i < 0 ? 0 : a[i]! - b[i]!;
}
