/**
 * Models in SEG-Y, written by the byte numbers of the standard (revision 1), which count from 1.
 *
 * @module
 */
import type { FloatArray } from "../../kernels/precision.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { readArray, writeArray } from "../../mod.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { assertRefused, inDirectory, runCommand } from "../cli/run_task.ts";

const CPU = ["--no-gpu", "--cpu-workers", "1", "--quiet"];

/** IBM's floating point: a sign, a power of 16 and a fraction from 1/16 to 1, both as whole numbers. */
function ibmBits(value: number): number {
  if (value === 0) return 0;
  let exponent = 64, fraction = Math.abs(value);
  for (; fraction >= 1; exponent++) fraction /= 16;
  for (; fraction < 1 / 16; exponent--) fraction *= 16;
  return (value < 0 ? 2 ** 31 : 0) + exponent * 2 ** 24 + Math.round(fraction * 2 ** 24);
}

/** A file of traces with in-line numbers, in a format, behind further text headers. */
function segy(
  traces: readonly number[][],
  lines: readonly number[],
  code: number,
  texts = 0,
): Uint8Array<ArrayBuffer> {
  const samples = traces[0]!.length, bytes = code === 3 ? 2 : code === 8 ? 1 : 4, first = 3600 + 3200 * texts;
  const view = new DataView(new ArrayBuffer(first + traces.length * (240 + bytes * samples)));
  for (
    const [byte, value] of [[3217, 4000], [3221, samples], [3225, code], [3501, 0x100], [
      3505,
      texts,
    ]] as const
  ) {
    view.setInt16(byte - 1, value);
  }
  traces.forEach((trace, i) => {
    const start = first + i * (240 + bytes * samples);
    view.setInt16(start + 115 - 1, samples);
    view.setInt32(start + 189 - 1, lines[i]!);
    trace.forEach((value, k) => {
      const at = start + 240 + bytes * k;
      if (code === 1) view.setUint32(at, ibmBits(value));
      else if (code === 5) view.setFloat32(at, value);
      else if (code === 2) view.setInt32(at, value);
      else if (code === 3) view.setInt16(at, value);
      else view.setInt8(at, value);
    });
  });
  return new Uint8Array(view.buffer);
}

Deno.test("models in SEG-Y are read in every format, with text headers, and rows of traces as lines", () =>
  inDirectory(async (d) => {
    const path = `${d}/v.sgy`, traces = Array.from({ length: 6 }, (_, i) => [i + 1, -20 * i, 0, 100 - i]);
    for (const [code, name] of [[1, "IBM float"], [2, "i4"], [3, "i2"], [5, undefined], [8, "i1"]] as const) {
      await Deno.writeFile(path, segy(traces, [7, 7, 8, 8, 9, 9], code, code % 3));
      const { shape, values, converted } = await readArray(path);
      assertEquals([shape, [...values], converted], [[3, 2, 4], traces.flat(), name]);
    }
    const wide = [[1.5, -118.625, 0.15625, 4.5e-20], [3e30, 1 / 3, -0.0009765625, 2 ** 24 - 1]];
    await Deno.writeFile(path, segy(wide, [0, 0], 1));
    const { shape, values } = await readArray(path);
    assertEquals(shape, [2, 4]);
    // 24 bits of a fraction that may begin with three zeros
    for (const [i, value] of wide.flat().entries()) {
      if (Math.abs(values[i]! / value - 1) > 2 ** -21) throw new Error(`${values[i]} for ${value}`);
    }
    // the standard's and IBM's own example
    assertEquals(ibmBits(-118.625), 0xc276a000);
    // traces that make no rows
    for (const lines of [[1, 2, 3, 4, 5, 6], [1, 1, 2, 2, 2, 3], [1, 1, 1, 1, 1, 1]]) {
      await Deno.writeFile(path, segy(traces, lines, 5));
      assertEquals((await readArray(path)).shape, [6, 4]);
    }
    const whole = segy(traces, [1, 1, 1, 1, 1, 1], 5);
    for (
      const [bytes, message] of [
        [whole.slice(0, -1), "whole traces of 4 samples are wanted"],
        [whole.slice(0, 3600), "a SEG-Y file is wanted, with traces: found 3600 bytes"],
        [whole.with(3225, 4), "IEEE floats, or 8 is wanted: found 4"],
        [whole.with(3600 + 256 + 115, 3), "4 samples are wanted in trace 2: found 3"],
      ] as const
    ) {
      await Deno.writeFile(path, bytes);
      await assertRejects(() => readArray(path), RequestError, message);
    }
  }));

