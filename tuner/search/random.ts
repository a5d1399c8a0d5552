import { seededRandom } from "./seeded_random.ts";
import type { Strategy } from "./strategy.ts";

/** Candidates drawn at random, without repetition: the baseline that any other strategy has to beat. */
export const random: Strategy = {
  name: "random",
  title: "configurations at random, none twice",
  begin(candidates, seed) {
    const left = [...candidates];
    const draw = seededRandom(seed);
    return {
      next() {
        // the drawn one leaves its place to the last
        const index = Math.floor(draw() * left.length);
        const drawn = left[index];
        const last = left.pop();
        if (last !== undefined && index < left.length) left[index] = last;
        return drawn;
      },
      tell: () => {},
    };
  },
};
