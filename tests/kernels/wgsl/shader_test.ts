import { assertEquals } from "@std/assert";
import { type Scratch, scratchNamed } from "../../../kernels/traversals/storage.ts";
import { bindingsOf, declareBuffer, declareTwin, shaderOf } from "../../../kernels/wgsl/shader.ts";

Deno.test("a shader numbers its buffers where its text ends: those of other sections last, two views of one twice", () => {
  const shader = shaderOf(
    "test",
    [
      declareTwin("twin0", "f32"),
      declareBuffer("profiles", "array<f32>", { space: "storage, read" }),
      declareBuffer("profiles", "array<vec4f, 2>", { space: "uniform", as: "alike" }),
      declareBuffer("edges"),
    ].join("\n"),
    {},
  );
  assertEquals(shader.code.split("\n"), [
    "@group(0) @binding(6) var<storage, read_write> twin0: array<f32>;",
    "@group(0) @binding(3) var<storage, read> profiles: array<f32>;",
    "@group(0) @binding(4) var<uniform> alike: array<vec4f, 2>;",
    "@group(0) @binding(5) var<storage, read_write> edges: array<f32>;",
  ]);
  assertEquals([shader.buffers, shader.twins], [["profiles", "profiles", "edges"], 1]);
  assertEquals(bindingsOf(shader), [0, 1, 3, 4, 5, 6]);
});

Deno.test("in f64 a shader's numbers are f64, their literals too; whole numbers stay", () => {
  const text =
    "var a = vec4f(1.0f, f32(i), 0x1p-23f, 2e-3f) * x1f + vec2<f32>(0.1lf).x; let b = 0x7f800000u & 3u + u32(1);";
  assertEquals(
    shaderOf("test", text, { precision: "f64" }).code,
    "var a = vec4<f64>(1.0lf, f64(i), 0x1p-23lf, 2e-3lf) * x1f + vec2<f64>(0.1lf).x; let b = 0x7f800000u & 3u + u32(1);",
  );
});

Deno.test("buffers are found by name, and layers change places with their levels", () => {
  const named = (name: string): Scratch => ({ name, length: 1, lives: "list" });
  const storage = { layout: undefined!, scratch: ["edges", "layersNow", "layersBefore"].map(named) };
  const found = (flipped: boolean) =>
    ["edges", "layersNow", "layersBefore"].map((name) => scratchNamed(storage, name, flipped));
  assertEquals([found(false), found(true)], [[0, 1, 2], [0, 2, 1]]);
});
