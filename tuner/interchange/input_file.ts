import { Buffer } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { oneLine, ProfileError, reasonOf, whyUnreadable } from "../profile/profile_error.ts";
import { MAX_BYTES, readBytes, refuseLarge } from "../profile/read_bytes.ts";

/** Most text of a file that is read piece by piece, in bytes. */
const MAX_TEXT_BYTES = 2_000_000_000;

/** Shortest file that gzip writes. */
const LEAST_GZIP_BYTES = 18;

/** A file of recorded results, plain or gzipped, that is read piece by piece and as often as needed. */
export class InputFile {
  /** What errors call it. */
  readonly path: string;
  /** The content where it cannot be read again, as that of a pipe. */
  readonly #bytes: Uint8Array | undefined;
  readonly #isPacked: boolean;

  private constructor(path: string, start: Uint8Array, bytes?: Uint8Array) {
    this.path = path;
    this.#bytes = bytes;
    this.#isPacked = start[0] === 0x1f && start[1] === 0x8b;
  }

  /** A file that is in memory. */
  static of(bytes: Uint8Array, path: string): InputFile {
    return new InputFile(path, bytes, bytes);
  }

  /**
   * Opens a file. One that is too large is refused before it is read; if it is gzipped, by the size that gzip notes.
   *
   * @throws {ProfileError} in one line
   */
  static async open(path: string): Promise<InputFile> {
    try {
      const { isFile, size } = await Deno.stat(path);
      if (!isFile) return InputFile.of(await readBytes(path), path);
      using file = await Deno.open(path);
      const start = new Uint8Array(2);
      await file.read(start);
      const input = new InputFile(path, start);
      refuseLarge(path, size, MAX_TEXT_BYTES);
      if (input.#isPacked && size >= LEAST_GZIP_BYTES) {
        const end = new Uint8Array(4);
        await file.seek(-4, Deno.SeekMode.End);
        await file.read(end);
        refuseLarge(path, new DataView(end.buffer).getUint32(0, true), MAX_TEXT_BYTES);
      }
      return input;
    } catch (error) {
      throw oneLine(error, `Cannot read ${path}: ${whyUnreadable(error)}`);
    }
  }

  /** The content, unpacked, piece by piece. */
  async *pieces(most = MAX_TEXT_BYTES): AsyncGenerator<Uint8Array> {
    let length = 0;
    try {
      const source = this.#bytes === undefined ? (await Deno.open(this.path)).readable : [this.#bytes];
      const plain: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = this.#isPacked
        ? pipeline(Readable.from(source), createGunzip(), () => {})
        : source;
      for await (const piece of plain) {
        refuseLarge(this.path, length += piece.length, most);
        yield piece;
      }
    } catch (error) {
      const why = this.#isPacked ? `wanted whole gzip data, found: ${reasonOf(error)}` : whyUnreadable(error);
      throw oneLine(error, `Cannot read ${this.path}: ${why}`);
    }
  }

  /** The content, unpacked, as a whole. */
  async bytes(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.pieces(MAX_BYTES)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** The content as text, piece by piece. */
  async *text(): AsyncGenerator<string> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const decode = (piece?: Uint8Array): string => {
      try {
        return decoder.decode(piece, { stream: piece !== undefined });
      } catch {
        throw new ProfileError(`Cannot read ${this.path}: wanted text in UTF-8 or gzip, found other bytes`);
      }
    };
    for await (const piece of this.pieces()) yield decode(piece);
    yield decode();
  }

  /** The first letters of the content, as far as they are text. */
  async start(): Promise<string> {
    for await (const piece of this.pieces()) return new TextDecoder().decode(piece.subarray(0, 100));
    return "";
  }
}
