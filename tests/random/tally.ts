import { needsOf } from "../../kernels/capability.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { isShared } from "../../tuner/shares.ts";
import { problemOf } from "./machines.ts";
import type { Verdict } from "./judge.ts";
import { type Call, isUnshared, type RandomCase, readsBefore } from "./random_case.ts";

/** What became of a case, or the fault that is known. */
type Counted = Omit<Verdict, "fault"> & {
  readonly fault?: Verdict["fault"] | undefined;
  readonly known?: string;
};

/** What was drawn, counted in scripts, so that nothing is silently never drawn. */
export class Tally {
  cases = 0;
  scripts = 0;
  compared = 0;
  blind = 0;
  exact = 0;
  lost = 0;
  failed = 0;
  readonly refused = new Map<string, number>();
  readonly known = new Map<string, number>();
  readonly #drawn = new Map<string, Map<string, number>>();

  add(one: RandomCase, verdict: Counted): void {
    const scripts = scriptsOf(one);
    this.cases++;
    this.scripts += scripts;
    for (const [kind, words] of Object.entries(featuresOf(one))) {
      const counts = this.#drawn.get(kind) ?? new Map<string, number>();
      this.#drawn.set(kind, counts);
      for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + scripts);
    }
    const { compared, blind, exact, isLost, refused, fault, known } = verdict;
    this.compared += compared;
    this.blind += blind;
    this.exact += exact;
    if (isLost) this.lost += scripts;
    if (fault !== undefined) this.failed++;
    for (const [words, counts] of [[refused, this.refused], [known, this.known]] as const) {
      if (words === undefined) continue;
      const why = words.replace(/[\d.]+/g, "#").slice(0, 100);
      counts.set(why, (counts.get(why) ?? 0) + scripts);
    }
  }

  /** Kinds of what was drawn, each with how often. */
  get drawn(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#drawn;
  }

  get lines(): string[] {
    const part = (of: number, all: number) => `${(100 * of / Math.max(1, all)).toFixed(1)}%`;
    const refused = [...this.refused.values()].reduce((sum, count) => sum + count, 0);
    return [
      `${this.scripts} scripts on ${this.cases} solvers: ${this.failed} failed; ${
        part(refused, this.scripts)
      } refused, ${part(this.lost, this.scripts)} grew too large`,
      `${this.compared} values compared: ${part(this.exact, this.compared)} exactly, ${
        part(this.blind, this.compared)
      } with a bound above 1% of the field`,
      ...[...this.#drawn].map(([kind, counts]) =>
        `${kind}: ${
          [...counts].sort(([, a], [, b]) => b - a).map(([word, count]) => `${word} ${count}`).join(", ")
        }`
      ),
      ...[...this.refused].map(([why, count]) => `refused ${count}: ${why}`),
      ...[...this.known].map(([why, count]) => `known ${count}: ${why}`),
    ];
  }
}

/** Scripts of a case: each begins with a reset, but for the first. */
export function scriptsOf({ calls }: RandomCase): number {
  return 1 + calls.filter(({ call }) => call === "reset").length;
}

