/**
 * Rounds of a torre's loop that are **lean**: tiles without points, in whose cells all axis profiles are what they mostly are, as
 * 0 within absorbing edges. They run in a loop of their own, whose update has these values for constants.
 *
 * A workgroup holds the profiles along its way in workgroup memory, and marks the rounds that are not lean, a bit each. Threads
 * must find the marks alike for barriers in either loop, as WGSL has it.
 *
 * @module
 */
import { layProfiles } from "../../axis_profiles.ts";
import type { Offset, ProfileTap } from "../../expression.ts";
import { precisionOf } from "../../precision.ts";
import type { Problem } from "../../stencils/stencil.ts";
import type { Update } from "../../update.ts";
import { plus } from "../../wgsl/declare.ts";
import { seriesAccess } from "../../wgsl/points.ts";
import { wgsl } from "../../wgsl/template.ts";
import { coefficientsOf, profilesIn, usualOf } from "./coefficients.ts";
import { upTo, type VolumePiece } from "./lattice.ts";

/** The profiles that a torre of `nt` tiers holds: each from `low` cells beyond its first cell on, and how many cells `more` than a tile's. */
function heldProfiles(update: Update, { slope, width }: VolumePiece, nt: number) {
  const { expression } = coefficientsOf(update);
  return [...Map.groupBy(profilesIn(expression), ({ profile }) => profile)].map(([profile, taps]) => {
    const offsets = taps.map(({ offset }) => offset), { axis } = taps[0]!, low = Math.min(...offsets);
    const more = Math.max(...offsets) - low, own = axis === 0 ? slope * (nt - 1) + width : width - 1;
    return { profile, axis, low, more, length: own + more };
  });
}

/** Whether any round may be other than lean. */
export function hasLean({ stencil, survey }: Pick<Problem, "stencil" | "survey">): boolean {
  return survey !== undefined || profilesIn(coefficientsOf(stencil.update).expression).length > 0;
}

/** Bytes of workgroup memory for profiles and marks. */
export function leanBytes(problem: Problem, piece: VolumePiece, nt: number): number {
  const { stencil: { update } } = problem, held = heldProfiles(update, piece, nt);
  const values = held.reduce((sum, { length }) => sum + length, 0);
  return precisionOf(update).bytes * values + (hasLean(problem) ? 8 * Math.ceil(nt / 32) : 0);
}

/** The hooks of lean rounds, of `ahead` tiers each, in a torre's shader. */
export function leanRounds(problem: Problem, piece: VolumePiece, nt: number, ahead: number) {
  const { stencil: { update }, grid } = problem, held = heldProfiles(update, piece, nt);
  const words = upTo(Math.ceil(nt / ahead / 32)), { starts } = layProfiles(update, grid);
  const loopUntil = (end: string, tiers: string): string =>
    wgsl`
      loop {
        if (${end}) { break; }
        t += AHEAD;
        ${tiers}
      }
    `;
  /** Text of a profile's value in a cell of these places from the thread's corner. */
  const read = (place: Offset) => ({ profile, axis, offset }: ProfileTap): string => {
    const { low } = held.find((one) => one.profile === profile)!;
    return `profile${profile}[${plus(["x + inX", "inY", "inZ"][axis]!, place[axis] + offset - low)}]`;
  };
  if (!hasLean(problem)) {
    return {
      declarations: "",
      start: "",
      read,
      inLoops: (tiers: (isLean: boolean) => string) => loopUntil("t >= end", tiers(false)),
    };
  }
  const hold = held.map(({ profile, axis, low, more, length }) => {
    const first = ["x + S", "y - M + 1", "z - M + 1"][axis]!;
    const [from, to] = axis === 0
      ? [`max(0, i - (W - S + ${more})) / (S * AHEAD)`, "i / (S * AHEAD)"]
      : ["0", `${32 * words.length}`];
    return wgsl`
      for (var i = thread; i < ${length}; i += THREADS) {
        let at = ${plus(first, low)} + i;
        let value = select(0.0f, profiles[${plus("at", starts[profile]!)}], u32(at) < u32(${grid[axis]}));
        profile${profile}[i] = value;
        if (value != ${precisionOf(update).literal(usualOf(update, profile))}) { mark(${from}, ${to}); }
      }
    `;
  });
  const markPoints = wgsl`
    for (var i = thread; i < end - begin; i += THREADS) {
      if (listOf(Y * TILES_Z + Z, x + S * (i + 1)) > 0) { mark(i / AHEAD, i / AHEAD); }
    }
  `;
  const round = "(t - begin) / AHEAD";
  const word = words.slice(1).reduce(
    (text, i) => `select(${text}, marks${i}, ${round} >= ${32 * i})`,
    "marks0",
  );
  const isLean = `((${word} >> (u32(${round}) % 32u)) & 1u) == 0u`;
  return {
    declarations: wgsl`
      ${
      held.map(({ profile, length }) => `var<workgroup> profile${profile}: array<f32, ${length}>;`).join("\n")
    }
      var<workgroup> found: array<atomic<u32>, ${words.length}>;
      var<workgroup> marks: array<u32, ${words.length}>;
      fn mark(first: i32, last: i32) {
        for (var i = 0; i < ${words.length}; i++) {
          let low = clamp(first - 32 * i, 0, 32); let high = clamp(last + 1 - 32 * i, low, 32);
          atomicOr(&found[i], insertBits(0u, 0xffffffffu, u32(low), u32(high - low)));
        }
      }
    `,
    /** Lines before the first tier. */
    start: wgsl`
      let inX = cellX - x; let inY = cellY - y + M - 1; let inZ = cellZ - z + M - 1;
      ${hold.join("\n")}
      ${seriesAccess(problem).hasPoints ? markPoints : ""}
      workgroupBarrier();
      for (var i = thread; i < ${words.length}; i += THREADS) { marks[i] = atomicLoad(&found[i]); }
      ${words.map((i) => `let marks${i} = workgroupUniformLoad(&marks[${i}]);`).join("\n")}
    `,
    read,
    /** The loop of all tiers, or two, of these lines. */
    inLoops: (tiers: (isLean: boolean) => string): string =>
      wgsl`
        loop {
          if (t >= end) { break; }
          if (${isLean}) {
            ${loopUntil(`t >= end || !(${isLean})`, tiers(true))}
          } else {
            ${loopUntil(`t >= end || ${isLean}`, tiers(false))}
          }
        }
      `,
  };
}
