import { precisionIn } from "../../kernels/precision.ts";
import { bytesIn, type NumberArray } from "./npy.ts";
import { writeBytes } from "./array.ts";

/**
 * Writes a snapshot into a directory that is one Zarr array, version 2: snapshots, then the field's axes, in its precision; each snapshot is
 * a chunk, uncompressed. The array grows with them, so that it can be read while a run goes on; what is missing is NaN.
 *
 * @param path the directory, which is made
 * @param steps those of all snapshots up to this one, the last
 */
export async function writeSnapshot(
  path: string,
  { shape, values }: NumberArray,
  steps: readonly number[],
): Promise<void> {
  const kind = {
    zarr_format: 2,
    dtype: precisionIn(values).npy,
    fill_value: "NaN",
    order: "C",
    compressor: null,
    filters: null,
  };
  const array = { ...kind, shape: [steps.length, ...shape], chunks: [1, ...shape] };
  await Deno.mkdir(path, { recursive: true });
  await writeBytes(`${path}/${[steps.length - 1, ...shape.map(() => 0)].join(".")}`, bytesIn(values));
  for (const [name, what] of [[".zattrs", { steps }], [".zarray", array]] as const) {
    await writeBytes(`${path}/${name}`, new TextEncoder().encode(JSON.stringify(what)));
  }
}
