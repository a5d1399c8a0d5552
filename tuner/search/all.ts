import { exhaustive } from "./exhaustive.ts";
import { random } from "./random.ts";
import type { Strategy } from "./strategy.ts";

/** Every strategy, the default first. */
export const STRATEGIES: readonly Strategy[] = [exhaustive, random];
