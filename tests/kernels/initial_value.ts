import { type InitialField, initialRow } from "../../kernels/initial_field.ts";
import type { Grid } from "../../kernels/stencils/stencil.ts";

/** The initial value of a cell of an update with one field, from −1 to 1. */
export function initialValue(kind: InitialField, [x, y, z]: Grid, seed: number): number {
  const row = new Float32Array(1);
  initialRow({ fields: ["F"], materials: [], kind, seed }, [x, y, z], 0, row);
  return row[0]!;
}
