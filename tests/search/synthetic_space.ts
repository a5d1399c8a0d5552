/**
 * A space whose rates are known, for tests: torres and stepwise kernels of the wave equation on a large GPU, whose
 * rates are the models' times factors that the models know nothing of.
 *
 * @module
 */
import { CostModel } from "../../models/cost_model.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { predictRate, registersOf } from "../../models/roofline.ts";
import { chooseConfigurations } from "../../tuner/replay/choose_configurations.ts";
import type { ReplayCandidate } from "../../tuner/replay/replay_space.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { enumerateSpace, rankCandidates, type Space } from "../../tuner/search/space.ts";
import { H100_LIMITS } from "../h100_limits.ts";

const PROBLEM = { stencil: wave(2), grid: [584, 5280, 128], boundary: "zero", steps: 96 } as const;
const DEVICE = { copyBytesPerSecond: 3e12 };

/** The whole space takes a second to enumerate: once for all tests of a file. */
let enumerated: Space | undefined;

/**
 * Makes a space.
 *
 * @param count configurations at most
 * @param options the seed of what the models do not know; whether every 7th of the largest torres fails
 */
export function syntheticSpace(
  count: number,
  { seed, failures = false }: { seed: number; failures?: boolean },
): ReplayCandidate[] {
  enumerated ??= enumerateSpace(PROBLEM, {
    // the seeds' figures are of these; others have tests of their own
    traversals: TRAVERSALS.filter(({ name }) => name !== "volume-torre"),
    limits: H100_LIMITS,
    model: new CostModel(DEVICE),
  });
  const { candidates } = enumerated;
  const draw = seededRandom(seed);
  const factors = new Map<string, number>();
  /** A factor that belongs to a text; about half of all lie within ± its size. */
  const factor = (text: string, size: number): number => {
    if (!factors.has(text)) factors.set(text, size * 2 * (draw() + draw() - 1));
    return factors.get(text)!;
  };
  const registers = 0.85 + 0.3 * draw();
  return rankCandidates(
    chooseConfigurations(candidates, { limit: count, seed }).map((candidate, i) => {
      const { traversal: { name }, parameters, demand, predicted } = candidate;
      const real = { ...demand, registers: { plain: registers * registersOf(demand) } };
      let logRate = Math.log(predictRate(real, DEVICE, { cells: cellsOf(PROBLEM.grid) }));
      const entries = Object.entries(parameters);
      logRate += factor(name, 0.2);
      entries.forEach((one, k) => {
        logRate += factor(`${name} ${one}`, 0.05);
        for (const other of entries.slice(0, k)) logRate += factor(`${name} ${one} ${other}`, 0.015);
      });
      const compileNs = 5e7 + 1.5e5 * (demand.loopInstructions ?? 0);
      const hasFailed = failures && i % 7 === 0 && (demand.loopInstructions ?? 0) > 2000;
      return {
        traversal: candidate.traversal,
        parameters,
        demand,
        predicted,
        recorded: {
          traversal: name,
          parameters,
          rate: hasFailed ? undefined : Math.exp(logRate),
          compileNs,
          evaluationNs: compileNs + 4e8,
          ...(hasFailed ? { failure: "timeout" } : {}),
        },
      };
    }),
  );
}
