import { precisionIn } from "../../kernels/precision.ts";
import { bytesIn, joined, type NumberArray, transposed } from "./npy.ts";

/**
 * The bytes of a file of VTK's image data (`.vti`), as ParaView reads it: fields of one shape, of which the first axis is
 * VTK's x, appended as they are in memory.
 */
export function vtiBytes(
  fields: Readonly<Record<string, NumberArray>>,
  spacing = 1,
): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [], arrays: string[] = [];
  let offset = 0;
  for (const [name, array] of Object.entries(fields)) {
    const bytes = bytesIn(transposed(array).values);
    arrays.push(
      `<DataArray type="Float${
        8 * precisionIn(array.values).bytes
      }" Name="${name}" format="appended" offset="${offset}"/>`,
    );
    parts.push(bytesIn(BigUint64Array.of(BigInt(bytes.length))), bytes);
    offset += 8 + bytes.length;
  }
  const { shape } = Object.values(fields)[0]!, steps = [spacing, spacing, spacing].join(" ");
  const extent = [0, 1, 2].map((axis) => `0 ${(shape[axis] ?? 1) - 1}`).join(" ");
  const [head, tail] = [
    `<?xml version="1.0"?>
<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
<ImageData WholeExtent="${extent}" Origin="0 0 0" Spacing="${steps}"><Piece Extent="${extent}">
<PointData Scalars="${Object.keys(fields)[0]}">${arrays.join("")}</PointData>
</Piece></ImageData><AppendedData encoding="raw">_`,
    "</AppendedData></VTKFile>\n",
  ].map((text) => new TextEncoder().encode(text));
  return joined(head!, ...parts, tail!);
}

/** A series of such files (`.pvd`): their names, beside it, by the time of each. */
export function pvdText(files: readonly (readonly [time: number, name: string])[]): string {
  const sets = files.map(([time, name]) => `<DataSet timestep="${time}" file="${name}"/>\n`);
  return `<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0"><Collection>\n${sets.join("")}` +
    "</Collection></VTKFile>\n";
}
