/**
 * Maxwell's equations on Yee's staggered grid, second order in space and time (Yee, IEEE Trans. Antennas Propag. 1966,
 * 14(3)). The fields are E and η₀H, both in V/m, with the Courant number S = cΔt/h:
 *
 *     H_x += S/μ_r (∂_z E_y − ∂_y E_z)
 *     E_x  = ((ε_r − a) E_x + S (∂_y H_z − ∂_z H_y − η₀ h J_x)) / (ε_r + a),    a = σ η₀ h S / 2
 *
 * and likewise for y and z. A step makes H at (n + ½)Δt from E at nΔt, and then E at (n + 1)Δt. Within cell (i, j, k) E_x
 * lies at (i + ½, j, k), H_x at (i, j + ½, k + ½). Materials are those of the whole cell: a component of E takes the mean ε_r
 * and σ of the four cells around its edge, one of H the mean 1/μ_r of the two cells beside its face.
 *
 * **Walls.** Beyond a `zero` end the fields are 0, and tangential E is held 0 on plane 0: perfect conductors on planes 0 and
 * N, so that a cavity is N·h long. What holds it is an axis profile of ones, read one cell before: kernels find the image
 * of a `periodic` end there, and 0 beyond a wall.
 *
 * **Absorbing edges.** All fields are damped at one rate d = σ/ε = σₘ/μ, whatever the medium, so that a wave that goes
 * straight in meets no change of impedance: with g = exp(−dΔt/2), E becomes g (g E + push). Of a Ricker wavelet of 13 cells
 * per wavelength edges of 30 cells reflect −51 dB at most, edges of 12 cells −29 dB.
 *
 * **PML.** Each difference D along an axis with edges counts as D + ψ, where ψ becomes 0.995 ψ − q (ψ + D): a convolution with
 * falling exponentials (Roden, Gedney, Microw. Opt. Technol. Lett. 2000, 27(5)). q is a function of the place along the axis
 * alone, of the rate 3c/h (depth/width)⁴ at most. A rate that follows the local permittivity would make fields grow where a PML
 * meets a dielectric's face; as it is, light 4 times as slow reflects less than −80 dB as well.
 *
 * **Two dimensions**, x and y, in which nothing changes along z: the mode TM has E_z, H_x and H_y, the mode TE H_z, E_x and
 * E_y. Both are what a 3D grid that is periodic along z computes of such fields.
 *
 * @module
 */
import { checkOptions } from "../check_options.ts";
import { along, equation, type MaterialSource } from "../equation.ts";
import { type Axis, constant, type Expression } from "../expression.ts";
import { add, divide, exponential, maximum, multiply, shifted, subtract, type Value } from "../operations.ts";
import { DEFAULT_RANGE, type ValueRange } from "../update.ts";
import { type Accuracy, type Scheme, stepOf, warningOf } from "./dispersion.ts";
import { edgesOf, type EdgeWidths, type Pml, pmlOf, remembered, withEdges } from "./edges.ts";
import { alongAxis, type Equation, ownAxes, requireStable, requireValue, type Stencil } from "./stencil.ts";

/** The speed of light in vacuum in m/s, and √(μ₀/ε₀) in Ω. */
export const SPEED_OF_LIGHT = 299_792_458, VACUUM_IMPEDANCE = 376.730313412;

const AXES = ownAxes(3), E = ["ex", "ey", "ez"] as const, H = ["hx", "hy", "hz"] as const;
const J = ["jx", "jy", "jz"] as const;

/** What an edge leaves of a wave that goes in and comes back. */
const LEFT = 3e-3;

const PML: Pml = { rate: 3, kept: 0.995 };

/** The axes beside each: sums of cells along the last are sums of a slice, which marches keep. */
const ALL = [0, 1, 2] as const, AXES_BESIDE = [[1, 2], [0, 2], [0, 1]] as const;

/** The axes along which a mode's E has components; its H has the others. */
const MODES = { tm: [2], te: [0, 1] } as const;

/** The fields, in the order of their planes: E and η₀H, in V/m. A mode of two dimensions has three of them. */
export const MAXWELL_FIELDS = [...E, ...H] as const;

