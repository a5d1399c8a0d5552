/** Memory that is taken, given back and taken again. */
export class BufferPool {
  readonly #all: GPUBuffer[] = [];
  #unused: GPUBuffer[] = [];

  constructor(readonly make: (bytes: number) => Promise<GPUBuffer>) {}

  /** A buffer for each of these numbers of bytes. */
  async take(sizes: readonly number[]): Promise<GPUBuffer[]> {
    return await Promise.all(sizes.map(async (bytes) => {
      const unused = this.#unused.find(({ size }) => size >= bytes);
      this.#unused = this.#unused.filter((buffer) => buffer !== unused);
      if (unused !== undefined) return unused;
      const made = await this.make(bytes);
      this.#all.push(made);
      return made;
    }));
  }

  give(buffers: readonly GPUBuffer[]): void {
    this.#unused.push(...buffers);
  }

  destroy(): void {
    for (const buffer of this.#all) buffer.destroy();
  }
}
