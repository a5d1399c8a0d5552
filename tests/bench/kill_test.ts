import { assert, assertEquals } from "@std/assert";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { killRuns } from "../../bench/kill_runs.ts";

testOnGpu(
  "runs and processes that are killed at random moments lose nothing, and the next run ends",
  async () => {
    const args =
      "--grid 16x12x16 --steps 6 --traversal stepwise --strategy exhaustive --budget 60 --cpu-workers 0";
    const report = await killRuns({ kills: 2, seed: 1, args: args.split(" "), longestMs: 3000 });
    assertEquals(report.again, 0);
    assert(report.known > 0 && report.parents > 0 && report.children > 0, JSON.stringify(report));
  },
  // journals cut short, interrupted runs and processes that crash have tests of their own
  { ignore: !THOROUGH },
);
