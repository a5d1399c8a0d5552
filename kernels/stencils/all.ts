/**
 * Every equation that is built in. A new one is a file of its own and a name here.
 *
 * @module
 */
import { ACOUSTIC } from "./acoustic.ts";
import { ELASTIC } from "./elastic.ts";
import { HEAT } from "./heat.ts";
import { HEAT_1D } from "./heat_1d.ts";
import { KS } from "./ks.ts";
import { LIFE } from "./life.ts";
import { MAXWELL } from "./maxwell.ts";
import type { Equation } from "./stencil.ts";
import { WAVE } from "./wave.ts";

/** All equations, the default first. */
export const EQUATIONS: readonly Equation[] = [WAVE, HEAT, LIFE, ELASTIC, ACOUSTIC, MAXWELL, HEAT_1D, KS];
