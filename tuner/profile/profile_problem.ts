import { EQUATIONS } from "../../kernels/stencils/all.ts";
import {
  isBoundaryOf,
  ownBoundary,
  ownOf,
  type Problem,
  shortBoundary,
  type Stencil,
} from "../../kernels/stencils/stencil.ts";
import {
  type Definition,
  definitionOf,
  digestOf,
  type ExpressionData,
  hashOf,
  stencilOf,
} from "../../kernels/definition.ts";
import { remembered } from "../../kernels/remembered.ts";
import { inPrecision, plannedProblem, usersProblem } from "../../kernels/planned_problem.ts";
import { precisionOf } from "../../kernels/precision.ts";
import { VARIANTS } from "./describe.ts";
import { CHANGED_FORMULAS } from "./former_files.ts";
import type { ProfileProblem } from "./profile_types.ts";
import { recorded } from "./shipped.ts";

/** A problem as profiles store it, whether or not one can: its grid is all that is computed. */
export function describeProblem({ inner: _, ...planned }: Problem): ProfileProblem {
  const problem = usersProblem(planned);
  const { stencil, stencil: { name, variant, update }, steps, survey } = problem, hash = hashOf(update);
  const { name: precision } = precisionOf(update);
  const grid = ownOf(stencil, problem.grid);
  const { stencil: usual, hash: usualHash } = named({ stencil: name, ...variant, grid, precision });
  const isVariant = usual !== undefined && JSON.stringify(usual.variant) === JSON.stringify(variant) &&
    Object.keys(variant).every((name) => VARIANTS.includes(name));
  return {
    stencil: name,
    ...(isVariant && variant),
    ...(isVariant && usualHash === hash ? {} : { definition: definitionOf(stencil) }),
    hash,
    grid,
    boundary: ownBoundary(problem),
    ...(survey && { survey }),
    precision,
    steps,
  };
}

/**
 * The problem that a profile's entry is about: what any program can run, without the module that an equation was
 * written in. One without a definition is a built-in equation with its default coefficients.
 *
 * @param problem as a profile that was read has it
 * @returns undefined if this Facet has no such stencil, variant or boundary, or another formula of that name
 *
 * @example
 * ```ts
 * import { problemOf } from "./profile_problem.ts";
 * import { readProfile } from "./read_profile.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { entries: [entry] } = await readProfile("fixtures/h100/wave.json");
 * assertEquals(problemOf(entry!.problem)?.stencil.title, "acoustic wave equation, order 2");
 * ```
 */
export function problemOf(problem: ProfileProblem): Problem | undefined {
  const { boundary, grid, steps, survey, definition } = problem;
  const stencil = definition ? stencilOf(definition) : meantBy(problem).stencil;
  if (stencil === undefined || !isBoundaryOf(stencil, boundary)) return undefined;
  if (survey !== undefined && survey.sources > 0 && stencil.update.sources === undefined) return undefined;
  return plannedProblem({ stencil, grid, boundary, steps, ...(survey && { survey }) });
}

/** A text that two problems share exactly if their equations compute the same; of an unknown equation, its names. */
export function stencilKey(problem: ProfileProblem): string {
  return (recorded.get(problem) ?? keysIn(problem)).hash;
}

/** A text that two problems share exactly if their equations are the same but for constants, which no rate depends on. */
export function familyKey(problem: ProfileProblem): string {
  return (recorded.get(problem) ?? keysIn(problem)).family;
}

/** What the same problem says is found once: an index asks again for each choice. */
const keysIn = remembered((problem: ProfileProblem): Pick<Named, "hash" | "family"> =>
  problem.definition === undefined
    ? meantBy(problem)
    : { hash: problem.hash ?? named(problem).hash, family: familyOf(problem.definition) }
);

