/**
 * An update's plain loops in C, compiled with gcc and run in a process of their own: the CPU's workers are measured
 * against them.
 *
 * @module
 */
import { type CSource, writeC } from "./write_c.ts";

/** How the loops are compiled: the instructions that WebAssembly has, four floats at once, no fused products. */
export const C_COMPILER = ["gcc", "-O3", "-msse4.1", "-ffp-contract=off"] as const;

/** A process that reads numbers of steps and runs them. */
export class NativeLoops {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;
  #hash = 0;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#input = child.stdin.getWriter();
    this.#output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /**
   * Compiles the loops and starts them.
   *
   * @returns the process, or undefined where there is no gcc
   * @throws {Error} when gcc fails
   */
  static async create(source: CSource): Promise<NativeLoops | undefined> {
    const directory = await Deno.makeTempDir({ prefix: "facet-" });
    try {
      const code = `${directory}/loops.c`, program = `${directory}/loops`;
      await Deno.writeTextFile(code, writeC(source));
      const [gcc, ...flags] = C_COMPILER;
      const command = new Deno.Command(gcc, { args: [...flags, "-o", program, code], stderr: "piped" });
      const { success, stderr } = await command.output();
      if (!success) {
        throw new Error(`Cannot compile the C loops: ${new TextDecoder().decode(stderr).split("\n")[0]}`);
      }
      return new NativeLoops(new Deno.Command(program, { stdin: "piped", stdout: "piped" }).spawn());
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    } finally {
      // the running program no longer needs its file
      await Deno.remove(directory, { recursive: true });
    }
  }

  /** Advances the field by so many steps, and returns the nanoseconds that they took. */
  async run(steps: number): Promise<number> {
    await this.#input.write(new TextEncoder().encode(`${steps}\n`));
    let line = "";
    while (!line.endsWith("\n")) {
      const { value, done } = await this.#output.read();
      if (done) throw new Error("Cannot run the C loops: the process ended");
      line += value;
    }
    const [timeNs = NaN, hash = NaN] = line.trim().split(" ").map(Number);
    this.#hash = hash;
    return timeNs;
  }

  /** The newest level after the last run, as `hashBits` computes it. */
  hash(): number {
    return this.#hash;
  }

  /** Ends the process. */
  async dispose(): Promise<void> {
    await this.#input.close();
    await this.#output.cancel();
    await this.#child.status;
  }
}
