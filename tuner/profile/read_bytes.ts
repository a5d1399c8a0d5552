import { readPieces } from "../platform.ts";
import { isMissing, oneLine, ProfileError, whyUnreadable } from "./profile_error.ts";

/** Most that a file may hold that is read as a whole, in bytes: its text has to fit a string. */
export const MAX_BYTES = 500_000_000;

/**
 * All bytes of a file. One that is too large is refused before it is read, and what has no size, as a pipe, as soon as
 * it has given too much.
 *
 * @throws {ProfileError} in one line, if it cannot be read or is too large
 */
export async function readBytes(path: string | URL): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for await (const piece of readPieces(path, (size) => refuseLarge(path, size))) {
      pieces.push(piece);
      refuseLarge(path, length += piece.length);
    }
    return new Uint8Array(await new Blob(pieces).arrayBuffer());
  } catch (error) {
    throw oneLine(error, `Cannot read ${path}: ${whyUnreadable(error)}`);
  }
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
