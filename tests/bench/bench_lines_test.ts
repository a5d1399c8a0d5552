import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { run } from "../../bench/bench.ts";
import { benchLines, type LineBench, renderLines } from "../../bench/bench_lines.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { testOnGpu } from "../test_on_gpu.ts";

const VERIFICATION = { maxError: 0, bound: 1e-6, against: "gpu stepwise" };

const FOUND = {
  tool: { name: "facet", version: "0.1.0" },
  createdAt: "2026-11-21T10:00:00Z",
  device: { gpu: { description: "Some GPU" }, cpu: { model: "Some CPU", cores: 2 } },
  gpu: [{
    stencil: "heat-1d",
    variant: {},
    points: 2048,
    steps: 100,
    launchNs: 2000,
    searched: 3,
    failed: [],
    rates: [
      { traversal: "classic", parameters: { threads: 64, points: 1 }, stepNs: 2050, overClassic: 1 },
      {
        traversal: "swept",
        parameters: { threads: 512, points: 1, steps: 256 },
        stepNs: 250,
        overClassic: 8.2,
      },
      {
        traversal: "swept-register",
        parameters: { threads: 64, points: 8, steps: 256 },
        stepNs: 80,
        overClassic: 25.6,
      },
    ].map((rate) => ({
      ...rate,
      confidence95: [rate.stepNs - 1, rate.stepNs + 1],
      samples: 7,
      verification: VERIFICATION,
    })),
  }],
  cpu: [{
    stencil: "heat-1d",
    variant: {},
    points: 2048,
    workers: 2,
    sameBits: true,
    rates: [
      { traversal: "classic", parameters: {}, stepNs: 300, overClassic: 1 },
      { traversal: "swept", parameters: { points: 1024 }, stepNs: 150, overClassic: 2 },
    ].map((rate) => ({ ...rate, confidence95: [rate.stepNs - 1, rate.stepNs + 1], samples: 7 })),
  }],
} as unknown as LineBench;

Deno.test("the results are tables, for people and for Markdown", () => {
  const markdown = renderLines(FOUND, true).split("\n");
  assertEquals(markdown[0], "heat-1d on Some GPU, time a step, f32");
  assertEquals(
    markdown[4],
    "| 2,048 | 2.00 µs | 2.05 µs | 64 × 1 | 250 ns | 8.2× | 512 × 1 × 256 | 80.0 ns | 26× | 79.0 ns to 81.0 ns | 64 × 8 × 256 |",
  );
  assertEquals(markdown[10], "| 2,048 | 300 ns | 150 ns | 2.0× | 1,024 |");
  assertStringIncludes(renderLines(FOUND), "All ways gave the same line, bit for bit.");
  const cpu = FOUND.cpu[0]!, gpu = FOUND.gpu[0]!;
  const wrong = renderLines({
    ...FOUND,
    cpu: [{ ...cpu, sameBits: false }],
    gpu: [{ ...gpu, failed: ["swept: incorrect: differs"] }],
  });
  assertStringIncludes(wrong, "DIFFERENT LINES: 2048");
  assertStringIncludes(wrong, "FAILED: 2048 points: swept: incorrect: differs");
});

Deno.test("wrong options are refused before any work", async () => {
  const cases: [args: string, message: string][] = [
    ["--stencil navier", "wanted one of wave, heat, heat-1d, ks"],
    ["--stencil ks --order 2", "Cannot use --order"],
    ["--stencil ks --grid 8x8x8", "wanted a whole number of points, at least 1"],
    ["--stencil ks --grid 16", "wanted at least 32 points"],
    ["--stencil ks --points 4", 'Cannot use --points: wanted one of 5, 3: found "4"'],
    ["--stencil ks --steps 0", "Cannot use --steps"],
    ["--stencil ks --no-gpu --no-cpu", "nothing is left that could be measured"],
    ["--stencil ks --no-gpu --steps 5", "Cannot use --steps with --no-gpu"],
    ["--stencil ks --no-cpu --workers 2", "Cannot use --workers with --no-cpu"],
    ["--stencil heat-1d --points 3", "Cannot use --points: it belongs to --stencil ks"],
    ["--steps 5", "Cannot use --steps: it belongs to --stencil heat-1d or ks"],
  ];
  for (const [args, message] of cases) {
    const error = await assertRejects(() => run(args.split(" ")), RequestError);
    assertStringIncludes(error.message, message);
  }
});

Deno.test("files that cannot be written are a wrong request, before anything is measured", async () => {
  const file = await Deno.makeTempFile();
  const out = `${file}/x`; // a file is no directory
  const error = await assertRejects(() => run(["--stencil", "ks", "--no-gpu", "--out", out]), ProfileError);
  assertStringIncludes(error.message, `Cannot write ${out}.json: `);
  await Deno.remove(file);
});

/** Small kernels, which compile quickly on a software device, and short samples. */
const QUICK = {
  stencils: [heat1d()],
  timeMs: 0,
  sampleUpdates: 1e5,
  limits: {
    maxComputeWorkgroupSizeX: 32,
    maxComputeInvocationsPerWorkgroup: 32,
    maxComputeWorkgroupStorageSize: 1536,
  },
};

Deno.test("lengths that are asked for are measured on the CPU, however long", async () => {
  const request = { ...QUICK, lengths: [32768], workers: 1, gpu: false };
  const { cpu } = await benchLines(request);
  assertEquals(cpu.map(({ points }) => points), [32768]);
});

testOnGpu("the comparison verifies every finalist, and the workers give the same bits", async () => {
  const request = { ...QUICK, lengths: [1024], workers: 2, gpu: true, steps: 40 };
  const { gpu: [gpu], cpu: [cpu] } = await benchLines(request);
  assertEquals([gpu!.points, gpu!.failed, gpu!.rates[0]!.traversal], [1024, [], "classic"]);
  assert(cpu!.sameBits);
  assertEquals(new Set(gpu!.rates.map(({ traversal }) => traversal)).size, 3);
  for (const { verification } of gpu!.rates) assertEquals(verification.maxError <= verification.bound, true);
});
