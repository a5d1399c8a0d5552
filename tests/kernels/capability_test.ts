/**
 * Which equation runs with which traversal: the table in docs/traversals.md follows from what equations need and
 * traversals can do.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { type Capabilities, NEEDS, refusalOf } from "../../kernels/capability.ts";
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { boundariesOf, type Stencil } from "../../kernels/stencils/stencil.ts";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";

const DOC = new URL("../../docs/traversals.md", import.meta.url);
const EXAMPLES = ["advection_diffusion", "anisotropic_diffusion", "gray_scott", "shallow_water"];

const ALL: readonly {
  readonly device: string;
  readonly name: string;
  readonly capabilities: Capabilities;
}[] = [
  ...TRAVERSALS.map((one) => ({ device: "GPU", ...one })),
  ...CPU_TRAVERSALS.map((one) => ({ device: "CPU", ...one })),
];

async function stencils(): Promise<Stencil[]> {
  const examples = EXAMPLES.map(async (name) =>
    (await import(`../../examples/${name}.ts`)).default as Stencil
  );
  return [
    ...EQUATIONS.map(({ create, variant }) => create(variant?.default)),
    ...await Promise.all(examples),
  ];
}

/** The table without the spaces that align it: lines of traversals, columns of equations. */
async function table(): Promise<string[]> {
  const equations = await stencils();
  const answers = ALL.map((traversal) => [
    `${traversal.device} \`${traversal.name}\``,
    ...equations.map((stencil) => {
      const { dimensions = 3 } = stencil;
      const grid = [dimensions === 1 ? 1 : 64, dimensions === 3 ? 64 : 1, 4096] as const;
      return refusalOf(traversal, { stencil, grid, boundary: boundariesOf(stencil)[0]! })?.kind ?? "yes";
    }),
  ]);
  return [["traversal", ...equations.map(({ name }) => `\`${name}\``)], ...answers].map((row) =>
    row.join("|")
  );
}

Deno.test("the documented table of equations and traversals is true", async () => {
  const lines = (await Deno.readTextFile(DOC)).split("\n").filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()).join("|"));
  for (const row of await table()) assert(lines.includes(row), `docs/traversals.md lacks: ${row}`);
});

Deno.test("every traversal says of every need whether it can serve it", () => {
  for (const { name, capabilities: { can, cannot } } of ALL) {
    const silent = NEEDS.filter((need) => !can.includes(need) && cannot[need] === undefined);
    assertEquals(silent, [], name);
    assertEquals(can.filter((need) => cannot[need] !== undefined), [], name);
  }
});

if (import.meta.main) {
  const [head, ...rows] = (await table()).map((row) => `| ${row.split("|").join(" | ")} |`);
  console.log([head, head!.replace(/[^|]+/g, "---"), ...rows].join("\n"));
}
