import { refusalOf } from "../../kernels/capability.ts";
import {
  combine,
  type Demand,
  type DeviceLimits,
  type ParameterLists,
  type Parameters,
  type Traversal,
} from "../../kernels/traversals/traversal.ts";
import { namesOf } from "../../kernels/traversals/parameter.ts";
import { remembered } from "../../kernels/remembered.ts";
import { WINDOW_SECTIONS } from "../../kernels/sections.ts";
import { cellsOf, fieldBytes, type Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { predict, type Prediction } from "../../models/cost_model.ts";
import { type DeviceModel, roofOf } from "../../models/roofline.ts";
import { type Passage, windowRate } from "../../models/window.ts";
import type { Configuration, Share } from "../configuration.ts";
import { configurationOf } from "../shares.ts";

/** A configuration of the GPU that could be measured. */
export interface Candidate extends Prediction {
  readonly traversal: Traversal;
  /** The whole grid on the GPU. */
  readonly configuration: Configuration;
  readonly demand: Demand;
  /** Cells per second that bandwidth allows for its traffic. */
  readonly roof: number;
  /** Of levels that pass through a window. */
  readonly window?: {
    readonly bytes: number;
    readonly passage: Passage;
    /** Predicted cells per second if all lay on the device. */
    readonly resident: number;
  };
}

/** The configuration of a candidate: the whole grid on the GPU. */
export function onGpuAlone(
  { traversal, parameters, memory }: Pick<Candidate, "traversal" | "parameters"> & {
    /** Bytes of the window. @default {all lies on the GPU} */
    readonly memory?: number | undefined;
  },
  { grid: [slices], steps }: Problem,
): Configuration {
  const gpu = { device: "gpu", slices, traversal: traversal.name, parameters } as const;
  return configurationOf([{ ...gpu, memory }], steps);
}

/** Lists of which some are replaced. */
export function withLists(
  lists: ParameterLists,
  names: readonly string[],
  choose: (list: ParameterLists[string], name: string) => ParameterLists[string],
): ParameterLists {
  return Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [name, names.includes(name) ? choose(list, name) : list]),
  );
}

/** A traversal's lists, found once for a problem and limits: it is asked for each of many configurations. */
export const listsOf: (problem: Problem, traversal: string, limits: DeviceLimits) => ParameterLists =
  remembered(
    (problem: Problem, traversal: string, limits: DeviceLimits) =>
      TRAVERSALS.find(({ name }) => name === traversal)!.parameterLists(problem, limits),
  );

/** Candidates, the best by then, whose neighbours are looked at; then again, with what that found. */
const MOST_REFINED = [16, 4];

/** For a traversal that was never measured, which must promise much more to be chosen: combinations to begin with, and the same. */
const MOST_UNMEASURED = 64, MOST_UNMEASURED_REFINED = [1];

/** What is known of a traversal. */
interface Measured {
  /** Whether all that may win is to be looked at: it was measured, or nothing was. */
  readonly isMeasured: boolean;
  /** Parameters that are candidates wherever they can run. */
  readonly measured: readonly Parameters[];
}

/** What a GPU can run of a traversal for a problem, of the combinations of parameters that were looked at. */
export class Enumeration {
  /** Each with its predicted rate; nothing is compiled. */
  readonly candidates: Candidate[] = [];
  /** Why the traversal cannot run the problem at all. */
  readonly refusal: string | undefined;
  /** Combinations that were looked at, and those of them that cannot run. */
  combinations = 0;
  infeasible = 0;
  #share: Share | undefined;
  #example = "";
  #limit = "";

  constructor(
    private readonly way: Traversal,
    private readonly problem: Problem,
    private readonly gpu: { readonly limits: DeviceLimits; readonly device: DeviceModel },
  ) {
    this.refusal = refusalOf(way, problem, gpu.limits)?.message;
  }

  get traversal(): string {
    return this.way.name;
  }

  /** An example of why something cannot run; what the device does not allow says more than what parameters do not go together. */
  get why(): string {
    return this.refusal ?? (this.#limit || this.#example);
  }

  get #lists(): ParameterLists {
    return this.way.parameterLists(this.problem, this.gpu.limits);
  }

