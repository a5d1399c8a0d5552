import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import {
  type Exchange,
  exchangesOf,
  ownerOf,
  partOfRank,
  type RankPlan,
  turnsOf,
} from "../../../models/rank_part.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import type { PartField, RoundOptions } from "../../../tuner/devices/shared/part_field.ts";
import { piecesOf } from "../../../tuner/devices/shared/boxes.ts";
import { Exchanges } from "../../../tuner/devices/shared/exchange.ts";
import { aloneWorld, type Message } from "../../../tuner/devices/world.ts";
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

/** Rank 0 of two whose GPUs compute two parts each in turns; the test ends its rounds and messages. */
function turningParts(endsAtOnce = false) {
  const extents = [0, 32].map((x) => ({ low: [x, 0, 0], size: [32, 3, 4] } as const));
  const ranks: RankPlan = { parts: [2, 1, 1], exchangeEvery: 2, inTurns: true, extents };
  const problem = { ...SHARED, grid: [64, 3, 4] } as const, plan = turnsOf(problem, ranks)!, device = {};
  const events: string[] = [],
    ends: PromiseWithResolvers<number>[] = [],
    messages: PromiseWithResolvers<void>[] = [];
  const part = (number: number): PartField => {
    let rounds = 0;
    return {
      place: { part: partOfRank(problem, plan, number), whole: problem.grid },
      onGpu: { device },
      async begin(_: number, { pack = [], stay = [], turn }: RoundOptions = {}) {
        const name = `${number ? "far" : "near"} ${++rounds}`;
        await turn?.();
        events.push(`${name} begins`);
        const finish = () => {
          events.push(`${name} is awaited`);
          const end = Promise.withResolvers<number>();
          ends.push(end);
          if (endsAtOnce) end.resolve(1);
          return end.promise;
        };
        const pieces = () => {
          events.push(`${name} is read`);
          return pack.map((boxes) => piecesOf(boxes).map(({ cells }) => new Float32Array(cells)));
        };
        const staying = stay.map(() => ({ pieces: [], buffers: [], taken() {} }));
        return { finish, pieces, release() {}, staying };
      },
      unpack: () => Promise.resolve(),
      settle: () => Promise.resolve(),
    } as unknown as PartField;
  };
  const message = () => {
    messages.push(Promise.withResolvers<void>());
    return { id: messages.length - 1 };
  };
  const world = {
    ...aloneWorld(),
    size: 2,
    send: message,
    receive: message,
    finish: async (list: readonly Message[]) =>
      void await Promise.all(list.map(({ id }) => messages[id]!.promise)),
  };
  const parts = [0, 1].map((number) => ({ number, field: part(number) }));
  const exchanges = new Exchanges(problem, plan, parts, world, (one) => ownerOf(plan, one));
  return { exchanges, events, ends, messages };
}

Deno.test("in turns one part's cells are read and sent while the other computes, which begins as soon as the first ends", async () => {
  const { exchanges, events, ends, messages } = turningParts();
  const run = exchanges.run([{ steps: 2, renews: true }, { steps: 1, renews: false }]);
  await settle();
  // what meets the other rank is awaited when the part beside is ready, and read once that was begun
  assertEquals(events.splice(0), [
    ...["near 1 begins", "far 1 begins", "far 1 is awaited", "near 1 is awaited", "near 2 begins"],
  ]);
  for (const end of ends.splice(0)) end.resolve(10);
  await settle();
  assertEquals(events.splice(0), ["far 1 is read", "near 1 is read"]);
  // a piece goes and one comes
  assertEquals(messages.length, 2);
  for (const { resolve } of messages) resolve();
  await settle();
  assertEquals(events.splice(0), ["far 2 begins", "far 2 is awaited", "near 2 is awaited"]);
  for (const end of ends) end.resolve(5);
  const times = await run;
  assertEquals(times.map(({ deviceNs }) => deviceNs), [15, 15]);
  assertEquals(times.map(({ exchangeNs }) => exchangeNs > 0), [false, true]);
  // Deno has waited for the end already: the next begins all the same before cells are read
  const fast = turningParts(true),
    ran = fast.exchanges.run([{ steps: 2, renews: true }, { steps: 1, renews: false }]);
  await settle();
  const read = fast.events.indexOf("far 1 is read");
  assert(read > fast.events.indexOf("near 2 begins"), fast.events.join());
  for (const { resolve } of fast.messages) resolve();
  await ran;
});

Deno.test("a part that fails in its turn ends the run with its own failure", async () => {
  const { exchanges, ends } = turningParts(), failure = new RunFailure("device-lost", "the GPU is gone");
  const run = exchanges.run([{ steps: 2, renews: true }, { steps: 2, renews: true }]);
  await settle();
  for (const end of ends) end.reject(failure);
  await assertRejects(() => run, RunFailure, failure.message);
});

Deno.test("a part that fails ends the run, though a neighbour never takes what was sent before", async () => {
  const { exchanges, ends, messages } = turningParts(),
    failure = new RunFailure("device-lost", "the GPU is gone");
  const run = exchanges.run([{ steps: 2, renews: true }, { steps: 2, renews: true }]);
  const [end] = [run.then(() => undefined, (error) => error)];
  await settle();
  for (const one of ends.splice(0)) one.resolve(1);
  await settle();
  // the receive was begun first
  const [received] = messages;
  received!.resolve();
  // what left first is waited for before the host is blocked, but not for ever
  while (ends.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const one of ends) one.reject(failure);
  const late = new Promise((resolve) => setTimeout(resolve, 1000, "the run has not ended"));
  assertEquals(await Promise.race([end, late]), failure);
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
