/**
 * What `shot` says of a request: what looks wrong, what takes most, and what was done.
 *
 * @module
 */
import { cellsOf, type Grid } from "../../kernels/stencils/stencil.ts";
import { formatCount } from "../format.ts";
import type { VelocityModel } from "../shot/model.ts";
import type { ShotPlan } from "../shot/shoot.ts";
import { VERSION } from "../version.ts";

/** Below the first, no velocity in m/s is one of a medium; above the second none is a gas's, whose density is below the third. */
const SLOWEST = 20, FASTEST_GAS = 1400, LIGHTEST = 25;

const span = ({ least, most }: Pick<VelocityModel, "least" | "most">): string =>
  [...new Set([least, most])].map((one) => `${Number(one.toPrecision(4))}`).join(" to ");

/** What looks like another unit than it should have, with its values. */
export function oddUnits(
  { model, frequency, spacing }: Pick<ShotPlan, "model" | "frequency" | "spacing">,
  slow?: VelocityModel,
  density?: VelocityModel,
): string[] {
  const odd = ([["velocity", model], ["velocity-s", slow]] as const).flatMap(([name, one]) =>
    one && one.most > 0 && one.most < SLOWEST ? [`--${name} of ${span(one)} m/s: are these km/s?`] : []
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
  const [own, all] = [model, grid].map((one) => formatCount(cellsOf(one)));
  return `edges of ${edges} cells, as -40 dB need, make ${all} cells of the model's ${own}: ` +
    `--edges ${
      Math.ceil(edges / 2)
    } halves their width and reflects more${top}, a higher --frequency needs fewer`;
}

/** What was done, line by line, for the header of a file. */
export function headerOf(
  { model, spacing, frequency, timeStep, interval, sent }: ShotPlan,
  { title, edges, surface, velocity, velocityS, density }: {
    readonly title: string;
    readonly edges: number;
    readonly surface: string;
    readonly velocity: string;
    readonly velocityS: string | undefined;
    readonly density: string | undefined;
  },
): string[] {
  const isPlane = model.dimensions === 2, us = (seconds: number) => Number((seconds * 1e6).toFixed(4));
  const cells = model.grid.filter((_, axis) => axis !== 1 || !isPlane).join("x");
  const push = { s: "", fz: ", a force downwards" }[sent[0]!] ?? ", an explosion";
  return [
    `Facet ${VERSION}: ${title}`,
    `${cells} cells of ${spacing} m along ${
      isPlane ? "x, z" : "x, y, z"
    }, edges of ${edges}, surface ${surface}`,
    `velocity ${velocity}, ${span(model)} m/s`,
    ...(velocityS === undefined ? [] : [`velocity of S waves ${velocityS}`]),
    ...(density === undefined ? [] : [`density ${density}`]),
    `steps of ${us(timeStep)} us, samples of ${us(interval)} us`,
    `Ricker wavelet of ${frequency} Hz, its peak at ${Number((1 / frequency).toPrecision(6))} s${push}`,
    "places in m, z is a depth; velocities recorded in m/s, vz downwards",
  ];
}
