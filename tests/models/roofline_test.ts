import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { bytesPerUpdate, torreRowLocality } from "../../models/locality.ts";
import { type Demand, type DeviceModel, predictRate, roofOf } from "../../models/roofline.ts";

/** NVIDIA H100 80GB HBM3: copy bandwidth measured through Deno's WebGPU on 2026-11-21. */
const H100: DeviceModel = { copyBytesPerSecond: 2995e9 };

/** The grid on which the H100 was measured. */
const GRID = [384, 5280, 256] as const;
const CELLS = GRID[0] * GRID[1] * GRID[2];

interface Torre {
  /** Reach along each axis. */
  s: number;
  dts: number;
  /** Cells of z a thread. */
  z: 1 | 2;
  nt?: number;
  levels?: 1 | 2;
}

/** What a torre asks for, counted as the generated kernel does it. */
function torre({ s, dts, z, nt = 96, levels = 2 }: Torre): Demand {
  const w = 2 * s * dts;
  const cells = w * w / 2;
  const loads = 2 * s * s * (2 * dts + 1);
  const threads = GRID[2] / z;
  const stages = (2 * (GRID[0] + s * nt)) / w;
  const operations = 4 + 7 * s;
  return {
    bytesPerUpdate: bytesPerUpdate(torreRowLocality(dts, nt, { levelsRead: levels })),
    redundancy: 1,
    registersPerThread: z * (levels * cells + loads) + 30,
    threadsPerWorkgroup: threads,
    workgroupBytes: 2 * 4 * 4 * (GRID[2] + 2 * s),
    workgroupsPerDispatch: Math.ceil(GRID[1] / w),
    dispatchesPerStep: stages / nt,
    exchangesPerUpdate: (1 + 2 * Math.ceil(s / z)) / z,
    loopInstructions: 2 * (cells * (z * operations + 1 + 2 * Math.ceil(s / z)) + 2 * loads),
  };
}

function stepwise(s: number, { threads = 256, levels = 2 } = {}): Demand {
  return {
    bytesPerUpdate: 4 * (levels + 1),
    redundancy: 1,
    registersPerThread: 32,
    threadsPerWorkgroup: threads,
    workgroupBytes: 0,
    workgroupsPerDispatch: CELLS / threads,
    dispatchesPerStep: 1,
    cachedReadsPerUpdate: 6 * s + 1,
  };
}

function gcells(demand: Demand, device: DeviceModel = H100): number {
  return predictRate(demand, device, { cells: CELLS }).cellsPerSecond / 1e9;
}

/** Every torre of the kind that was swept. */
function torres(s: number, levels: 1 | 2): Torre[] {
  return [1, 2, 3, 4, 5, 6, 7, 8].flatMap((dts) => ([1, 2] as const).map((z) => ({ s, dts, z, levels })));
}

function best(s: number, levels: 1 | 2 = 2): string {
  const [first] = torres(s, levels).toSorted((a, b) => gcells(torre(b)) - gcells(torre(a)));
  return `DTS=${first.dts}, ${first.z} z`;
}

Deno.test("roofline names the torre that was best on the H100 for every star", () => {
  assertEquals(best(1), "DTS=5, 2 z");
  assertEquals(best(2), "DTS=2, 2 z");
  assertEquals(best(3).slice(0, 5), "DTS=1");
  assertEquals(best(4), "DTS=1, 1 z");
  assertEquals(best(1, 1), "DTS=6, 2 z");
  assertEquals(best(3, 1), "DTS=1, 2 z");
  assertEquals(best(4, 1), "DTS=1, 1 z");
});

