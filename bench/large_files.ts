/**
 * Processor time and memory for a file of another tuner. `deno run -A bench/large_files.ts [RECORDS] [COMMAND…]` writes a
 * Kernel Tuner cache of RECORDS records (450,000 unless given), plain and gzipped, and has each of these commands read
 * it in a process of its own: replay, export, import.
 *
 * @module
 */
import { cpuUsage } from "node:process";
import { COMMANDS, dispatch } from "../tuner/cli/main.ts";
import { formatTable } from "../tuner/format.ts";

const PARAMETERS = { block_x: 10, block_y: 8, tile_x: 8, tile_y: 8, unroll: 4, vector: 5, pad: 3, method: 7 };

if (Deno.args[0] === "--child") await runChild(Deno.args.slice(1));
else await runAll(Number(Deno.args[0] ?? 450_000), Deno.args.slice(1));

/** Writes a cache, a record a line, as Kernel Tuner does. */
async function writeCache(path: string, count: number): Promise<void> {
  const lists = Object.entries(PARAMETERS).map(([name, length]) => ({
    name,
    values: Array.from({ length }, (_, i) => name === "method" ? `method_${i}` : 2 ** i),
  }));
  const header = JSON.stringify({
    device_name: "A GPU",
    kernel_name: "kernel",
    problem_size: [4096, 4096],
    tune_params_keys: lists.map(({ name }) => name),
    tune_params: Object.fromEntries(lists.map(({ name, values }) => [name, values])),
    objective: "time",
  });
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  const write = async (text: string): Promise<void> => {
    const bytes = new TextEncoder().encode(text);
    for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
  };
  await write(`${header.slice(0, -1)},\n"cache": {\n`);
  let lines = "";
  for (let i = 0; i < count; i++) {
    let rest = i;
    const values = lists.map(({ name, values }): [string, string | number] => {
      const value = values[rest % values.length]!;
      rest = Math.floor(rest / values.length);
      return [name, value];
    });
    const hasFailed = i % 9 === 4, time = 1 + Math.abs(Math.sin(i)) * 10;
    const record = {
      ...Object.fromEntries(values),
      time: hasFailed ? "RuntimeFailedConfig" : time,
      ...(hasFailed ? {} : { times: Array.from({ length: 7 }, (_, k) => time * (1 + k / 1000)) }),
      compile_time: 440.125 + i % 100,
      verification_time: 0,
      benchmark_time: 1.5 + time,
      strategy_time: 0,
      framework_time: 0.25 + 1 / (1 + i),
      timestamp: "2026-01-01 10:00:00.123456+00:00",
    };
    lines += `"${values.map(([, value]) => value).join(",")}": ${JSON.stringify(record)}`;
    lines += i < count - 1 ? ",\n" : "}\n}\n";
    if (lines.length < 2 ** 20) continue;
    await write(lines);
    lines = "";
  }
  await write(lines);
}

async function runAll(count: number, names: readonly string[]): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "facet-large-" });
  try {
    const plain = `${folder}/cache.json`, packed = `${plain}.gz`;
    await writeCache(plain, count);
    {
      using output = await Deno.create(packed);
      const stream = (await Deno.open(plain)).readable.pipeThrough(new CompressionStream("gzip"));
      for await (const piece of stream) {
        for (let done = 0; done < piece.length;) done += await output.write(piece.subarray(done));
      }
    }
    const megabytes = (path: string): string => `${(Deno.statSync(path).size / 1e6).toFixed(0)} MB`;
    console.log(`${count} records, ${megabytes(plain)}, gzipped ${megabytes(packed)}`);
    const commands: Record<string, string> = {
      replay: "--strategy random --seeds 1 --budget 100 --space",
      export: `--format t4 --out ${folder}/t4.json --from`,
      import: `--grid 64x64x64 --out ${folder}/p.json --from`,
    };
    const rows = [["command", "file", "processor time", "most memory"]];
    for (const [name, args] of Object.entries(commands)) {
      if (names.length > 0 && !names.includes(name)) continue;
      for (const path of [plain, packed]) {
        const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", import.meta.filename!, "--child", name, ...args.split(" "), path],
        }).output();
        const last = new TextDecoder().decode(stdout).trim().split("\n").at(-1)!;
        const error = new TextDecoder().decode(stderr).trim().split("\n").at(-1)!;
        rows.push([name, path === plain ? "plain" : "gzipped", ...(success ? last.split(" ") : [error])]);
        await Deno.remove(`${folder}/p.json.journal.jsonl`).catch(() => {});
        await Deno.remove(`${folder}/p.json`).catch(() => {});
      }
    }
    console.log(formatTable(rows));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a command, and prints the processor time and the largest resident memory of this process. */
async function runChild(args: readonly string[]): Promise<void> {
  await dispatch(args, COMMANDS);
  const { user, system } = cpuUsage();
  const [, kilobytes] = /^VmHWM:\s*(\d+) kB$/m.exec(await Deno.readTextFile("/proc/self/status"))!;
  console.log(`${((user + system) / 1e6).toFixed(1)}s ${(Number(kilobytes) / 1e3).toFixed(0)}MB`);
}
