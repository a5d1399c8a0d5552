import { type Equation, EQUATIONS, type VariantValue } from "../../kernels/stencils/all.ts";
import {
  BOUNDARIES,
  type Boundaries,
  isBoundaryOf,
  shortBoundary,
  type Stencil,
} from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { detectDevice, type DeviceDescription } from "../devices/device.ts";
import type { ProblemRequest } from "../measuring/process/evaluator_protocol.ts";
import { RequestError } from "../problem/request_error.ts";
import {
  MAX_STEPS,
  MAX_WORKERS,
  type ResolvedProblem,
  resolveProblem,
  THREE_BOUNDARIES,
  wantedBoundary,
} from "../problem/resolve_problem.ts";
import {
  count,
  type EarlierValues,
  number,
  oneOf,
  type Options,
  type Reader,
  readGrid,
  readLine,
  type Refuse,
  type Values,
  whole,
} from "./options.ts";

const TRAVERSAL_NAMES = TRAVERSALS.map(({ name }) => name);

type VariantOption = NonNullable<Equation["variant"]>["name"];
type TimeStepOption = NonNullable<Equation["timeStep"]>["name"];

/** An option that takes a value. */
type Declaration<T> = { readonly value: string; readonly help: string; readonly read: Reader<T> };

/** The options that only some equations have. */
type EquationOptions =
  & Readonly<Record<VariantOption, Declaration<VariantValue>>>
  & Readonly<Record<TimeStepOption, Declaration<number>>>;

const EQUATION_OPTIONS = equationOptions();

/** Which problem to compute, and what may compute it. */
export const PROBLEM = {
  stencil: {
    value: "NAME",
    help: `equation: ${EQUATIONS.map(({ name }) => name).join(", ")}`,
    read: readEquation,
    default: EQUATIONS[0]!.name,
  },
  ...EQUATION_OPTIONS,
  grid: {
    value: "XxYxZ|N",
    help: "cells along x, y, z, or points of a line (default: one that suits the device)",
    read: (text: string, refuse: Refuse, earlier: EarlierValues) =>
      (chosenEquation(earlier).stencil.dimensions === 1 ? readLine : readGrid)(text, refuse, earlier),
  },
  boundary: {
    value: "NAME|X,Y,Z",
    help: boundaryHelp(),
    read(text: string, refuse: Refuse, earlier: EarlierValues): Boundaries {
      const { stencil } = chosenEquation(earlier);
      const words = text.split(","), boundary = words.length === 1 ? text : words;
      if (isBoundaryOf(stencil, boundary)) return shortBoundary(boundary);
      return refuse(wantedBoundary(stencil));
    },
  },
  steps: count("time steps of a run (default: as many as suit the traversals)", 1, MAX_STEPS),
  traversal: {
    value: "NAME",
    help: `of the GPU's traversals, try only this: ${TRAVERSAL_NAMES.join(", ")} (default: all)`,
    read: oneOf(TRAVERSAL_NAMES),
    repeatable: true,
  },
  cpuWorkers: {
    value: "N",
    help: "workers on the CPU, 0 for the GPU alone (default: one per core, one fewer beside a GPU)",
    read: whole(0, MAX_WORKERS),
  },
  noGpu: { help: "leave the GPU out", notWith: { "--cpu-workers 0": "nothing is left that could compute" } },
} as const satisfies Options;

/** The values of {@linkcode PROBLEM}, as far as a command takes them. */
export type ProblemValues =
  & Omit<Values<typeof PROBLEM>, "traversal" | "cpuWorkers" | "noGpu">
  & Partial<Pick<Values<typeof PROBLEM>, "traversal" | "cpuWorkers" | "noGpu">>;

/** The problem that the options ask for, on this machine, and the names that another process makes it from. */
export interface RequestedProblem extends ResolvedProblem {
  readonly equation: Pick<ProblemRequest, "equation" | "variant" | "timeStep">;
}

/** Checks that this machine, or the one given, can do what the options ask for; `action` is as `tune`. */
export async function resolveOptions(
  action: string,
  values: ProblemValues,
  machine?: DeviceDescription,
): Promise<RequestedProblem> {
  const { stencil, ...equation } = chosenEquation(values);
  const { grid, boundary, steps, traversal: traversals, cpuWorkers, noGpu } = values;
  const request = { stencil, grid, boundary, steps, traversals, cpuWorkers, gpu: !noGpu };
  return { ...resolveProblem(action, request, machine ?? await detectDevice()), equation };
}

