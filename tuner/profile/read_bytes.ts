import { readPieces } from "../platform.ts";
import { isMissing, oneLine, ProfileError, whyUnreadable } from "./profile_error.ts";

/** Most that a file may hold, unpacked, in bytes: its text has to fit a string. */
const MAX_BYTES = 500_000_000;

/**
 * All bytes of a file. One that is too large is refused before it is read, and what has no size, as a pipe, as soon as
 * it has given too much.
 *
 * @throws {ProfileError} in one line, if it cannot be read or is too large
 */
export async function readBytes(path: string | URL, most = MAX_BYTES): Promise<Uint8Array<ArrayBuffer>> {
  try {
    let size = 0;
    const pieces = readPieces(path, (bytes) => refuseLarge(path, size = bytes, most));
    return await joinPieces(path, pieces, () => size, most);
  } catch (error) {
    throw oneLine(error, `Cannot read ${path}: ${whyUnreadable(error)}`);
  }
}

/** Pieces of a file as a whole; `expected` is asked for their size when the first is there, and may be wrong. */
export async function joinPieces(
  path: string | URL,
  pieces: AsyncIterable<Uint8Array>,
  expected: () => number,
  most = MAX_BYTES,
): Promise<Uint8Array<ArrayBuffer>> {
  let whole: Uint8Array<ArrayBuffer> | undefined, length = 0;
  for await (const piece of pieces) {
    whole ??= new Uint8Array(expected());
    const end = length + piece.length;
    refuseLarge(path, end, most);
    if (end > whole.length) {
      const larger = new Uint8Array(Math.max(end, 2 * whole.length));
      larger.set(whole.subarray(0, length));
      whole = larger;
    }
    whole.set(piece, length);
    length = end;
  }
  return whole?.subarray(0, length) ?? new Uint8Array();
}

/** The same; undefined if there is no such file. */
export async function readBytesIfThere(path: string | URL): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return await readBytes(path).catch((error: ProfileError) => {
    if (isMissing(error.cause)) return undefined;
    throw error;
  });
}

/** Throws if a file has more bytes, unpacked, than can be read. */
export function refuseLarge(path: string | URL, bytes: number, most = MAX_BYTES): void {
  if (bytes <= most) return;
  throw new ProfileError(`Cannot read ${path}: wanted at most ${most / 1e6} MB, found more`);
}
