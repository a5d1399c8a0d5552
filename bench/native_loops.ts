/**
 * An update's plain loops in C, compiled with gcc and run in a process of their own: the CPU's workers are measured
 * against them.
 *
 * @module
 */
import { type CSource, writeC } from "./write_c.ts";

/** How the loops of one core are compiled: the instructions that WebAssembly has, four floats at once, nothing fused. */
export const C_COMPILER: readonly string[] = [
  "gcc",
  "-O3",
  "-msse4.1",
  "-ffp-contract=off",
  "-fno-math-errno",
];

/** How those of all cores are compiled: all instructions that this machine has, products and sums fused. */
export const NATIVE_COMPILER: readonly string[] = [
  "gcc",
  "-O3",
  "-march=native",
  "-fno-math-errno",
  "-fopenmp",
];

/** A process that reads numbers of steps and runs them. */
export class NativeLoops {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#input = child.stdin.getWriter();
    this.#output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /**
   * Compiles the loops and starts them.
   *
   * @param compiler its name and flags
   * @param threads of loops that several share
   * @returns the process, or undefined where there is no gcc
   * @throws {Error} when gcc fails
   */
  static async create(
    source: CSource,
    { compiler = C_COMPILER, threads = 1 }: { compiler?: readonly string[]; threads?: number } = {},
  ): Promise<NativeLoops | undefined> {
    const directory = await Deno.makeTempDir({ prefix: "facet-" });
    try {
      const code = `${directory}/loops.c`, program = `${directory}/loops`;
      await Deno.writeTextFile(code, writeC(source));
      const [gcc, ...flags] = compiler;
      const command = new Deno.Command(gcc!, {
        args: [...flags, "-o", program, code, "-lm"],
        stderr: "piped",
      });
      const { success, stderr } = await command.output();
      if (!success) {
        throw new Error(`Cannot compile the C loops: ${new TextDecoder().decode(stderr).split("\n")[0]}`);
      }
      return new NativeLoops(new Deno.Command(program, {
        stdin: "piped",
        stdout: "piped",
        env: { OMP_NUM_THREADS: `${threads}` },
      }).spawn());
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    } finally {
      // the running program no longer needs its file
      await Deno.remove(directory, { recursive: true });
    }
  }

  /** Advances the field by `steps` steps, and returns the nanoseconds that they took. */
  run(steps: number): Promise<number> {
    return this.#ask(steps);
  }

  /** The newest level's bits, as `hashBits` computes them. */
  hash(): Promise<number> {
    return this.#ask(0);
  }

  /** Sends a number, and returns what the program answers. */
  async #ask(steps: number): Promise<number> {
    await this.#input.write(new TextEncoder().encode(`${steps}\n`));
    let line = "";
    while (!line.endsWith("\n")) {
      const { value, done } = await this.#output.read();
      if (done) throw new Error("Cannot run the C loops: the process ended");
      line += value;
    }
    return Number(line);
  }

  /** Ends the process. */
  async dispose(): Promise<void> {
    await this.#input.close();
    await this.#output.cancel();
    await this.#child.status;
  }
}
