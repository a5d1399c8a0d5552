import { definitionOf } from "../../../kernels/definition.ts";
import { fieldBytes, type Problem } from "../../../kernels/stencils/stencil.ts";
import type { Configuration, Failure } from "../../configuration.ts";
import { formatDuration } from "../../format.ts";
import type { Evaluator, TimedEvaluation, Turn } from "../evaluator.ts";
import {
  type EvaluatorOptions,
  type FromEvaluator,
  readRecords,
  recordLine,
  type ToEvaluator,
} from "./evaluator_protocol.ts";
import { RunFailure } from "../../devices/run_failure.ts";

/** How an evaluator is started. */
export interface ProcessOptions extends EvaluatorOptions {
  readonly problem: Problem;
  /** Milliseconds to compile a configuration, and again to verify and time it; longer is a failure: `timeout`. */
  readonly limitMs: number;
  readonly turn: Turn;
  /** The program. @default this Deno with `evaluator_main.ts` */
  readonly command?: readonly [string, ...string[]];
}

/** A first answer takes a start of Deno, which compiles its modules the first time. */
const START_LIMIT_MS = 120_000;

// what it reads is its workers' code
const PERMISSIONS = ["--no-prompt", "--allow-env=XDG_RUNTIME_DIR,FACET_DEBUG", "--allow-read"];

/** Time and death as answers. */
type Reply = FromEvaluator | { readonly say: "late" } | { readonly say: "gone" };

/** Evaluates in a process of its own, which is killed if it takes too long. */
export class ProcessEvaluator implements Evaluator {
  #alive = true;
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #answers: AsyncGenerator<FromEvaluator>;
  readonly #limitMs: number;

  private constructor({ limitMs, command }: ProcessOptions) {
    const main = new URL("./evaluator_main.ts", import.meta.url).href;
    const [program, ...args] = command ?? [Deno.execPath(), "run", ...PERMISSIONS, main];
    this.#child = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "null" })
      .spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#answers = readRecords<FromEvaluator>(this.#child.stdout);
    this.#limitMs = limitMs;
  }

  /** Starts a process and lets it compute its reference; a {@linkcode RunFailure} if it cannot. */
  static async start(options: ProcessOptions): Promise<ProcessEvaluator> {
    const evaluator = new ProcessEvaluator(options);
    // a software driver blocks its process: only killing that helps, and the reference may take longer
    const { problem: { stencil, ...rest }, turn, limitMs: _, command: __, ...given } = options;
    const request = {
      say: "open",
      problem: { ...rest, definition: definitionOf(stencil) },
      timeoutMs: START_LIMIT_MS,
      ...given,
    } as const;
    const { answer } = await evaluator.#converse(request, START_LIMIT_MS, turn);
    if (answer.say === "done") return evaluator;
    evaluator.close();
    const { reason, message } = failureOf(answer, START_LIMIT_MS);
    throw new RunFailure(reason, message);
  }

  get pid(): number {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#alive;
  }

  async evaluate(
    configuration: Configuration,
    { best, turn, limitNs = Infinity }: { best: number; turn: Turn; limitNs?: number },
  ): Promise<TimedEvaluation | undefined> {
    const request = { say: "evaluate", configuration, best } as const;
    const untilMs = performance.now() + limitNs / 1e6;
    const { answer, spentMs } = await this.#converse(request, this.#limitMs, turn, untilMs);
    if (answer.say === "evaluated") {
      const { evaluation, evaluationNs } = answer;
      return { evaluation, evaluationNs };
    }
    this.close();
    // timers count whole milliseconds
    if (answer.say === "late" && performance.now() + 1 >= untilMs) return undefined;
    const failure = failureOf(answer, this.#limitMs);
    return { evaluation: { configuration, failure }, evaluationNs: spentMs * 1e6 };
  }

  close(): void {
    if (!this.#alive) return;
    this.#alive = false;
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // it has ended by itself
    }
    this.#writer.abort().catch(() => {});
    this.#answers.return(undefined).catch(() => {});
  }

  /** Sends a request; if the process answers that it waits for its turn, takes the turn and lets it go on. */
  async #converse(request: ToEvaluator, limitMs: number, turn: Turn, untilMs = Infinity) {
    let began = performance.now();
    const limit = (): number => Math.max(0, Math.min(limitMs, untilMs - began));
    const first = await this.#ask(request, limit());
    let spentMs = performance.now() - began;
    if (first.say !== "wait") return { answer: first, spentMs };
    const release = await turn();
    try {
      began = performance.now();
      const answer = await this.#ask({ say: "go" }, limit());
      spentMs += performance.now() - began;
      // what is late may still use the device: it ends before another takes its turn
      if (answer.say === "late") {
        this.#child.kill("SIGKILL");
        await this.#child.status;
      }
      return { answer, spentMs };
    } finally {
      release();
    }
  }

  async #ask(request: ToEvaluator, limitMs: number): Promise<Reply> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<Reply>((resolve) => {
      timer = setTimeout(() => resolve({ say: "late" }), limitMs);
    });
    const answered = async (): Promise<Reply> => {
      try {
        await this.#writer.write(recordLine(request));
        const { value, done } = await this.#answers.next();
        return done ? { say: "gone" } : value;
      } catch {
        return { say: "gone" };
      }
    };
    try {
      return await Promise.race([answered(), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Memory that the processes of a search may take together, and processes at most. */
const PROCESSES_BYTES = 52e9, MOST_PROCESSES = 8;

/**
 * How many processes evaluate: the one whose turn it is measures, the others compile. Each holds a reference, and the
 * memory (in bytes) of a field for its turns. WebGPU does not report a GPU's memory: where it runs short, processes are given up
 * during the search. A GPU that shares the host's memory must not take more than half of it. There are at least two, if
 * there is memory for one; and one where there is not, or the request limits the memory (`deviceMemory`).
 */
export function processesFor(
  problem: Problem,
  { cores, memory, deviceMemory }: {
    readonly cores: number;
    readonly memory: number;
    readonly deviceMemory?: number | undefined;
  },
): number {
  const bytes = Math.min(PROCESSES_BYTES, memory / 2, deviceMemory ?? Infinity);
  const fit = Math.floor(bytes / (2 * fieldBytes(problem)));
  return Math.max(deviceMemory === undefined && fit > 0 ? 2 : 1, Math.min(fit, cores - 1, MOST_PROCESSES));
}

/** Why there is no other answer. */
function failureOf(answer: Reply, limitMs: number): Failure {
  if (answer.say === "failed") return answer.failure;
  return answer.say === "late"
    ? { reason: "timeout", message: `did not end within ${formatDuration(limitMs * 1e6)}` }
    : { reason: "device-lost", message: "the process that measured it ended" };
}
