/**
 * Files that were damaged at random, given to every command that reads them: each is read as what it says, or refused
 * with exit code 2 and one line. `--thorough` tries a thousand of each kind.
 *
 * @module
 */
import { assert } from "@std/assert";
import { crc32, gzipSync } from "node:zlib";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { THOROUGH } from "../thorough.ts";
import { inDirectory, runCommand } from "./run_task.ts";

/** Files of each kind. */
const COUNT = THOROUGH ? 1000 : 12;

const PROFILE = "fixtures/h100/heat.json";

/** How a file is read: its name, and the commands, in which `FILE` stands for it and `OUT` for what they write. */
interface Kind {
  readonly name: string;
  readonly text: string;
  readonly commands: readonly string[];
}

const FROM_OTHERS = [
  "replay --space FILE --seeds 1 --budget 12",
  "export --format t4 --from FILE --out OUT/t4.json",
  "export --format kernel-tuner --from FILE --out OUT/cache.json",
  "import --from FILE --out OUT/p.json",
];

/** A Kernel Tuner cache of 24 records, one of which failed. */
function cache(): string {
  const records = Array.from({ length: 24 }, (_, i) => {
    const x = 16 << (i % 6), method = i < 12 ? "loop" : "unrolled";
    const time = i === 7 ? '"RuntimeFailedConfig"' : `${1 + (i * 7 % 24) / 8}`;
    return `"${x},${method},${i % 4}": {"x": ${x}, "method": "${method}", "pad": ${
      i % 4
    }, "time": ${time}, ` +
      `"times": [1.5, 2.25], "compile_time": 440.9, "benchmark_time": 1.5, "verification_time": 0, ` +
      `"strategy_time": 0, "framework_time": 0.5, "timestamp": "2026-01-01 10:00:00+00:00"}`;
  });
  return '{"device_name": "A GPU", "kernel_name": "convolve", "problem_size": [64, 64],\n' +
    '"tune_params_keys": ["x", "method", "pad"],\n' +
    '"tune_params": {"x": [16, 32, 64, 128, 256, 512], "method": ["loop", "unrolled"], "pad": [0, 1, 2, 3]},\n' +
    `"objective": "time",\n"cache": {\n${records.join(",\n")}}\n}\n`;
}

/** T4 results of another tool, a line a result. */
function t4(): string {
  const results = Array.from(
    { length: 24 },
    (_, i) =>
      `{"configuration": {"x": ${i}, "flag": ${i % 2 === 0}}, "invalidity": "${
        i === 5 ? "timeout" : "correct"
      }", ` +
      `"correctness": 1, "objectives": ["time"], "times": {"compilation": 440.9, "runtimes": [${
        i + 1
      }, 2]}, ` +
      `"measurements": [${i === 5 ? "" : `{"name": "time", "value": ${1 + i % 7}, "unit": "ms"}`}]}`,
  );
  return `{"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"},\n"results": [\n${
    results.join(",\n")
  }\n]}\n`;
}

/** What Facet itself exports. */
async function ownExport(format: string): Promise<string> {
  let text = "";
  await inDirectory(async (folder) => {
    const out = `${folder}/x.json`;
    await runCommand("export", ["--format", format, "--profile", PROFILE, "--entry", "1", "--out", out]);
    text = await Deno.readTextFile(out);
  });
  return text;
}

const JOURNAL = Deno.readTextFileSync(`${PROFILE}.journal.jsonl`).split("\n").slice(0, 20).join("\n") + "\n";

const KINDS: readonly Kind[] = [
  {
    name: "profile.json",
    text: Deno.readTextFileSync(PROFILE),
    commands: [
      "report --profile FILE --out OUT/r.html",
      "export --format t4 --profile FILE --entry 1 --out OUT/t4.json",
      "replay --space FILE --seeds 1",
    ],
  },
  {
    name: "journal.jsonl",
    text: JOURNAL,
    commands: [
      "replay --space FILE --seeds 1 --budget 12",
      `report --profile ${PROFILE} --journal FILE --out OUT/r.html`,
      `export --format t4 --profile ${PROFILE} --entry 1 --journal FILE --out OUT/t4.json`,
    ],
  },
  { name: "t4.json", text: t4(), commands: FROM_OTHERS },
  { name: "own.t4.json", text: await ownExport("t4"), commands: FROM_OTHERS },
  { name: "cache.json", text: cache(), commands: FROM_OTHERS },
  { name: "own.cache.json", text: await ownExport("kernel-tuner"), commands: FROM_OTHERS },
];

type Draw = (count: number) => number;

