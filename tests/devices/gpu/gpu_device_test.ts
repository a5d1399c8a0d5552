/**
 * What can go wrong on a device arrives as data: a reason and one line.
 *
 * @module
 */
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertGreater,
  assertLess,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { initialValue } from "../../kernels/initial_value.ts";
import { layOut } from "../../../kernels/layout.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { acoustic } from "../../../kernels/stencils/acoustic.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../../kernels/traversals/torre/diamond_torre.ts";
import { marching } from "../../../kernels/traversals/marching/marching.ts";
import { stepwise } from "../../../kernels/traversals/stepwise/stepwise.ts";
import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import { shaderOf } from "../../../kernels/wgsl/shader.ts";
import type { FailureReason } from "../../../tuner/configuration.ts";
import { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../../tuner/devices/gpu/gpu_field.ts";
import { testOnGpu } from "../../test_on_gpu.ts";
import { initialCells } from "../../kernels/oracle_case.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import { readCells, writeCells } from "../cells.ts";
import { SMALL_TORRE } from "../../kernels/small_torre.ts";

const PROBLEM: Problem = { stencil: wave(2), grid: [5, 7, 11], boundary: "zero", steps: 4 };
const PLAN = stepwise.plan(PROBLEM, { threadsZ: 8, threadsY: 2, threadsX: 1 });

/** A plan of one dispatch of this shader. */
function planOf(code: string, changes: Partial<GpuPlan> = {}): GpuPlan {
  return {
    label: "test",
    storage: PLAN.storage,
    shaders: [shaderOf("test", code, {})],
    dispatches: () => [{ shader: 0, workgroups: [1, 1, 1], flipped: false, uniforms: [] }],
    ...changes,
  };
}

const HEADER = `
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
`;

/** The failure that running the plan ends in. */
async function failureOf(gpu: GpuDevice, plan: GpuPlan): Promise<{ reason: FailureReason; message: string }> {
  const { reason, message } = await assertRejects(async () => {
    using field = await GpuField.create(gpu, PROBLEM, plan);
    await field.run(1);
  }, RunFailure);
  assertEquals(message.includes("\n"), false, "the message is one line");
  assertGreater(message.length, 10);
  return { reason, message };
}

/** The device still does its work. */
async function assertUsable(gpu: GpuDevice): Promise<void> {
  assertEquals(gpu.lost, undefined);
  using field = await GpuField.create(gpu, PROBLEM, PLAN);
  await field.initialise({ kind: "noise", seed: 1 });
  assertGreater(await field.run(4), 0);
}

testOnGpu("a shader that does not compile fails with 'compile', and says where", async (gpu) => {
  const noName = await failureOf(
    gpu,
    planOf(`${HEADER}@compute @workgroup_size(1) fn main() { now[0] = nothing; }`),
  );
  assertEquals(noName.reason, "compile");
  assertStringIncludes(noName.message, "nothing");
  assertEquals((await failureOf(gpu, planOf("this is no shader"))).reason, "compile");
  const noEntry = await failureOf(gpu, planOf(`${HEADER}@compute @workgroup_size(1) fn other() {}`));
  assertEquals(noEntry.reason, "compile");
  await assertUsable(gpu);
});

testOnGpu("workgroups beyond the device's limits fail, and are infeasible before", async (gpu) => {
  const { maxComputeInvocationsPerWorkgroup: most, maxComputeWorkgroupStorageSize: bytes } = gpu.limits;
  const tooMany = `${HEADER}@compute @workgroup_size(${most + 1}) fn main() { now[0] = 1.0f; }`;
  assertEquals((await failureOf(gpu, planOf(tooMany))).reason, "compile");
  const shape = { threadsZ: most, threadsY: 2, threadsX: 1 };
  assertStringIncludes(
    stepwise.infeasible(PROBLEM, shape, gpu.limits)!.message,
    "maxComputeInvocationsPerWorkgroup",
  );
  // Deno 2.9.6 does not check the size of workgroup memory: only this stands before undefined behaviour
  const tile = { zPerThread: 4, threadsZ: 8, threadsY: 200, pieces: 1, tile: 1 };
  const limits = {
    ...gpu.limits,
    maxComputeInvocationsPerWorkgroup: 2048,
    maxComputeWorkgroupSizeY: 2048,
    maxComputeWorkgroupStorageSize: Math.min(bytes, 49152),
  };
  assertStringIncludes(marching.infeasible(PROBLEM, tile, limits)!.message, "maxComputeWorkgroupStorageSize");
  await assertUsable(gpu);
});

testOnGpu("more workgroups than a dimension holds fail, and nothing counts as a result", async (gpu) => {
  const code = `${HEADER}@compute @workgroup_size(1) fn main() { now[0] = 1.0f; }`;
  const workgroups = [gpu.limits.maxComputeWorkgroupsPerDimension + 1, 1, 1] as const;
  const dispatches = () => [{ shader: 0, workgroups, flipped: false, uniforms: [] }];
  // hardware waits for ever for times that no pass writes
  const { resolveQuerySet } = GPUCommandEncoder.prototype, { prototype } = GPUCommandEncoder;
  let asked = 0;
  prototype.resolveQuerySet = function (...of) {
    asked++;
    resolveQuerySet.apply(this, of);
  };
  try {
    assertEquals((await failureOf(gpu, planOf(code, { dispatches }))).reason, "incorrect");
  } finally {
    prototype.resolveQuerySet = resolveQuerySet;
  }
  assert(asked <= 1, "of the shader's first pass alone, where that is timed");
  await assertUsable(gpu);
});

testOnGpu("a buffer beyond the limits fails with 'out-of-memory'", async (gpu) => {
  const layout = { ...PLAN.storage.layout, length: gpu.limits.maxBufferSize / 4 + 1 };
  const failure = await failureOf(gpu, { ...PLAN, storage: { layout } });
  assertEquals(failure.reason, "out-of-memory");
  await assertUsable(gpu);
});

testOnGpu("an array larger than a binding may be fails", async (gpu) => {
  const { maxStorageBufferBindingSize: binding } = gpu.limits;
  const failure = await failureOf(gpu, {
    ...PLAN,
    storage: { layout: { ...PLAN.storage.layout, length: binding / 4 + 16 } },
  });
  assertEquals(["incorrect", "out-of-memory"].includes(failure.reason), true, failure.reason);
  await assertUsable(gpu);
});

testOnGpu("a lost device fails with 'device-lost' from then on, and a new one works", async (gpu) => {
  const other = (await GpuDevice.open({ timeoutMs: gpu.timeoutMs }))!;
  using field = await GpuField.create(other, PROBLEM, PLAN);
  await field.initialise({ kind: "noise", seed: 1 });
  other.device.destroy();
  for (
    const use of [
      () => field.run(1),
      () => readCells(field, 0),
      () => field.initialise({ kind: "noise", seed: 1 }),
      () => GpuField.create(other, PROBLEM, PLAN),
      () => other.buffer(4, GPUBufferUsage.STORAGE, "late"),
    ]
  ) {
    const { reason } = await assertRejects(async () => void await use(), RunFailure);
    assertEquals(reason, "device-lost", `${use}`);
  }
  using fresh = (await GpuDevice.open({ timeoutMs: gpu.timeoutMs }))!;
  await assertUsable(fresh);
  await assertUsable(gpu);
});

testOnGpu("a closed device fails with 'device-lost'", async () => {
  const other = (await GpuDevice.open())!;
  other[Symbol.dispose]();
  const { reason } = await assertRejects(() => GpuField.create(other, PROBLEM, PLAN), RunFailure);
  assertEquals(reason, "device-lost");
});

testOnGpu("a kernel that outlasts the time-out fails with 'timeout'", async (gpu) => {
  // Bounded, so that the device is free again a second or two later. Many dispatches of much code, since Mesa's
  // software device leaves a loop after 65,535 rounds; several workgroups, since idle cores are done with seven
  // dispatches of one within the time-out.
  const rounds = Array.from({ length: 64 }, (_, i) => `x = (x ^ ${i + 1}u) * 1664525u + (x >> 7u);`).join(
    "\n",
  );
  const code = `${HEADER}
    @compute @workgroup_size(1) fn main() {
      var x = bitcast<u32>(now[0]);
      for (var i = 0; i < 60000; i++) {
        ${rounds}
      }
      now[0] = bitcast<f32>(x);
    }`;
  const one = { shader: 0, workgroups: [16, 1, 1], flipped: false, uniforms: [] } as const;
  const dispatches = () => Array.from({ length: 100 }, () => one);
  using other = (await GpuDevice.open({ timeoutMs: gpu.timeoutMs }))!;
  // on busy cores opening it takes longer than this
  using slow = await GpuDevice.borrow(other.device, { timeoutMs: 100 });
  const started = performance.now();
  const { reason, message } = await failureOf(slow, planOf(code, { dispatches }));
  assertEquals([reason, message], ["timeout", "the kernel did not end within 0.1 s"]);
  assertGreater(performance.now() - started, 90);
  // A driver that did not block until the end may still be at it: then the device is given up, at once
  if (slow.lost === undefined) {
    await assertUsable(other);
  } else {
    assertEquals(slow.lost, "gave up waiting for the kernel");
    const again = await assertRejects(() => GpuField.create(slow, PROBLEM, PLAN), RunFailure);
    assertEquals(again.reason, "device-lost");
  }
  await assertUsable(gpu);
});

// Fields

testOnGpu("compare finds the largest difference, wherever it lies, in other layouts too", async (gpu) => {
  const torre = { ...SMALL_TORRE, nt: 2, threads: 150 };
  // rows longer than the comparison's workgroup
  const problem: Problem = { ...PROBLEM, grid: [3, 5, 150] };
  using one = await GpuField.create(
    gpu,
    problem,
    stepwise.plan(problem, { threadsZ: 8, threadsY: 2, threadsX: 1 }),
  );
  using other = await GpuField.create(gpu, problem, diamondTorre.plan(problem, torre));
  const cells = initialCells(problem.grid, "noise", 4);
  const zeros = new Float32Array(cells.length);
  const largest = [...cells].reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  await writeCells(one, cells, zeros);
  await writeCells(other, cells, zeros);
  assertEquals(await one.compare(other, { levels: [0] }), {
    maxError: 0,
    maxValue: largest,
    notFinite: 0,
    cells: cells.length,
  });
  assertEquals((await one.compare(other, { levels: [1] })).maxValue, 0);
  for (const index of [0, 64, 149, 150, 1000, cells.length - 1]) {
    const changed = cells.slice();
    changed[index]! += 0.5;
    await writeCells(one, changed, zeros);
    for (const [a, b] of [[one, other], [other, one]] as const) {
      const { maxError } = await a.compare(b, { levels: [0] });
      assertAlmostEquals(maxError, Math.abs(changed[index]! - cells[index]!), 1e-7, `cell ${index}`);
    }
    const level1 = await one.compare(other, { levels: [1] });
    assertEquals(level1.maxError, 0);
  }
});

testOnGpu("compare takes the largest value of fields, not of materials", async (gpu) => {
  const torre = { ...SMALL_TORRE, nt: 2, threads: 150 };
  const problem: Problem = { ...PROBLEM, stencil: acoustic({ velocity: [1500, 3000], edges: 0 }) };
  const byTorre = diamondTorre.plan(problem, { ...torre, packed: 0, held: 0 });
  for (const plan of [stepwise.plan(problem, { threadsZ: 8, threadsY: 2, threadsX: 1 }), byTorre]) {
    using field = await GpuField.create(gpu, problem, plan);
    await field.initialise({ kind: "noise", seed: 4 });
    const { maxValue } = await field.compare(field, { levels: [0] });
    assert(maxValue > 0.9 && maxValue <= 1, `${maxValue}`);
  }
});

testOnGpu("compare counts what is not finite, on both sides", async (gpu) => {
  using one = await GpuField.create(gpu, PROBLEM, PLAN);
  using other = await GpuField.create(gpu, PROBLEM, PLAN);
  const cells = initialCells(PROBLEM.grid, "noise", 4);
  const bad = cells.slice();
  bad[3] = NaN;
  bad[100] = Infinity;
  bad[384] = -Infinity;
  await writeCells(one, bad, cells);
  await writeCells(other, cells, cells);
  assertEquals((await one.compare(other, { levels: [0] })).notFinite, 3);
  assertEquals((await other.compare(one, { levels: [0] })).notFinite, 3);
  assertEquals((await one.compare(other, { levels: [1] })).notFinite, 0);
});

testOnGpu("compare takes slices, each field's from its own first", async (gpu) => {
  using one = await GpuField.create(gpu, PROBLEM, PLAN);
  using other = await GpuField.create(gpu, PROBLEM, PLAN);
  const cells = initialCells(PROBLEM.grid, "noise", 4);
  const perSlice = 7 * 11;
  const shifted = new Float32Array(cells.length);
  shifted.set(cells.subarray(2 * perSlice)); // slice x holds what the other has at x + 2
  await writeCells(one, shifted, shifted);
  await writeCells(other, cells, cells);
  const options = { levels: [0], slice: 1, referenceSlice: 3, slices: 2 } as const;
  assertEquals(await one.compare(other, options).then(({ maxError, cells }) => [maxError, cells]), [
    0,
    2 * perSlice,
  ]);
  assertGreater((await one.compare(other, { ...options, referenceSlice: 2 })).maxError, 0.1);
});

testOnGpu("compare takes more rows than a dispatch has workgroups in one dimension", async (gpu) => {
  const problem: Problem = { ...PROBLEM, grid: [2, 70_001, 1] };
  const plan = stepwise.plan(problem, { threadsZ: 1, threadsY: 64, threadsX: 1 });
  using one = await GpuField.create(gpu, problem, plan);
  using other = await GpuField.create(gpu, problem, plan);
  const cells = initialCells(problem.grid, "noise", 4);
  const changed = cells.slice();
  changed[cells.length - 1]! += 0.5;
  await writeCells(one, cells, cells);
  await writeCells(other, cells, changed);
  const same = await one.compare(other, { levels: [0] }), last = await one.compare(other, { levels: [1] });
  assertEquals([same.maxError, same.cells, last.cells], [0, 140_002, 140_002]);
  assertAlmostEquals(last.maxError, 0.5, 1e-6);
});

testOnGpu("device time is positive, grows with the work, and is no more than the host saw", async (gpu) => {
  const problem: Problem = { ...PROBLEM, grid: [40, 40, 64] };
  using field = await GpuField.create(
    gpu,
    problem,
    stepwise.plan(problem, { threadsZ: 32, threadsY: 2, threadsX: 1 }),
  );
  await field.initialise({ kind: "noise", seed: 1 });
  await field.run(4);
  // on busy cores a short run may be held up: the shortest of three counts
  const few = Math.min(await field.run(4), await field.run(4), await field.run(4));
  const started = performance.now();
  const many = await field.run(100);
  const hostNs = (performance.now() - started) * 1e6;
  assertGreater(few, 0);
  assertGreater(many, few);
  assertLess(many, 1.1 * hostNs);
  assertEquals(field.step, 116);
});

testOnGpu("several runs in one batch are the same as one after another", async (gpu) => {
  const torre = { ...SMALL_TORRE, nt: 2 };
  const plan = diamondTorre.plan(PROBLEM, torre);
  using one = await GpuField.create(gpu, PROBLEM, plan);
  using other = await GpuField.create(gpu, PROBLEM, plan);
  for (const field of [one, other]) await field.initialise({ kind: "integers", seed: 1 });
  await one.run(3, 3);
  for (let i = 0; i < 3; i++) await other.run(3);
  assertEquals(await readCells(one, 0), await readCells(other, 0));
  assertEquals(await readCells(one, 1), await readCells(other, 1));
});

testOnGpu("a run of many different dispatches has room for all their uniforms", async (gpu) => {
  // One stage a dispatch, most with numbers of their own: far beyond the first buffer of uniforms
  const problem: Problem = { ...PROBLEM, grid: [151, 3, 4], steps: 60 };
  const torre = { ...SMALL_TORRE, nt: 20, threads: 4 };
  const plan = diamondTorre.plan(problem, torre);
  const distinct = new Set(plan.dispatches(60, 0).map(({ uniforms }) => uniforms.join()));
  assertGreater(distinct.size, 100);
  using field = await GpuField.create(gpu, problem, plan);
  using reference = await GpuField.create(
    gpu,
    problem,
    stepwise.plan(problem, { threadsZ: 4, threadsY: 1, threadsX: 8 }),
  );
  for (const one of [field, reference]) {
    await one.initialise({ kind: "noise", seed: 1 });
    await one.run(60);
  }
  assertLess((await field.compare(reference, { levels: [0] })).maxError, 1e-4);
});

testOnGpu("an array of more than 65,535 workgroups is filled to its end", async (gpu) => {
  // 256 cells a workgroup: two rows of workgroups
  const problem: Problem = { ...PROBLEM, grid: [300, 300, 190] };
  const layout = layOut(problem.grid, { pad: [1, 1, 1] });
  assertGreater(layout.length, 256 * 65_535);
  using field = await GpuField.create(gpu, problem, { ...PLAN, storage: { layout } });
  await field.initialise({ kind: "noise", seed: 9 });
  const last = problem.grid[0] - 1;
  const from = layout.origin + last * layout.slice;
  const end = new Float32Array(
    await gpu.read(field.level(1)[0]!.array.buffer, 4 * from, 4 * (layout.length - from)),
  );
  for (const [y, z] of [[0, 0], [150, 77], [299, 189]] as const) {
    assertEquals(end[y * layout.pitch + z], initialValue("noise", [last, y, z], 9), `${y}, ${z}`);
  }
});

Deno.test("a failure's message is one line, whatever was reported", () => {
  const failure = new RunFailure("compile", "  error:\n   at 1:2\n\n  expected ';'  ");
  assertEquals(failure.message, "error: at 1:2 expected ';'");
  assert(failure instanceof Error);
});

testOnGpu(
  "runs shorter than the problem's have an order of their own, those as long the plan's",
  async (gpu) => {
    const problem: Problem = { ...PROBLEM, steps: 8 };
    const plan = diamondTorre.plan(problem, SMALL_TORRE), seen: unknown[] = [], short = { nt: 4, bands: 2 };
    const watched: typeof plan = {
      ...plan,
      dispatches(steps, start, table, order) {
        seen.push([steps, order]);
        return plan.dispatches(steps, start, table, order);
      },
    };
    using field = await GpuField.create(gpu, problem, watched, { orderOf: () => short });
    await field.initialise({ kind: "integers", seed: 1 });
    for (const steps of [8, 6, 16]) await field.run(steps);
    assertEquals(seen, [[8, undefined], [6, short], [16, undefined]]);
  },
);

testOnGpu(
  "a wait leaves nothing at the device's end, and a closed device ends those under way",
  async ({ device }) => {
    const { lost } = device, asked: string[] = [];
    Object.defineProperty(device, "lost", { get: () => (asked.push("lost"), lost), configurable: true });
    try {
      for (let i = 0; i < 3; i++) {
        const gpu = await GpuDevice.borrow(device), after = asked.length;
        for (let j = 0; j < 3; j++) await gpu.enqueue(() => {});
        const waiting = gpu.within(() => new Promise(() => {}), "nothing");
        gpu[Symbol.dispose]();
        await assertRejects(() => waiting, RunFailure, "the device is closed");
        assertEquals(asked.length, after);
      }
      assert(asked.length <= 1);
    } finally {
      delete (device as { lost?: unknown }).lost;
    }
  },
);

testOnGpu(
  "waits end with the work and in the order of their begins, not with ticks of a timer",
  async (gpu) => {
    const order: string[] = [], first = await gpu.readable(2 ** 24 + 4, "never mapped");
    const small = await gpu.readable(4, "mapped when it is made");
    const wait = async (buffer: GPUBuffer) => {
      await gpu.map([buffer], "nothing");
      order.push(buffer.label);
      gpu.unmap(buffer);
    };
    await Promise.all([wait(first), wait(small)]);
    assertEquals(order, [first.label, small.label]);
    const began = performance.now();
    for (let i = 0; i < 100; i++) await wait(i % 2 === 0 ? first : small);
    // a tick takes 10 ms
    assertLess(performance.now() - began, 900);
    for (const buffer of [first, small]) buffer.destroy();
  },
);