/** What {@linkcode maxwell} makes a stencil of: a medium, and how it is computed. A material is an array if it has a range. */
export interface MaxwellOptions {
  /** The Courant number cΔt/h. @default {0.9 times `maxwellLimit`} */
  readonly courant?: number | undefined;
  /** Instead of it the time step in seconds, or how accurate it is to be: then the largest that is, up to the default. @default {that of `courant`} */
  readonly timeStep?: number | Accuracy | undefined;
  /** Metres from cell to cell. @default {0.001} */
  readonly spacing?: number | undefined;
  /** ε_r, or the lowest and the highest of the material `permittivity`. @default {[1, 4]} */
  readonly permittivity?: number | ValueRange | undefined;
  /** μ_r, or the lowest and the highest of the material `permeability`. @default {1} */
  readonly permeability?: number | ValueRange | undefined;
  /** σ in S/m, or the lowest and the highest of the material `conductivity`. @default {0} */
  readonly conductivity?: number | ValueRange | undefined;
  /** Of two dimensions, x and y: `tm` for `ez`, `hx` and `hy`, `te` for `hz`, `ex` and `ey`. @default {three dimensions} */
  readonly mode?: "tm" | "te" | undefined;
  /** Cells of the absorbing edges at each end of every axis, or of x, y and z. @default {0} */
  readonly edges?: EdgeWidths | undefined;
  /** How edges absorb: as matched conductors, or as a convolutional PML, which takes four more fields for each axis. @default {"matched"} */
  readonly absorber?: "matched" | "pml" | undefined;
}

function rangesOf(names: readonly string[]): Readonly<Record<string, ValueRange>> {
  return Object.fromEntries(names.map((name) => [name, DEFAULT_RANGE]));
}

/** The lowest and the highest value of a material. */
function rangeOf(given: number | ValueRange): ValueRange {
  return typeof given === "number" ? [given, given] : given;
}

/** The largest stable Courant number cΔt/h in d dimensions: that of the fastest light, √(ε_r μ_r / d). */
export function maxwellLimit(
  { permittivity = [1, 4], permeability = 1, mode }: Pick<
    MaxwellOptions,
    "permittivity" | "permeability" | "mode"
  > = {},
): number {
  return Math.sqrt(rangeOf(permittivity)[0] * rangeOf(permeability)[0] / (mode ? 2 : 3));
}

/** The scheme of a medium, whose light is slowest where ε_r and μ_r are largest, and its Courant number. */
function schemeOf(options: MaxwellOptions): { scheme: Scheme; courant: number; velocity: number } {
  const { spacing = 1e-3, permittivity = [1, 4], permeability = 1, mode, timeStep, courant } = options;
  const isOne = courant === undefined || timeStep === undefined;
  requireValue(isOne, "maxwell", "courant or timeStep must be given, not both", `${courant} and ${timeStep}`);
  const velocity = SPEED_OF_LIGHT / Math.sqrt(rangeOf(permittivity)[1] * rangeOf(permeability)[1]);
  const number = courant ?? 0.9 * maxwellLimit(options), cell = spacing / SPEED_OF_LIGHT;
  const made = { name: "maxwell", sides: [1], spacing, dimensions: mode ? 2 : 3, fewest: 5 } as const;
  const step = stepOf({ ...made, timeStep: number * cell }, velocity, timeStep);
  const scheme = { ...made, timeStep: step };
  return { scheme, courant: timeStep === undefined ? number : step / cell, velocity };
}

/**
 * A warning where cells are too large for a Ricker wavelet of this frequency in Hz where light is slowest, or where the
 * scheme changes it by more than 10% over the distance in metres, if one is given; undefined where neither is.
 */
export function maxwellWarning(
  { frequency, distance, ...medium }: MaxwellOptions & {
    readonly frequency: number;
    readonly distance?: number | undefined;
  },
): string | undefined {
  const { scheme, velocity } = schemeOf(medium);
  return warningOf(scheme, { frequency, distance, velocity });
}

/**
 * Maxwell's equations in a medium. Its sources `jx`, `jy`, `jz` are current densities in A/m². A solver starts with the lowest values of the materials that have a range; write
 * others.
 *
 * @returns the stencil: six fields, of a mode three, two sub-steps, which together reach one cell back and one ahead along each axis
 * @throws {RangeError} for a Courant number beyond the stability limit, or a material that makes no sense
 *
 * @example
 * ```ts
 * import { maxwell, SPEED_OF_LIGHT } from "./maxwell.ts";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 *
 * const spacing = 5e-4, courant = 0.5, timeStep = courant * spacing / SPEED_OF_LIGHT;
 * const stencil = maxwell({ courant, spacing, permittivity: [1, 11.7], conductivity: [0, 10] });
 * assertEquals(stencil.update.materials.map(({ name }) => name), ["permittivity", "conductivity"]);
 * assertAlmostEquals(timeStep, 0.834e-12, 1e-15);
 * ```
 */
