/**
 * Names of parameters and failures in plain words.
 *
 * @module
 */

const PARAMETERS: Readonly<Record<string, string>> = {
  dts: "DTS",
  nt: "Nt",
  bands: "bands",
  zPerThread: "z per thread",
  threads: "threads",
  threadsX: "threads along x",
  threadsY: "threads along y",
  threadsZ: "threads along z",
};

const MEANINGS: Readonly<Record<string, string>> = {
  dts: "diamond tile size: a larger one moves fewer bytes and needs more registers",
  nt: "time steps in one pass over memory",
  bands: "passes that advance in one dispatch",
  zPerThread: "cells along z that a thread computes at once",
  threads: "threads of a workgroup",
  threadsX: "threads of a workgroup along x",
  threadsY: "threads of a workgroup along y",
  threadsZ: "threads of a workgroup along z",
  chunk: "values exchanged between two barriers",
  unroll: "time steps written out in the loop's body",
  lookahead: "how far ahead values are loaded",
  pieces: "parts that the march along x is cut into",
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

/** A parameter's name for people; its own name where there is no other. */
export function parameterTitle(name: string): string {
  return Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : name;
}

/** What a parameter means; undefined of one that Facet does not know. */
export function parameterMeaning(name: string): string | undefined {
  return Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined;
}

/** What a failure means, as `did not compile`. */
export function failureWords(reason: string): string {
  return Object.hasOwn(FAILURES, reason) ? FAILURES[reason] : reason;
}
