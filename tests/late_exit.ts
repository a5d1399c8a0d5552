/**
 * Loaded before the tests of each file: the process waits for its threads before it unloads its libraries.
 *
 * Deno runs each test file on a thread of a pool, and when all are done it ends these threads and the process at the
 * same moment. A thread that has used OpenGL (as WebGPU does, at least to look for adapters) frees its state in libEGL
 * when it ends; libEGL's own end frees the states of all threads, without a lock (libglvnd 1.6, `__eglCurrentTeardown`).
 * Where both meet, the heap is broken, and a process whose tests have all passed ends with "corrupted size vs. prev_size
 * in fastbins". A program that `deno run` starts uses the GPU on its main thread alone and has no such meeting.
 *
 * @module
 */

/** More than threads take to end on busy cores. */
const WAIT_US = 500_000n;

/** Says to the other files of this process that it is done; its children inherit it, but are other processes. */
const DONE = "FACET_LATE_EXIT";

if (Deno.build.os === "linux" && Deno.env.get(DONE) !== `${Deno.pid}`) {
  Deno.env.set(DONE, `${Deno.pid}`);
  const { symbols } = Deno.dlopen("libc.so.6", {
    dlsym: { parameters: ["usize", "buffer"], result: "pointer" },
    __cxa_atexit: { parameters: ["pointer", "usize", "usize"], result: "i32" },
  });
  // what is registered last is called first: before any library's end
  const usleep = symbols.dlsym(0n, new TextEncoder().encode("usleep\0"));
  symbols.__cxa_atexit(usleep, WAIT_US, 0n);
}
