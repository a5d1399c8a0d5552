import type { Comparison, SliceCells } from "../comparison.ts";
import type { WindowedField } from "../gpu/windowed_field.ts";
import { type Reference, stateLevels } from "../reference.ts";
import { RunFailure } from "../run_failure.ts";
import { HostPartField } from "./host_part_field.ts";
import type { FieldStart, PartField, Place } from "./part_field.ts";

/** A whole grid that the host holds and that passes through a window of the GPU's memory. */
export class WindowPartField extends HostPartField implements PartField {
  readonly device = "gpu";
  /** The host moves slices while the GPU computes. */
  readonly clock = "host";

  constructor(
    readonly field: WindowedField,
    readonly place: Place,
    /** Whether the GPU is one in software. */
    readonly isWarm: boolean,
  ) {
    super();
  }

  get step(): number {
    return this.field.step;
  }

  get compileNs(): number {
    return this.field.compileNs;
  }

  async initialise(start: FieldStart): Promise<void> {
    await this.field.initialise(start);
  }

  compare({ window, problem }: Reference): Promise<Comparison> {
    return window === undefined
      ? Promise.reject(new RunFailure("limits", "the reference lies on the GPU as a whole"))
      : Promise.resolve(this.field.compare(window, stateLevels(problem)));
  }

  [Symbol.dispose](): void {
    this.field[Symbol.dispose]();
  }

  protected async run(steps: number, repetitions: number): Promise<number> {
    let timeNs = 0;
    for (let i = 0; i < repetitions; i++) timeNs += await this.field.run(steps);
    return timeNs;
  }

  protected slices(): (ago: 0 | 1, x: number) => SliceCells {
    const { field } = this;
    return (ago, x) => ({ cells: field.slice(ago, x), layout: field.sliceLayout, slice: 0 });
  }
}
