/**
 * Locks between processes. They belong to the open file and end with the process that holds them, however it ends,
 * so that none is ever stale; whoever does not ask is not kept out.
 *
 * @module
 */

/** Time to wait for a lock: whoever holds one writes a few lines. */
const PATIENCE_MS = 10_000;

/** Time between two tries. */
const RETRY_MS = 5;

/** Options of {@linkcode withLock}. */
export interface LockOptions {
  /** @default {10_000} */
  readonly patienceMs?: number;
}

/**
 * Does something while no other process or part of this one does that asks for a lock on the same file. Where the
 * file system has no locks it is done without.
 *
 * @throws {Error} if the lock is not free in time
 */
export async function withLock<T>(
  file: Pick<Deno.FsFile, "tryLock" | "unlock">,
  work: () => Promise<T>,
  { patienceMs = PATIENCE_MS }: LockOptions = {},
): Promise<T> {
  const began = performance.now();
  while (!await tryLock(file)) {
    if (performance.now() - began > patienceMs) {
      throw new Error(`another process has kept its lock for ${patienceMs / 1000} s`);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  try {
    return await work();
  } finally {
    // what cannot be unlocked is unlocked by closing it
    await file.unlock().catch(() => {});
  }
}

/** The same with a lock on a directory; where directories cannot be opened, as on Windows, it is done without. */
export async function withDirectoryLock<T>(
  directory: string,
  work: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const handle = await Deno.open(directory, { read: true }).catch(() => undefined);
  if (handle === undefined) return await work();
  try {
    return await withLock(handle, work, options);
  } finally {
    handle.close();
  }
}

/** False while another holds the lock. */
async function tryLock(file: Pick<Deno.FsFile, "tryLock">): Promise<boolean> {
  try {
    return await file.tryLock(true);
  } catch {
    return true; // no locks here
  }
}