function featuresOf(one: RandomCase): Record<string, string[]> {
  const { definition, grid, boundary, where, survey, calls } = one,
    text = JSON.stringify(definition.substeps);
  const configurations = where.on === "solver" ? [where.configuration] : where.configurations;
  const { share } = configurations[0]!, usesGpu = share.gpuSlices > 0;
  const kinds = new Set(
    configurations.map(({ share: { deviceMemory, gpuSlices, cpuWorkers } }) =>
      deviceMemory !== undefined ? "window" : gpuSlices === 0 ? "CPU" : cpuWorkers > 0 ? "both" : "GPU"
    ),
  );
  const device = where.on === "ranks"
    ? `${[...kinds].sort().join(" and ")} ranks ${where.parts.join("x")}${where.inTurns ? " in turns" : ""}`
    : share.deviceMemory !== undefined
    ? "window"
    : where.sections
    ? `sections${where.sections.isBuffer ? " in buffers" : ""}`
    : where.hasBuffers
    ? "own buffers"
    : usesGpu && share.cpuSlices > 0
    ? "both"
    : usesGpu
    ? "GPU"
    : isUnshared(one)
    ? "CPU, no thread"
    : `CPU, ${share.cpuWorkers} workers`;
  const traversals = configurations.flatMap(({ traversal, share: { cpu, gpuSlices } }) => [
    `${gpuSlices > 0 ? "GPU" : "CPU"} ${traversal}`,
    ...cpu ? [`CPU ${cpu.traversal} beside`] : [],
  ]);
  const parameters = configurations.flatMap(({ traversal, parameters, share: { gpuSlices } }) =>
    gpuSlices === 0 ? [] : Object.entries(parameters).map(([name, value]) => `${traversal}.${name}=${value}`)
  );
  const has = (is: boolean, word: string): string[] => is ? [word] : [];
  const thin = grid.filter((cells) => cells === 1).length, isBuiltIn = definition.name !== "drawn";
  const callWord = (call: Call): string =>
    call.call === "receivers" && call.takes !== undefined
      ? `receivers, ${call.takes === "samples" ? "samples" : "frequencies"}`
      : (call.call === "sources" || call.call === "receivers") && call.interpolation === "sinc"
      ? `${call.call}, sinc`
      : call.call === "write" && call.x !== undefined
      ? "write, slices"
      : call.call;
  return {
    devices: [device],
    traversals,
    dimensions: [`${definition.dimensions}`],
    boundaries: [boundary.every((word) => word === boundary[0]) ? boundary[0]! : "mixed"],
    grids: [
      ...has(thin === 0, "thick"),
      ...has(thin === 1 && definition.dimensions > 1, `one layer, axis ${grid.indexOf(1)} of ${grid.length}`),
      ...has(thin > 1 && definition.dimensions === 3, "one row"),
      ...has(thin === grid.length, "one cell"),
    ],
    equations: [
      ...has(isBuiltIn, definition.name),
      ...has(!isBuiltIn, `${definition.fields.length} fields`),
      ...has(!isBuiltIn, `${definition.substeps.length} sub-steps`),
      ...[
        "before",
        "next",
        "shifted",
        "signal",
        "choose",
        "floor",
        "divide",
        "squareRoot",
        "sine",
        "cosine",
        "tanh",
        "exponential",
        "logarithm",
        "power",
      ]
        .filter((word) => text.includes(`["${word}"`)),
      ...has(definition.materials.length > 0, "materials"),
      ...has(definition.materials.some(({ packed }) => packed !== undefined), "packed"),
      ...has((definition.profiles?.length ?? 0) > 0, "profiles"),
      ...has(definition.sources !== undefined, "sources"),
      ...has(definition.surface !== undefined, "surface"),
      ...has(definition.stagger !== undefined, "stagger"),
      ...has(definition.layers !== undefined, "layers"),
      ...has(definition.precision === "f64", "f64"),
      ...has(readsBefore(definition), "t - 1"),
    ],
    needs: needsMet(one),
    calls: [
      ...calls.map(callWord),
      ...has(survey !== undefined, "survey"),
      ...has(
        survey !== undefined && !calls.some(({ call }) => call === "sources" || call === "receivers"),
        "survey without points",
      ),
      ...has(one.isHasty ?? false, "without waiting"),
    ],
    parameters,
  };
}

/** What each traversal was asked to serve beyond the plainest problem, as `marching: signal`. */
function needsMet(one: RandomCase): string[] {
  const { where } = one, problem = plannedProblem(problemOf(one));
  if (where.on === "ranks" || isShared(where.configuration.share)) return [];
  const { traversal, share } = where.configuration, device = share.gpuSlices > 0 ? "GPU" : "CPU";
  return [...needsOf(problem).keys()].map((need) => `${device} ${traversal}: ${need}`);
}
