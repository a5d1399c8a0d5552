import { assert, assertEquals } from "@std/assert";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { placeIn } from "../../bench/repeat_tunes.ts";

Deno.test("a choice was chosen elsewhere too, tied, was told apart, was only searched, or was not measured", () => {
  const rate = { configuration: { traversal: "b", parameters: {}, share: SHARE }, cellsPerSecond: 1 };
  const other = {
    winner: "a",
    ties: new Set(["a", "b"]),
    finalRates: new Map(["a", "b", "c"].map((key) => [key, { ...rate, confidence95: [1, 1] as const }])),
    searchRates: new Map(["a", "b", "c", "d"].map((key) => [key, 1])),
  };
  assertEquals(["a", "b", "c", "d", "e"].map((key) => placeIn(key, other)), ["=", "t", "X", "s", "."]);
});

const SHARE = { cpuSlices: 0, gpuSlices: 8, exchangeEvery: 1, cpuWorkers: 0 };

testOnGpu(
  "two tunes are repeated, their choices measured beside each other, all figures printed",
  async () => {
    const args = "2 --grid 16x12x16 --steps 6 --traversal stepwise --budget 4 --cpu-workers 0".split(" ");
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "bench/repeat_tunes.ts", ...args],
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    const lines = text.decode(stdout).trim().split("\n");
    assert(code === 0 || code === 1, text.decode(stderr));
    const { runs, pooled, choices } = JSON.parse(lines.at(-1)!);
    assertEquals(runs.length, 2);
    for (const { tieSet, finalists, search, result } of runs) {
      assert(tieSet.length >= 1 && finalists.length >= tieSet.length && Object.keys(search).length >= 3);
      const [turns] = finalists;
      assert(turns.search.length >= 1 && turns.blocks.length >= 2);
      assert(result.confidence95[0] <= result.cellsPerSecond);
    }
    assert(choices.held <= choices.of && choices.of <= 1);
    assert(pooled.finalists.length === 1 || pooled.finalists.length === 2);
    // what the exit code says is what the figures say
    assertEquals(
      code === 0,
      lines.some((line) => line.includes("beside each other: 0 of")) && pooled.held === 2 &&
        !lines.some((line) => /told apart by another run: [1-9]/.test(line)),
    );
  },
  { ignore: !THOROUGH },
);
