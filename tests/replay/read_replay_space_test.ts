import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { gzipSync } from "node:zlib";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { formatLine, type JournalRecord, parseJournal } from "../../tuner/profile/journal_format.ts";
import { readReplaySpaces } from "../../tuner/replay/read_replay_space.ts";
import { replayCandidates } from "../../tuner/replay/replay_space.ts";

async function read(name: string, content: string | Uint8Array) {
  const directory = await Deno.makeTempDir();
  try {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    await Deno.writeFile(`${directory}/${name}`, bytes);
    return await readReplaySpaces(`${directory}/${name}`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const CACHE = JSON.stringify({
  device_name: "A GPU",
  kernel_name: "vector_add",
  tune_params_keys: ["block", "method"],
  tune_params: { block: [32, 64], method: ["loop", "unrolled"] },
  cache: {
    "32,loop": { block: 32, method: "loop", time: 2, compile_time: 100, benchmark_time: 10 },
    "32,unrolled": { block: 32, method: "unrolled", time: 0.5, compile_time: 300, benchmark_time: 10 },
    "64,loop": { block: 64, method: "loop", time: "CompilationFailedConfig" },
  },
});

Deno.test("a Kernel Tuner cache is a space: rates are 1 over seconds, words are places", async () => {
  for (const content of [CACHE, new Uint8Array(gzipSync(CACHE))]) {
    const { spaces: [space] } = await read("cache.json", content);
    assert(/^vector_add, A GPU \(.*\/cache\.json\)$/.test(space!.title), space!.title);
    assertEquals(space!.configurations.map(({ parameters, rate, failure }) => [parameters, rate, failure]), [
      [{ block: 32, method: 0 }, 500, undefined],
      [{ block: 32, method: 1 }, 2000, undefined],
      [{ block: 64, method: 0 }, undefined, "compile"],
    ]);
    const { compileNs, evaluationNs } = space!.configurations[0]!;
    assertEquals([compileNs, evaluationNs], [100e6, 110e6]);
    const candidates = replayCandidates(space!);
    assertEquals(candidates.map(({ predicted }) => predicted), [undefined, undefined, undefined]);
  }
});

Deno.test("where one value is no number, all of the parameter become their places", async () => {
  const cache = CACHE.replaceAll('"loop"', "7").replaceAll('"unrolled"', "true").replaceAll("loop", "7")
    .replaceAll("unrolled", "True");
  const { spaces: [space] } = await read("cache.json", cache);
  assertEquals(space!.configurations.map(({ parameters }) => parameters), [
    { block: 32, method: 0 },
    { block: 32, method: 1 },
    { block: 64, method: 0 },
  ]);
});

Deno.test("another device's rates are a prior: what failed there or is missing counts as its slowest", async () => {
  const { spaces: [space] } = await read("cache.json", CACHE);
  const other = CACHE.replace("A GPU", "B").replace('"time":0.5', '"time":4').replace("vector_add", "add");
  const { spaces: [prior] } = await read("other.json", other);
  assertEquals(replayCandidates(space!, prior!).map(({ elsewhere }) => elsewhere), [500, 250, 250]);
  assertEquals(replayCandidates(space!).map(({ elsewhere }) => elsewhere), [undefined, undefined, undefined]);
  const { spaces: [unlike] } = await read("other.json", CACHE.replaceAll('"block"', '"width"'));
  assertThrows(() => replayCandidates(space!, unlike!), ProfileError, "a rate for none");
});

Deno.test("T4 results are a space", async () => {
  const result = (x: number, time: number) => ({
    configuration: { x, flag: x > 1 },
    invalidity: "correct",
    correctness: 1,
    objectives: ["time"],
    times: { compilation: 5 },
    measurements: [{ name: "time", value: time, unit: "ms" }],
  });
  const { spaces: [space] } = await read(
    "t4.json",
    JSON.stringify({ results: [result(1, 4), result(2, 1)] }),
  );
  assertEquals(space!.configurations.map(({ parameters, rate }) => [parameters, rate]), [
    [{ x: 1, flag: 0 }, 250],
    [{ x: 2, flag: 1 }, 1000],
  ]);
});

Deno.test("a journal is a space for each problem, each configuration once, with the models' predictions", async () => {
  const { spaces, notes } = await readReplaySpaces("fixtures/h100/wave.json.journal.jsonl");
  assertEquals(notes, []);
  assertEquals(spaces.length, 4);
  for (const space of spaces) {
    const candidates = replayCandidates(space);
    assertEquals(new Set(candidates.map(({ recorded }) => recorded)).size, space.configurations.length);
    assert(candidates.every(({ predicted, recorded }) => predicted! > 0 && recorded.compileNs! > 0));
  }
});

Deno.test("a gzipped journal is read by any name, and one cut off loses its last line", async () => {
  const journal = await Deno.readFile("fixtures/h100/heat.json.journal.jsonl");
  const configurations = async (name: string, content: Uint8Array) =>
    (await read(name, content)).spaces.map(({ configurations }) => configurations);
  const plain = await configurations("a.jsonl", journal), packed = new Uint8Array(gzipSync(journal));
  assertEquals(await configurations("a.jsonl.gz", packed), plain);
  assertEquals(await configurations("a", packed), plain);
  const { notes } = await read("a.jsonl", journal.subarray(0, -9));
  assertEquals(notes, ["the last line was cut off while it was written: left out"]);
});

Deno.test("a journal's times of evaluations are replayed", async () => {
  const [run, measured] = parseJournal(await Deno.readFile("fixtures/h100/heat.json.journal.jsonl")).records;
  const lines = [run!, { ...measured!, evaluationNs: 5e9 } as JournalRecord].map(formatLine).join("");
  const { spaces: [space] } = await read("a.jsonl", lines);
  assertEquals(space!.configurations.map(({ evaluationNs }) => evaluationNs), [5e9]);
});

Deno.test("what holds nothing to replay is refused in one line", async () => {
  const failed = CACHE.replaceAll(/"time":[\d.]+/g, '"time":"RuntimeFailedConfig"');
  const cases: [string, string, string][] = [
    ["a.json", failed, "no configuration has a rate"],
    ["a.json", "{}", "wanted T4 results"],
    ["a.jsonl", "", "no configuration has a rate"],
    ["a.json", CACHE.replace('"cache"', '"objective":"GFLOP/s","cache"'), "Cannot re"],
    ["a.json", 'import("os")', "Cannot read"],
  ];
  for (const [name, content, message] of cases) {
    const error = await assertRejects(() => read(name, content), ProfileError, message);
    assert(!(error as Error).message.includes("\n"));
  }
  await assertRejects(() => readReplaySpaces("fixtures/none.jsonl"), ProfileError, "there is no such file");
});
