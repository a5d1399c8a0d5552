/**
 * Imported before an equation's module: from here on the process may read, write, start and ask for nothing. What Deno
 * grants without asking goes as well: storage on disk, threads (in which that storage is back), and the GPU.
 *
 * @module
 */
import { Worker } from "node:worker_threads";

class NoThreads {
  constructor() {
    throw new Error("an equation has no threads");
  }
}

Object.setPrototypeOf(Worker, NoThreads);
Object.freeze(Worker);
for (const name of ["Worker", "localStorage", "sessionStorage", "caches", "CacheStorage"]) {
  Reflect.deleteProperty(globalThis, name);
}
Reflect.deleteProperty(Navigator.prototype, "gpu");
for (const name of ["read", "run"] as const) Deno.permissions.revokeSync({ name });
