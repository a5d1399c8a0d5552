/**
 * The protocol between `tune` or `record` and the processes that measure for it: one JSON record a line, on stdin and
 * stdout.
 *
 * `open` is answered by `wait` (for the device), and after `go` by `done` or `failed`. `evaluate` is answered by `wait`
 * once the configuration is compiled, and after `go` by `evaluated`; by `evaluated` alone if it does not compile.
 *
 * @module
 */
import type { Definition } from "../../../kernels/definition.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import type { Configuration, Failure } from "../../configuration.ts";
import type { DeviceSession } from "../../devices/session.ts";
import type { TimedEvaluation } from "../evaluator.ts";

/** How a process measures, and what its session is opened with. */
export interface EvaluatorOptions extends Omit<ConstructorParameters<typeof DeviceSession>[0], "device"> {
  /** Nanoseconds for a configuration's samples. @default {300e6} a space of thousands must end */
  readonly samplingNs?: number;
  /** What the levels may take on the GPU, where they pass through a window. */
  readonly deviceMemory?: number | undefined;
}

/** Requests to the process. */
export type ToEvaluator =
  | {
    readonly say: "open";
    readonly problem: Omit<Problem, "stencil"> & { readonly definition: Definition };
  } & EvaluatorOptions
  | { readonly say: "evaluate"; readonly configuration: Configuration; readonly best: number }
  | { readonly say: "go" };

/** Its answers. */
export type FromEvaluator =
  | { readonly say: "wait" }
  | { readonly say: "done" }
  | { readonly say: "failed"; readonly failure: Failure }
  | ({ readonly say: "evaluated" } & TimedEvaluation);

/** The records of a stream of lines; ends with the stream. */
export async function* readRecords<T>(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<T> {
  let pending = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (pending + chunk).split("\n");
    pending = lines.pop()!;
    for (const line of lines) if (line !== "") yield JSON.parse(line) as T;
  }
}

export function recordLine(record: ToEvaluator | FromEvaluator): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(record) + "\n");
}
