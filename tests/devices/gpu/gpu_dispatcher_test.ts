/**
 * How dispatches are handed over, on a device that only notes what it is given.
 *
 * @module
 */
import { assertEquals, assertRejects } from "@std/assert";
import type { Dispatch } from "../../../kernels/traversals/traversal.ts";
import { Dispatcher } from "../../../tuner/devices/gpu/gpu_dispatcher.ts";
import type { GpuDevice, TimedWork } from "../../../tuner/devices/gpu/gpu_device.ts";
import { Uniforms } from "../../../tuner/devices/gpu/gpu_uniforms.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";

/** A dispatch of a shader with a number of its own. */
const dispatch = (shader = 0, number = 0, flipped = false): Dispatch => ({
  shader,
  workgroups: [1, 2, 3],
  flipped,
  uniforms: number === 0 ? [] : [number],
});

/** A device whose dispatches take so long; it notes what is recorded, submitted and waited for, in order. */
async function note({ dispatchNs = 1e3, timeoutMs = 20_000, failsAt = Infinity } = {}) {
  const events: string[] = [], calls: string[] = [], pieces: number[] = [], written: number[][] = [];
  let submissions = 0;
  const pass = {
    setPipeline: (pipeline: string) => calls.push(pipeline),
    setBindGroup: (_: number, group: { group: number }, slot: Uint32Array, first: number, count: number) =>
      calls.push(`${group.group} at ${slot.subarray(first, first + count)}`),
    dispatchWorkgroups(...workgroups: number[]) {
      calls.push(workgroups.join("x"));
      pieces[pieces.length - 1]!++;
    },
    end: () => {},
  };
  const encoder = { beginComputePass: () => (pieces.push(0), pass) } as unknown as GPUCommandEncoder;
  let groups = 0;
  const gpu = {
    hasTimestamps: true,
    timeoutMs,
    device: { createBindGroup: () => ({ group: groups++ }) },
    buffer: (size: number) => Promise.resolve({ size, destroy: () => {} }),
    write: (_: unknown, byteOffset: number, values: Int32Array) =>
      written.push([byteOffset, ...values.filter((value) => value !== 0)]),
    submit({ record, passes }: TimedWork) {
      const index = submissions++, begun = pieces.length;
      if (index === failsAt) return Promise.reject(new RunFailure("device-lost", "injected"));
      for (const one of [record].flat()) one(encoder, () => ({}));
      assertEquals(pieces.length - begun, passes);
      const count = pieces.slice(begun).reduce((sum, piece) => sum + piece, 0);
      events.push(`submit ${count}`);
      const finish = () => (events.push(`wait ${index}`), Promise.resolve(count * dispatchNs));
      return Promise.resolve({ finish });
    },
  } as unknown as GpuDevice;
  const uniforms = await Uniforms.create(gpu);
  const pipelines = ["first", "second"].map((pipeline) => ({
    pipeline,
    bindings: {},
    storage: [0, 1],
  })) as never;
  const arrays = [[{ buffer: "even" }, { buffer: "odd" }]] as never;
  const dispatcher = new Dispatcher(gpu, { arrays, pipelines, uniforms });
  return { dispatcher, encoder, events, calls, pieces, written };
}

const run = async (dispatcher: Dispatcher, lists: readonly (readonly Dispatch[])[]): Promise<number> =>
  await (await dispatcher.begin(lists)).finish();

Deno.test("nothing is waited for before the next batch is submitted, and all only at the end", async () => {
  const { dispatcher, events, pieces } = await note();
  const list = Array.from({ length: 3200 }, () => dispatch());
  assertEquals(await run(dispatcher, [list]), 3.2e6);
  // how long a dispatch takes is not known at first: a sixteenth at a time
  const first = ["submit 200", "submit 200", "wait 0"];
  assertEquals(events, [...first, "submit 2800", "wait 1", "wait 2"]);
  assertEquals(pieces.slice(-7), [32, 64, 128, 256, 512, 1024, 784]); // small at first
  events.length = 0;
  await run(dispatcher, [list, list]);
  assertEquals(events, ["submit 6400", "wait 3"]); // known from then on
});

Deno.test("a batch takes no longer than a wait may, and no more than memory holds", async () => {
  const batches = async (options: Parameters<typeof note>[0]): Promise<number[]> => {
    const { dispatcher, events } = await note(options);
    const list = Array.from({ length: 100 }, () => dispatch());
    await run(dispatcher, [list]);
    events.length = 0;
    await run(dispatcher, Array.from({ length: 700 }, () => list));
    return events.flatMap((event) => event.startsWith("submit") ? [Number(event.slice(7))] : []).slice(0, 2);
  };
  assertEquals(await batches({}), [32768, 32768]);
  assertEquals(await batches({ dispatchNs: 1e9 }), [3, 3]);
  assertEquals(await batches({ dispatchNs: 1e9, timeoutMs: 6_000 }), [1, 1]);
});

Deno.test("what stays as it is is set once a pass, and equal uniforms are written once", async () => {
  const { dispatcher, encoder, calls, written } = await note();
  const list = [dispatch(), dispatch(), dispatch(0, 7), dispatch(0, 7, true), dispatch(1, 7)];
  const record = async (dispatches: readonly Dispatch[]): Promise<string[]> => {
    calls.length = 0;
    for (const one of (await dispatcher.record(dispatches)).record) one(encoder, () => ({}));
    return [...calls];
  };
  const wanted = [
    ...["first", "0 at 0", "1x2x3", "1x2x3"],
    ...["0 at 256", "1x2x3", "1 at 256", "1x2x3", "second", "2 at 256", "1x2x3"],
  ];
  assertEquals(await record(list), wanted);
  assertEquals(await record(list.map((one) => ({ ...one, uniforms: [...one.uniforms] }))), wanted);
  assertEquals(written, [[0, 7]]);
  // more than the buffer holds: another one, bound anew
  const many = Array.from({ length: 100 }, (_, i) => dispatch(0, i + 1));
  assertEquals((await record(many)).slice(0, 2), ["first", "3 at 0"]);
  assertEquals(await record(list.slice(2, 3)), ["first", "3 at 1536", "1x2x3"]);
});

Deno.test("a device that fails on the way ends the run with its failure, and nothing is left waiting", async () => {
  const { dispatcher, events } = await note({ failsAt: 2 });
  const list = Array.from({ length: 320 }, () => dispatch());
  await assertRejects(() => run(dispatcher, [list]), RunFailure, "injected");
  assertEquals(events, ["submit 20", "submit 20", "wait 0", "wait 1"]);
});