Deno.test("a land shot in a model of IBM floats is that in the same model as .npy, to the last bit, with units or without", () =>
  inDirectory(async (d) => {
    const [nx, nz] = [24, 16];
    const model = Array.from(
      { length: nx },
      (_, x) => Array.from({ length: nz }, (_, z) => 1500 + 250 * Math.floor(z / 4) + x),
    );
    await Deno.writeFile(`${d}/v.segy`, segy(model, model.map(() => 0), 1));
    await writeArray(`${d}/v.npy`, { shape: [nx, nz], values: Float32Array.from(model.flat()) });
    const shot = [...CPU, "--edges", "4", "--surface", "free"];
    const at = ["--source", "100,15", "--receivers", "165,25", "--out", `${d}/s.png`];
    const traces: Uint8Array[] = [];
    for (
      const [name, frequency, spacing, time] of [["v.segy", "20", "10", "60ms"], [
        "v.npy",
        "20Hz",
        "10m",
        "0.06",
      ]] as const
    ) {
      const units = ["--frequency", frequency, "--spacing", spacing, "--time", time];
      const files = ["--velocity", `${d}/${name}`, "--density", `${d}/${name}`, "--traces", `${d}/t.npy`];
      const { code, stderr } = await runCommand("shot", [...shot, ...at, ...units, ...files]);
      assertEquals(code, 0, stderr);
      if (name === "v.segy") assertStringIncludes(stderr, "v.segy: values of type IBM float became f32");
      traces.push(await Deno.readFile(`${d}/t.npy`));
    }
    assertEquals(traces[0], traces[1]);
    const { shape, values } = await readArray(`${d}/t.npy`);
    assertEquals(shape[0], 1);
    assertEquals(values.some((value) => Math.abs(value) > 0.01), true);
  }));

Deno.test("sources and receivers of elastic waves may lie on a free surface, half a cell above the first", () =>
  inDirectory(async (d) => {
    const shot = [
      "--stencil",
      "elastic",
      "--grid",
      "24x16",
      "--edges",
      "4",
      "--surface",
      "free",
      "--time",
      "0.08",
    ];
    const written = [...CPU, "--frequency", "15", "--out", `${d}/s.png`, "--traces", `${d}/t.npy`];
    const tracesAt = async (z: number): Promise<FloatArray> => {
      const places = ["--source", `100,${z}`, "--receivers", `165,${z}`];
      const { code, stderr } = await runCommand("shot", [...shot, ...written, ...places]);
      assertEquals(code, 0, stderr);
      return (await readArray(`${d}/t-vz.npy`)).values;
    };
    const [surface, near, cell] = [await tracesAt(0), await tracesAt(0.001), await tracesAt(5)];
    const most = (values: FloatArray): number =>
      [...values].reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const off = (other: FloatArray): number =>
      most(surface.map((value, i) => value - other[i]!)) / most(surface);
    assertEquals([off(near) < 1e-3, off(cell) > 0.05], [true, true], `${off(near)} ${off(cell)}`);
    const sound = [...CPU, "--grid", "24x16", "--surface", "free", "--source", "100,0"];
    await assertRefused("shot", [
      [sound, "wanted places below a free surface, on which p is 0"],
      [
        sound.with(-1, "100,-1"),
        "wanted places from 5,0 to 235,155 m, where the outermost cells and the surface are",
      ],
    ]);
  }));

Deno.test("a wavelet of a file is sent step by step: Ricker's own gives the traces without one", () =>
  inDirectory(async (d) => {
    const shot = [
      ...CPU,
      "--grid",
      "20x16",
      "--edges",
      "4",
      "--time-step",
      "1ms",
      "--time",
      "0.08",
      "--frequency",
      "20",
    ];
    const tracesWith = async (...more: string[]): Promise<FloatArray> => {
      const written = ["--out", `${d}/s.png`, "--traces", `${d}/t.npy`];
      const { code, stderr } = await runCommand("shot", [...shot, ...written, ...more]);
      assertEquals(code, 0, stderr);
      return (await readArray(`${d}/t.npy`)).values;
    };
    const ricker = Array.from({ length: 120 }, (_, n) => {
      const a = (Math.PI * 20 * (n * 1e-3 - 1 / 20)) ** 2;
      return (1 - 2 * a) * Math.exp(-a);
    });
    const write = (factor: number) =>
      Deno.writeTextFile(`${d}/w.csv`, ricker.map((value) => factor * value).join("\n"));
    const plain = await tracesWith();
    await write(1);
    assertEquals(await tracesWith("--wavelet", `${d}/w.csv`), plain);
    await write(-2);
    // five of 81 samples later
    const late = await tracesWith("--wavelet", `${d}/w.csv`, "--delay", "5ms");
    const wanted = plain.map((_, i) => i % 81 < 5 ? 0 : -2 * plain[i - 5]!);
    assertEquals([...late].map((value) => value + 0), [...wanted].map((value) => value + 0));
    const sent = ["--wavelet", `${d}/w.csv`], delayed = [...shot, ...sent, "--delay"];
    await assertRefused("shot", [
      [[...CPU, ...sent], "Cannot use --wavelet without --time-step"],
      [[...shot, "--delay", "5ms"], "Cannot use --delay without --wavelet"],
      [[...delayed, "5.5ms"], "Cannot use --delay: wanted less than --time, in steps of 1.00 ms: found"],
      [[...delayed, "0.08"], "Cannot use --delay: wanted less than --time"],
    ]);
  }));
