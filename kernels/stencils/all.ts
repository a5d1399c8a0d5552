/**
 * Every equation there is, as the command line offers it. A new one is a file of its own and a record here.
 *
 * @module
 */
import { fourierLimit, heat, HEAT_DELTAS } from "./heat.ts";
import { FOURIER_LIMIT_1D, heat1d } from "./heat_1d.ts";
import { ks, KS_POINTS, ksTimeStepLimit } from "./ks.ts";
import type { Stencil } from "./stencil.ts";
import { stabilityLimit, wave, WAVE_ORDERS } from "./wave.ts";

/** An equation with the choices that make a stencil of it. */
export interface Equation {
  /** The name that `--stencil` takes. */
  readonly name: string;
  /** One line for people. */
  readonly title: string;
  /** What distinguishes its stencils; undefined where there is only one. */
  readonly variant?: {
    readonly name: "order" | "delta" | "points";
    readonly values: readonly number[];
    readonly default: number;
    /** One line for people. */
    readonly title: string;
  };
  /** Its time step, without dimensions. */
  readonly timeStep: {
    readonly name: "courant" | "fourier" | "dt";
    /** What it is made of, as `cΔt/h`. */
    readonly formula: string;
    /** Largest stable value. */
    limit(variant: number): number;
  };
  /** The stencil of a variant; the time step is 0.9 of its limit where none is given. */
  create(variant: number, timeStep?: number): Stencil;
}

/** All equations, the default first. */
export const EQUATIONS: readonly Equation[] = [
  {
    name: "wave",
    title: "acoustic wave equation",
    variant: { name: "order", values: WAVE_ORDERS, default: 2, title: "order in space" },
    timeStep: { name: "courant", formula: "cΔt/h", limit: stabilityLimit },
    create: (order, courant) => wave(order, { courant }),
  },
  {
    name: "heat",
    title: "heat diffusion",
    variant: { name: "delta", values: HEAT_DELTAS, default: 1, title: "reach in space" },
    timeStep: { name: "fourier", formula: "αΔt/h²", limit: fourierLimit },
    create: (delta, fourier) => heat(delta, { fourier }),
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
    variant: { name: "points", values: KS_POINTS, default: 5, title: "points of a sub-step" },
    timeStep: { name: "dt", formula: "Δt for Δx = 0.5", limit: () => ksTimeStepLimit() },
    create: (points, timeStep) => ks(points, { timeStep }),
  },
];
