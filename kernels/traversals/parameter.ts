/**
 * What a traversal's parameters mean, said once, by the traversal itself: reports, the search, corrections of predictions
 * and refinement read it here.
 *
 * @module
 */

/** What a parameter decides beside the shape of workgroups and threads. */
export type ParameterRole =
  /** Only how the kernel is written: of its values the first mostly do best. */
  | "writing"
  /** The tile that a pass over memory carries through time. */
  | "tile"
  /** The time steps of a pass over memory: those of all such parameters, multiplied. */
  | "pass"
  /** As `pass`, and only in which order dispatches run: other values need no other shaders. */
  | "ordering";

/** A parameter in words: its name for people, as `Steps per pass (Nt)`, what that means, and what else is known of it. */
export type Parameter = readonly [title: string, meaning: string, facts?: {
  /** What a value counts, in the singular. @default {nothing} */
  readonly unit?: string;
  /** The values that are no counts, words in their order. @default {there are none} */
  readonly values?: Readonly<Record<number | string, string>>;
  readonly role?: ParameterRole;
  /** What a device must grant for a value, beyond WebGPU. @default {nothing} */
  readonly features?: Readonly<Record<number | string, string>>;
  /** The axis of a search that it lies along with others. @default {one of its own name} */
  readonly axis?: string;
  /** Of `ordering`: a plan runs with smaller values than its own alone, for which its sections are cut. @default {false} */
  readonly isMost?: boolean;
  /** Files of earlier versions lack it: without it the traversal does what it did before. @default {false} */
  readonly isLater?: boolean;
}];

/** Parameters by name. */
export type ParameterWords = Readonly<Record<string, Parameter>>;

/** The names of those parameters that decide this; none without a traversal. */
export function namesOf(
  traversal: { readonly parameters: ParameterWords } | undefined,
  ...roles: readonly ParameterRole[]
): string[] {
  return Object.entries(traversal?.parameters ?? {})
    .filter(([, [, , { role } = {}]]) => role !== undefined && roles.includes(role)).map(([name]) => name);
}

/** What a device must grant for these values, beyond WebGPU. */
export function featuresOf(
  traversal: { readonly parameters: ParameterWords } | undefined,
  values: Readonly<Record<string, number | string>>,
): string[] {
  return Object.entries(traversal?.parameters ?? {}).flatMap(([name, [, , { features } = {}]]) =>
    features?.[values[name]!] ?? []
  );
}

/** The words of a parameter whose values are words; none of numbers. */
export function wordsOf(parameter: Parameter | undefined): string[] {
  return Object.keys(parameter?.[2]?.values ?? {}).filter((value) => Number.isNaN(Number(value)));
}

/** The axes of a search along which those lie. */
export function axesNamed(...of: Parameters<typeof namesOf>): string[] {
  return namesOf(...of).map((name) => of[0]!.parameters[name]![2]?.axis ?? name);
}

/** What parameters of several traversals mean; each says what it decides there. */
export const COMMON = {
  tile: [
    "Tile size (DTS)",
    "width of a diamond tile; a larger one moves fewer bytes and needs more registers",
  ],
  steps: ["Steps per pass (Nt)", "time steps in one pass over memory"],
  bands: ["Bands", "passes over memory that advance together"],
  threads: ["Workgroup", "threads that work together", { unit: "thread" }],
  cells: ["Cells per thread", "neighbours along z that a thread computes at once"],
  packed: ["Packed materials", "how the values of packed materials lie in memory", {
    values: { 0: "as all others", 1: "in 16 bits each" },
    isLater: true,
  }],
} as const satisfies ParameterWords;
