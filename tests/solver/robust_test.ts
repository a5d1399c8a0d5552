/**
 * What programs do that nobody would: wrong arguments, arrays that change after they are written, solvers that are
 * asked after their end, forty solvers in a row, a device whose adapter is gone.
 *
 * @module
 */
import { assert, assertEquals, assertGreater, assertLess, assertRejects, assertThrows } from "@std/assert";
import {
  chooseConfiguration,
  type Configuration,
  createSolver,
  heat,
  type Problem,
  qualify,
  readProfile,
  type Solver,
  tune,
  wave,
} from "../../mod.ts";
import { H100_LIMITS } from "../h100_limits.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";

const PROBLEM: Problem = { stencil: wave(2), grid: [6, 5, 4], boundary: "zero", steps: 4 };
const ON_CPU: Configuration = {
  traversal: "stepwise",
  parameters: {},
  share: { cpuSlices: 6, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 },
};
const ON_GPU: Configuration = {
  traversal: "stepwise",
  parameters: { threadsZ: 8, threadsY: 2, threadsX: 1 },
  share: { cpuSlices: 0, gpuSlices: 6, exchangeEvery: 1, cpuWorkers: 0 },
};

Deno.test("parameters that a traversal does not have are refused on the CPU", async () => {
  await assertRejects(
    () => createSolver(null, PROBLEM, { ...ON_CPU, parameters: { x: 1 } }),
    Error,
    "wanted no parameters but strip, fused: found x",
  );
});

testOnGpu("and on the GPU", async (gpu) => {
  await assertRejects(
    () => createSolver(gpu.device, PROBLEM, { ...ON_GPU, parameters: { ...ON_GPU.parameters, x: 1 } }),
    Error,
    "stepwise: wanted no parameters but threadsZ, threadsY, threadsX: found x",
  );
});

/** Calls with arguments that no type allows, by what is called. */
function wrongCalls(solver: Solver): [name: string, call: (wrong: unknown) => unknown, wrong: unknown[]][] {
  // deno-lint-ignore no-explicit-any -- that is the point
  const any = (call: (wrong: any) => unknown) => call;
  const nothing = undefined, text = "text", empty = {}, silent = (): void => {};
  return [
    ["createSolver, device", any((wrong) => createSolver(wrong, PROBLEM, ON_GPU)), [
      nothing,
      null,
      text,
      empty,
    ]],
    ["createSolver, problem", any((wrong) => createSolver(null, wrong, ON_CPU)), [
      nothing,
      null,
      text,
      empty,
    ]],
    ["createSolver, configuration", any((wrong) => createSolver(null, PROBLEM, wrong)), [
      nothing,
      text,
      empty,
    ]],
    ["createSolver, refine", any((wrong) => createSolver(null, PROBLEM, ON_CPU, { refine: [wrong] })), [
      nothing,
      null,
      text,
      empty,
    ]],
    ["createSolver, options", any((wrong) => createSolver(null, PROBLEM, ON_CPU, wrong)), [
      null,
      5,
      text,
      [],
    ]],
    [
      "createSolver, parameters",
      any((parameters) => createSolver(null, PROBLEM, { ...ON_CPU, parameters })),
      [
        nothing,
        null,
        text,
        [],
      ],
    ],
    ["createSolver, share", any((share) => createSolver(null, PROBLEM, { ...ON_CPU, share })), [null, []]],
    ["createSolver, timeoutMs", any((timeoutMs) => createSolver(null, PROBLEM, ON_CPU, { timeoutMs })), [
      2 ** 31,
      Infinity,
      0,
      -1,
      NaN,
      null,
      "5",
      5n,
    ]],
    ["createSolver, grid", any((grid) => createSolver(null, { ...PROBLEM, grid }, ON_CPU)), [
      nothing,
      text,
      8,
    ]],
    ["write, name", any((wrong) => solver.write(wrong, 1)), [nothing, 5, empty]],
    ["write, values", any((wrong) => solver.write("F", wrong)), [
      nothing,
      null,
      text,
      empty,
      true,
      1n,
      silent,
      () => "1",
    ]],
    ["write, list", any((wrong) => solver.write("F", wrong, { slices: 1 })), [
      new Array(20),
      Array(20).fill("1"),
      Array(20).fill(1n),
      new BigInt64Array(20),
      new BigUint64Array(20),
    ]],
    ["initialise, seed", any((wrong) => solver.initialise("noise", wrong)), [
      NaN,
      1.5,
      -1,
      2 ** 32,
      "1",
      null,
      1n,
    ]],
    ["initialise", any((wrong) => solver.initialise(wrong)), [null, text, 1, empty]],
    ["read", any((wrong) => solver.read(wrong)), [null, text, 3, silent]],
    ["run", any((wrong) => solver.run(wrong)), [nothing, text, "3", null, silent]],
    ["chooseConfiguration, profiles", any((wrong) => chooseConfiguration(wrong, PROBLEM, null)), [
      nothing,
      text,
      empty,
    ]],
    ["chooseConfiguration, device", any((wrong) => chooseConfiguration([], PROBLEM, wrong)), [
      nothing,
      text,
      empty,
    ]],
    [
      "chooseConfiguration, cpuWorkers",
      any((cpuWorkers) => chooseConfiguration([], PROBLEM, null, { cpuWorkers })),
      [
        -1,
        1.5,
        text,
        null,
      ],
    ],
    [
      "chooseConfiguration, copyBytesPerSecond",
      any((copyBytesPerSecond) => chooseConfiguration([], PROBLEM, null, { copyBytesPerSecond })),
      [-1, 0, NaN, text],
    ],
    ["chooseConfiguration, problem", any((wrong) => chooseConfiguration([], wrong, null)), [
      nothing,
      text,
      empty,
    ]],
    ["readProfile", any((wrong) => readProfile(wrong)), [nothing, null, 5, empty, []]],
    ["tune", any((stencil) => tune({ stencil, gpu: false, evaluations: 1 })), ["wave", empty, wave]],
    ["qualify", any((wrong) => qualify(wrong)), [nothing, text, empty]],
  ];
}

