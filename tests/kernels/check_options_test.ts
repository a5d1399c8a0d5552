/**
 * Options that nobody knows: each function of the library that takes an object of options refuses a key that it lacks.
 *
 * @module
 */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as facet from "../../mod.ts";
import { PROFILE } from "../profile/sample_profile.ts";

const grid = [8, 8, 8] as const, odd = { boks: 1 };

Deno.test("equations refuse unknown options, and take all that they know", () => {
  const { acoustic, elastic, heat, heat1d, ks, life, maxwell, wave } = facet;
  const made = { fields: { u: [0, 1] }, step: ({ u }: Record<"u", facet.FieldTap>) => ({ u }) } as const;
  const own = (options: object, material: object = [0, 1]) =>
    facet.equation({ name: "own", ...made, ...options, materials: { m: material as facet.ValueRange } });
  for (
    const [build, call] of [
      [
        () => wave(2, { dimension: 2 } as never),
        "build the wave stencil: wanted of the options courant, dimensions",
      ],
      [() => heat(1, odd as never), "build the heat stencil"],
      [() => heat1d(odd as never), "build the heat-1d stencil"],
      [() => ks(3, odd as never), "build the ks stencil"],
      [() => life(undefined, odd as never), "build the life stencil"],
      [() => acoustic({ courant: 0.5 } as never), "build the acoustic stencil"],
      [() => elastic({ courant: 0.5 } as never), "build the elastic stencil"],
      [() => maxwell({ dimensions: 2 } as never), "build the maxwell stencil"],
      [() => own({ boundary: "zero" }), "build the own stencil"],
      [() => own({}, { packed: [0, 1], off: [0, 1] }), "build material m"],
      [() => own({}, { within: [0, 1], values: [0, 1] }), "build material m"],
    ] as const
  ) assertThrows(build, RangeError, `Cannot ${call}`);
  own({ title: "Own", variant: {}, dimensions: 3, boundaries: ["zero"], initialField: "noise", sources: {} });
  acoustic({
    order: 4,
    velocity: [1, 2],
    density: [1, 2],
    packed: true,
    spacing: 1,
    edges: 0,
    surface: "free",
  });
  maxwell({ mode: "te", permeability: 1, conductivity: 0, edges: 2, absorber: "pml" });
});

Deno.test("solvers, choices, searches and checks refuse unknown options before any work", async () => {
  const problem = { stencil: facet.acoustic({ edges: 0 }), grid, boundary: "zero" } as const;
  const { chooseConfiguration, createSolver } = facet;
  const { configuration } = chooseConfiguration([], problem, null, { cpuWorkers: 1 });
  await using solver = await createSolver(null, problem, configuration);
  const at = [[1, 1, 1]] as const;
  for (
    const call of [
      () => solver.read("p", { box: { low: [0, 0, 0], size: [1, 1, 1] } } as never),
      () => solver.write("velocity", 2000, { slice: 1 } as never),
      () => solver.addSources("s", at, [1], { interpolate: "sinc" } as never),
      () => solver.addReceivers("p", at, { frequency: [0.1] } as never),
      () => solver.addSnapshots("p", { every: 1, onSnapshot() {}, region: 1 } as never),
      () =>
        facet.addFlux(
          solver,
          { low: at[0], size: at[0] },
          { frequencies: [], spacing: 1, timeStep: 1, dt: 1 } as never,
        ),
      () => createSolver(null, problem, configuration, { timeout: 5 } as never),
      () =>
        createSolver(
          null,
          { ...problem, survey: { sources: 1, receivers: 0, step: 1 } } as never,
          configuration,
        ),
      () => createSolver(null, { ...problem, gird: grid } as never, configuration),
      () => Promise.try(() => chooseConfiguration([], { ...problem, gird: grid } as never, null)),
      () => Promise.try(() => chooseConfiguration([], problem, null, { workers: 1 } as never)),
      () => facet.qualify(PROFILE, { fast: true } as never),
      () => facet.tune({ budget: 5 } as never),
    ]
  ) {
    const { message } = await assertRejects(call, RangeError, "Cannot ", `${call}`);
    assertEquals(/wanted of the options|an option of tune is wanted/.test(message), true, message);
  }
});
