/**
 * The options that say which problem, and what may compute it: those that `tune`, `space`, `record` and `balance` share.
 *
 * @module
 */
import { BOUNDARIES, type Boundary, type Grid, type Stencil } from "../../kernels/stencils/stencil.ts";
import { type Equation, EQUATIONS, type VariantValue } from "../../kernels/stencils/all.ts";
import { ifGiven, oneOf, readGrid, readNumber, wrong } from "./option_values.ts";
import type { OptionSpec, OptionSpecs } from "./parse_options.ts";
import { UserError } from "./user_error.ts";

/** More workers than any machine has cores is a slip of the finger. */
const MAX_WORKERS = 1024;

/** Steps of a run at most: every evaluation takes several runs. */
const MAX_STEPS = 10_000;

/** The problem that a command is asked for, and what may compute it. `undefined` stands for what only the device can tell. */
export interface ProblemOptions {
  /** The equation. */
  readonly equation: Equation;
  /** Its order, delta, rule, medium or points; undefined where it has none. */
  readonly variant: VariantValue | undefined;
  /** Its time step without dimensions, within the stability limit. @default {undefined} 0.9 of the limit */
  readonly timeStep: number | undefined;
  /** @default {undefined} one that fits the device */
  readonly grid: Grid | undefined;
  /** @default {the first of the equation's} */
  readonly boundary: Boundary;
  /** Time steps of a run. @default {undefined} as many as suit the traversals */
  readonly steps: number | undefined;
  /** The only traversals to try. @default {[]} all */
  readonly traversals: readonly string[];
  /** Workers beside or instead of the GPU; 0: GPU alone. @default {undefined} one a core, one fewer beside a GPU */
  readonly cpuWorkers: number | undefined;
  /** Whether the GPU takes part. @default {true} */
  readonly gpu: boolean;
}

/** What there is to choose from. */
export interface Choices {
  /** Names of the traversals. */
  readonly traversals: readonly string[];
  /** Names of the strategies, the default first. */
  readonly strategies: readonly string[];
}

/** A request for `--help`: the text to print. */
export interface HelpRequest {
  readonly help: string;
}

/** An option that takes a text. */
export const string = (value: string, help: string): OptionSpec & { type: "string" } => ({
  type: "string",
  value,
  help,
});

/** Names of the options that belong to some equations only. */
type EquationOption =
  | NonNullable<Equation["variant"]>["name"]
  | NonNullable<Equation["timeStep"]>["name"];

/** The options that belong to an equation, each with its help. */
function optionsOf({ variant, timeStep }: Equation): { name: EquationOption; value: string; help: string }[] {
  return [
    ...(variant === undefined ? [] : [{
      name: variant.name,
      value: variant.placeholder,
      help: `${variant.title}: ${variant.wanted} (default ${variant.default})`,
    }]),
    ...(timeStep === undefined ? [] : [{
      name: timeStep.name,
      value: "X",
      help: `${timeStep.formula}, up to the stability limit (default 0.9 of it)`,
    }]),
  ];
}

/** Equations that have an option. */
function ownersOf(option: EquationOption): string[] {
  return EQUATIONS.filter((equation) => optionsOf(equation).some(({ name }) => name === option))
    .map(({ name }) => name);
}

/** The options that belong to some equations only. */
function equationSpecs(): Record<EquationOption, OptionSpec & { type: "string" }> {
  const specs: Partial<Record<EquationOption, OptionSpec & { type: "string" }>> = {};
  // where two equations share an option, the first one's help stands
  for (const { name, value, help } of EQUATIONS.flatMap(optionsOf)) {
    specs[name] ??= string(value, `${ownersOf(name).join(", ")}: ${help}`);
  }
  return specs as Required<typeof specs>;
}

/** What may lie around the grid, the default first. */
function boundariesOf({ boundaries = BOUNDARIES }: Stencil): readonly Boundary[] {
  return boundaries;
}

/** The boundaries of all equations, for `--help`. */
function boundaryHelp(): string {
  const own = EQUATIONS.flatMap(({ name, variant, create }) => {
    const { boundaries } = create(variant?.default);
    return boundaries === undefined ? [] : [`${name}: ${boundaries.join(", ")}`];
  });
  return [`around the grid: ${BOUNDARIES.join(", ")} (default ${BOUNDARIES[0]})`, ...own].join("; ");
}

