import { assert, assertEquals } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { renderAnswers, renderSpace, spaceRecord, whichCan } from "../../tuner/cli/space.ts";
import { fitLines } from "../../tuner/cli/terminal.ts";
import { type Candidate, onGpuAlone } from "../../tuner/search/enumeration.ts";
import type { Space } from "../../tuner/search/space.ts";
import { DEVICE } from "../profile/sample_profile.ts";
import { runTask } from "./run_task.ts";

const { limits: LIMITS } = DEVICE.gpu!;

const PROBLEM = { stencil: wave(4), grid: [64, 32, 16], boundary: "periodic", steps: 12 } as const;

function candidate(threadsZ: number, predicted: number): Candidate {
  const parameters = { threadsZ, threadsY: 4, threadsX: 1 };
  return {
    traversal: stepwise,
    parameters,
    configuration: onGpuAlone({ traversal: stepwise, parameters }, PROBLEM),
    demand: stepwise.demand(PROBLEM, parameters),
    predicted,
    roof: 80e9,
  };
}

const SPACE: Space = {
  candidates: [candidate(16, 50e9), candidate(8, 25e9)],
  refused: [{ traversal: "diamond-torre", reason: "no end to start from" }],
  combinations: 1234,
  infeasible: [{ traversal: "stepwise", count: 1232, example: "2048 threads in a workgroup" }],
};

Deno.test("the space for people: what is left out and why, and the first to be tried", () => {
  assertEquals(
    fitLines(renderSpace(PROBLEM, SPACE, LIMITS), Infinity),
    `acoustic wave equation, order 4, grid 64x32x16, periodic boundary, f32, 12 steps
2 configurations of 1,234 combinations
Left out: diamond-torre: no end to start from
Left out: 1,232 of stepwise, for example: 2048 threads in a workgroup

The first to be tried (predicted rate against the best prediction; traffic per cell update):
     traversal  predicted  traffic  parameters
  1  stepwise        100%   12.0 B  threadsZ=16 threadsY=4 threadsX=1
  2  stepwise         50%   12.0 B  threadsZ=8 threadsY=4 threadsX=1`,
  );
});

Deno.test("of a large space the first 30 are shown", () => {
  const candidates = Array.from({ length: 2000 }, (_, i) => candidate(i + 1, 1e9));
  const lines = fitLines(renderSpace(PROBLEM, { ...SPACE, candidates }, LIMITS), 80).split("\n");
  assertEquals(lines.filter((line) => /^ +\d+ {2}stepwise/.test(line)).length, 30);
  assertEquals(lines.at(-1), "  … and 1,970 more: --json lists all");
});

Deno.test("without a GPU there is no space to show", () => {
  const space = { candidates: [], refused: [], combinations: 0, infeasible: [] };
  assertEquals(renderSpace(PROBLEM, space, undefined), [
    "acoustic wave equation, order 4, grid 64x32x16, periodic boundary, f32, 12 steps",
    "0 configurations of 0 combinations",
    "There is no GPU, so there is no space to search: tune measures the CPU alone.",
  ]);
});

Deno.test("where every traversal is left out, that is said, and not that there is no GPU", () => {
  const { refused } = SPACE;
  const space = { candidates: [], refused, combinations: 0, infeasible: [] };
  assertEquals(renderSpace(PROBLEM, space, LIMITS).slice(2), [
    "Left out: diamond-torre: no end to start from",
  ]);
});

Deno.test("the space as a record survives JSON", () => {
  const record = spaceRecord(PROBLEM, SPACE);
  assertEquals(JSON.parse(JSON.stringify(record)), record);
  assertEquals(record.candidates[0]?.predictedCellsPerSecond, 50e9);
  assertEquals([record.problem.order, record.problem.steps, record.combinations], [4, 12, 1234]);
});

Deno.test("--why says of each traversal of both devices whether it can run the problem, or why not", async () => {
  const { code, stdout, stderr } = await runTask("space", [
    "--stencil",
    "elastic",
    "--grid",
    "24x20x16",
    "--why",
    "--json",
  ]);
  assertEquals([code, stderr], [0, ""]);
  const { traversals } = JSON.parse(stdout) as { traversals: ReturnType<typeof whichCan> };
  const kinds = traversals.map(({ device, traversal, refusal }) =>
    `${device} ${traversal}: ${refusal?.kind ?? "yes"}`
  );
  assertEquals(kinds, [
    "gpu stepwise: yes",
    "gpu marching: yes",
    "gpu diamond-torre: yes",
    "gpu plane-torre: volume",
    "gpu volume-torre: fields",
    "gpu classic: dimensions",
    "gpu swept: dimensions",
    "gpu swept-register: dimensions",
    "cpu stepwise: yes",
    "cpu diamond-wavefront: yes",
    "cpu classic: dimensions",
    "cpu swept: dimensions",
  ]);
  const text = fitLines(renderAnswers(PROBLEM, whichCan(PROBLEM)), Infinity);
  assert(/GPU +diamond-torre +no: the boundary is periodic: torres advance/.test(text), text);
  assert(/CPU +stepwise +yes/.test(text), text);
});

Deno.test("the task space prints one JSON document", async () => {
  const { code, stdout, stderr } = await runTask("space", ["--grid", "24x20x16", "--steps", "12", "--json"]);
  assertEquals([code, stderr], [0, ""]);
  const { problem, candidates } = JSON.parse(stdout);
  assertEquals(problem.grid, [24, 20, 16]);
  assert(Array.isArray(candidates));
});
