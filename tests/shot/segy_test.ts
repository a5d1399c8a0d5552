/**
 * SEG-Y files, read by a program of their own that follows the standard (revision 1) and knows nothing of what wrote them.
 *
 * @module
 */
import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { segyBytes, segyScale } from "../../tuner/shot/segy.ts";

/** Letters of EBCDIC at their codes, where code pages 37 and 500 agree, as far as headers have them. */
const EBCDIC: Readonly<Record<number, string>> = Object.fromEntries(
  ([
    [0x40, " "],
    [0x4b, ".<(+"],
    [0x60, "-/"],
    [0x6b, ",%_>?"],
    [0x7a, ":#@'=\""],
    [0x5c, "*);"],
    [0x81, "abcdefghi"],
    [0x91, "jklmnopqr"],
    [0xa2, "stuvwxyz"],
    [0xc1, "ABCDEFGHI"],
    [0xd1, "JKLMNOPQR"],
    [0xe2, "STUVWXYZ"],
    [0xf0, "0123456789"],
  ] as const).flatMap(([first, text]) => [...text].map((letter, i) => [first + i, letter] as const)),
);

function readSegy(bytes: Uint8Array<ArrayBuffer>) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const short = (at: number): number => view.getInt16(at - 1),
    long = (at: number): number => view.getInt32(at - 1);
  const text = Array.from(bytes.subarray(0, 3200), (code) => EBCDIC[code] ?? "?").join("");
  const samples = short(3221), size = 240 + 4 * samples, traces = [];
  for (let start = 3600; start < bytes.length; start += size) {
    const scale = (by: number): number => by < 0 ? 1 / -by : by;
    const heights = scale(short(start + 69)), places = scale(short(start + 71));
    traces.push({
      line: long(start + 1),
      file: long(start + 5),
      record: long(start + 9),
      inRecord: long(start + 13),
      shotPoint: long(start + 17),
      kind: short(start + 29),
      offset: long(start + 37),
      source: [long(start + 73) * places, long(start + 77) * places, long(start + 49) * heights],
      receiver: [long(start + 81) * places, long(start + 85) * places, -long(start + 41) * heights],
      units: short(start + 89),
      samples: short(start + 115),
      intervalUs: short(start + 117),
      measuredIn: short(start + 203),
      values: Array.from({ length: samples }, (_, k) => view.getFloat32(start + 240 + 4 * k)),
    });
  }
  return {
    lines: Array.from({ length: 40 }, (_, i) => text.slice(80 * i, 80 * i + 80).trimEnd()),
    tracesOfShot: short(3213),
    intervalUs: short(3217),
    samples,
    format: short(3225),
    metres: short(3255),
    revision: view.getUint16(3500),
    isFixed: short(3503),
    extended: short(3505),
    traces,
  };
}

Deno.test("a SEG-Y file has what an independent reader expects: headers, places, IEEE values", () => {
  const traces = [Float32Array.of(1, -2.5, 1e-20), Float32Array.of(0, 3e7, -0.1)];
  const receivers = [[125, 485, 25], [1234.567, 0.005, 30]] as const, source = [485, 480.25, 12.5] as const;
  const plan = { interval: 0.002, receivers };
  const text = ["Facet: my_model-2.npy, (1 + 2) * 3; 'é'", "x".repeat(80)];
  const bytes = segyBytes(traces, plan, { shot: 7, source, field: "p", text });
  assertEquals(bytes.length, 3600 + 2 * (240 + 12));
  const { lines, traces: found, ...file } = readSegy(bytes);
  assertEquals(file, {
    tracesOfShot: 2,
    intervalUs: 2000,
    samples: 3,
    format: 5,
    metres: 1,
    revision: 0x100,
    isFixed: 1,
    extended: 0,
  });
  assertEquals(lines[0], "C 1 Facet: my_model-2.npy, (1 + 2) * 3; ' '");
  assertEquals(lines.slice(1, 3), [`C 2 ${"x".repeat(76)}`, "C 3 xxxx"]);
  assertEquals(lines.slice(38), ["C39 SEG Y REV1", "C40 END TEXTUAL HEADER"]);
  assertEquals(lines.slice(3, 38), Array.from({ length: 35 }, (_, i) => `C${`${i + 4}`.padStart(2)}`));
  found.forEach((trace, i) => {
    assertEquals([trace.line, trace.file, trace.inRecord], [i + 1, i + 1, i + 1]);
    assertEquals([trace.record, trace.shotPoint, trace.kind, trace.units], [7, 7, 1, 1]);
    assertEquals([trace.samples, trace.intervalUs, trace.measuredIn], [3, 2000, 0]);
    assertEquals(trace.values, [...traces[i]!]);
    const [x, y] = receivers[i]!;
    assertEquals(trace.offset, Math.round(Math.hypot(x - source[0], y - source[1])));
    receivers[i]!.forEach((metres, axis) => assertAlmostEquals(trace.receiver[axis]!, metres, 5.1e-4));
    source.forEach((metres, axis) => assertAlmostEquals(trace.source[axis]!, metres, 5.1e-4));
  });
});

Deno.test("pressure and components of a velocity have the standard's numbers, and places the finest scalar that 32 bits hold", () => {
  for (
    const [field, kind, far, error] of [
      ["vx", 14, 2e6, 5e-4],
      ["vy", 13, 2.2e6, 5e-3],
      ["vz", 12, 123_456_789.1, 0.051],
      ["vz", 12, 987_654_321, 0.5],
      ["pressure", 11, 2e6, 5e-4],
    ] as const
  ) {
    const plan = { interval: 0.032767, receivers: [[far, 0.25, 30.25]] as const };
    const bytes = segyBytes([Float32Array.of(1)], plan, { shot: 1, source: [0, far, 1], field, text: [] });
    const { intervalUs, traces: [trace] } = readSegy(bytes);
    const unit = field === "pressure" ? 1 : 6; // Pa, m/s
    assertEquals([intervalUs, trace!.kind, trace!.measuredIn], [32_767, kind, unit]);
    [far, 0.25, 30.25].forEach((one, axis) => assertAlmostEquals(trace!.receiver[axis]!, one, error));
    [0, far, 1].forEach((one, axis) => assertAlmostEquals(trace!.source[axis]!, one, error));
    assertEquals(trace!.offset, Math.round(Math.hypot(far, far - 0.25)));
  }
  assertThrows(() => segyScale([[0, 0, 0], [1.1e9, 0, 0]]), RangeError, "places up to 1000000 km are wanted");
});
