import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { refusalOf } from "../../kernels/capability.ts";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { BOUNDARIES, type Problem } from "../../kernels/stencils/stencil.ts";
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { FailureReason } from "../../tuner/configuration.ts";
import { seriesOf } from "../../tuner/report/series.ts";
import { failureWords, parameterWords } from "../../tuner/report/words.ts";
import { cpuCandidates } from "../../tuner/search/cpu_space.ts";
import { DEVICE } from "../profile/sample_profile.ts";

/** A small problem of every equation, and one in two dimensions. */
const PROBLEMS = [
  ...EQUATIONS.map(({ variant, create }): Problem => {
    const stencil = create(variant?.default);
    const [boundary = "zero"] = stencil.boundaries ?? BOUNDARIES;
    return { stencil, grid: stencil.dimensions === 1 ? [1, 1, 4096] : [64, 64, 64], boundary, steps: 32 };
  }),
  { stencil: heat(1, { dimensions: 2 }), grid: [64, 1, 64], boundary: "zero", steps: 32 } as const,
];

/** The values of every parameter of every traversal, of the GPU and the CPU: `series name` and its values. */
function allParameters(): { series: string; name: string; values: readonly (number | string)[] }[] {
  const ofGpu = TRAVERSALS.flatMap((traversal) => {
    const suited = PROBLEMS.filter((problem) => refusalOf(traversal, problem) === undefined);
    assert(suited.length > 0, `no equation for ${traversal.name}`);
    return suited.flatMap((problem) =>
      Object.entries(traversal.parameterLists(problem, DEVICE.gpu!.limits))
        .map(([name, values]) => ({ series: traversal.name, name, values }))
    );
  });
  const ways = PROBLEMS.flatMap((problem) => [
    ...cpuCandidates(problem, 2).map((one) => ({
      series: seriesOf(one.configuration),
      parameters: one.parameters,
    })),
    ...CPU_TRAVERSALS.flatMap((traversal) =>
      traversal.candidates(problem, 2, { fuses: true })
        .map((parameters) => ({ series: `CPU ${traversal.name}`, parameters }))
    ),
  ]);
  const ofCpu = ways.flatMap(({ series, parameters }) =>
    Object.entries({ ...parameters, cpuWorkers: 2 }).map(([name, value]) => ({
      series,
      name,
      values: [value],
    }))
  );
  for (const { name } of CPU_TRAVERSALS) assert(ofCpu.some(({ series }) => series === `CPU ${name}`), name);
  return [...ofGpu, ...ofCpu];
}

Deno.test("every parameter of every traversal, GPU and CPU, has a name and a meaning in plain words", () => {
  const titles = new Map<string, string>();
  for (const { series, name, values } of allParameters()) {
    const { title, meaning, valueOf } = parameterWords(name, series);
    assertNotEquals(meaning, undefined, `words.ts lacks ${name} of ${series}`);
    assert(/^[A-Z]/.test(title) && !/[a-z][A-Z]/.test(title), `${name} of ${series} has no title for people`);
    const other = titles.get(`${series} ${title}`) ?? name;
    assertEquals(other, name, `two parameters of ${series} share a title`);
    titles.set(`${series} ${title}`, name);
    for (const value of values) {
      const text = valueOf(value);
      // DTS is a pure number; all else counts something, or is a choice
      assert(name === "dts" || /[a-z]/.test(text), `${name} of ${series}: ${text} has no unit`);
    }
  }
});

Deno.test("values that are no counts are said in words", () => {
  const { valueOf, placeOf } = parameterWords("loads", "diamond-torre");
  assertEquals(valueOf("tier start"), "at the start of a step");
  const words = ["tier ahead", "when needed", "tier start"];
  assertEquals(words.sort((a, b) => placeOf(a) - placeOf(b)), ["when needed", "tier start", "tier ahead"]);
  assertEquals(parameterWords("strip", "CPU stepwise").valueOf(0), "all rows");
  assertEquals(parameterWords("tile", "marching").valueOf(1), "workgroup memory");
  assertEquals(parameterWords("nt", "diamond-torre").valueOf(96), "96 steps");
  assertEquals(parameterWords("nt", "diamond-torre").valueOf(1), "1 step");
  assertEquals(parameterWords("nt", "diamond-torre").valueOf(96, { hasUnit: false }), "96");
  assertEquals(parameterWords("points", "CPU swept").title, "Node");
  assertEquals(parameterWords("points", "swept").title, "Points per thread");
});

Deno.test("names of other tools' parameters stay as they are, also those that objects have", () => {
  for (const name of ["BLOCK_X", "toString", "constructor"]) {
    const { title, meaning, valueOf } = parameterWords(name, "x");
    assertEquals([title, meaning, valueOf(3)], [name, undefined, "3"]);
  }
});

Deno.test("every failure has words", () => {
  const reasons: Record<FailureReason, true> = {
    compile: true,
    limits: true,
    incorrect: true,
    timeout: true,
    "device-lost": true,
    "out-of-memory": true,
  };
  for (const reason of Object.keys(reasons)) assertNotEquals(failureWords(reason), reason);
  assertEquals(failureWords("valueOf"), "valueOf");
});

/** The table of docs/traversals.md, without its padding: every parameter, with the traversals that have it so. */
function parameterTable(): string[] {
  const all = [
    ...TRAVERSALS.map(({ name, parameters }) => ({ series: `\`${name}\``, parameters })),
    ...CPU_TRAVERSALS.map(({ name, parameters }) => ({ series: `CPU \`${name}\``, parameters })),
  ].flatMap(({ series, parameters }) =>
    Object.entries(parameters).map(([name, [title, meaning, { values = {} } = {}]]) => {
      const said = Object.entries(values).map(([value, words]) => `${value}: ${words}`).join("; ");
      return { series, row: `\`${name}\` | ${title} | ${meaning} | ${said}` };
    })
  );
  const rows = [...Map.groupBy(all, ({ row }) => row)];
  return rows.map(([row, them]) => `| ${row} | ${them.map(({ series }) => series).join(", ")} |`);
}

Deno.test("docs/traversals.md says of every parameter what its traversal says", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/traversals.md", import.meta.url));
  const lines = page.split("\n").map((line) => line.replace(/ +/g, " ")), wanted = parameterTable();
  for (const row of wanted) {
    assert(lines.includes(row.replace(/ +/g, " ")), `docs/traversals.md lacks: ${row}`);
  }
  const first = lines.indexOf(wanted[0]!.replace(/ +/g, " "));
  assert(!lines[first + wanted.length]!.startsWith("|"), "docs/traversals.md has rows of no parameter");
});