Deno.test("wrong arguments get one line that says what is wanted, and the solver goes on", async () => {
  await using solver = await createSolver(null, PROBLEM, ON_CPU);
  for (const [name, call, values] of wrongCalls(solver)) {
    for (const wrong of values) {
      const what = `${name}: ${Deno.inspect(wrong)}`;
      const error = await assertRejects(async () => await call(wrong), Error, undefined, what);
      assert(error instanceof RangeError || error.name === "ProfileError", `${what}: ${error.stack}`);
      assert(/^Cannot [^\n]+$/.test(error.message), `${what}: ${error.message}`);
    }
  }
  await solver.write("F", 2);
  assertEquals((await solver.read()).every((value) => value === 2), true);
});

Deno.test("a share whose parts never exchange is refused, also where nothing is shared", async () => {
  for (const exchangeEvery of [0, -1, NaN, 1.5]) {
    await assertRejects(
      () => createSolver(null, PROBLEM, { ...ON_CPU, share: { ...ON_CPU.share, exchangeEvery } }),
      Error,
      `Cannot create the solver: steps between exchanges must be a whole number from 1 up, not ${exchangeEvery}`,
    );
  }
});

Deno.test("the longest time-out is taken", async () => {
  await using solver = await createSolver(null, PROBLEM, ON_CPU, { timeoutMs: 2 ** 31 - 1 });
  await solver.initialise("noise", 2 ** 32 - 1);
  assertEquals((await solver.run(1)).steps, 1);
});

Deno.test("dispose lets the call under way end, also one of the same moment, and refuses those that wait", async () => {
  const solver = await createSolver(null, PROBLEM, ON_CPU);
  const running = solver.run(3), waiting = solver.read();
  solver.dispose();
  const late = solver.run(1);
  const [ran, ...refused] = await Promise.allSettled([running, waiting, late]);
  assertEquals(ran.status === "fulfilled" && ran.value.steps, 3);
  for (const one of refused) {
    assert(one.status === "rejected" && one.reason.message.endsWith("the solver is disposed"));
  }
});

for (const isOnGpu of [false, true]) {
  const test = async (device: GPUDevice | null): Promise<void> => {
    const solver = await createSolver(device, PROBLEM, isOnGpu ? ON_GPU : ON_CPU);
    const running = solver.run(1e9); // hours
    running.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
    solver.dispose();
    await assertRejects(() => running, RangeError, "Cannot run: the solver is disposed");
    await solver[Symbol.asyncDispose]();
  };
  const name = `dispose ends a long run on the ${isOnGpu ? "GPU" : "CPU"}`;
  if (isOnGpu) testOnGpu(name, ({ device }) => test(device));
  else Deno.test(name, () => test(null));
}

Deno.test("of more CPU workers than cores only as many start, and the solver says so", async () => {
  const share = { ...ON_CPU.share, cpuWorkers: 1024 }, { hardwareConcurrency: cores } = navigator;
  await using solver = await createSolver(null, PROBLEM, { ...ON_CPU, share });
  assertEquals(solver.configuration.share.cpuWorkers, cores);
  assertEquals((await solver.run(2)).steps, 2);
});

Deno.test("write takes the values that a list has at the call", async () => {
  await using solver = await createSolver(null, PROBLEM, ON_CPU);
  for (const list of [new Float32Array(120).fill(1), new Float64Array(120).fill(1), new Array(120).fill(1)]) {
    const writing = solver.write("F", list);
    list.fill(2);
    await writing;
    assertEquals((await solver.read()).every((value) => value === 1), true);
  }
});

testOnGpu("level refuses after dispose", async ({ device }) => {
  const solver = await createSolver(device, PROBLEM, ON_GPU);
  assertGreater(solver.level().size, 0);
  solver.dispose();
  assertThrows(() => solver.level(), RangeError, "the solver is disposed");
});

