import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { oneLine, reasonOf } from "../profile/profile_error.ts";
import { joinPieces, readBytes, refuseLarge } from "../profile/read_bytes.ts";

/** Shortest file that gzip writes. */
const LEAST_GZIP_BYTES = 18;

/**
 * The content of a file of recorded results, plain or gzipped.
 *
 * @throws {ProfileError} in one line
 */
export async function readInput(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readBytes(path), content = await unpack(bytes, path);
  // whoever reads the content needs the room
  if (content !== bytes) bytes.buffer.transfer(0);
  return content;
}

/** Bytes unpacked if they are gzipped; what is too large is refused before, by the size that gzip notes at the end. */
export async function unpack(bytes: Uint8Array<ArrayBuffer>, path: string): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const size = bytes.length < LEAST_GZIP_BYTES
    ? 0
    : new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4).getUint32(0, true);
  refuseLarge(path, size);
  try {
    return await joinPieces(path, pipeline(Readable.from([bytes]), createGunzip(), () => {}), () => size);
  } catch (error) {
    throw oneLine(error, `Cannot read ${path}: wanted whole gzip data, found: ${reasonOf(error)}`);
  }
}
