/**
 * What `shot` says of a request: what looks wrong, what takes most, and what was done.
 *
 * @module
 */
import { cellsOf, type Grid, ownOf } from "../../kernels/stencils/stencil.ts";
import { formatCount } from "../format.ts";
import type { VelocityModel } from "../shot/model.ts";
import type { ShotPlan } from "../shot/shoot.ts";
import { VERSION } from "../version.ts";

/** Below the first, no velocity in m/s is one of a medium; above the second none is a gas's, whose density is below the third. */
const SLOWEST = 20, FASTEST_GAS = 1400, LIGHTEST = 25;

const span = ({ least, most }: Pick<VelocityModel, "least" | "most">): string =>
  [...new Set([least, most])].map((velocity) => `${Number(velocity.toPrecision(4))}`).join(" to ");

/** What looks like another unit than it should have, with its values. */
export function oddUnits(
  { model, frequency, spacing }: Pick<ShotPlan, "model" | "frequency" | "spacing">,
  slow?: VelocityModel,
  density?: VelocityModel,
): string[] {
  const odd = ([["velocity", model], ["velocity-s", slow]] as const).flatMap(([name, of]) =>
    of && of.most > 0 && of.most < SLOWEST ? [`--${name} of ${span(of)} m/s: are these km/s?`] : []
  );
  if (density && density.most < LIGHTEST && model.least > FASTEST_GAS) {
    odd.push(`--density of ${span(density)} kg/m³: are these g/cm³?`);
  }
  const shortest = model.least / frequency;
  if (odd.length === 0 && shortest < spacing) {
    const where = `waves of ${shortest.toPrecision(3)} m in cells of ${spacing} m`;
    odd.push(`--frequency of ${frequency} Hz means ${where}: are these Hz and m?`);
  }
  return odd;
}

/** What is said of edges that nobody asked for where they are most of the grid. */
export function edgesNote(edges: number, model: Grid, grid: Grid, surface: string): string {
  const top = surface === "free" ? "" : ", --surface free leaves them out at the top";
  const [own, all] = [model, grid].map((grid) => formatCount(cellsOf(grid))), half = Math.ceil(edges / 2);
  return `edges of ${edges} cells, as -40 dB need, make ${all} cells of the model's ${own}: --edges pml12 ` +
    `needs few, best on a GPU, --edges ${half} reflects more${top}, a higher --frequency needs fewer`;
}

/** What was done, line by line, for the header of a file. */
export function headerOf(
  { model, spacing, frequency, timeStep, interval, sent, wavelet }: ShotPlan,
  { title, edges, absorber, surface, ...given }:
    & Readonly<
      Record<"title" | "absorber" | "surface" | "velocity", string>
    >
    & {
      readonly edges: number;
      readonly velocityS?: string | undefined;
      readonly density?: string | undefined;
    },
): string[] {
  const us = (seconds: number) => Number((seconds * 1e6).toFixed(4));
  const cells = ownOf(model, model.grid).join("x"), axes = model.dimensions === 2 ? "x, z" : "x, y, z";
  const push = { s: "", fz: ", a force downwards" }[sent[0]!] ?? ", an explosion";
  return [
    `Facet ${VERSION}: ${title}`,
    `${cells} cells of ${spacing} m along ${axes}, edges of ${
      absorber === "pml" ? "a PML of " : ""
    }${edges}, surface ${surface}`,
    `velocity ${given.velocity}, ${span(model)} m/s`,
    ...(given.velocityS === undefined ? [] : [`velocity of S waves ${given.velocityS}`]),
    ...(given.density === undefined ? [] : [`density ${given.density}`]),
    `steps of ${us(timeStep)} us, samples of ${us(interval)} us`,
    (wavelet
      ? "wavelet of a file"
      : `Ricker wavelet of ${frequency} Hz, its peak at ${Number((1 / frequency).toPrecision(6))} s`) + push,
    "places in m, z is a depth; velocities recorded in m/s, vz downwards, pressure in Pa",
  ];
}
