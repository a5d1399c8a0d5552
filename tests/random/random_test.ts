/**
 * Random scripts of a solver's calls give what an interpreter of its own says, on every device; and the interpreter, the
 * judge and what makes failures small are tried themselves. `--thorough` draws others each time, for FACET_SECONDS.
 *
 * @module
 */
import { assert, assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { type Definition, stencilOf } from "../../mod.ts";
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { HAS_ADAPTER } from "../test_on_gpu.ts";
import { THOROUGH, THOROUGH_SECONDS } from "../thorough.ts";
import { campaign, type Devices, openBench, usualCase } from "./campaign.ts";
import { Interpreter } from "./interpreter.ts";
import { FOUND } from "./found_cases.ts";
import { judge, runCase, tryCase } from "./judge.ts";
import { programOf } from "./program.ts";
import type { Call, RandomCase } from "./random_case.ts";
import { shrinkWhile, smallerDefinitions } from "./shrink.ts";
import type { Tally } from "./tally.ts";

/** What a definition has beside its update. */
const PLAIN = {
  name: "drawn",
  title: "drawn",
  variant: {},
  boundaries: ["zero", "periodic", "insulated"],
  materials: [],
} as const;

/** Makes calls on an interpreter, and gives what the last one should give. */
function valuesAfter(
  one: Pick<RandomCase, "definition" | "grid" | "boundary">,
  calls: readonly Call[],
): number[][] {
  const interpreter = new Interpreter(one);
  interpreter.create({});
  const [last] = calls.map((call, by) => interpreter.call(call, by, undefined)).slice(-1);
  assert(last !== undefined);
  return (last.kind === "values" ? [last.of] : last.of).map(({ values }) => [...values]);
}

Deno.test("the interpreter: a sinc source below a free surface of two layers, worked out by hand", () => {
  const half = ["add", ["at", "u", 0, 0, 1], ["at", "u", 0, 0, -1]];
  const definition = {
    ...PLAIN,
    dimensions: 3,
    fields: [{ name: "u", range: [-1, 1] }],
    substeps: [{ u: ["multiply", 0.5, half] }],
    sources: [{ name: "s", range: [-1, 1], into: { u: 1 } }],
    surface: "free",
  } as unknown as Definition;
  const one = { definition, grid: [5, 5, 2], boundary: ["zero", "zero", "zero"] } as const;
  const source = {
    call: "sources",
    name: "s",
    signatures: [[1]],
    positions: [[2, 2, 0.5]],
    interpolation: "sinc",
  } as const;
  for (
    const [steps, upper, lower] of [[1, 0.74772, 0.57203], [2, 0.28601, 0.37386], [
      3,
      0.18693,
      0.14301,
    ]] as const
  ) {
    const [u] = valuesAfter(one, [source, { call: "run", steps }, { call: "read", name: "u" }]);
    assertAlmostEquals(u![24]!, upper, 1e-5);
    assertAlmostEquals(u![25]!, lower, 1e-5);
    assertEquals(u!.filter((value) => value !== 0).length, 2);
  }
});

Deno.test("the interpreter: levels, sub-steps, ends, a signal, and samples, worked out by hand", () => {
  const definition = {
    ...PLAIN,
    dimensions: 1,
    fields: [{ name: "u", range: [0, 3] }, { name: "v", range: [0, 3] }],
    profiles: [{ name: "d", axis: 2, values: [0, 0, 0, 0, 0, 0, 0, 0], formula: ["subtract", ["n"], ["i"]] }],
    signal: ["step"],
    // v at t + 1 sees the new u of the cell before, u the old v of the cell behind
    substeps: [{ u: ["add", ["at", "v", 0, 0, 1], ["before", "u", 0, 0, 0]] }, {
      v: ["add", ["next", "u", 0, 0, -1], ["multiply", 10, ["signal"]], ["at", "d", 1]],
    }],
  } as unknown as Definition;
  for (const boundary of ["zero", "periodic", "insulated"]) {
    const one = {
      definition,
      grid: [1, 1, 4],
      boundary: [boundary, boundary, boundary],
    } as unknown as RandomCase;
    const interpreter = new Interpreter(one);
    interpreter.create({ d: [[4, 3, 2, 1]] });
    const calls: Call[] = [
      { call: "write", name: "v", values: { kind: "spike", at: [0, 0, 0], value: 4, other: 0 } },
      { call: "write", name: "v", values: { kind: "spike", at: [0, 0, 1], value: 2, other: 0 } },
      { call: "write", name: "u", values: { kind: "same", value: 7 } },
      { call: "write", name: "u", values: { kind: "same", value: 1 }, ago: 1 },
      { call: "run", steps: 1 },
    ];
    calls.forEach((call, by) => interpreter.call(call, by, undefined));
    const read = (name: string, ago?: 1) => {
      const found = interpreter.call({ call: "read", name, ...(ago && { ago }) }, 9, undefined);
      return found?.kind === "values" ? [...found.of.values] : [];
    };
    // u: v of the cell behind, which holds 2 in cell 1, and 1 of the step before
    assertEquals(read("u"), [3, 1, 1, 1]);
    assertEquals(read("u", 1), [7, 7, 7, 7]);
    // v: u of the cell before, and n − i of the cell behind
    const [beyond, behind] = boundary === "zero" ? [0, 0] : boundary === "periodic" ? [1, 4] : [1, 2];
    assertEquals(read("v"), [beyond + 3, 3 + 2, 1 + 1, 1 + behind]);
    interpreter.call({ call: "run", steps: 1 }, 9, undefined);
    assertEquals(read("u")[0], 5 + 7);
  }
});

/** The case that the tests of judge and shrinking take. */
const SEED = 11;

Deno.test("of equations that lack a term or a tap, and of lost steps, the judge sees nearly all", async () => {
  const bench = await openBench("cpu");
  let seen = 0, all = 0;
  for (let seed = 1; seed <= 24; seed++) {
    const one = usualCase(seed, "cpu", bench, 1), outcomes = await runCase(one, undefined);
    const right = judge(one, outcomes);
    assertEquals(right.fault, undefined);
    if (right.compared === 0 || right.isLost) continue;
    const others = [...smallerDefinitions(one.definition)].filter((_, i) => i % 5 === seed % 5).slice(0, 4);
    for (const definition of others) {
      try {
        stencilOf(definition);
        if (definition.fields.length < one.definition.fields.length) continue;
        const { fault } = judge({ ...one, definition }, outcomes);
        if (fault !== undefined) seen++;
        all++;
      } catch {
        continue; // it names what is gone
      }
    }
  }
  assert(all > 30 && seen > 0.7 * all, `${seen} of ${all}`);
});

Deno.test("a failing case becomes a few calls and terms, and a program that shows what is right", async () => {
  const bench = await openBench("cpu"), one = usualCase(SEED, "cpu", bench, 3);
  // fails wherever a run of several steps follows a write
  const fails = ({ calls, definition }: RandomCase) => {
    const write = calls.findIndex(({ call }) => call === "write");
    const run = calls.findIndex((call, i) => i > write && call.call === "run" && call.steps > 1);
    const isFault = write >= 0 && run >= 0 && definition.substeps.length > 0;
    const fault = { kind: "wrong", by: run, message: "read", wrong: [[0, 3, 1, 2]] } as const;
    return Promise.resolve(isFault ? fault : undefined);
  };
  const fault = (await fails(one))!;
  const small = await shrinkWhile(one, fault, fails, { attempts: 3000, milliseconds: 60_000 });
  assertEquals(small.one.calls.length, 2);
  assertEquals(small.one.definition.fields.length, 1);
  assert(small.one.grid.every((cells) => cells === 1), small.one.grid.join());
  const shown = {
    ...small.one,
    calls: [...small.one.calls, { call: "read", name: small.one.definition.fields[0]!.name } as const],
  };
  const program = programOf(shown, { ...small.fault, by: 2 });
  assertStringIncludes(program, "right: [3] is 1, found 2");
  const root = new URL("../../", import.meta.url);
  const file = await Deno.makeTempFile({ dir: root.pathname, prefix: "case_", suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, program);
    const args = ["run", "-A", "--no-check", "--no-lock", "--cached-only", file];
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    assert(success, new TextDecoder().decode(stderr));
    assertStringIncludes(new TextDecoder().decode(stdout), "Float32Array");
  } finally {
    await Deno.remove(file);
  }
});

for (const devices of ["cpu", "gpu"] as const) {
  Deno.test({
    name: `what random scripts found once stays right on the ${devices.toUpperCase()}`,
    ignore: devices === "gpu" && !HAS_ADAPTER,
    async fn() {
      const { gpu } = await openBench(devices);
      for (const one of FOUND[devices]) {
        const { fault, compared } = await tryCase(one, gpu);
        assertEquals(fault, undefined);
        assert(compared > 0);
      }
      gpu?.device.destroy();
    },
  });
}

/** What a definition cannot have, or a line alone; windows are those of ranks, which are not counted. */
const MET_ELSEWHERE =
  /: (window|previous-neighbours)$|^\w+ (classic|swept|swept-register|plane-torre|volume-torre): (diagonal|slanted)-taps$/;

/** What traversals say that they can do, and no script asked of them. */
function unmetClaims({ drawn }: Tally, device: "CPU" | "GPU"): string[] {
  const met = drawn.get("needs")!, all = device === "CPU" ? CPU_TRAVERSALS : TRAVERSALS;
  const claims = all.flatMap(({ name, capabilities: { can } }) =>
    can.map((need) => `${device} ${name}: ${need}`)
  );
  return claims.filter((claim) => !met.has(claim) && !MET_ELSEWHERE.test(claim));
}

/** Fails with the programs of what failed. */
async function assertNoFailure(devices: Devices, scripts: number): Promise<Tally> {
  const seed = THOROUGH ? 1 + Math.floor(Date.now() / 1000) : 1, programs: string[] = [];
  const tally = await campaign({
    devices,
    seed,
    scripts: THOROUGH ? Infinity : scripts,
    // whatever the machine is: other tests wait
    seconds: THOROUGH ? THOROUGH_SECONDS / 3 : 300,
    mostFailures: 3,
    onFailure: ({ seed, program }) => void programs.push(`seed ${seed}\n${program}`),
  });
  console.log(tally.lines.filter((line) => !/^(parameters|needs):/.test(line)).join("\n"));
  assertEquals(programs, []);
  const refused = [...tally.refused.values()].reduce((sum, count) => sum + count, 0);
  assert(refused <= 0.05 * tally.scripts, `${refused} of ${tally.scripts} scripts are refused`);
  assert(tally.blind <= 0.1 * tally.compared, `${tally.blind} of ${tally.compared} values could be anything`);
  return tally;
}

Deno.test("random scripts on the CPU and its ranks give what the interpreter says", async () => {
  const tally = await assertNoFailure("cpu", 300), { drawn, scripts } = tally;
  if (scripts < 300) return;
  for (const name of ["stepwise", "diamond-wavefront", "classic", "swept"]) {
    assert(drawn.get("traversals")!.has(`CPU ${name}`), name);
  }
  if (scripts > 20_000) assertEquals(unmetClaims(tally, "CPU"), []);
  for (const word of ["zero", "periodic", "insulated", "mixed"]) {
    assert(drawn.get("boundaries")!.has(word), word);
  }
});

Deno.test({
  name: "random scripts on the GPU and on several devices give what the interpreter says",
  ignore: !HAS_ADAPTER,
  async fn() {
    const tally = await assertNoFailure("gpu", 156), { drawn, scripts } = tally;
    if (scripts < 156) return;
    if (scripts > 20_000) assertEquals(unmetClaims(tally, "GPU"), []);
    const traversals = drawn.get("traversals")!, devices = [...drawn.get("devices")!.keys()].join();
    for (const name of ["stepwise", "marching", "diamond-torre", "plane-torre", "volume-torre"]) {
      assert(traversals.has(`GPU ${name}`), name);
    }
    for (const word of ["GPU", "both", "sections", "own buffers", "window", "GPU ranks"]) {
      assertStringIncludes(devices, word);
    }
  },
});

Deno.test({
  name: "random scripts on ranks of every kind, whose messages are late, give what the interpreter says",
  ignore: !HAS_ADAPTER || !THOROUGH, // the others have some of them
  async fn() {
    await assertNoFailure("ranks", Infinity);
  },
});