export function maxwell(options: MaxwellOptions = {}): Stencil {
  checkOptions("build the maxwell stencil", options, [
    ...["courant", "spacing", "permittivity", "permeability", "conductivity"] as const,
    ...["mode", "edges", "absorber", "timeStep"] as const,
  ]);
  const { spacing = 1e-3, permittivity = [1, 4], permeability = 1, conductivity = 0 } = options;
  const { edges = 0, absorber = "matched", mode } = options, isPml = absorber === "pml";
  requireValue(mode === undefined || mode in MODES, "maxwell", "mode must be te or tm", `${mode}`);
  const dimensions = mode ? 2 : 3, axes = ownAxes(dimensions);
  const ofE: readonly Axis[] = mode ? MODES[mode] : ALL,
    ofH = mode ? ALL.filter((axis) => !ofE.includes(axis)) : ALL;
  const cells = (axis: Axis, by: number) => alongAxis(axis, by, dimensions);
  const beside = (axis: Axis) => AXES_BESIDE[axis].filter((other) => other < dimensions);
  const given = { permittivity, permeability, conductivity };
  for (const [name, value] of Object.entries(given)) {
    const [least, most] = rangeOf(value), mayVanish = name === "conductivity";
    const isSound = (mayVanish ? least >= 0 : least > 0) && least <= most;
    const wanted = `a number ${mayVanish ? "from 0 up" : "above 0"}, or the lowest and the highest`;
    requireValue(isSound, "maxwell", `${name} must be ${wanted}`, `${value}`);
  }
  requireValue(spacing > 0, "maxwell", "spacing must be above 0", spacing);
  requireValue(isPml || absorber === "matched", "maxwell", "absorber must be matched or pml", absorber);
  const limit = maxwellLimit(options), { courant } = schemeOf(options);
  requireStable("maxwell", "the Courant number cΔt/h", courant, limit);
  const peakOf = (width: number) =>
    0.75 * Math.log(1 / LEFT) * courant / (Math.sqrt(dimensions) * limit * width);
  const kept = (damping: Expression) => exponential(subtract(0, damping));
  const how = isPml ? pmlOf(PML, courant) : { peakOf, as: kept };
  const damping = edgesOf("maxwell", edges, { isFree: false, stagger: 0.5, dimensions, ...how });
  const isDamped = !isPml && Object.keys(damping).length > 0;
  const fields = [...ofE.map((axis) => E[axis]), ...ofH.map((axis) => H[axis])];
  const memories = !isPml ? [] : axes.filter((by) => damping[`d${by}`])
    .flatMap((by) => AXES.flatMap((axis) => axis === by ? [] : [`e${axis}${by}`, `h${axis}${by}`]))
    .filter((name) => fields.some((field) => name.startsWith(field)));
  const arrays = Object.entries(given).flatMap(([name, value]): (readonly [string, MaterialSource])[] =>
    typeof value === "number" ? [] : [[name, { within: value }]]
  );
  const profiles = axes.flatMap((axis): (readonly [string, MaterialSource])[] => {
    const { [`d${axis}`]: middle, [`h${axis}`]: plane } = damping, ones = along(axis, () => 1);
    return [
      [`wall_${axis}`, isPml ? ones : plane ?? ones],
      ...(middle ? [[`middle_${axis}`, middle] as const] : []),
      ...(isPml && plane ? [[`plane_${axis}`, plane] as const] : []),
    ];
  });
  const stencil = equation<string, string, string>({
    name: "maxwell",
    title: `Maxwell's equations on Yee's grid${mode ? `, ${mode.toUpperCase()} in two dimensions` : ""}`,
    variant: {
      edges: isPml ? `pml${edges}` : typeof edges === "number" ? edges : `${edges}`,
      ...(mode && { mode }),
    },
    dimensions,
    boundaries: ["zero", "periodic"],
    fields: rangesOf([...fields, ...memories]),
    materials: Object.fromEntries([...arrays, ...profiles]),
    sources: rangesOf(ofE.map((axis) => J[axis])),
    step(planes) {
      const memory: Record<"e" | "h", Record<string, Expression>> = { e: {}, h: {} };
      /** What counts in an update as the difference along an axis: in a PML its memory, too. */
      const stretched = (kind: "e" | "h", axis: Axis, by: Axis, difference: Expression): Expression => {
        const name = `${kind}${AXES[axis]}${AXES[by]}`;
        if (!memories.includes(name)) return difference;
        const profile = planes[`${kind === "e" ? "plane" : "middle"}_${AXES[by]}`]!, own = planes[name]!;
        const part = kind === "e" ? profile.at(...cells(by, -1)) : profile;
        memory[kind][name] = remembered(PML, own, part, difference);
        return add(difference, memory[kind][name]);
      };
      /** What changes a component: that of the other field's curl. */
      const curlOf = (kind: "e" | "h", axis: Axis): Value => {
        const [next, last] = [(axis + 1) % 3, (axis + 2) % 3] as [Axis, Axis], from = kind === "e" ? -1 : 0;
        const difference = (of: Axis, by: Axis): Value => {
          if (by >= dimensions) return 0;
          const read = kind === "e" ? planes[H[of]]!.next : planes[E[of]]!.at;
          return stretched(kind, axis, by, subtract(read(...cells(by, from + 1)), read(...cells(by, from))));
        };
        const ahead = difference(last, next), back = difference(next, last);
        return back === 0 ? ahead : subtract(ahead, back);
      };
      /** A material, summed over the four cells around an edge of E; where nothing changes along z two cells count twice. */
      const sumOf = (name: keyof typeof given, axis: Axis): Value => {
        const value = given[name];
        if (typeof value === "number") return 4 * value;
        const [outer, inner = outer] = beside(axis) as [Axis, Axis?], material = planes[name]!;
        const pair = add(material, material.at(...cells(inner, -1)));
        if (inner === outer) return multiply(2, pair);
        return add(shifted(pair, ...cells(0, 0)), shifted(pair, ...cells(outer, -1)));
      };
      const onPlane = (axis: Axis): Expression => planes[`wall_${AXES[axis]}`]!.at(...cells(axis, -1));
      const inMiddle = (axis: Axis): Expression[] =>
        isDamped && damping[`d${AXES[axis]}`] ? [planes[`middle_${AXES[axis]}`]!] : [];
      /** What a field becomes: half of the damping, its change, and the other half. */
      const damped = (
        [first, ...others]: readonly Expression[],
        own: Expression,
        push: Expression,
      ): Expression => {
        if (first === undefined) return add(own, push);
        const factor = multiply(first, ...others);
        return multiply(factor, add(isDamped ? multiply(factor, own) : own, push));
      };
      const newE = (axis: Axis): Expression => {
        const curl = curlOf("e", axis);
        const change = subtract(curl, multiply(VACUUM_IMPEDANCE * spacing, planes[J[axis]]!));
        const factors = [...beside(axis).map(onPlane), ...inMiddle(axis)];
        const own = planes[E[axis]]!, epsilon = sumOf("permittivity", axis);
        if (conductivity === 0) return damped(factors, own, multiply(divide(4 * courant, epsilon), change));
        const loss = multiply(VACUUM_IMPEDANCE * spacing * courant / 2, sumOf("conductivity", axis));
        const whole = add(epsilon, loss), left = multiply(divide(subtract(epsilon, loss), whole), own);
        return damped(factors, left, multiply(divide(4 * courant, whole), change));
      };
      const newH = (axis: Axis): Expression => {
        const own = planes[H[axis]]!, curl = curlOf("h", axis);
        const factors = [
          ...(inMiddle(axis).length > 0 ? [onPlane(axis)] : []),
          ...beside(axis).flatMap(inMiddle),
        ];
        if (typeof permeability === "number") {
          return damped(factors, own, multiply(-courant / permeability, curl));
        }
        // beyond a wall it is 0: the lowest will do, as no field passes there
        const here = planes.permeability!;
        const behind = axis < dimensions ? maximum(here.at(...cells(axis, -1)), permeability[0]) : here;
        const inverse = divide(add(here, behind), multiply(here, behind));
        return damped(factors, own, multiply(-courant / 2, inverse, curl));
      };
      return [
        { ...Object.fromEntries(ofH.map((axis) => [H[axis], newH(axis)])), ...memory.h },
        { ...Object.fromEntries(ofE.map((axis) => [E[axis], newE(axis)])), ...memory.e },
      ];
    },
  });
  // scattered where it is tuned
  const materials = stencil.update.materials.map((kept) => ({ ...kept, formula: constant(kept.values[0]!) }));
  const made = { ...stencil, update: { ...stencil.update, materials } };
  // the names of memories end with that of their axis
  return withEdges(made, memories.map((name) => axes.findIndex((axis) => name.endsWith(axis))), edges);
}

export const MAXWELL: Equation = {
  name: "maxwell",
  title: "electromagnetic waves on Yee's grid, permittivity by cell",
  dimensions: [3, 2],
  modes: ["tm", "te"],
  variant: {
    name: "edges",
    placeholder: "CELLS",
    title: "absorbing edges",
    wanted: "a whole number of cells, or pml before it",
    default: 0,
    read: (text) =>
      /^(pml)?[0-9]{1,6}$/.test(text) ? text.startsWith("pml") ? text : Number(text) : undefined,
  },
  timeStep: {
    name: "courant",
    formula: "cΔt/h",
    limit: (_, of) => maxwellLimit(of === 2 ? { mode: "tm" } : {}),
  },
  create(edges = 0, courant, dimensions, mode = "tm") {
    const absorber = `${edges}`.startsWith("pml") ? "pml" : "matched", planar = mode as keyof typeof MODES;
    const options = { courant, edges: Number(`${edges}`.replace("pml", "")), absorber } as const;
    return maxwell({ ...options, ...(dimensions === 2 && { mode: planar }) });
  },
};
