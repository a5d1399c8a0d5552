import { type Comparison, joinComparisons, type SliceCells } from "../comparison.ts";
import type { CpuField } from "../cpu/cpu_field.ts";
import { type Reference, stateLevels } from "../reference.ts";
import { HostPartField } from "./host_part_field.ts";
import { type FieldStart, firstOf, ownSlices, type PartField, type Place } from "./part_field.ts";

/** A part that workers compute. */
export class CpuPartField extends HostPartField implements PartField {
  readonly device = "cpu";
  /** The workers' clock is as good as a device's. */
  readonly clock = "device";
  readonly isWarm = false;

  /** @param compileNs host time to write and compile its code */
  constructor(readonly field: CpuField, readonly place: Place, readonly compileNs: number) {
    super();
  }

  get step(): number {
    return this.field.step;
  }

  async initialise({ kind, ...start }: FieldStart): Promise<void> {
    await this.field.setInitial(kind, { ...start, first: firstOf(this.place), whole: this.place.whole });
  }

  async compare(reference: Reference): Promise<Comparison> {
    const parts: Comparison[] = [], slices = ownSlices(this.place);
    for (const ago of stateLevels(reference.problem)) {
      parts.push(await reference.compareCpu(this.field, { ago, ...slices }));
    }
    return joinComparisons(parts);
  }

  [Symbol.dispose](): void {
    // the memory is free at once; a pool that has ended needs no word
    this.field.dispose().catch(() => {});
  }

  protected run(steps: number, repetitions: number): Promise<number> {
    const { part: { before: [low], after: [high] } } = this.place, all = steps * repetitions;
    return all === 0
      ? Promise.resolve(0)
      : this.field.run({ steps: all, ghost: { low: low > 0, high: high > 0 } });
  }

  protected slices(): (ago: 0 | 1, x: number) => SliceCells {
    const { current, previous, layout } = this.field, levels = [current, previous] as const;
    return (ago, slice) => ({ cells: levels[ago], layout, slice });
  }
}
