/**
 * Kernels that are compiled on other threads: what counts as ready, and that nothing is waited for in vain. The threads
 * live on after a test, as they do in a program.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { CompileAhead, CompileThreads } from "../../../tuner/devices/gpu/compile_ahead.ts";
import { requestAdapter } from "../../../tuner/devices/device.ts";

const CODE = `
@group(0) @binding(0) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<uniform> count: vec4<u32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) lane: u32) { result[lane] = count.x; }
`;
const shader = (code: string) => [{ code, storage: [0] }];

/** A module for threads, of these statements. */
const moduleOf = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

/** Answers whatever it is asked. */
const ANSWERS = moduleOf("onmessage = () => postMessage(true)");

async function allReady(ahead: CompileAhead<string>, kernels: readonly string[]): Promise<void> {
  while (!kernels.every((kernel) => ahead.isReady(kernel))) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });
}

test("kernels are compiled on other threads, wrong ones too, and those for another GPU are left", async () => {
  const gpu = (await requestAdapter())?.info.description ?? "";
  const kernels = ["good", "wrong", "none", "good too"], threads = new CompileThreads(2);
  const shadersOf = (kernel: string) => kernel === "none" ? [] : shader(kernel === "wrong" ? "?" : CODE);
  const ahead = new CompileAhead(kernels, { gpu, shadersOf, threads });
  assertEquals(kernels.map((kernel) => ahead.isReady(kernel)), [false, false, false, false]);
  await allReady(ahead, kernels);
  const others = new CompileAhead(["a"], { gpu: "another", shadersOf, threads: new CompileThreads(1) });
  await allReady(others, ["a"]);
});

test("kernels are handed over in their order, to as many threads as there may be, which go on", async () => {
  const asked: string[] = [], kernels = ["a", "b", "c", "d", "e"], threads = new CompileThreads(2, ANSWERS);
  const shadersOf = (kernel: string) => {
    asked.push(kernel);
    return shader(kernel);
  };
  const ahead = new CompileAhead(kernels, { gpu: "", shadersOf, threads });
  const later = new CompileAhead(["f"], { gpu: "", shadersOf, threads });
  assertEquals(asked, ["a", "b"]);
  await allReady(ahead, kernels);
  await allReady(later, ["f"]);
  assertEquals(asked, [...kernels, "f"]);
  const last = new CompileAhead(["g"], { gpu: "", shadersOf, threads });
  await allReady(last, ["g"]);
});

test("what another kernel compiles is not compiled again, and is waited for", async () => {
  const asked: string[] = [], slow = moduleOf("onmessage = () => setTimeout(() => postMessage(true), 50)");
  const shadersOf = (kernel: string) => {
    asked.push(kernel);
    return shader(kernel[0]!);
  };
  const kernels = ["a", "a again", "b", "c"], threads = new CompileThreads(2, slow);
  const ahead = new CompileAhead(kernels, { gpu: "", shadersOf, threads });
  assertEquals(asked, ["a", "a again", "b"]);
  assertEquals(kernels.map((kernel) => ahead.isReady(kernel)), [false, false, false, false]);
  await allReady(ahead, ["a again"]);
  assertEquals(ahead.isReady("a"), true);
  await allReady(ahead, kernels);
});

for (
  const [why, url, most] of [
    ["whose module is missing", new URL("./no_such_worker.ts", import.meta.url), 2],
    ["whose module is broken", moduleOf("not JavaScript"), 2],
    ["that fail", moduleOf("onmessage = () => { throw new Error('no'); }"), 2],
    ["that there are none of", ANSWERS, 0],
  ] as const
) {
  test(`nothing waits for threads ${why}`, async () => {
    const kernels = ["a", "b", "c"], threads = new CompileThreads(most, url);
    await allReady(new CompileAhead(kernels, { gpu: "", shadersOf: shader, threads }), kernels);
    await allReady(new CompileAhead(["d"], { gpu: "", shadersOf: shader, threads }), ["d"]);
  });
}

test("what is not begun when it is disposed never is; the threads serve others", async () => {
  const asked: string[] = [], threads = new CompileThreads(1, ANSWERS);
  const shadersOf = (kernel: string) => {
    asked.push(kernel);
    return shader(kernel);
  };
  new CompileAhead(["a", "b"], { gpu: "", shadersOf, threads })[Symbol.dispose]();
  await allReady(new CompileAhead(["c"], { gpu: "", shadersOf, threads }), ["c"]);
  assertEquals(asked, ["a", "c"]);
});

test("where there is nothing to compile no thread is started, which a process would have to end", async () => {
  const threads = new CompileThreads(1, ANSWERS), { addEventListener } = globalThis, added: unknown[] = [];
  globalThis.addEventListener = (type: string) => void added.push(type);
  try {
    await allReady(new CompileAhead(["a", "b"], { gpu: "", shadersOf: () => [], threads }), ["a", "b"]);
    assertEquals(added, []);
    await allReady(new CompileAhead(["c"], { gpu: "", shadersOf: shader, threads }), ["c"]);
    assertEquals(added, ["unload"]);
  } finally {
    globalThis.addEventListener = addEventListener;
  }
});
