import { auto } from "./auto.ts";
import { exhaustive, random } from "./baselines.ts";
import type { Strategy } from "./strategy.ts";

/** Every strategy, the default first. */
export const STRATEGIES: readonly Strategy[] = [auto, exhaustive, random];
