import { assertEquals, assertRejects } from "@std/assert";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import { SharedRounds } from "../../../tuner/devices/shared/shared_rounds.ts";
import type { CpuPart, GpuPart } from "../../../tuner/devices/shared/shares.ts";

/** Two parts without slices to exchange that record what happens; the test ends their rounds. */
function recordedParts() {
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
  let cpuRounds = 0, gpuRounds = 0;
  const cpu = {
    first: 0,
    slices: 1,
    field: {
      run({ steps }: { steps: number }) {
        const round = ++cpuRounds;
        return begin("cpu", `cpu ${round} begins ${steps} steps`).finally(() =>
          events.push(`cpu ${round} ends`)
        );
      },
    },
  };
  const gpu = {
    first: 0,
    slices: 1,
    field: {
      device: {
        buffer: () => Promise.resolve({ destroy: () => {} }),
        mapped: () => new ArrayBuffer(0),
        unmap: () => {},
        write: () => {},
      },
      plan: { layout: { slice: 4, pad: [0, 0, 0], origin: 0, grid: [1, 1, 1] } },
      exchange(steps: number) {
        const round = ++gpuRounds;
        events.push(`gpu ${round} begins ${steps} steps`);
        const finish = () =>
          begin("gpu", `gpu ${round} is awaited`).finally(() => events.push(`gpu ${round} ends`));
        return Promise.resolve({ finish });
      },
    },
  };
  const rounds = new SharedRounds(cpu as unknown as CpuPart, gpu as unknown as GpuPart, {
    toCpu: [],
    toGpu: [],
    isPeriodic: false,
  });
  return { rounds, events, pending };
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
  const { gpuNs, computeNs, unpackNs, packNs } = await run;
  assertEquals([gpuNs, computeNs, unpackNs >= 0, packNs >= 0], [35, 30, true, true]);
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
