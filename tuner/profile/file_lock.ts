/** Time to wait for a lock: its holder writes only a few lines. */
const PATIENCE_MS = 10_000;

/** Time between two tries. */
const RETRY_MS = 5;

/**
 * Works while holding a file's lock, which only keeps out those who ask for it. The lock ends with the process,
 * however it ends, so none is ever stale. Where the file system has no locks the work is done without.
 *
 * @throws {Error} if the lock is not free in time
 */
export async function withLock<T>(
  file: Pick<Deno.FsFile, "tryLock" | "unlock">,
  work: () => Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const began = performance.now();
  while (!await file.tryLock(true).catch(() => true)) {
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

/** The same with a directory's lock; where directories cannot be opened, as on Windows, it works without. */
export async function withDirectoryLock<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const handle = await Deno.open(directory, { read: true }).catch(() => undefined);
  if (handle === undefined) return await work();
  try {
    return await withLock(handle, work);
  } finally {
    handle.close();
  }
}