Deno.test("a small grid's default on a GPU in software is stepwise, which it compiles and runs at once", () => {
  const description = "llvmpipe (LLVM 15.0.6, 256 bits)";
  const adapterInfo = { vendor: "", architecture: "", device: "", description, isFallbackAdapter: true };
  const device = { limits: H100_LIMITS, adapterInfo };
  for (const stencil of [wave(2), wave(4), heat(1)]) {
    for (const n of [4, 8, 16, 32]) {
      const problem: Problem = { stencil, grid: [n, n, n], boundary: "zero", steps: 100 };
      const { configuration } = chooseConfiguration([], problem, device as never);
      assertEquals(configuration.traversal, "stepwise", `${n}`);
    }
  }
});

/** MiB that this process holds after some solvers of 128³ than after one, with all adapters collected. */
const IN_A_ROW = `
import { chooseConfiguration, createSolver, openDevice, wave } from "${new URL(
  "../../mod.ts",
  import.meta.url,
)}";
const device = await openDevice();
for (let i = 0; i < 5; i++) {
  gc();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
const problem = { stencil: wave(2), grid: [128, 128, 128], boundary: "zero", steps: 4 };
chooseConfiguration([], problem, device);
const share = { cpuSlices: 0, gpuSlices: 128, exchangeEvery: 1, cpuWorkers: 0 };
const parameters = { threadsZ: 64, threadsY: 4, threadsX: 1 };
const held = () => Number(/VmRSS:\\s+(\\d+)/.exec(Deno.readTextFileSync("/proc/self/status"))[1]) / 1024;
let first;
for (let i = 0; i < 40; i++) {
  const solver = await createSolver(device, problem, { traversal: "stepwise", parameters, share });
  solver.dispose();
  first ??= held();
}
console.log(held() - first);
Deno.exit(0);
`;

/** The number that a program prints, which may collect garbage. */
async function printed(program: string): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-config", "--cached-only", "--v8-flags=--expose-gc", "--ext=js", "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await new Blob([program]).stream().pipeTo(child.stdin);
  const { stdout, stderr, success } = await child.output(), text = new TextDecoder();
  assert(success, text.decode(stderr));
  return Number(text.decode(stdout));
}

testOnGpu(
  "forty solvers in a row hold no more than a few, on a device whose adapter was collected",
  async () => assertLess(await printed(IN_A_ROW), 200),
  { ignore: Deno.build.os !== "linux" },
);

/** MiB that the heap grows by in runs of one step, and in solvers that are created, run and disposed of, after the first 300. */
const AGAIN = `
import { createSolver, openDevice, wave } from "${new URL("../../mod.ts", import.meta.url)}";
const device = await openDevice();
const problem = { stencil: wave(2), grid: [16, 16, 16], boundary: "periodic", steps: 4 };
const share = { cpuSlices: 0, gpuSlices: 16, exchangeEvery: 4, cpuWorkers: 0 };
const configuration = { traversal: "stepwise", parameters: { threadsZ: 16, threadsY: 4, threadsX: 1 }, share };
const held = async () => {
  for (let i = 0; i < 3; i++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return Deno.memoryUsage().heapUsed / 2 ** 20;
};
const grown = async (times, once) => {
  let first;
  for (let i = 0; i < times; i++) {
    await once();
    if (i === 300) first = await held();
  }
  return await held() - first;
};
const solver = await createSolver(device, problem, configuration);
const inRuns = await grown(2400, () => solver.run(1));
await solver[Symbol.asyncDispose]();
const inSolvers = await grown(1000, async () => {
  await using one = await createSolver(device, problem, configuration);
  await one.run(1);
});
console.log(Math.max(inRuns, inSolvers));
Deno.exit(0);
`;

testOnGpu(
  "neither 2,400 runs of one step nor 1,000 solvers one after another make the heap grow",
  async () => assertLess(await printed(AGAIN), 2),
  { ignore: !THOROUGH },
);

Deno.test("a program that fails before it disposes of a solver ends, and one that waits for a run does not", async () => {
  const program = `
    const { createSolver, wave } = await import(${JSON.stringify(new URL("../../mod.ts", import.meta.url))});
    const problem = { stencil: wave(2), grid: [32, 32, 32], boundary: "zero", steps: 4 };
    const share = { cpuSlices: 32, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 2 };
    const solver = await createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
    solver.run(500).then(() => {
      console.log("ran");
      throw new Error("before dispose");
    }).catch(({ message }) => console.log(message));
  `;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", "--cached-only", program],
    stdout: "piped",
    // whoever hangs fails
    signal: AbortSignal.timeout(60_000),
  });
  const { code, stdout } = await child.output();
  assertEquals([code, new TextDecoder().decode(stdout)], [0, "ran\nbefore dispose\n"]);
});
