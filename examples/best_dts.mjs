/**
 * Another tool's view of a profile: the best DTS of each problem, with nothing but JSON.
 *
 *     node examples/best_dts.mjs profiles/my-gpu.json
 */
import { readFileSync } from "node:fs";

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("usage: best_dts.mjs PROFILE");
const { schemaVersion, device, entries } = JSON.parse(readFileSync(path, "utf8"));
if (schemaVersion !== 1) throw new Error(`wanted a profile of version 1, found ${schemaVersion}`);

console.log(device.gpu?.description ?? device.cpu.model);
for (const { problem, configuration, result } of entries) {
  const name = ["order", "delta", "rule", "medium"].find((name) => name in problem);
  const dts = configuration.parameters.dts ?? "no torres";
  const rate = (result.cellsPerSecond / 1e9).toFixed(0);
  console.log(`${problem.stencil} ${name ? `${name} ${problem[name]}` : ""}: DTS ${dts}, ${rate} Gcells/s`);
}
