/**
 * The shaders of one dimension, one each traversal and phase, plus one deviation each: see `check_snapshots.ts`.
 *
 * @module
 */
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { PHASE_KINDS } from "../../kernels/traversals/swept/plan.ts";
import { checkSnapshots, checkTidy } from "./check_snapshots.ts";

const problem = (stencil: Stencil): Problem => {
  const [boundary = "zero"] = stencil.boundaries ?? [];
  return { stencil, grid: [1, 1, 192], boundary, steps: 8 };
};

/** The shaders of all phases, named `name_start`, … */
function phases(
  name: "swept" | "swept_register",
  stencil: Stencil,
  parameters: Parameters,
): Record<string, string> {
  const traversal = name === "swept_register" ? "swept-register" : name;
  const { shaders } = traversalNamed(traversal).plan(problem(stencil), parameters);
  return Object.fromEntries(PHASE_KINDS.map((kind, i) => [`${name}_${kind}`, shaders[i]!.code]));
}

const classic = (stencil: Stencil, index = 0): string =>
  traversalNamed("classic").plan(problem(stencil), { threads: 32, points: 2 }).shaders[index]!.code;

const SHADERS: Readonly<Record<string, string>> = {
  classic: classic(heat1d()),
  classic_ks_final: classic(ks(5), 1),
  ...phases("swept", heat1d(), { threads: 32, points: 2, steps: 32 }),
  // hexagons, two sub-steps, periodic
  swept_ks: phases("swept", ks(5), { threads: 32, points: 1, steps: 4 }).swept_finish!,
  ...phases("swept_register", heat1d(), { threads: 32, points: 4, steps: 64 }),
  // hexagons, flats made in the phase before the first
  swept_register_hexagon: phases("swept_register", heat1d(), { threads: 32, points: 2, steps: 16 })
    .swept_register_start!,
  swept_register_ks: phases("swept_register", ks(5), { threads: 32, points: 8, steps: 8 })
    .swept_register_middle!,
};

checkSnapshots("line_snapshots", SHADERS);
checkTidy(SHADERS);
