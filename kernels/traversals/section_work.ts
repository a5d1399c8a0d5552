/**
 * Dispatches on levels that lie in sections: see `../sections.ts`. A dispatch writes into one section; where they have arrays
 * of their own, such slices are copied there, on the device, before another section's dispatch touches them. When a run
 * begins and when it ends, what sections hold in common is alike.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import { areApart, type Section, type SliceRange } from "../sections.ts";
import { LINEAR_THREADS, linearWorkgroups } from "../wgsl/declare.ts";
import { wgsl } from "../wgsl/template.ts";
import { type Shader, shaderOf } from "../wgsl/shader.ts";
import type { Dispatch } from "./traversal.ts";

/** Even levels or odd ones. */
export type Level = 0 | 1;

/** What a dispatch does with its section. */
interface Touches {
  readonly section: number;
  /** Slices that it writes, of these levels; it may read them in both. */
  readonly ranges: readonly SliceRange[];
  readonly levels: readonly Level[];
  /** Slices before and after these that it reads as well. @default {0} */
  readonly reach?: number;
}

/** The shaders that copy slices, between two sections and within one; where none has an array of its own, none. */
export function copyShaders(sections: readonly Section[]): Shader[] {
  return !areApart(sections) ? [] : (["before", "now"] as const).map((target) =>
    shaderOf(
      "copy slices",
      wgsl`
      // Copies slices of a level, 16 bytes a thread.
      struct Copy { source: i32, goal: i32, count: i32 }
      @group(0) @binding(0) var<storage, read_write> now: array<vec4f>;
      @group(0) @binding(1) var<storage, read_write> before: array<vec4f>;
      @group(0) @binding(2) var<uniform> copy: Copy;

      @compute @workgroup_size(${LINEAR_THREADS})
      fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
        let i = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
        if (i < copy.count) { ${target}[copy.goal + i] = now[copy.source + i]; }
      }
    `,
      sections[0]!.layout,
    )
  );
}

/** A list of dispatches that grows by work in sections and the copies in between. */
export class SectionWork {
  readonly #dispatches: Dispatch[] = [];
  readonly #sections: readonly Section[];
  readonly #slice: number;
  /** By level and section: slices that another section has written since. */
  readonly #stale: readonly (readonly Set<number>[])[];

  /**
   * @param sections none, where whoever runs the dispatches moves slices himself; those of one buffer need no copies
   * @param copies the place among the plan's shaders of the first of {@linkcode copyShaders}
   */
  constructor(sections: readonly Section[], { slice }: Layout, private readonly copies: number) {
    this.#sections = areApart(sections) ? sections : [];
    this.#slice = slice;
    this.#stale = [0, 1].map(() => this.#sections.map(() => new Set<number>()));
  }

  add(dispatch: Dispatch, { section, ranges, levels, reach = 0 }: Touches): void {
    for (const level of [0, 1] as const) {
      for (const [from, to] of ranges) this.#bring(section, level, [from - reach, to + reach]);
    }
    this.#dispatches.push(section === 0 ? dispatch : { ...dispatch, section });
    const { twins } = dispatch;
    for (const level of levels) for (const range of ranges) this.#wrote(section, level, range, twins);
  }

  /** Gives slice `to` of a level the values of slice `from`. */
  copy(level: Level, from: number, to: number): void {
    const holding = (x: number): number[] =>
      [...this.#sections.keys()].filter((section) => this.#isCurrent(section, level, x));
    const section = this.#sections.findIndex((candidate) => holds(candidate, to));
    const source = holding(from).find((holder) => holder !== section) ?? section;
    this.#push(level, { source, section, from, to });
    this.#wrote(section, level, [to, to + 1]);
  }

  /** All dispatches, so that what sections hold in common is alike after the last. */
  finish(): Dispatch[] {
    this.#sections.forEach(({ slices }, section) => {
      for (const level of [0, 1] as const) this.#bring(section, level, slices);
    });
    return this.#dispatches;
  }

  /** Copies what the section holds of a range, but not as it was written last. */
  #bring(section: number, level: Level, [from, to]: SliceRange): void {
    const stale = this.#stale[level]![section];
    for (let x = from; x < to && stale !== undefined && stale.size > 0; x++) {
      if (!stale.has(x)) continue;
      const source = this.#sections.findIndex((_, nth) => this.#isCurrent(nth, level, x));
      this.#push(level, { source, section, from: x, to: x });
      stale.delete(x);
    }
  }

  #wrote(section: number, level: Level, [from, to]: SliceRange, twins: readonly number[] = []): void {
    this.#sections.forEach(({ slices: [first, last] }, one) => {
      const stale = this.#stale[level]![one]!, isWritten = one === section || twins.includes(one);
      if (isWritten && stale.size === 0) return;
      for (let x = Math.max(from, first); x < Math.min(to, last); x++) {
        if (isWritten) stale.delete(x);
        else stale.add(x);
      }
    });
  }

  #isCurrent(section: number, level: Level, x: number): boolean {
    return holds(this.#sections[section]!, x) && !this.#stale[level]![section]!.has(x);
  }

  /** Copies a slice, together with those before it where it can. */
  #push(
    level: Level,
    { source, section, from, to }: Record<"source" | "section" | "from" | "to", number>,
  ): void {
    const vectors = this.#slice / 4;
    const at = (one: number, x: number): number => (x - this.#sections[one]!.slices[0]) * vectors;
    const shader = this.copies + (source === section ? 1 : 0);
    let first = at(source, from), goal = at(section, to), count = vectors;
    const last = this.#dispatches.at(-1);
    if (
      last !== undefined && last.shader === shader && last.section === source &&
      last.flipped === (level === 1)
    ) {
      const [itsFirst = 0, itsGoal = 0, itsCount = 0] = last.uniforms;
      const isNext = itsFirst + itsCount === first && itsGoal + itsCount === goal;
      if (isNext && (last.copiesTo ?? source) === section) {
        this.#dispatches.pop();
        [first, goal, count] = [itsFirst, itsGoal, itsCount + count];
      }
    }
    this.#dispatches.push({
      shader,
      workgroups: linearWorkgroups(count),
      flipped: level === 1,
      uniforms: [first, goal, count],
      section: source,
      ...(source !== section && { copiesTo: section }),
    });
  }
}

function holds({ slices: [from, to] }: Section, x: number): boolean {
  return from <= x && x < to;
}
