/**
 * Makes `tuner/profile/shipped_rates.ts`, what choices know before anything is measured, from recordings:
 *
 *     deno run -A bench/write_shipped.ts fixtures/h100/grids.jsonl.gz …
 *
 * The recordings of one device are joined; of each problem it keeps what says most of what can run today, rates to three
 * digits.
 *
 * @module
 */
import { coordinatesOf, traversalNamed } from "../kernels/traversals/all.ts";
import { pointsOf } from "../tuner/profile/samples.ts";
import { workIn } from "../tuner/profile/profile_index.ts";
import { familyKey, problemOf, stencilKey } from "../tuner/profile/profile_problem.ts";
import type { ShippedDevice } from "../tuner/profile/shipped.ts";
import { readReplaySpaces } from "../tuner/replay/read_replay_space.ts";
import type { ReplaySpace } from "../tuner/replay/replay_space.ts";

/** Measurements that are kept of a problem: with 27 choices lose as much, with 14 more (`unseen.ts`). */
const EACH = 17;

export function shippedOf(spaces: readonly ReplaySpace[]): ShippedDevice[] {
  const recorded = spaces.flatMap(({ facet, configurations }) =>
    facet?.device.gpu ? [{ ...facet, configurations }] : []
  );
  return [...Map.groupBy(recorded, ({ device }) => device.gpu!.description).values()].map((some) => {
    const all = some.flatMap(({ configurations }) => configurations);
    const traversals = [...Map.groupBy(all, ({ traversal }) => traversal)].map(([traversal, its]) => {
      const names = new Set(
        its.flatMap(({ parameters }) => Object.keys(coordinatesOf(traversal, parameters))),
      );
      return [traversal, [...names].filter((name) => name !== "cpuWorkers")] as const;
    });
    const { gpu, cpu, os, deno, measured } = some[0]!.device;
    const equations = new Map<string, ShippedDevice["equations"][number]>();
    // what several recordings say of a problem counts as one
    const joined = Map.groupBy(some, ({ problem }) => JSON.stringify(problem));
    const problems = [...joined.values()].map((its) => {
      const { problem } = its[0]!;
      const { grid, steps, boundary: _, precision: __, ...names } = problem, asked = problemOf(problem);
      const key = JSON.stringify(names);
      if (!equations.has(key)) {
        const likeness = { hash: stencilKey(problem), family: familyKey(problem), work: workIn(problem) };
        equations.set(key, [names, likeness]);
      }
      const equation = [...equations.keys()].indexOf(key);
      // by the limits that they ran under: earlier recordings know fewer
      const fastestFirst = its.flatMap(({ device, configurations }) =>
        configurations.filter(({ traversal, rate, parameters }) =>
          rate && asked && parameters.cpuWorkers === undefined &&
          traversalNamed(traversal).infeasible(asked, parameters, device.gpu!.limits) === undefined
        )
      )
        .toSorted((a, b) => b.rate! - a.rate!).map((one) => ({ ...one, cellsPerSecond: one.rate! }));
      const first = pointsOf(fastestFirst).slice(0, EACH);
      const fastest = [...Map.groupBy(fastestFirst, ({ traversal }) => traversal).values()].map(([best]) =>
        best!
      );
      // none is taken for one that was not recorded
      const others = fastest.filter(({ traversal }) => !first.some((one) => one.traversal === traversal));
      const points = [...first.slice(0, EACH - others.length), ...others];
      const rates = points.map(({ traversal, parameters, rate }) => {
        const which = traversals.findIndex(([name]) => name === traversal);
        const place = coordinatesOf(traversal, parameters);
        const values = traversals[which]![1].map((name) => place[name] ?? null);
        return [which, Number((rate! / 1e9).toPrecision(3)), ...values] as const;
      });
      return [equation, grid, steps, rates] as const;
    });
    return {
      // its features say nothing of rates, and a page loads them
      device: { gpu: { ...gpu!, features: [] }, cpu, os, deno, measured },
      traversals,
      equations: [...equations.values()],
      problems: problems.filter(([, , , rates]) => rates.length > 0),
    };
  });
}

export function renderShipped(devices: readonly ShippedDevice[]): string {
  return "/** Recorded rates as JSON: see `shipped.ts`. `bench/write_shipped.ts` writes this file. */\n" +
    `export const SHIPPED_RATES =\n  ${
      JSON.stringify(JSON.stringify(devices)).replace(/^"(.*)"$/, (_, text) =>
        `'${text.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`)
    };\n`;
}

if (import.meta.main) {
  const spaces = await Promise.all(Deno.args.map((file) => readReplaySpaces(file)));
  const devices = shippedOf(spaces.flatMap(({ spaces }) => spaces));
  await Deno.writeTextFile(
    new URL("../tuner/profile/shipped_rates.ts", import.meta.url),
    renderShipped(devices),
  );
}
