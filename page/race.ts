/// <reference lib="dom" />
/**
 * Tuning in sight: the plain kernel against the fastest so far, and every configuration that was tried.
 *
 * @module
 */
import {
  formatProfile,
  type OpenProblem,
  type Profile,
  readProfile,
  tune,
  type TuneEvaluation,
} from "../mod.ts";
import type { Machine } from "./simulation.ts";

export { formatProfile, readProfile };

/** Milliseconds for a run of `tune`. */
const BUDGET_MS = 5000;

/** Where the browser keeps what it learnt, and of how many problems. */
const KEPT = "facet-profile", MOST_ENTRIES = 24;

/** What the wave equation in three dimensions reaches elsewhere, tuned, in cells per second: BENCHMARKS.md. */
const ELSEWHERE = { "an H200": 1043e9, "an H100": 871e9, "two cores": 0.9e9 };

/** A rate for people. */
function sayRate(cellsPerSecond: number): string {
  const [unit, name] = cellsPerSecond >= 1e9 ? [1e9, "G"] : [1e6, "M"] as const;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(cellsPerSecond / unit)));
  return `${(cellsPerSecond / unit).toFixed(digits)} ${name}cells/s`;
}

/** The profiles that this browser keeps. */
export async function keptProfiles(): Promise<Profile[]> {
  const text = localStorage.getItem(KEPT);
  return text === null ? [] : await readProfile(text).then((one) => [one], () => []);
}

/** Keeps a profile in this browser, the newest entries first, beside what the one before knows of other problems. */
export function keptWith(profile: Profile, [earlier]: readonly Profile[]): Profile[] {
  const known = new Set(profile.entries.map(({ problem }) => JSON.stringify(problem)));
  const others = earlier?.entries.filter(({ problem }) => !known.has(JSON.stringify(problem))) ?? [];
  const kept = { ...profile, entries: [...profile.entries, ...others].slice(0, MOST_ENTRIES) };
  localStorage.setItem(KEPT, JSON.stringify(kept));
  return [kept];
}

const rateOf = (one: TuneEvaluation | undefined): number => one?.measurement?.cellsPerSecond ?? 0;

/**
 * Tunes a scene on this device, and shows what is known after each configuration.
 *
 * @param show gets it as HTML
 * @param rest is awaited after each configuration
 * @returns its profile; undefined where nothing verified
 */
export async function race(
  { stencil, grid, boundary, edges, survey }: OpenProblem,
  { device, cpuWorkers }: Machine,
  others: { signal: AbortSignal; profile?: Profile },
  show: (html: string) => void,
  rest: () => Promise<void>,
): Promise<Profile | undefined> {
  // by configuration: the final round measures some again, and what it says counts
  const tried = new Map<string, TuneEvaluation>();
  const { profile } = await tune({
    ...{ stencil, grid, boundary, edges, ...(survey && { survey }), ...others },
    budgetMs: BUDGET_MS,
    gpu: device !== null,
    cpuWorkers: device === null ? cpuWorkers : 0,
    onEvaluation(evaluation) {
      const key = JSON.stringify(evaluation.configuration);
      tried.set(key, { ...tried.get(key), ...evaluation });
      show(resultOf([...tried.values()]));
      return rest();
    },
  });
  const entry = profile?.entries[0], copies = entry?.copyBytesPerSecond;
  const winner = tried.get(JSON.stringify(entry?.configuration));
  if (winner) show(resultOf([...tried.values()], winner, device === null ? copies?.cpu : copies?.gpu));
  return profile;
}

