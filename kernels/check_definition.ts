/**
 * Refuses equations that make no sense, in whatever form they were written. Every message names the place.
 *
 * What a sub-step may read follows from the two arrays that hold a field, where t + 1 replaces t − 1 cell by cell:
 * `next` reads what an earlier sub-step has computed; `before` only the cell itself, which no earlier one replaces.
 *
 * @module
 */
import { checkExpression, isFinite32, isHeld32, isRecord, type Want } from "./check_expression.ts";
import { type Axis, type Tap, tapsIn, type Variable, wordOf } from "./expression.ts";
import { INITIAL_FIELDS } from "./initial_field.ts";
import { PRECISIONS } from "./precision.ts";
import { packingOf } from "./packing.ts";
import { axesOf, BOUNDARIES, ownOf, type Stencil } from "./stencils/stencil.ts";
import { profileTapsOf, readsSignal, signalAt, type Update, type ValueRange } from "./update.ts";

/** Fields and materials together. */
const MOST_PLANES = 64;
/** Cells that a tap may lie away along each axis. */
const MOST_CELLS = 64;

const EQUATION_NAME = /^[a-z][\w-]{0,59}$/i;
const PLANE_NAME = /^\p{L}[\p{L}\p{N}_]{0,59}$/u;
const LINE = /^[^\p{Cc}\p{Zl}\p{Zp}]{1,200}$/u;

/** Words of a profile's problem, which no variant can be called. */
const TAKEN = ["stencil", "grid", "boundary", "precision", "steps", "definition", "hash"];

/** Checks parts of the equation that has this name. */
export function wantOf(name: unknown): Want {
  const what = isText(name, EQUATION_NAME) ? ` ${name}` : "";
  return (holds, place, wanted, ...found) => {
    if (holds) return;
    const words = found.length === 0 ? "" : `: found ${describe(found[0])}`;
    throw new RangeError(`Cannot build the equation${what}: ${place}: ${wanted}${words}`);
  };
}

function describe(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) {
    return value.length > 4 ? `${value.length} values` : `[${value.map(describe).join(", ")}]`;
  }
  if (isRecord(value)) return "an object";
  return String(value).slice(0, 80);
}

function isText(value: unknown, form: RegExp): value is string {
  return typeof value === "string" && form.test(value);
}

function isList(value: unknown, isOne: (value: unknown) => boolean, length?: number): value is unknown[] {
  return Array.isArray(value) && value.length === (length ?? value.length) && value.every(isOne);
}

export function isRange(value: unknown): value is ValueRange {
  return isList(value, isHeld32, 2) && Number(value[0]) <= Number(value[1]);
}

const checked = new WeakSet<Stencil>();

/**
 * Checks a stencil with its update, whatever its type promises.
 *
 * @throws {RangeError} naming the field, the sub-step and the operand; what is wanted, and what was found
 */
export function checkStencil(stencil: Stencil): void {
  if (checked.has(stencil)) return;
  const given: { readonly [Name in keyof Stencil]: unknown } = stencil;
  const wantObject: Want = wantOf(undefined);
  wantObject(isRecord(given), "stencil", "an object is wanted", given);
  const { name, title, variant, dimensions = 3, boundaries = BOUNDARIES, initialField = "noise" } = given;
  const want: Want = wantOf(name);
  want(isText(name, EQUATION_NAME), "name", "a letter, then letters, digits, _ or - are wanted", name);
  want(isText(title, LINE), "title", "one line of at most 200 characters is wanted", title);
  want(isRecord(variant), "variant", "values by name are wanted", variant);
  for (const [key, value] of Object.entries(variant)) {
    const isFree = PLANE_NAME.test(key) && !TAKEN.includes(key);
    want(isFree, "variant", `a name of letters and digits other than ${TAKEN.join(", ")} is wanted`, key);
    const isStorable = isFinite32(value) || isText(value, LINE);
    want(isStorable, `variant ${key}`, "a number or a line of text is wanted", value);
  }
  const areFew = dimensions === 1 || dimensions === 2 || dimensions === 3;
  want(areFew, "dimensions", "1, 2 or 3 is wanted", dimensions);
  const areWords = isList(boundaries, (boundary) => BOUNDARIES.some((word) => word === boundary)) &&
    boundaries.length > 0;
  want(areWords, "boundaries", `a list of some of ${BOUNDARIES.join(", ")} is wanted`, boundaries);
  const isKind = INITIAL_FIELDS.some((kind) => kind === initialField);
  want(isKind, "initialField", `one of ${INITIAL_FIELDS.join(", ")} is wanted`, initialField);
  want(isRecord(given.update), "update", "an object is wanted", given.update);
  checkUpdate(stencil.update, stencil, want);
  const { surface = "free", stagger = {} } = given, { fields } = stencil.update;
  const isField = (value: unknown): boolean => fields.some((name) => name === value);
  const isSurface = surface === "free" || isList(surface, isField);
  want(isSurface, "surface", "free, a list of fields, or nothing, is wanted", surface);
  want(isRecord(stagger), "stagger", "places by field are wanted", stagger);
  for (const [name, place] of Object.entries(stagger)) {
    const { length } = axesOf(stencil), isPart = (cells: unknown) => isFinite32(cells) && Math.abs(cells) < 1;
    const wanted = "a field and a part of a cell along each axis are wanted";
    want(isField(name) && isList(place, isPart, length), `stagger ${name}`, wanted, place);
    // only then are the images of all cells in the grid
    const isMirrored = given.surface === undefined || [0, -0.5].includes(Number((place as unknown[]).at(-1)));
    want(isMirrored, `stagger ${name}`, "below a surface 0 or -0.5 along the depth is wanted", place);
  }
  checked.add(stencil);
}

