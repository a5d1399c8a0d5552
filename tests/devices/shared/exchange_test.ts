import { assertEquals, assertRejects } from "@std/assert";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { type Exchange, exchangesOf, partOfRank } from "../../../models/rank_part.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import type { PartField, RoundOptions } from "../../../tuner/devices/shared/part_field.ts";
import { piecesOf } from "../../../tuner/devices/shared/boxes.ts";
import { Exchanges } from "../../../tuner/devices/shared/exchange.ts";
import { aloneWorld } from "../../../tuner/devices/world.ts";
import { planOfShare } from "../../../tuner/devices/shared/shares.ts";

const SHARED: Problem = { stencil: wave(2), grid: [30, 3, 4], boundary: "zero", steps: 8 };

/** Two parts that record what happens; the test ends their rounds. */
function recordedParts() {
  const plan = planOfShare(SHARED, { cpuSlices: 10, gpuSlices: 20, exchangeEvery: 3, cpuWorkers: 1 });
  const events: string[] = [];
  const pending: { cpu: PromiseWithResolvers<number>[]; gpu: PromiseWithResolvers<number>[] } = {
    cpu: [],
    gpu: [],
  };
  const begin = (device: "cpu" | "gpu", event: string): Promise<number> => {
    events.push(event);
    const round = Promise.withResolvers<number>();
    pending[device].push(round);
    return round.promise;
  };
  const rounds = { cpu: 0, gpu: 0 };
  const part = (device: "cpu" | "gpu"): PartField => ({
    place: { part: partOfRank(SHARED, plan, device === "cpu" ? 0 : 1), whole: SHARED.grid },
    ...(device === "gpu" && { onGpu: {} }),
    begin(steps: number, { pack = [] }: RoundOptions = {}) {
      const round = ++rounds[device], began = `${device} ${round} begins ${steps} steps`;
      const ended = (): number => events.push(`${device} ${round} ends`);
      // workers are awaited from the beginning
      if (device === "gpu") events.push(began);
      const running = device === "cpu" ? begin(device, began).finally(ended) : undefined;
      const finish = () => running ?? begin(device, `gpu ${round} is awaited`).finally(ended);
      const pieces = () => pack.map((boxes) => piecesOf(boxes).map(({ cells }) => new Float32Array(cells)));
      return Promise.resolve({ finish, pieces, release() {} });
    },
    unpack: () => Promise.resolve(),
    settle: () => Promise.resolve(),
  } as unknown as PartField);
  const parts = (["gpu", "cpu"] as const).map((device) => {
    return { number: device === "cpu" ? 0 : 1, field: part(device) };
  });
  const exchanges = new Exchanges(SHARED, plan, parts, aloneWorld());
  const run = (rounds: readonly number[]) => exchanges.run(rounds.map((steps) => ({ steps, renews: true })));
  return { rounds: { run }, events, pending };
}

/** Lets everything happen that waits for no round's end. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve));
}

Deno.test("both devices begin a round before either ends one, and the GPU's next begins before its slices come", async () => {
  const { rounds, events, pending } = recordedParts();
  const run = rounds.run([3, 2]);
  await settle();
  assertEquals(events.splice(0), ["gpu 1 begins 3 steps", "cpu 1 begins 3 steps", "gpu 1 is awaited"]);
  pending.cpu[0]!.resolve(20);
  await settle();
  // the CPU's slices are enough for the GPU's next round; the CPU's next one needs the GPU's
  assertEquals(events.splice(0), ["cpu 1 ends", "gpu 2 begins 2 steps"]);
  pending.gpu[0]!.resolve(30);
  await settle();
  assertEquals(events.splice(0), ["gpu 1 ends", "cpu 2 begins 2 steps", "gpu 2 is awaited"]);
  pending.gpu[1]!.resolve(5);
  pending.cpu[1]!.resolve(10);
  const [gpu, cpu] = await run;
  assertEquals([gpu!.deviceNs, cpu!.deviceNs], [35, 30]);
  for (const { packNs, unpackNs } of [gpu!, cpu!]) assertEquals([packNs > 0, unpackNs > 0], [true, true]);
});

Deno.test("a device that fails while the other computes ends the run with its own failure", async () => {
  for (const device of ["cpu", "gpu"] as const) {
    const { rounds, pending } = recordedParts();
    const run = rounds.run([1, 1]);
    await settle();
    const failure = new RunFailure("device-lost", `the ${device} is gone`);
    pending[device][0]!.reject(failure);
    pending[device === "cpu" ? "gpu" : "cpu"][0]!.resolve(1);
    await assertRejects(() => run, RunFailure, failure.message);
  }
});

/** Slices that go each way between a CPU's 10 and a GPU's 20: level, first slice sent, first received, slices. */
function slicesBetween(boundary: Problem["boundary"], exchangeEvery: number) {
  const problem: Problem = { stencil: wave(4), grid: [30, 5, 7], boundary, steps: 8 };
  const plan = planOfShare(problem, { cpuSlices: 10, gpuSlices: 20, exchangeEvery, cpuWorkers: 1 });
  const [cpu, gpu] = [0, 1].map((rank) => exchangesOf(problem, plan, partOfRank(problem, plan, rank))[0]!);
  const slices = (from: Exchange[], to: Exchange[]) =>
    from.flatMap(({ side, send }) => {
      // the one's low end is the other's high end
      const { receive } = to.find((one) => one.side !== side)!;
      return send.map(({ ago, low, size }, i) => [ago, low[0], receive[i]!.low[0], size[0]]);
    });
  return { toCpu: slices(gpu!, cpu!), toGpu: slices(cpu!, gpu!) };
}

Deno.test("on a zero boundary the shares exchange once, one reach less of the level before, none with R = 1", () => {
  assertEquals(slicesBetween("zero", 3), {
    toCpu: [[0, 6, 10, 6], [1, 6, 10, 4]],
    toGpu: [[0, 4, 0, 6], [1, 6, 2, 4]],
  });
  assertEquals(slicesBetween("zero", 1), { toCpu: [[0, 2, 10, 2]], toGpu: [[0, 8, 0, 2]] });
});

Deno.test("on a periodic boundary the ends of the grid exchange too", () => {
  assertEquals(slicesBetween("periodic", 1), {
    toCpu: [[0, 2, 12, 2], [0, 20, 0, 2]],
    toGpu: [[0, 2, 22, 2], [0, 10, 0, 2]],
  });
});
