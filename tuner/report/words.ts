import { formatRate } from "../format.ts";

/** Every parameter of every traversal: its name for people, and what it means. */
const PARAMETERS: Readonly<Record<string, readonly [title: string, meaning: string]>> = {
  dts: ["DTS", "diamond tile size: a larger one moves fewer bytes and needs more registers"],
  nt: ["Nt", "time steps in one pass over memory"],
  bands: ["bands", "passes that advance in one dispatch"],
  zPerThread: ["z per thread", "cells along z that a thread computes at once"],
  threads: ["threads", "threads of a workgroup"],
  threadsX: ["threads along x", "threads of a workgroup along x"],
  threadsY: ["threads along y", "threads of a workgroup along y"],
  threadsZ: ["threads along z", "threads of a workgroup along z"],
  chunk: ["chunk", "values exchanged between two barriers"],
  unroll: ["unroll", "time steps written out in the loop's body"],
  lookahead: ["lookahead", "how far ahead values are loaded; 99: at the start of the time step"],
  pieces: ["pieces", "parts that the march along x is cut into"],
  tile: ["tile", "1: neighbours in a slice come from workgroup memory; 0: through the caches"],
  ahead: ["load ahead", "1: values are loaded one slice before they are used; 0: when they are used"],
  points: ["points per thread", "points of the line that a thread computes"],
  strip: ["strip", "rows of a slice that a core visits before the next rows; 0: all"],
  tiles: ["tiles", "diamonds side by side along y"],
  levels: ["levels", "sub-steps by which a diamond grows before it narrows"],
  block: ["block", "slices that the wave moves at once"],
  fused: ["fused", "1: a product and a sum are one operation that rounds once"],
  steps: ["steps per dispatch", "time steps that one dispatch computes"],
};

const FAILURES: Readonly<Record<string, string>> = {
  compile: "did not compile",
  limits: "exceeded the device's limits",
  incorrect: "gave a wrong result",
  timeout: "took too long",
  "device-lost": "lost the device",
  "out-of-memory": "ran out of memory",
  // of other tools
  constraints: "were not allowed",
  correctness: "gave a wrong result",
  runtime: "failed while running",
};

/** A parameter's name for people; its own name where Facet does not know it. */
export function parameterTitle(name: string): string {
  return Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name]![0] : name;
}

/** What a parameter means; undefined where Facet does not know it. */
export function parameterMeaning(name: string): string | undefined {
  return Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name]![1] : undefined;
}

/** A rate in Gcells/s without its unit. */
export function gcells(cellsPerSecond: number): string {
  return formatRate(cellsPerSecond).replace(" Gcells/s", "");
}

/** What a failure means, as `did not compile`. */
export function failureWords(reason: string): string {
  return Object.hasOwn(FAILURES, reason) ? FAILURES[reason]! : reason;
}
