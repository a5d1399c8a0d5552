/**
 * Random scripts against the interpreter: `deno run -A tests/random/main.ts --scripts 1000 --seed 1 --device all`.
 *
 * - `--scripts N`: how many; `--seconds N`: how long at most
 * - `--seed N`: the first case; `--case N`: that case alone
 * - `--device cpu|gpu|all|ranks`: what computes; a case is named by its seed, the device and the machine's GPU
 * - `--known PATTERN`: a regular expression of faults that are known, which are counted alone; `--failures N`: ends after as many
 * - `--parameters`: which values of traversals' parameters were drawn, and what they had to serve
 *
 * @module
 */
import { parseArgs } from "@std/cli";
import { campaign, type Devices, openBench, reduce, runSeed } from "./campaign.ts";

if (import.meta.main) {
  const {
    scripts,
    seconds,
    seed,
    device,
    parameters,
    "shrink-seconds": shrinkSeconds,
    failures,
    known,
    "case": alone,
  } = parseArgs(Deno.args, {
    string: ["scripts", "seconds", "seed", "device", "case", "shrink-seconds", "failures", "known"],
    boolean: ["parameters"],
    default: {
      scripts: "1000",
      seconds: "1e9",
      seed: "1",
      device: "all",
      "shrink-seconds": "60",
      failures: "20",
    },
  });
  if (!["cpu", "gpu", "all", "ranks"].includes(device)) {
    console.error(`Cannot run: --device must be cpu, gpu, all or ranks: found ${device}`);
    Deno.exit(2);
  }
  const isKnown = known === undefined
    ? undefined
    : ({ message }: { message: string }) => new RegExp(known).test(message);
  const devices = device as Devices,
    command = (seed: number) => `deno run -A tests/random/main.ts --device ${devices} --case ${seed}`;
  if (alone !== undefined) {
    const bench = await openBench(devices),
      { one, verdict, verdict: { fault } } = await runSeed(Number(alone), devices, bench);
    const { definition: _, calls: __, ...rest } = one;
    console.log(JSON.stringify(rest));
    console.log(fault === undefined ? verdict : await reduce(one, fault, bench.gpu, Number(shrinkSeconds)));
    Deno.exit(fault === undefined ? 0 : 1);
  }
  let last = performance.now();
  const tally = await campaign({
    devices,
    seed: Number(seed),
    scripts: Number(scripts),
    seconds: Number(seconds),
    shrinkSeconds: Number(shrinkSeconds),
    ...(isKnown && { isKnown }),
    mostFailures: Number(failures),
    onCase(tally, { seed }) {
      if (performance.now() - last < 60_000) return;
      last = performance.now();
      console.error(`${tally.scripts} scripts, ${tally.failed} failed, seed ${seed}`);
    },
    onFailure: ({ seed, after, program }) =>
      console.log(`FAILED after ${after} scripts: ${command(seed)}\n${program}\n`),
  });
  for (const line of tally.lines) if (parameters || !/^(parameters|needs):/.test(line)) console.log(line);
  Deno.exit(tally.failed === 0 ? 0 : 1);
}