/** Checks an update of which nothing is known but that it is an object. */
function checkUpdate(update: Update, space: Pick<Stencil, "dimensions">, want: Want): void {
  const axes = axesOf(space), isLine = axes.length === 1;
  const { fields, materials, profiles = [], ranges, substeps, signal, sources = [], layers = [] } = update;
  const { precision = "f32" } = update;
  want(Object.hasOwn(PRECISIONS, precision), "precision", "f32 or f64 is wanted", precision);
  want(isList(fields, () => true) && fields.length > 0, "fields", "at least one is wanted", fields);
  want(isList(materials, isRecord), "materials", "a list of materials is wanted", materials);
  want(isList(profiles, isRecord), "profiles", "a list of axis profiles is wanted", profiles);
  want(isList(sources, isRecord), "sources", "a list of sources is wanted", sources);
  const planeNames = [...fields, ...materials.map(({ name }) => name)];
  const known = planeNames.length + profiles.length;
  want(known <= MOST_PLANES, "fields", `at most ${MOST_PLANES} with the materials are wanted`, known);
  const names = [...planeNames, ...[...profiles, ...sources].map(({ name }) => name)];
  names.forEach((name, i) => {
    const kind = i < fields.length ? "field" : i < known ? "material" : "source";
    want(isText(name, PLANE_NAME), `${kind} ${i + 1}`, "a name of letters, digits and _ is wanted", name);
    want(names.indexOf(name) === i, `${kind} ${name}`, "a name that nothing else has is wanted", name);
  });
  const areRanges = ranges === undefined || isList(ranges, isRange, fields.length);
  want(areRanges, "ranges", "the lowest and the highest initial value of each field are wanted", ranges);
  const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;
  const isLayer = (layer: unknown) =>
    isRecord(layer) && axes.includes(layer.axis as Axis) && isCount(layer.cells);
  const full = fields.length - layers.length, areLayers = isList(layers, isLayer) && full > 0;
  want(areLayers, "layers", "for some of the fields an axis and a number of cells are wanted", layers);
  const check = (value: unknown, place: string, variables: readonly Variable[] = []): void => {
    const planes = variables.length === 0 ? planeNames.length : 0;
    const hasSignal = planes > 0 && signal !== undefined;
    checkExpression(value, { place, planes, profiles, variables, hasSignal }, want);
  };
  const checkField = (field: unknown, place: string): string => {
    want(Number.isInteger(field) && Number(field) in fields, place, "a field is wanted", field);
    return `${place}, field ${fields[Number(field)]}`;
  };
  for (const { name, axis } of profiles) {
    const wanted = `an axis of the ${isLine ? "line, z," : "grid"} is wanted`;
    want(axes.includes(axis), `material ${name}`, wanted, axis);
  }
  for (const { name, values, formula, packed, within = packed, ...rest } of [...materials, ...profiles]) {
    if (formula !== undefined) {
      check(formula, `material ${name}`, "axis" in rest ? ["i", "n"] : ["x", "y", "z"]);
    }
    const areExact = isList(
      values,
      (value) => isFinite32(value) && Object.is(Math.fround(value), value + 0),
      8,
    );
    want(areExact, `material ${name}`, "eight values that f32 holds are wanted", values);
    if (within === undefined) continue;
    const { least, most, nearest } = packingOf(isRange(packed) ? packed : [1, 0]);
    const isHeld = packed
      ? least <= most && packed.every((end) => Math.abs(end) <= 2 ** 100)
      : isRange(within);
    const kind = packed
      ? "cells with 16 bits between two values"
      : "cells, and their lowest and highest value,";
    want(isHeld && !("axis" in rest), `material ${name}`, `${kind} are wanted`, within);
    const [lowest, highest] = within.map(Math.fround) as [number, number];
    const odd = values.find((x) => packed ? nearest(x) !== x : !(x >= lowest && x <= highest));
    want(odd === undefined, `material ${name}`, `values from ${within[0]} to ${within[1]} are wanted`, odd);
  }
  if (signal !== undefined) {
    check(signal, "signal", ["step"]);
    const first = signalAt(update, 0);
    want(isFinite32(first), "signal at step 0", "a number that f32 can hold is wanted", first);
  }
  const isStep = isList(substeps, Array.isArray) && substeps.length > 0;
  want(isStep, "step", "at least one sub-step is wanted", substeps);
  /** Which sub-step computes each field. */
  const madeIn = new Map<number, number>();
  substeps.forEach((substep, index) => {
    const place = `sub-step ${index + 1}`;
    want(isList(substep, isRecord) && substep.length > 0, place, "new values of fields are wanted", substep);
    for (const { field, value } of substep) {
      const ofField = checkField(field, place);
      want(!madeIn.has(field), ofField, "one value a step is wanted", "another before");
      madeIn.set(field, index);
      check(value, ofField);
    }
  });
  fields.forEach((name, field) => {
    const wanted = "a sub-step that computes it is wanted (what no step changes is a material)";
    want(madeIn.has(field), `field ${name}`, wanted, "none");
  });
  substeps.forEach((substep, index) => {
    for (const { field, value } of substep) {
      for (const tap of tapsIn([value])) {
        const isAside = tap.offset.some((cells, axis) => cells !== 0 && !axes.includes(axis as Axis));
        const reason = isAside
          ? `cells of the ${isLine ? "line, along z," : "plane, a plan's x and z,"} are wanted`
          : whyUnreadable(tap, index, madeIn.get(tap.plane), full <= tap.plane && tap.plane < fields.length);
        const cells = (isAside ? tap.offset : ownOf(space, tap.offset)).join(", ");
        const found = `${planeNames[tap.plane]}.${wordOf(tap.ago)}(${cells})`;
        want(reason === undefined, `sub-step ${index + 1}, field ${fields[field]}`, reason ?? "", found);
      }
    }
  });
  for (const { profile, offset } of profileTapsOf(update)) {
    const isNear = Math.abs(offset) <= MOST_CELLS;
    want(isNear, `material ${profiles[profile]!.name}`, `at most ${MOST_CELLS} cells are wanted`, offset);
  }
  for (const { name, range, into } of sources) {
    const place = `source ${name}`;
    want(isRange(range), place, "its lowest and highest value are wanted", range);
    want(isList(into, isRecord) && into.length > 0, place, "factors of fields are wanted", into);
    for (const target of into) {
      const ofField = checkField(target.field, place), wanted = "a factor of materials is wanted";
      want(target.field < full, ofField, "a field in all cells is wanted", fields[target.field]);
      check(target.value, ofField);
      want(!readsSignal([target]), ofField, wanted, "the signal");
      for (const tap of tapsIn([target.value])) {
        const reason = tap.plane < fields.length ? wanted : whyUnreadable(tap, 0);
        want(reason === undefined, ofField, reason ?? "", planeNames[tap.plane]);
      }
    }
  }
  want(signal === undefined || readsSignal(update), "signal", "a sub-step that reads it is wanted", "none");
}

/** Why a sub-step cannot read a value that sub-step `made` replaces, or none (a material); undefined if it can. */
function whyUnreadable(
  { ago, offset }: Tap,
  index: number,
  made?: number,
  inLayers = false,
): string | undefined {
  const isOwn = offset.every((cells) => cells === 0);
  if (inLayers && !(ago === 0 && isOwn)) return "of a field in layers only the cell itself, now, is wanted";
  if (offset.some((cells) => Math.abs(cells) > MOST_CELLS)) return `at most ${MOST_CELLS} cells are wanted`;
  if (ago === 0) return undefined;
  if (made === undefined) return "a material does not change: at is wanted";
  if (ago === -1) return made < index ? undefined : "what an earlier sub-step has computed is wanted";
  if (made < index) return "what no earlier sub-step has replaced is wanted";
  return isOwn
    ? undefined
    : "of the step before only the cell itself is wanted (keep it in a field of its own)";
}
