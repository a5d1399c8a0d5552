/**
 * A worker that ends its process when the process that started it is gone. The process itself may be stuck in the
 * driver, where it sees neither its stdin end nor a timer.
 *
 * @module
 */
const parent = Deno.ppid;

setInterval(() => {
  if (Deno.ppid !== parent) Deno.kill(Deno.pid, "SIGKILL");
}, 500);
