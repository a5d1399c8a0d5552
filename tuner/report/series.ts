import type { Configuration } from "../configuration.ts";
import { type Html, markup } from "./html.ts";
import { isShared, uses } from "../shares.ts";

/** The marks, 12 × 12, with the names by which the charts know them. */
const MARKS = {
  circle: "M6,1.5a4.5,4.5 0 1,1 0,9a4.5,4.5 0 1,1 0,-9z",
  triangle: "M6,1L11,10.5L1,10.5z",
  diamond: "M6,0.5L10,6L6,11.5L2,6z",
  square: "M2,2h8v8h-8z",
  star: "M6,0.5L7.4,4.3L11.4,4.4L8.2,6.9L9.4,10.8L6,8.5L2.6,10.8L3.8,6.9L0.6,4.4L4.6,4.3z",
  cross: "M4.5,1h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
  wye: "M4.5,11v-4l-3.5,-2l1.5,-2.6l3.5,2l3.5,-2l1.5,2.6l-3.5,2v4z",
} as const;

/** Colour (`--series-N` of the page's style) and mark of whoever computes. */
export interface Look {
  readonly color: string;
  readonly mark: keyof typeof MARKS;
}

/** Both devices together. */
export const TOGETHER = "GPU + CPU";

/** No two look alike, so that a traversal looks the same in every chart of every page. */
const LOOKS: Readonly<Record<string, readonly [hue: number, mark: Look["mark"]]>> = {
  "stepwise": [0, "circle"],
  "marching": [1, "triangle"],
  "diamond-torre": [2, "diamond"],
  "plane-torre": [3, "diamond"],
  "volume-torre": [4, "triangle"],
  "CPU stepwise": [3, "square"],
  "CPU diamond-wavefront": [4, "star"],
  [TOGETHER]: [6, "cross"],
  "classic": [0, "square"],
  "swept": [1, "star"],
  "swept-register": [2, "wye"],
  "CPU classic": [3, "circle"],
  "CPU swept": [4, "diamond"],
};

/** Who computes: a traversal of the GPU by its name, one of the CPU as `CPU stepwise`, or both together. */
export function seriesOf({ traversal, share }: Configuration): string {
  return isShared(share) ? TOGETHER : uses(share, "gpu") ? traversal : `CPU ${traversal}`;
}

/** How a series looks; one of another tool has a look that depends on its name alone. */
export function lookOf(series: string): Look {
  const marks = Object.keys(MARKS) as Look["mark"][];
  const sum = [...series].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0);
  const [hue, mark] = Object.hasOwn(LOOKS, series) ? LOOKS[series]! : [5, marks[sum % marks.length]!];
  return { color: `var(--series-${hue})`, mark };
}

export function markKey({ color, mark }: Look): Html {
  const path = markup`<path d="${MARKS[mark]}" fill="${color}"/>`;
  return markup`<svg class="key" viewBox="0 0 12 12" aria-hidden="true">${path}</svg>`;
}

/** What the marks of a chart mean. */
export function legend(series: readonly string[]): Html {
  const keys = series.map((name) => markup`<li>${markKey(lookOf(name))}${name}</li>`);
  return markup`<ul class="legend">${keys}</ul>`;
}
