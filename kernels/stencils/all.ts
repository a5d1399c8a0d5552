/**
 * Every equation there is, as the command line offers it. A new one is a file of its own and a record here.
 *
 * @module
 */
import { elastic, ELASTIC_LIMIT, MEDIA } from "./elastic.ts";
import { fourierLimit, heat, HEAT_DELTAS } from "./heat.ts";
import { DEFAULT_RULE, life, readRule, RULE_FORMAT } from "./life.ts";
import { FOURIER_LIMIT_1D, heat1d } from "./heat_1d.ts";
import { ks, KS_POINTS, ksTimeStepLimit } from "./ks.ts";
import type { Stencil } from "./stencil.ts";
import { stabilityLimit, wave, WAVE_ORDERS } from "./wave.ts";

/** What tells the stencils of one equation apart. */
export type VariantValue = number | string;

/** An equation with the choices that make a stencil of it. */
export interface Equation {
  /** The name that `--stencil` takes. */
  readonly name: string;
  /** One line for people. */
  readonly title: string;
  /** What distinguishes its stencils; undefined where there is only one. */
  readonly variant?: {
    /** The option that takes it. */
    readonly name: "order" | "delta" | "rule" | "medium" | "points";
    /** What the option takes, in a word. */
    readonly placeholder: string;
    /** One line for people. */
    readonly title: string;
    /** The values there are, for people. */
    readonly wanted: string;
    readonly default: VariantValue;
    /** Reads a value; undefined where the text is none. */
    read(text: string): VariantValue | undefined;
  };
  /** Its time step, without dimensions; undefined where it has none to choose. */
  readonly timeStep?: {
    readonly name: "courant" | "fourier" | "dt";
    /** What it is made of, as `cΔt/h`. */
    readonly formula: string;
    /** Largest stable value. */
    limit(variant: VariantValue | undefined): number;
  };
  /** The stencil of a variant; the time step is 0.9 of its limit where none is given. */
  create(variant: VariantValue | undefined, timeStep?: number): Stencil;
}

/** A variant that is one of a few values. */
function oneOf<T extends VariantValue>(
  values: readonly T[],
): Pick<NonNullable<Equation["variant"]>, "wanted" | "read"> {
  return {
    wanted: `one of ${values.join(", ")}`,
    read: (text) => values.find((value) => `${value}` === text),
  };
}

/** All equations, the default first. */
export const EQUATIONS: readonly Equation[] = [
  {
    name: "wave",
    title: "acoustic wave equation",
    variant: { name: "order", placeholder: "N", title: "order in space", default: 2, ...oneOf(WAVE_ORDERS) },
    timeStep: { name: "courant", formula: "cΔt/h", limit: (order) => stabilityLimit(Number(order)) },
    create: (order, courant) => wave(Number(order), { courant }),
  },
  {
    name: "heat",
    title: "heat diffusion",
    variant: { name: "delta", placeholder: "N", title: "reach in space", default: 1, ...oneOf(HEAT_DELTAS) },
    timeStep: { name: "fourier", formula: "αΔt/h²", limit: (delta) => fourierLimit(Number(delta)) },
    create: (delta, fourier) => heat(Number(delta), { fourier }),
  },
  {
    name: "life",
    title: "Game of Life with 26 neighbours",
    variant: {
      name: "rule",
      placeholder: "B/S",
      title: "neighbours",
      wanted: RULE_FORMAT,
      default: DEFAULT_RULE,
      read: (text) => readRule(text) && text,
    },
    create: (rule) => life(`${rule}`),
  },
  {
    name: "elastic",
    title: "elastic waves, velocity and stress on a staggered grid",
    variant: {
      name: "medium",
      placeholder: "NAME",
      title: "buoyancy and Lamé parameters",
      default: MEDIA[0],
      ...oneOf(MEDIA),
    },
    timeStep: { name: "courant", formula: "V_pΔt/h", limit: () => ELASTIC_LIMIT },
    create: (medium, courant) => elastic({ medium: MEDIA.find((name) => name === medium), courant }),
  },
  {
    name: "heat-1d",
    title: "heat conduction in a rod",
    timeStep: { name: "fourier", formula: "αΔt/Δx²", limit: () => FOURIER_LIMIT_1D },
    create: (_, fourier) => heat1d({ fourier }),
  },
  {
    name: "ks",
    title: "Kuramoto-Sivashinsky equation",
    variant: {
      name: "points",
      placeholder: "N",
      title: "points of a sub-step",
      default: 5,
      ...oneOf(KS_POINTS),
    },
    timeStep: { name: "dt", formula: "Δt for Δx = 0.5", limit: () => ksTimeStepLimit() },
    create: (points, timeStep) => ks(Number(points), { timeStep }),
  },
];
