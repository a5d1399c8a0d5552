import { assert, assertEquals } from "@std/assert";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { kindOf } from "../../models/cost_model.ts";
import { describeLoss, leaveOneOut } from "../../tuner/profile/leave_one_out.ts";
import { readReplaySpaces } from "../../tuner/replay/read_replay_space.ts";
import { chooseUnseen, replayCandidates } from "../../tuner/replay/replay_space.ts";

Deno.test("on recorded grids that a profile has not seen, the choice is near the best and faster than stepwise", async () => {
  const { spaces } = await readReplaySpaces("fixtures/h100/grids.jsonl.gz");
  const all = [...chooseUnseen(spaces).values()].flat();
  assert(all.length >= 130, `${all.length} problems`);
  const losses = all.map(({ loss }) => loss).sort((a, b) => a - b);
  const words = describeLoss(all);
  assert(losses[losses.length >> 1]! <= 0.005, words);
  assert(losses[Math.floor(0.9 * losses.length)]! <= 0.08 && losses.at(-1)! < 0.2, words);
  const off = all.map(({ chosen, expected }) => Math.abs(Math.log(chosen.cellsPerSecond / expected))).sort((
    a,
    b,
  ) => a - b);
  assert(off[off.length >> 1]! < 0.1, `half are off by more than ${off[off.length >> 1]}`);
  const within = all.filter(({ chosen: { cellsPerSecond: rate }, expected, deviation }) =>
    Math.abs(Math.log(rate / expected)) < 1.96 * deviation
  );
  const part = within.length / all.length;
  assert(part > 0.9 && part < 0.99, `${part} of the rates are in their intervals`);
  const far = all.filter(({ chosen, plain }) => chosen.cellsPerSecond < 0.99 * plain);
  assert(far.length === 0, far.map(({ chosen }) => chosen.problem.grid.join("x")).join());
});

Deno.test("where only one thing was measured, nothing is said of the loss on unseen sizes", () => {
  const measured = [8, 16].map((size) => {
    const problem: Problem = { stencil: wave(2), grid: [size, size, size], boundary: "zero", steps: 4 };
    const sample = {
      traversal: { name: "stepwise" },
      parameters: { strip: 0 },
      predicted: 1e9,
      cpuWorkers: 2,
    };
    return { problem, samples: [{ ...sample, problem, cellsPerSecond: 1e9 }] };
  });
  const unseen = leaveOneOut(measured, { copyBytesPerSecond: 1e12 });
  assertEquals([unseen, describeLoss(unseen)], [
    [],
    "Too little was measured to estimate the loss on unseen sizes",
  ]);
});

Deno.test("on the CPU the choice for a grid that a profile has not seen is not slower than stepwise", async () => {
  const { spaces } = await readReplaySpaces("fixtures/cpu_grids.jsonl.gz");
  const all = [...chooseUnseen(spaces).values()].flat();
  const kinds = all.map(({ grid, chosen }) => `${grid.join("x")} ${kindOf(chosen)}`);
  assertEquals(kinds, [
    "48x48x48 cpu stepwise",
    "96x160x192 cpu diamond-wavefront",
    "40x64x128 cpu stepwise",
    "80x160x224 cpu diamond-wavefront",
  ]);
  for (const { chosen, plain } of all.filter((_, i) => i % 2 === 1)) {
    assert(chosen.cellsPerSecond > plain, `${chosen.cellsPerSecond} of ${plain}`);
  }
});

Deno.test("of recorded workgroups of stepwise, that which the models like best is near the fastest", async () => {
  const { spaces } = await readReplaySpaces("fixtures/h100/grids.jsonl.gz");
  const losses = spaces.map((space) => {
    const plain = replayCandidates(space).filter((one) => kindOf(one) === "stepwise" && one.recorded.rate);
    const rateOf = (one?: typeof plain[0]): number => one?.recorded.rate ?? NaN;
    const liked = plain.toSorted((a, b) => b.predicted! - a.predicted!)[0];
    return 1 - rateOf(liked) / Math.max(...plain.map(rateOf));
  });
  const mean = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
  assert(mean < 0.02, `${losses.length} problems: ${mean} slower on average`);
});

Deno.test("the models alone predict most recorded marches and torres within a quarter, and choose what is near the best", async () => {
  const { spaces } = await readReplaySpaces("fixtures/h100/grids.jsonl.gz");
  const errors = new Map<string, number[]>();
  const losses = spaces.map((space) => {
    const all = replayCandidates(space).filter(({ recorded: { rate } }) => rate);
    for (const one of all) {
      const error = Math.abs(Math.log(one.recorded.rate! / one.predicted!));
      errors.set(kindOf(one), [...(errors.get(kindOf(one)) ?? []), error]);
    }
    const liked = all.toSorted((a, b) => b.predicted! - a.predicted!)[0]!;
    return 1 - liked.recorded.rate! / Math.max(...all.map(({ recorded: { rate } }) => rate!));
  }).sort((a, b) => a - b);
  for (const kind of ["marching", "diamond-torre"]) {
    const some = errors.get(kind)!.sort((a, b) => a - b);
    const [half, most] = [0.5, 0.9].map((part) => some[Math.floor(part * some.length)]!);
    assert(half! < 0.12 && most! < 0.3, `${kind}: ${half}, ${most}`);
  }
  const [half, most] = [0.5, 0.9].map((part) => losses[Math.floor(part * losses.length)]!);
  assert(half! < 0.1 && most! < 0.25, `${half}, ${most}`);
});
