/**
 * Keeps Mesa, the driver of many GPUs on Linux, from printing "XDG_RUNTIME_DIR is invalid or not set" whenever
 * WebGPU starts without a desktop. Nothing is written to the directory. Call it before WebGPU is touched.
 */
export function quietMesa(): void {
  if (Deno.build.os === "linux" && !Deno.env.get("XDG_RUNTIME_DIR")) Deno.env.set("XDG_RUNTIME_DIR", "/tmp");
}
