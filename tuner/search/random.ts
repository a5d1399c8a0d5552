import { batchSearch, type Steps } from "./batch_search.ts";
import { seededRandom } from "../measuring/seeded_random.ts";
import type { Strategy } from "./strategy.ts";

/** Candidates drawn at random, without repetition: the baseline that any other strategy has to beat. */
export const random: Strategy = {
  name: "random",
  title: "configurations at random, none twice",
  begin: (candidates, { seed }) => batchSearch(candidates, seededRandom(seed), nothingWanted()),
};

/** Wants nothing: what is left is drawn at random. */
function* nothingWanted(): Steps<never> {}
