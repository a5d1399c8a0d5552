/**
 * What says that a shot's files are whole, and which shot they are of: a text in its picture, which is written last.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { chunkOf } from "../files/picture.ts";

/** Bytes of a PNG file's last chunk, and of that with a receipt before it. */
const END = 12, TAIL = 94;

/** A hash of parts, in 64 digits. */
export function hashOfAll(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest("hex");
}

/** A picture with a receipt, which holds for its pixels and for whatever else was hashed. */
export function withReceipt(png: Uint8Array, hash: string): Uint8Array<ArrayBuffer> {
  const text = Buffer.from(`Facet\0${hashOfAll(hash, png)}`);
  return Buffer.concat([png.subarray(0, -END), ...chunkOf("tEXt", text), png.subarray(-END)]);
}

/** Whether a file is a whole picture with the receipt for this. */
export function hasReceipt(file: Uint8Array, hash: string): boolean {
  const png = Buffer.concat([file.subarray(0, -TAIL), file.subarray(-END)]);
  return Buffer.compare(withReceipt(png, hash), file) === 0;
}
