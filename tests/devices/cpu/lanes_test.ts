import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { indexOf, layOut } from "../../../kernels/layout.ts";
import { imageOf } from "../../../kernels/stencils/stencil.ts";
import { laneImages, laneOffset, layLanes } from "../../../kernels/wasm/lanes.ts";
import { LaneSweep } from "../../../tuner/devices/cpu/lane_sweep.ts";
import { reachOf } from "../../../kernels/update.ts";
import { bitKs } from "../../kernels/line_stencils.ts";

const LINE = {
  points: fc.integer({ min: 24, max: 90 }),
  reach: fc.integer({ min: 1, max: 4 }),
  ends: fc.constantFrom("insulated" as const, "periodic" as const),
};

Deno.test("lanes hold every point, and their pads its neighbours or the images of the line's ends", () => {
  fc.assert(fc.property(LINE.points, LINE.reach, LINE.ends, (points, reach, ends) => {
    const lanes = layLanes(points, { reach, planes: 1 });
    const { length, starts, overlap } = lanes;
    const held = new Set(starts.flatMap((start) => Array.from({ length }, (_, i) => start + i)));
    assertEquals([...held].sort((a, b) => a - b), Array.from({ length: points }, (_, i) => i));
    assert(starts.every((start, lane) => lane === 0 || starts[lane - 1]! + length - start <= overlap));
    const images = laneImages(lanes, points, ends);
    assertEquals(new Set(images.map(({ to }) => laneOffset(lanes, to))).size, 2 * reach * 4);
    for (const { to, from } of images) {
      assertEquals(
        starts[from.lane]! + from.position,
        imageOf(starts[to.lane]! + to.position, points, ends),
      );
      // what a triangle at the lane's end makes first
      assert(from.position >= 0 && from.position < length);
      assert(from.position <= reach || from.position >= length - 1 - reach);
    }
  }));
});

/** A line of `bitKs`, its field u at `ARRAY`, its lanes at `LANE_ARRAY`. */
function loadLanes(points: number, ends: "insulated" | "periodic") {
  const { update } = bitKs, reach = reachOf(update).z;
  const layout = layOut([1, 1, points], { pad: [0, 0, reach], planes: 2 });
  const lanes = layLanes(points, { reach, planes: 2 });
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
  const arrays = [LANE_ARRAY, LANE_ARRAY] as const;
  const sweep = new LaneSweep({
    memory,
    exports: {},
    layout,
    lanes,
    ends,
    fields: [0, 1],
    laneArrays: arrays,
  });
  const line = new Float32Array(memory.buffer, ARRAY, layout.length);
  const packed = new Float32Array(memory.buffer, LANE_ARRAY, lanes.bytes / 4);
  return { layout, lanes, sweep, line, packed };
}

const ARRAY = 4096, LANE_ARRAY = 16384;

Deno.test("points come to lanes and back, and nothing else changes", () => {
  for (const points of [24, 37, 42, 51]) {
    const { layout, lanes, sweep, line, packed } = loadLanes(points, "periodic");
    const first = indexOf(layout, [0, 0, 0], 1);
    for (let z = 0; z < points; z++) line[first + z] = z + 1;
    const before = line.slice();
    sweep.toLanes(ARRAY, 0, 1, 0, lanes.length);
    lanes.starts.forEach((start, lane) => {
      for (let position = 0; position < lanes.length; position++) {
        const place = (lanes.plane + laneOffset(lanes, { position, lane })) / 4;
        assertEquals(packed[place], start + position + 1);
      }
    });
    assertEquals(packed.reduce((count, value) => count + Number(value !== 0), 0), 4 * lanes.length);
    line.fill(0, first, first + points);
    sweep.fromLanes(ARRAY, 0, 1, 0, 5);
    sweep.fromLanes(ARRAY, 0, 1, 5, lanes.length);
    assertEquals(line, before);
  }
});

Deno.test("only those pads are renewed whose sources were made", () => {
  const points = 42;
  for (const ends of ["insulated", "periodic"] as const) {
    const { lanes, sweep, packed } = loadLanes(points, ends);
    const images = laneImages(lanes, points, ends);
    const at = (point: { position: number; lane: number }): number => laneOffset(lanes, point) / 4;
    for (
      const [begin, end] of [[0, lanes.length], [-3, 2], [2, 5], [3, 7], [
        lanes.length - 1,
        lanes.length,
      ]] as const
    ) {
      packed.fill(0);
      for (let position = 0; position < lanes.length; position++) {
        lanes.starts.forEach((start, lane) => packed[at({ position, lane })] = start + position + 1);
      }
      sweep.renew(0, 0, begin, end);
      for (const { to, from } of images) {
        const isMade = [from.position, from.position - lanes.length].some((z) => z >= begin && z < end);
        assertEquals(packed[at(to)], isMade ? packed[at(from)] : 0);
      }
    }
  }
});
