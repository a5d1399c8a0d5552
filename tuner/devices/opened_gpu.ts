/**
 * Opens the GPU that WebGPU offers, and prints the device files of which that opened more: a process of its own, since
 * Vulkan asks for DRI_PRIME only once.
 *
 * @module
 */
import { requestAdapter, requestFullDevice } from "./device.ts";
import { shell } from "./shell.ts";

/** How often this process has each device file open. */
async function openFiles(): Promise<Map<string, number>> {
  const links = await shell(`for f in /proc/${Deno.pid}/fd/*; do readlink $f; done`);
  const counts = new Map<string, number>();
  for (const file of links.match(/^\/dev\/(?:nvidia\d+|dri\/renderD\d+)$/gm) ?? []) {
    counts.set(file, (counts.get(file) ?? 0) + 1);
  }
  return counts;
}

const adapter = await requestAdapter();
if (adapter !== null && !adapter.info.isFallbackAdapter) {
  const before = await openFiles();
  const device = (await requestFullDevice(adapter))!;
  const gained = [...await openFiles()].map(([file, count]) => ({
    file,
    more: count - (before.get(file) ?? 0),
  }));
  const most = Math.max(0, ...gained.map(({ more }) => more));
  for (const { file, more } of gained) if (most > 0 && more === most) console.log(file);
  device.destroy();
}
Deno.exit(0);
