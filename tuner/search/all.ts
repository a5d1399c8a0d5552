import { auto } from "./auto.ts";
import { exhaustive } from "./exhaustive.ts";
import { genetic } from "./genetic.ts";
import { local } from "./local.ts";
import { random } from "./random.ts";
import type { Strategy } from "./strategy.ts";
import { surrogate } from "./surrogate.ts";

/** Every strategy, the default first. */
export const STRATEGIES: readonly Strategy[] = [auto, exhaustive, surrogate, genetic, local, random];
