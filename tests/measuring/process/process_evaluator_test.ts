import { assert, assertEquals } from "@std/assert";
import { elastic } from "../../../kernels/stencils/elastic.ts";
import type { Grid, Stencil } from "../../../kernels/stencils/stencil.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { takeTurns } from "../../../tuner/measuring/evaluator.ts";
import { processesFor, ProcessEvaluator } from "../../../tuner/measuring/process/process_evaluator.ts";

const PROBLEM = {
  stencil: wave(2),
  grid: [8, 8, 8],
  boundary: "zero",
  steps: 2,
} as const;

/** A program that answers lines with these, one after the other; then it waits, or ends. */
function program(answers: readonly unknown[], ends: boolean): [string, ...string[]] {
  const lines = answers.map((answer) => JSON.stringify(answer)).join("\n");
  const code = `let n = 0; const lines = ${JSON.stringify(lines)}.split("\\n");
    for await (const _ of Deno.stdin.readable) {
      if (n < lines.length) console.log(lines[n++]);
      if (n === lines.length && ${ends}) Deno.exit(0);
    }`;
  return [Deno.execPath(), "eval", code];
}

const CONFIGURATION = {
  traversal: "stepwise",
  parameters: { threadsZ: 8 },
  share: { cpuSlices: 0, gpuSlices: 8, exchangeEvery: 2, cpuWorkers: 0 },
};

Deno.test("a process that hangs is killed and its configuration is a timeout; the device is free again", async () => {
  const turn = takeTurns();
  for (const answers of [[{ say: "done" }], [{ say: "done" }, { say: "wait" }]]) {
    const command = program(answers, false);
    const evaluator = await ProcessEvaluator.start({ problem: PROBLEM, limitMs: 300, turn, command });
    const { evaluation, evaluationNs } = (await evaluator.evaluate(CONFIGURATION, { best: 0, turn }))!;
    assert("failure" in evaluation);
    assertEquals(evaluation.failure, { reason: "timeout", message: "did not end within 300 ms" });
    assert(evaluationNs > 0 && !evaluator.alive);
    (await turn())();
  }
});

Deno.test("what is not done in the time that is left is killed, and says nothing of its configuration", async () => {
  const turn = takeTurns();
  for (const answers of [[{ say: "done" }], [{ say: "done" }, { say: "wait" }]]) {
    const command = program(answers, false);
    const evaluator = await ProcessEvaluator.start({ problem: PROBLEM, limitMs: 60_000, turn, command });
    const limitNs = 300e6;
    assertEquals(await evaluator.evaluate(CONFIGURATION, { best: 0, turn, limitNs }), undefined);
    assert(!evaluator.alive);
    (await turn())();
  }
});

Deno.test("a process that dies costs its configuration; one that cannot start says why", async () => {
  const turn = takeTurns();
  const command = program([{ say: "done" }, { say: "wait" }], true);
  const evaluator = await ProcessEvaluator.start({ problem: PROBLEM, limitMs: 60_000, turn, command });
  const { evaluation } = (await evaluator.evaluate(CONFIGURATION, { best: 0, turn }))!;
  assert("failure" in evaluation);
  assertEquals(evaluation.failure.reason, "device-lost");
  evaluator.close();
  const failure = { reason: "out-of-memory", message: "no room" };
  const broken = program([{ say: "failed", failure }], true);
  const error = await ProcessEvaluator.start({ problem: PROBLEM, limitMs: 1000, turn, command: broken })
    .catch((error) => error);
  assertEquals([error.reason, error.message], ["out-of-memory", "no room"]);
});

const problemOf = (stencil: Stencil, grid: Grid) => ({ stencil, grid, boundary: "zero", steps: 96 }) as const;

Deno.test("as many processes search as the memory and the cores allow, two at least, eight at most", () => {
  const small = problemOf(wave(2), [64, 64, 64]);
  const memory = 128e9;
  assertEquals([1, 2, 4, 9, 16, 64].map((cores) => processesFor(small, { cores, memory })), [
    2,
    2,
    3,
    8,
    8,
    8,
  ]);
  // 3.2 GB a field: eight references and eight fields are 51 GB
  const large = problemOf(wave(2), [584, 5280, 128]);
  assertEquals([2, 4, 16].map((cores) => processesFor(large, { cores, memory })), [2, 3, 8]);
  assertEquals([64e9, 48e9, 16e9].map((memory) => processesFor(large, { cores: 16, memory })), [5, 3, 2]);
  // 29 GB a field: two references and two fields would be 116
  assertEquals(processesFor(problemOf(wave(2), [1536, 1536, 1536]), { cores: 16, memory }), 1);
  // fields and materials are planes of a slice
  assertEquals(processesFor(large, { cores: 16, memory, deviceMemory: 1e9 }), 1);
  assertEquals(processesFor(problemOf(elastic(), [280, 1024, 128]), { cores: 16, memory }), 7);
});
