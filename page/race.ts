/// <reference lib="dom" />
/**
 * Tuning in sight: the plain kernel against the fastest so far, and every configuration that was tried.
 *
 * @module
 */
import { type OpenProblem, type Profile, readProfile, tune, type TuneEvaluation } from "../mod.ts";
import type { Machine } from "./simulation.ts";

/** Milliseconds for a run of `tune`. */
const BUDGET_MS = 5000;

/** Where the browser keeps what it learnt. */
const KEPT = "facet-profile";

/** A rate for people. */
function sayRate(cellsPerSecond: number): string {
  const [unit, name] = cellsPerSecond >= 1e9 ? [1e9, "G"] : [1e6, "M"] as const;
  return `${(cellsPerSecond / unit).toPrecision(3)} ${name}cells/s`;
}

/** The profiles that this browser keeps. */
export async function keptProfiles(): Promise<Profile[]> {
  const text = localStorage.getItem(KEPT);
  return text === null ? [] : await readProfile(text).then((one) => [one], () => []);
}

/** Keeps a profile in this browser, in place of the one before. */
export function keepProfile(profile: Profile): void {
  localStorage.setItem(KEPT, JSON.stringify(profile));
}

const rateOf = (one: TuneEvaluation | undefined): number => one?.measurement?.cellsPerSecond ?? 0;

/**
 * Tunes a scene on this device, and shows in the panel what is known after each configuration.
 *
 * @param rest is awaited after each configuration
 * @returns its profile; undefined where nothing verified
 */
export async function race(
  panel: HTMLElement,
  problem: OpenProblem,
  { device, cpuWorkers }: Machine,
  others: { signal: AbortSignal; profile?: Profile },
  rest: () => Promise<void>,
): Promise<Profile | undefined> {
  const tried: TuneEvaluation[] = [], { stencil, grid, boundary, survey } = problem;
  const { profile } = await tune({
    ...{ stencil, grid, boundary, ...(survey && { survey }), ...others },
    budgetMs: BUDGET_MS,
    gpu: device !== null,
    cpuWorkers: device === null ? cpuWorkers : 0,
    onEvaluation(evaluation) {
      const key = JSON.stringify(evaluation.configuration);
      // the final round measures again what has its roof from the search
      tried.push({
        ...tried.find(({ configuration }) => JSON.stringify(configuration) === key),
        ...evaluation,
      });
      draw(panel, tried);
      return rest();
    },
  });
  const copies = profile?.entries[0]?.copyBytesPerSecond;
  draw(panel, tried, device === null ? copies?.cpu : copies?.gpu);
  return profile;
}

/** Draws the race into the panel; `bandwidth` in bytes per second, once it is known. */
function draw(panel: HTMLElement, tried: readonly TuneEvaluation[], bandwidth?: number): void {
  const fastest = tried.toSorted((a, b) => rateOf(b) - rateOf(a)), [best] = fastest;
  const plain = fastest.find(({ configuration }) => configuration.traversal === "stepwise");
  for (const [name, one] of [["plain", plain], ["best", best]] as const) {
    const row = panel.querySelector(`#${name}`)!, { measurement, roof, configuration } = one ?? {};
    row.querySelector("progress")!.value = rateOf(one) / Math.max(1, rateOf(best));
    if (measurement === undefined) continue;
    const bytes = roof && bandwidth ? `, ${(bandwidth / roof).toPrecision(3)} bytes a cell` : "";
    const [error, bound] = [measurement.verification.maxError, measurement.verification.bound]
      .map((one) => one.toExponential(1));
    row.querySelector("small")!.textContent = `${configuration!.traversal}: ${
      sayRate(rateOf(one))
    }${bytes}, error ${error} of at most ${bound}`;
  }
  panel.querySelector("#tried")!.innerHTML = roofline(tried.filter(({ roof }) => roof !== undefined), best);
  const failed = tried.filter(({ failure }) => failure !== undefined).length;
  panel.querySelector("#count")!.textContent =
    `${tried.length} configurations tried, each compared with the ` +
    `reference${failed > 0 ? `; ${failed} left out as they failed` : ""}`;
}

/** Points of rate over the rate that memory permits; the line is the roof. Both axes are logarithmic. */
function roofline(tried: readonly TuneEvaluation[], best: TuneEvaluation | undefined): string {
  const points = tried.filter(rateOf).map((one) =>
    [Math.log10(one.roof!), Math.log10(rateOf(one)), one === best] as const
  );
  if (points.length === 0) return "";
  const all = points.flatMap(([x, y]) => [x, y]), low = Math.min(...all) - 0.2, high = Math.max(...all) + 0.2;
  const at = (value: number): number => 100 * (value - low) / (high - low);
  const circles = points.map(([x, y, isBest]) => {
    const [cx, cy] = [at(x), 100 - at(y)].map((one) => one.toFixed(1));
    const [radius, colour] = isBest ? [3, "#2a72c8"] : [1.5, "currentColor"];
    return `<circle cx="${cx}" cy="${cy}" r="${radius}" fill="${colour}"/>`;
  });
  return `<path d="M0 100 100 0" stroke="currentColor"/>${circles.join("")}`;
}