/** Options that say which problem, and what may compute it. */
export function problemSpecs({ traversals }: Pick<Choices, "traversals">) {
  return {
    stencil: {
      ...string("NAME", `equation: ${EQUATIONS.map(({ name }) => name).join(", ")}`),
      default: EQUATIONS[0].name,
    },
    ...equationSpecs(),
    grid: string("XxYxZ|N", "cells along x, y, z, or points of a line (default: one that fits the device)"),
    boundary: string("NAME", boundaryHelp()),
    steps: string("N", "time steps of a run (default: as many as suit the traversals)"),
    traversal: {
      type: "strings",
      value: "NAME",
      help: `of the GPU, try only this: ${traversals.join(", ")} (default: all)`,
    },
    "cpu-workers": string(
      "N",
      "workers on the CPU, 0 for the GPU alone (default: one a core, one fewer beside a GPU)",
    ),
    "no-gpu": { type: "boolean", help: "leave the GPU out" },
  } as const satisfies OptionSpecs;
}

/** Values of {@linkcode problemSpecs}, as given. */
export interface ProblemValues extends Readonly<Record<EquationOption, string | undefined>> {
  readonly stencil: string;
  readonly grid: string | undefined;
  readonly boundary: string | undefined;
  readonly steps: string | undefined;
  readonly traversal: readonly string[];
  readonly "cpu-workers": string | undefined;
  readonly "no-gpu": boolean;
}

/** Reads and checks the values of {@linkcode problemSpecs}. */
export function readProblem(
  values: ProblemValues,
  choices: Pick<Choices, "traversals">,
): ProblemOptions {
  const name = oneOf("stencil", values.stencil, EQUATIONS.map(({ name }) => name));
  const equation = EQUATIONS.find((equation) => equation.name === name)!;
  const own = optionsOf(equation).map(({ name }) => name);
  for (const option of EQUATIONS.flatMap(optionsOf).map(({ name }) => name)) {
    if (own.includes(option) || values[option] === undefined) continue;
    throw new UserError(
      `Cannot use --${option} with --stencil ${name}: it belongs to ${ownersOf(option).join(" and ")}`,
    );
  }
  const { timeStep } = equation;
  const variant = readVariant(equation, values);
  const ofVariant = equation.variant === undefined ? "" : ` of ${equation.variant.name} ${variant}`;
  const stencil = equation.create(variant), boundaries = boundariesOf(stencil);
  const cpuWorkers = ifGiven(
    values["cpu-workers"],
    (text) =>
      readNumber("cpu-workers", text, {
        wanted: `a whole number from 0 to ${MAX_WORKERS}`,
        isRight: (workers) => Number.isInteger(workers) && workers >= 0 && workers <= MAX_WORKERS,
      }),
  );
  if (values["no-gpu"] && cpuWorkers === 0) {
    throw new UserError("Cannot use --no-gpu with --cpu-workers 0: nothing is left that could compute");
  }
  return {
    equation,
    variant,
    timeStep: timeStep && ifGiven(values[timeStep.name], (text) => {
      const limit = timeStep.limit(variant);
      return readNumber(timeStep.name, text, {
        wanted: `a number above 0 and at most ${limit.toFixed(6)}, the stability limit${ofVariant}`,
        isRight: (value) => value > 0 && value <= limit,
      });
    }),
    grid: ifGiven(values.grid, (text) => readGrid(text, stencil.dimensions)),
    boundary: oneOf("boundary", values.boundary ?? boundaries[0], boundaries),
    steps: ifGiven(values.steps, (text) =>
      readNumber("steps", text, {
        wanted: `a whole number from 1 to ${MAX_STEPS}, beyond which rates no longer change`,
        isRight: (steps) => Number.isInteger(steps) && steps >= 1 && steps <= MAX_STEPS,
      })),
    traversals: [...new Set(values.traversal.map((name) => oneOf("traversal", name, choices.traversals)))],
    cpuWorkers,
    gpu: !values["no-gpu"],
  };
}

/** The equation's variant; undefined where it has none. */
function readVariant({ variant }: Equation, values: ProblemValues): VariantValue | undefined {
  if (variant === undefined) return undefined;
  const given = ifGiven(values[variant.name], (text) => {
    const value = variant.read(text);
    if (value === undefined) throw wrong(variant.name, variant.wanted, text);
    return value;
  });
  return given ?? variant.default;
}

/** Ties a negative number to its option: `--budget -1s` means a value, not an option named 1. */
export function joinNegatives(args: readonly string[], specs: OptionSpecs): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const option = joined.at(-1) ?? "";
    const name = option.slice(2);
    const takesValue = option.startsWith("--") && Object.hasOwn(specs, name) &&
      specs[name].type !== "boolean";
    if (takesValue && /^-[\d.]/.test(arg)) joined[joined.length - 1] = `${option}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}