Deno.test("roofline is within a quarter of what was measured on the H100", () => {
  const measured: [Demand, number][] = [
    [torre({ s: 1, dts: 5, z: 2 }), 770],
    [torre({ s: 1, dts: 5, z: 1, nt: 120 }), 690],
    [torre({ s: 1, dts: 3, z: 1, nt: 64 }), 450],
    [torre({ s: 2, dts: 2, z: 2 }), 379],
    [torre({ s: 3, dts: 1, z: 1 }), 192],
    [torre({ s: 4, dts: 1, z: 1, nt: 24 }), 198],
    [torre({ s: 1, dts: 6, z: 2, levels: 1 }), 915],
    [torre({ s: 2, dts: 3, z: 1, levels: 1 }), 387],
    [torre({ s: 2, dts: 2, z: 2, levels: 1 }), 383],
    [torre({ s: 3, dts: 1, z: 2, levels: 1 }), 226],
    [torre({ s: 4, dts: 1, z: 1, nt: 24, levels: 1 }), 201],
    [stepwise(1), 223],
    [stepwise(1, { threads: 128 }), 173],
    [stepwise(2), 161],
    [stepwise(3), 87],
    [stepwise(4), 69],
    [stepwise(1, { levels: 1 }), 265],
    [stepwise(2, { levels: 1 }), 184],
    [stepwise(3, { levels: 1 }), 96],
    [stepwise(4, { levels: 1 }), 76],
  ];
  for (const [demand, wanted] of measured) {
    const predicted = gcells(demand);
    const message = `predicted ${predicted.toFixed(0)}, measured ${wanted}`;
    assert(predicted > 0.75 * wanted && predicted < 1.25 * wanted, message);
  }
});

Deno.test("roofline drops a torre that spills below 100 Gcells/s", () => {
  const demand = torre({ s: 1, dts: 6, z: 2 });
  assert(gcells(demand) < 100);
  assert(predictRate(demand, H100, { cells: CELLS }).spilledRegisters > 0);
  assertEquals(predictRate(torre({ s: 1, dts: 5, z: 2 }), H100, { cells: CELLS }).spilledRegisters, 0);
});

Deno.test("roofline sees stepwise fall further below its roof with every order", () => {
  const fractions = [1, 2, 3, 4].map((s) => gcells(stepwise(s)) * 1e9 / roofOf(stepwise(s), 2995e9));
  for (let i = 1; i < 4; i++) assert(fractions[i] < fractions[i - 1]);
  assert(fractions[0] > 0.75 && fractions[3] < 0.35);
});

Deno.test("roofline is bandwidth over traffic and redundancy", () => {
  assertAlmostEquals(roofOf({ bytesPerUpdate: 12, redundancy: 1.25 }, 3e12), 2e11, 1);
  const prediction = predictRate(stepwise(1), H100, { cells: CELLS });
  assertAlmostEquals(prediction.roofCellsPerSecond / 1e9, 249.6, 0.1);
});

Deno.test("each penalty lowers the rate, none lifts it above the roof", () => {
  const control: Demand = torre({ s: 1, dts: 4, z: 1 });
  const deviations: Partial<Demand>[] = [
    { redundancy: 1.1 },
    { registersPerThread: 400 },
    { threadsPerWorkgroup: 250 },
    { threadsPerWorkgroup: 1024 },
    { workgroupsPerDispatch: 60 },
    { dispatchesPerStep: 100 },
    { exchangesPerUpdate: 9 },
    { cachedReadsPerUpdate: 9 },
    { loopInstructions: 20000 },
  ];
  const rate = gcells(control);
  assert(rate * 1e9 < roofOf(control, H100.copyBytesPerSecond));
  for (const deviation of deviations) {
    const demand = { ...control, ...deviation };
    assert(gcells(demand) < rate, JSON.stringify(deviation));
  }
});

Deno.test("roofline stays positive and finite for a slow device and a tiny grid", () => {
  const tiny = predictRate(
    { ...stepwise(1), workgroupsPerDispatch: 1, threadsPerWorkgroup: 1 },
    { copyBytesPerSecond: 8e9 },
    { cells: 1 },
  );
  assert(tiny.cellsPerSecond > 0 && Number.isFinite(tiny.cellsPerSecond));
});