/** Whether a problem names a built-in equation that had, or may have had, another formula when this was written. */
export function isOfOtherFormula({ definition, hash, ...names }: ProfileProblem): boolean {
  if (definition !== undefined) return false;
  const today = named(names);
  if (today.stencil === undefined) return false;
  return hash === undefined ? CHANGED_FORMULAS.includes(names.stencil) : hash !== today.hash;
}

/** What a problem without a definition means: what its names say today, unless that is another formula. */
function meantBy(problem: ProfileProblem): Named {
  const today = named(problem), key = `other ${problem.hash ?? today.hash}`;
  return isOfOtherFormula(problem) ? { stencil: undefined, hash: key, family: key } : today;
}

/** A built-in equation with its default coefficients, and its keys; what nobody knows has its names for keys. */
interface Named {
  readonly stencil: Stencil | undefined;
  readonly hash: string;
  readonly family: string;
}

const known = new Map<string, Named>();

/** What the name and the variant of a problem say, found once. */
function named(
  { grid, boundary: _, steps: __, precision = "f32", survey: ___, hash: ____, ...names }: Partial<
    ProfileProblem
  >,
): Named {
  const entries = Object.entries(names).filter(([, value]) => value !== undefined);
  const isPlanar = grid?.length === 2;
  const others = [isPlanar ? "2D" : [], precision === "f64" ? precision : []].flat();
  const text = JSON.stringify([...entries.sort(([a], [b]) => a < b ? -1 : 1), ...others]);
  const stencil = known.has(text) ? undefined : builtIn(names, isPlanar);
  const found = known.get(text) ?? keysOf(stencil && inPrecision(stencil, precision), text);
  known.set(text, found);
  return found;
}

function keysOf(stencil: Stencil | undefined, names: string): Named {
  if (stencil === undefined) return { stencil, hash: names, family: names };
  return { stencil, hash: hashOf(stencil.update), family: familyOf(definitionOf(stencil)) };
}

/** A built-in equation: in two dimensions where the grid has two numbers. */
function builtIn({ stencil, ...rest }: Partial<ProfileProblem>, isPlanar: boolean): Stencil | undefined {
  const equation = EQUATIONS.find(({ name }) => name === stencil), choice = equation?.variant;
  if (equation === undefined || (isPlanar && !equation.dimensions?.includes(2))) return undefined;
  const given = choice && (rest as Readonly<Record<string, unknown>>)[choice.name];
  const variant = given === undefined ? choice?.default : choice?.read(`${given}`);
  const isKnown = (choice === undefined || variant !== undefined) &&
    Object.entries(rest).every(([name, value]) => value === undefined || name === choice?.name);
  return isKnown ? equation.create(variant, undefined, isPlanar ? 2 : undefined) : undefined;
}

function familyOf({ dimensions, fields, materials, profiles = [], substeps, precision }: Definition): string {
  const taps = ["at", "before", "next"];
  const masked = (data: ExpressionData): unknown =>
    typeof data === "number"
      ? 0
      : taps.includes(data[0] as string)
      ? data
      : data.map((part) => typeof part === "string" ? part : masked(part));
  return digestOf(JSON.stringify([
    dimensions,
    ...[fields, materials].map((planes) => planes.map(({ name }) => name)),
    ...profiles.map(({ name, axis }) => [name, axis]),
    substeps.map((substep) => Object.entries(substep).map(([name, data]) => [name, masked(data)])),
    ...(precision ? [precision] : []),
  ]));
}

/** A text that two problems share exactly if they are the same. */
export function problemKey(problem: ProfileProblem): string {
  const { grid, boundary, steps, survey } = problem;
  const { sources = 0, receivers = 0, every = 1 } = survey ?? {};
  const points = survey === undefined ? [] : [sources, receivers, every];
  return JSON.stringify([stencilKey(problem), ...grid, shortBoundary(boundary), steps, ...points]);
}

/** Whether both are the same problem: what is computed, grid, boundary and steps. */
export function isSameProblem(a: ProfileProblem, b: ProfileProblem): boolean {
  return problemKey(a) === problemKey(b);
}