const NUMBERS = [
  "0",
  "-1",
  "1e308",
  "5e-324",
  "1e999",
  "-1e308",
  "9007199254740993",
  "1.5",
  "1e-320",
  "65536",
];
const STRANGERS = [
  "null",
  "true",
  '"text"',
  "[]",
  "{}",
  "[[1]]",
  '""',
  '{"__proto__": 1}',
  '"\\u001b[2J"',
  "NaN",
];

/** Replaces one of the matches of a pattern. */
function replaceOne(text: string, pattern: RegExp, put: string, draw: Draw): string {
  const found = [...text.matchAll(pattern)];
  if (found.length === 0) return text;
  const { index, 0: old } = found[draw(found.length)]!;
  return text.slice(0, index) + put + text.slice(index + old.length);
}

/** The ways to damage a text. */
const DAMAGE: readonly ((text: string, draw: Draw) => string)[] = [
  (text, draw) => text.slice(0, draw(text.length)),
  (text, draw) => {
    const at = draw(text.length);
    return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << draw(7))) + text.slice(at + 1);
  },
  (text, draw) => {
    const lines = text.split("\n"), at = draw(lines.length);
    return lines.toSpliced(at, 0, lines[at]!).join("\n");
  },
  (text, draw) => {
    const lines = text.split("\n");
    return lines.toSpliced(draw(lines.length), 1 + draw(3)).join("\n");
  },
  (text, draw) => replaceOne(text, /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g, NUMBERS[draw(NUMBERS.length)]!, draw),
  (text, draw) => replaceOne(text, /-?\d+(?:\.\d+)?/g, STRANGERS[draw(STRANGERS.length)]!, draw),
  (text, draw) => replaceOne(text, /"[^"]*"(?!\s*:)/g, STRANGERS[draw(STRANGERS.length)]!, draw),
  (text, draw) => replaceOne(text, /"[^"]*"(?=\s*:)/g, '"\\u009b31m"', draw),
  (text, draw) => replaceOne(text, /(?<=\{)(?=")/g, '"time": 1, "time": 2,', draw),
  (text, draw) => replaceOne(text, /-?\d+|"[^"]*"(?!\s*:)/g, "[".repeat(5000) + "]".repeat(5000), draw),
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll("\n", "\r\n"),
  (text, draw) => {
    const at = draw(text.length);
    return `${text.slice(0, at)}\0${text.slice(at)}`;
  },
  (text, draw) => {
    const from = draw(text.length), to = draw(text.length);
    return text.slice(0, Math.max(from, to)) + text.slice(Math.min(from, to));
  },
];

/** Gives the lines of a journal the checksums of what they hold. */
function sealed(text: string): string {
  return text.replace(/^(\{"crc32":")[0-9a-f]{8}(","record":)(.*)\}$/gm, (_, start, middle, json) => {
    return `${start}${crc32(json).toString(16).padStart(8, "0")}${middle}${json}}`;
  });
}

/** The bytes of the damaged file; some are packed, and some of these are cut. */
function bytesOf(text: string, draw: Draw): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  if (draw(8) > 0) return bytes;
  const packed = gzipSync(bytes);
  return draw(2) === 0 ? packed : packed.subarray(0, draw(packed.length));
}

for (const [k, { name, text, commands }] of KINDS.entries()) {
  Deno.test(`a damaged ${name} is read as what it says, or refused in one line with exit code 2`, () =>
    inDirectory(async (folder) => {
      const random = seededRandom(k + 1);
      const draw: Draw = (count) => Math.floor(random() * count);
      let refused = 0, read = 0;
      for (let i = 0; i < COUNT; i++) {
        const damage = DAMAGE[i % DAMAGE.length]!;
        const damaged = damage(text, draw);
        const file = `${folder}/${name}`;
        await Deno.mkdir(`${folder}/${i}`);
        await Deno.writeFile(file, bytesOf(draw(2) === 0 ? sealed(damaged) : damaged, draw));
        for (const command of commands) {
          const [task, ...args] = command.replace("FILE", file).replace("OUT", `${folder}/${i}`).split(" ");
          const { code, stderr } = await runCommand(task!, args);
          const lines = stderr.split("\n").filter((line) => line.startsWith("facet: "));
          const isRefused = code === 2 && lines.length === 1 && lines[0]!.startsWith("facet: Cannot ");
          if (code !== 0 && !isRefused) {
            const kept = await Deno.makeTempFile({ suffix: `-${name}` });
            await Deno.copyFile(file, kept);
            throw new Error(
              `damage ${i}, kept as ${kept}: ${command}: exit ${code}: ${stderr.slice(0, 500)}`,
            );
          }
          if (code === 0) read++;
          else refused++;
        }
        await Deno.remove(`${folder}/${i}`, { recursive: true });
      }
      assert(refused > 0 && read > 0, `${refused} refused, ${read} read`);
    }));
}