  /** Looks at all combinations of some values. @param lists @default {all of the traversal's} */
  look(lists?: ParameterLists, isNew: (parameters: Parameters) => boolean = () => true): this {
    if (this.refusal !== undefined) return this;
    for (const parameters of combine(lists ?? this.#lists)) {
      if (!isNew(parameters)) continue;
      this.combinations++;
      const candidate = this.#candidateOf(parameters);
      if (candidate === undefined) this.infeasible++;
      else this.candidates.push(candidate);
    }
    return this;
  }

  /**
   * The best predicted, kernels written as usual: of every second value of long lists, and of what lies near the best; and
   * what was measured, whatever is predicted of it.
   */
  best(most: number, { isMeasured, measured }: Measured): Candidate[] {
    if (this.refusal !== undefined) return [];
    const { candidates } = this, seen = new Set<string>(), centres = new Set<Candidate>();
    const lists = this.#lists, names = Object.keys(lists);
    const all = withLists(lists, namesOf(this.way, "writing"), ([first]) => [first!]);
    let coarse = withLists(all, names, everySecond);
    if (!isMeasured) coarse = thinned(coarse);
    this.look(coarse);
    if (candidates.length === 0) this.look(coarse = all);
    const isNew = (parameters: Parameters): boolean => {
      const key = Object.values(parameters).join(), { size } = seen;
      return names.some((name) => !coarse[name]!.includes(parameters[name]!)) && seen.add(key).size > size;
    };
    const fastest = (count: number): Candidate[] =>
      candidates.sort((a, b) => b.predicted - a.predicted).slice(0, count);
    for (const count of isMeasured ? MOST_REFINED : MOST_UNMEASURED_REFINED) {
      for (const centre of fastest(count)) {
        if (centres.has(centre)) continue;
        centres.add(centre);
        const near = withLists(all, names, (list, name) => {
          const at = list.indexOf(centre.parameters[name]!),
            reach = coarse[name]!.length < list.length ? 1 : 0;
          return list.filter((_, i) => Math.abs(i - at) <= reach);
        });
        this.look(near, isNew);
      }
    }
    const best = fastest(most), valuesOf = (parameters: Parameters) => names.map((name) => parameters[name]);
    const known = new Set(best.map(({ parameters }) => valuesOf(parameters).join()));
    const others = measured.filter((parameters) => {
      const values = valuesOf(parameters), { size } = known;
      return values.every((value, i) => lists[names[i]!]!.includes(value!)) &&
        known.add(values.join()).size > size;
    });
    return [...best, ...others.flatMap((parameters) => this.#candidateOf(parameters) ?? [])];
  }

  /** A combination as a candidate; undefined where it cannot run, or compiles too long. */
  #candidateOf(parameters: Parameters): Candidate | undefined {
    const { way: traversal, problem, gpu: { limits, device } } = this;
    const why = traversal.infeasible(problem, parameters, limits);
    if (why !== undefined) {
      if (why.kind !== "parameters") this.#limit ||= why.message;
      this.#example ||= why.message;
      return undefined;
    }
    const { demand, predicted: resident } = predict(traversal, parameters, problem, device);
    const { loopInstructions = 0, workgroupBytes } = demand;
    const { mostLoopInstructions = Infinity, mostWorkgroupBytes = Infinity } = device.record ?? {};
    if (loopInstructions > mostLoopInstructions || workgroupBytes > mostWorkgroupBytes) {
      const what = loopInstructions > mostLoopInstructions
        ? `a loop of ${loopInstructions} instructions`
        : `${workgroupBytes} bytes of workgroup memory`;
      this.#example ||= `a driver in software takes too long to compile it: ${what}`;
      return undefined;
    }
    const passage = passageOf(problem, { traversal, parameters }, limits);
    const window = passage && { window: { bytes: limits.windowBytes!, passage, resident } };
    const way = { traversal, parameters, ...window };
    this.#share ??= onGpuAlone({ ...way, memory: window?.window.bytes }, problem).share;
    return {
      ...way,
      configuration: { traversal: traversal.name, parameters, share: this.#share },
      demand,
      predicted: passage === undefined ? resident : windowRate(passage, resident),
      roof: roofOf(demand, device.copyBytesPerSecond),
    };
  }
}

/** Every second of a list's first values that are in order, where they are more than four, and all others. */
function everySecond(list: ParameterLists[string]): ParameterLists[string] {
  const end = list.findIndex((value, i) => i > 0 && value <= list[i - 1]!);
  const count = end < 0 ? list.length : end;
  return count > 4 ? list.filter((_, i) => i % 2 === 0 || i >= count) : list;
}

/** Every second value of the longest list, again and again, until there are few combinations. */
function thinned(lists: ParameterLists): ParameterLists {
  const lengths = Object.entries(lists).map(([name, { length }]) => ({ name, length }));
  if (lengths.reduce((product, { length }) => product * length, 1) <= MOST_UNMEASURED) return lists;
  const longest = lengths.reduce((a, b) => b.length > a.length ? b : a).name;
  return thinned(withLists(lists, [longest], (list) => list.filter((_, i) => i % 2 === 0)));
}

/** A passage through the window that the limits give; undefined where all lies on the device. */
function passageOf(
  problem: Problem,
  { traversal, parameters }: Pick<Candidate, "traversal" | "parameters">,
  limits: DeviceLimits,
): Passage | undefined {
  const { windowBytes } = limits;
  if (windowBytes === undefined) return undefined;
  const { grid, steps } = problem, cells = cellsOf(grid);
  const bytes = fieldBytes(problem);
  // of each section half is in common with the next, roughly
  const sections = Math.ceil(2 * WINDOW_SECTIONS * bytes / windowBytes);
  const most = traversal.passageSteps?.(problem, parameters, limits) ?? 1;
  return { cells, steps: Math.min(steps, most), bytes, sections };
}