/** The race as HTML; with the winner, once it is known, and the bandwidth in bytes per second. */
function resultOf(tried: readonly TuneEvaluation[], winner?: TuneEvaluation, bandwidth?: number): string {
  const fastest = tried.filter(rateOf).sort((a, b) => rateOf(b) - rateOf(a)), best = winner ?? fastest[0];
  const plain = fastest.find(({ configuration }) => configuration.traversal === "stepwise");
  const gain = plain && best ? rateOf(best) / rateOf(plain) : 1,
    failed = tried.filter(({ failure }) => failure).length;
  const title = gain >= 1.05
    ? `${gain.toFixed(gain < 10 ? 1 : 0)}× faster`
    : winner
    ? "Already the fastest"
    : "Measuring the plain kernel";
  const rates = gain >= 1.05
    ? `${sayRate(rateOf(plain))} → ${sayRate(rateOf(best))}`
    : winner
    ? `No order beats the plain kernel here: ${sayRate(rateOf(best))}`
    : "";
  const bar = (id: string, name: string, rate: number, part: number) =>
    `<p id="${id}"><label>${name} <progress max="1" value="${part}"></progress></label> ${
      rate ? sayRate(rate) : ""
    }</p>`;
  const racing = ([["plain", "Plain kernel", plain], ["best", "Tuned kernel", best]] as const)
    .map(([id, name, one]) => bar(id, name, rateOf(one), rateOf(one) / Math.max(1, rateOf(best))));
  const details = ([["Plain", plain], ["Tuned", best]] as const).map(([name, one]) => {
    if (one?.measurement === undefined) return "";
    const { configuration: { traversal, parameters }, measurement: { verification }, roof } = one;
    const bytes = roof && bandwidth ? `, ${(bandwidth / roof).toPrecision(3)} bytes a cell` : "";
    const [error, bound] = [verification.maxError, verification.bound].map((one) => one.toExponential(1));
    return `<p>${name}: ${traversal} ${
      Object.entries(parameters).map((one) => one.join("=")).join(" ")
    }${bytes}, ` +
      `error ${error} of at most ${bound}</p>`;
  });
  // on a logarithmic scale, from 10 Mcells/s on
  const known = { ...ELSEWHERE, "this scene, here": rateOf(best) };
  const beside = Object.entries(known).map(([name, rate], i) =>
    bar(`beside${i}`, name, rate, Math.max(0, Math.log10(rate / 1e7)) / 6)
  );
  return `<p class="big">${title}</p><p>${rates}</p>${racing.join("")}` +
    roofline(fastest.filter(({ roof }) => roof !== undefined), best) +
    `<p>${tried.length} configuration${tried.length === 1 ? "" : "s"} tried and compared with the reference` +
    `${failed > 0 ? `; ${failed} left out as they failed` : ""}.</p>` +
    `<details><summary>Details</summary>${details.join("")}</details>` +
    (winner
      ? `<details><summary>Beside other devices</summary><p>Waves in three dimensions, tuned, on a logarithmic ` +
        `scale; and this scene, here</p>${beside.join("")}</details>`
      : "");
}

/** Points of the rate over the rate that memory permits, in Gcells/s; the line is the roof. Both axes are logarithmic. */
function roofline(tried: readonly TuneEvaluation[], best: TuneEvaluation | undefined): string {
  if (tried.length === 0) return "";
  const logs = tried.flatMap((one) => [Math.log10(one.roof!), Math.log10(rateOf(one))]);
  const low = Math.min(...logs) - 0.3, high = Math.max(...logs) + 0.3;
  const part = (rate: number): number => (Math.log10(rate) - low) / (high - low);
  const [x, y] = [(rate: number) => 40 + 250 * part(rate), (rate: number) => 170 - 160 * part(rate)];
  const ticks = Array.from({ length: 30 }, (_, i) => [1, 2, 5][i % 3]! * 10 ** (5 + Math.floor(i / 3)))
    .filter((rate) => part(rate) >= 0 && part(rate) <= 1);
  const text = (x: number, y: number, anchor: string, words: string | number) =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${words}</text>`;
  const axes = ticks.map((rate) =>
    `<path d="M40 ${y(rate)}H290M${x(rate)} 10V170" opacity=".25"/>` +
    text(36, y(rate) + 3, "end", rate / 1e9) + text(x(rate), 182, "middle", rate / 1e9)
  );
  const circles = tried.map((one) =>
    `<circle cx="${x(one.roof!).toFixed(1)}" cy="${y(rateOf(one)).toFixed(1)}" r="${one === best ? 5 : 2.5}"${
      one === best ? ' class="best"' : ""
    }/>`
  );
  return `<svg id="tried" viewBox="0 0 300 200" role="img" aria-label="Every configuration tried: its rate, upwards, over ` +
    `the rate that memory permits, to the right; the line is that roof"><path d="M40 170 290 10"/>${
      axes.join("")
    }` +
    `${circles.join("")}${text(165, 196, "middle", "Gcells/s that memory permits")}${
      text(44, 20, "start", "Gcells/s reached")
    }</svg>`;
}