/** The stencil that the options of the equation choose, and by which names. */
function chosenEquation(values: EarlierValues): RequestedProblem["equation"] & { readonly stencil: Stencil } {
  const { name: equation, variant: choice, timeStep: step, create } = values.stencil as Equation;
  const variant = choice && ((values[choice.name] as VariantValue | undefined) ?? choice.default);
  const timeStep = step && (values[step.name] as number | undefined);
  const stencil = create(variant, timeStep);
  return { equation, variant, ...(timeStep === undefined ? {} : { timeStep }), stencil };
}

function readEquation(text: string, refuse: Refuse, earlier: EarlierValues): Equation {
  const name = oneOf(EQUATIONS.map(({ name }) => name))(text, refuse, earlier);
  return EQUATIONS.find((equation) => equation.name === name)!;
}

/** One option for each variant and time step in `EQUATIONS`; of one that two equations share, the first one's help. */
function equationOptions(): EquationOptions {
  const options: Record<string, Declaration<VariantValue>> = {};
  const add = (name: VariantOption | TimeStepOption, { help, ...rest }: Declaration<VariantValue>): void => {
    options[name] ??= { help: `${ownersOf(name).join(", ")}: ${help}`, ...rest };
  };
  for (const { variant, timeStep } of EQUATIONS) {
    if (variant !== undefined) {
      const { name, placeholder, title, wanted, default: fallback } = variant;
      const help = `${title}: ${wanted} (default ${fallback})`;
      add(name, { value: placeholder, help, read: variantReader(name) });
    }
    if (timeStep !== undefined) {
      const { name, formula } = timeStep;
      const help = `${formula}, up to the stability limit (default 0.9 of it)`;
      add(name, { value: "X", help, read: timeStepReader(name) });
    }
  }
  return options as EquationOptions;
}

/** The equations that have an option. */
function ownersOf(option: VariantOption | TimeStepOption): string[] {
  return EQUATIONS.filter(({ variant, timeStep }) => variant?.name === option || timeStep?.name === option)
    .map(({ name }) => name);
}

/** The chosen equation's variant or time step, where it is this option that takes it. */
function ownPart<T extends { readonly name: string }>(
  option: VariantOption | TimeStepOption,
  part: T | undefined,
  { stencil }: EarlierValues,
): T {
  if (part?.name === option) return part;
  const { name } = stencil as Equation, owners = ownersOf(option).join(" and ");
  throw new RequestError(`Cannot use --${option} with --stencil ${name}: it belongs to ${owners}`);
}

function variantReader(option: VariantOption): Reader<VariantValue> {
  return (text, refuse, earlier) => {
    const { read, wanted } = ownPart(option, (earlier.stencil as Equation).variant, earlier);
    return read(text) ?? refuse(wanted);
  };
}

function timeStepReader(option: TimeStepOption): Reader<number> {
  return (text, refuse, earlier) => {
    const { variant: choice, timeStep } = earlier.stencil as Equation;
    const own = ownPart(option, timeStep, earlier);
    const { variant } = chosenEquation(earlier);
    const limit = own.limit(variant), ofVariant = choice === undefined ? "" : ` of ${choice.name} ${variant}`;
    const wanted = `a number above 0 and at most ${limit.toFixed(6)}, the stability limit${ofVariant}`;
    return number(wanted, (value) => value > 0 && value <= limit)(text, refuse, earlier);
  };
}

/** The boundaries of all equations, for `--help`. */
function boundaryHelp(): string {
  const own = EQUATIONS.flatMap(({ name, variant, create }) => {
    const { boundaries } = create(variant?.default);
    return boundaries === undefined ? [] : [`${name}: ${boundaries.join(", ")}`];
  });
  const all = `around the grid: ${BOUNDARIES.join(", ")} (default ${BOUNDARIES[0]})`;
  return [`${all}, or one for each axis, as ${THREE_BOUNDARIES}`, ...own].join("; ");
}
