/**
 * Cases that random scripts found once, made small: kept as they are, whatever the generator draws.
 *
 * @module
 */
import type { RandomCase } from "./random_case.ts";

const BOUNDARIES = ["zero", "periodic", "insulated"] as const;

/** On CPU workers: a row of a sub-step whose window is wider than what its own taps read. */
const SWEPT: RandomCase = {
  seed: 5880,
  definition: {
    ...{
      name: "drawn",
      title: "drawn",
      variant: {},
      dimensions: 1,
      boundaries: [...BOUNDARIES],
      materials: [],
    },
    fields: [{ name: "u", range: [0, 3] }, { name: "v", range: [0, 3] }],
    substeps: [{ u: ["add", ["at", "v", 0, 0, 0], 1] }, {
      v: ["minimum", 8, ["add", ["next", "u", 0, 0, 0], ["next", "u", 0, 0, -1], ["at", "v", 0, 0, 1], [
        "at",
        "v",
        0,
        0,
        -1,
      ]]],
    }],
  },
  grid: [1, 1, 16],
  boundary: ["insulated", "insulated", "insulated"],
  steps: 3,
  where: {
    on: "solver",
    configuration: {
      traversal: "swept",
      parameters: { points: 8 },
      share: { cpuSlices: 1, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 2 },
    },
  },
  calls: [
    { call: "write", name: "u", values: { kind: "whole", seed: 1, least: 0, count: 4 } },
    { call: "write", name: "v", values: { kind: "whole", seed: 2, least: 0, count: 4 } },
    { call: "run", steps: 5 },
    { call: "read", name: "u" },
    { call: "read", name: "v" },
  ],
};

/** On a GPU: materials after the reset of a field that passes through a window. */
const WINDOW: RandomCase = {
  seed: 2042,
  definition: {
    ...{ name: "drawn", title: "drawn", variant: {}, dimensions: 2, boundaries: [...BOUNDARIES] },
    fields: [{ name: "u", range: [0, 3] }],
    materials: [{ name: "m", values: [1, 2, 3, 4, 5, 6, 7, 8] }],
    substeps: [{ u: ["add", ["at", "m", 0, 0, 0], ["at", "u", -1, 0, 0]] }],
  },
  grid: [9, 5],
  boundary: ["zero", "zero"],
  steps: 3,
  where: {
    ...{ on: "ranks", parts: [1, 1, 1], exchangeEvery: 3, rates: [1], workers: 1 },
    configurations: [{
      traversal: "stepwise",
      parameters: { threadsZ: 4, threadsY: 1, threadsX: 4 },
      share: { cpuSlices: 0, gpuSlices: 9, exchangeEvery: 1, cpuWorkers: 0, deviceMemory: 8448 },
    }],
  },
  calls: [
    { call: "write", name: "m", values: { kind: "whole", seed: 1, least: 1, count: 8 } },
    { call: "run", steps: 2 },
    { call: "reset" },
    { call: "run", steps: 1 },
    { call: "read", name: "u" },
    { call: "read", name: "m" },
  ],
};

/** On CPU workers, which sweep lines: a grid of one cell with a receiver, in a configuration that says no strips. */
const ONE_CELL: RandomCase = {
  seed: 630191,
  definition: {
    ...{ name: "drawn", title: "drawn", variant: {}, dimensions: 2, boundaries: [...BOUNDARIES] },
    fields: [{ name: "u", range: [0, 3] }],
    materials: [],
    substeps: [{ u: ["add", ["at", "u", 0, 0, 0], 1] }],
  },
  grid: [1, 1],
  boundary: ["zero", "insulated"],
  steps: 2,
  survey: { sources: 0, receivers: 1 },
  where: {
    on: "solver",
    configuration: {
      traversal: "stepwise",
      parameters: {},
      share: { cpuSlices: 1, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 },
    },
  },
  calls: [
    { call: "receivers", name: "u", positions: [[0, 0]], every: 1 },
    { call: "run", steps: 2 },
    { call: "traces" },
  ],
};

/** On ranks: what a source adds takes a material of a cell that another rank has, and no ghost zone holds. */
const FACTOR: RandomCase = {
  seed: 300004175,
  definition: {
    ...{ name: "drawn", title: "drawn", variant: {}, dimensions: 3, boundaries: [...BOUNDARIES] },
    fields: [{ name: "u", range: [0, 3] }],
    materials: [{ name: "n", values: [2, -1, -1, -2, -1, 1, -1, -2] }],
    substeps: [{ u: 1 }],
    sources: [{ name: "s", range: [-1, 1], into: { u: ["multiply", -1, ["at", "n", -1, 0, 0]] } }],
  },
  grid: [3, 1, 1],
  boundary: ["zero", "zero", "zero"],
  steps: 1,
  survey: { sources: 1, receivers: 0 },
  where: {
    ...{ on: "ranks", parts: [3, 1, 1], exchangeEvery: 1, rates: [1, 2, 2], workers: 1 },
    configurations: [1, 2, 3].map(() => ({
      traversal: "stepwise",
      parameters: { strip: 0 },
      share: { cpuSlices: 1, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 },
    })),
  },
  calls: [
    { call: "sources", name: "s", positions: [[2, 0, 0]], signatures: [[-3]] },
    { call: "run", steps: 1 },
    { call: "read", name: "u" },
  ],
};

/** Those that need no GPU, and those that do. */
export const FOUND: Readonly<Record<"cpu" | "gpu", readonly RandomCase[]>> = {
  cpu: [SWEPT, ONE_CELL, FACTOR],
  gpu: [WINDOW],
};
