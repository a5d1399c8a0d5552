import { assert, assertEquals, assertRejects } from "@std/assert";
import { OPTIONS as BALANCE } from "../../tuner/cli/balance.ts";
import { OPTIONS as EXPORT } from "../../tuner/cli/export.ts";
import { OPTIONS as IMPORT } from "../../tuner/cli/import.ts";
import type { Option, Options } from "../../tuner/cli/options.ts";
import { parseOptions } from "../../tuner/cli/parse_options.ts";
import { OPTIONS as QUALIFY } from "../../tuner/cli/qualify.ts";
import { OPTIONS as RECORD } from "../../tuner/cli/record.ts";
import { OPTIONS as REPLAY } from "../../tuner/cli/replay.ts";
import { OPTIONS as REPORT } from "../../tuner/cli/report.ts";
import { OPTIONS as MERGE } from "../../tuner/cli/merge.ts";
import { OPTIONS as SCALING } from "../../tuner/cli/scaling.ts";
import { OPTIONS as SHOT } from "../../tuner/cli/shot.ts";
import { OPTIONS as SOLVE } from "../../tuner/cli/solve.ts";
import { OPTIONS as SPACE } from "../../tuner/cli/space.ts";
import { OPTIONS as TUNE } from "../../tuner/cli/tune.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { inDirectory } from "./run_task.ts";

const ALL: Readonly<Record<string, Options>> = {
  tune: TUNE,
  space: SPACE,
  balance: BALANCE,
  record: RECORD,
  replay: REPLAY,
  qualify: QUALIFY,
  report: REPORT,
  export: EXPORT,
  import: IMPORT,
  merge: MERGE,
  scaling: SCALING,
  shot: SHOT,
  solve: SOLVE,
};

/** Requests that are refused: the command with its options, and a part of the message. */
const WRONG: readonly (readonly [request: string, message: string])[] = [
  ["balance --start-share 1.1", "--start-share: wanted a number from 0 to 1"],
  ["balance --start-share -0.1", 'found "-0.1"'],
  ["balance --exchange-every 0", "--exchange-every: wanted a whole number from 1 to 10000"],
  ["balance --exchange-every 2.5", "--exchange-every"],
  ["balance --cpu-workers 0", "--cpu-workers: wanted a whole number from 1 to"],
  ["balance --no-gpu", "Unknown option --no-gpu"],
  ["balance --traversal zigzag", "--traversal: wanted one of"],
  ["balance --traversal stepwise --traversal marching", "it can only be given once"],
  ["balance --order 3", "--order: wanted one of 2, 4"],
  ["balance --delta 2", "it belongs to heat"],
  ["record", "Missing option --out: wanted the journal to write, as wave.jsonl"],
  ["record --out x --limit 0", "--limit: wanted a whole number from 1 to 1000000"],
  ["record --out x --workers 65", "--workers: wanted a whole number from 1 to 64"],
  ["record --out x --seed -1", "--seed: wanted a whole number from 0"],
  ["record --out x --each-limit 0", "--each-limit: wanted seconds above 0"],
  ["record --out x --cpu-workers 2", "Cannot use --cpu-workers without --no-gpu"],
  ["replay", "Missing option --space"],
  ["replay --space x --strategy magic", "wanted one of auto, exhaustive"],
  ["replay --space x --workers 65", "wanted a whole number from 1 to 64"],
  ["replay --space x --seeds 0", "wanted a whole number from 1 to 10000"],
  ["replay --space x --budget soon", "wanted a time such as 60s"],
  ["qualify", "Missing option --profile"],
  [
    "qualify --profile x --tolerance 10",
    'wanted a percentage from 0% to below 100%, such as 10%: found "10"',
  ],
  ["qualify --profile x --tolerance 0.1", "found"],
  ["qualify --profile x --tolerance -1%", 'found "-1%"'],
  ["qualify --profile x --tolerance 100%", 'found "100%"'],
  ["qualify --profile x --tolerance %", 'found "%"'],
  ["qualify --profile x --tolerance 1e1%", 'found "1e1%"'],
  ["qualify --profile x --tolerance ten%", 'found "ten%"'],
  ["qualify --profile x --numerics --tolerance 5%", "--tolerance with --numerics: no rates are compared"],
  ["report", "Missing option --profile"],
  ["report --profile x --entry 0", "--entry: wanted a whole number of at least 1"],
  ["export --format csv --profile x --out y", "Cannot use --format: wanted one of t4, kernel-tuner"],
  ["export --format t4 --profile x", "Missing option --out"],
  ["export --format t4 --out x --profile y --from z", "Cannot use --profile with --from"],
  ["export --format t4 --out x --from y --entry 1", "Cannot use --entry without --profile"],
  ["export --format t4 --out x --from y --journal z", "Cannot use --journal without --profile"],
  ["import --from x", "Missing option --out"],
  ["import --from x --out y --steps 0", "--steps: wanted a whole number of at least 1"],
  ["import --from x --out y --grid 5", "--grid: wanted XxYxZ"],
];

Deno.test("a wrong request names the option, in one line", async () => {
  for (const [request, part] of WRONG) {
    const [name = "", ...args] = request.split(" ");
    const { message } = await assertRejects(
      () => parseOptions(args, ALL[name]!),
      RequestError,
      part,
      request,
    );
    assert(!message.includes("\n"), message);
  }
});

Deno.test("balance: defaults, and every option", async () => {
  const defaults = (await parseOptions([], BALANCE))!;
  assertEquals([defaults.startShare, defaults.traversal], [undefined, "stepwise"]);
  assertEquals(defaults.exchangeEvery, undefined);
  const given = (await parseOptions(
    [
      ...[
        "--stencil",
        "heat",
        "--delta",
        "3",
        "--grid",
        "64x32x16",
        "--boundary",
        "periodic",
        "--steps",
        "24",
      ],
      ...["--start-share", "0.5", "--exchange-every", "4", "--cpu-workers", "1", "--traversal", "marching"],
      ...["--json", "--quiet"],
    ],
    BALANCE,
  ))!;
  assertEquals([given.stencil.name, given.delta, given.grid], ["heat", 3, [64, 32, 16]]);
  assertEquals([given.boundary, given.steps, given.startShare], ["periodic", 24, 0.5]);
  assertEquals([given.exchangeEvery, given.cpuWorkers, given.traversal], [4, 1, "marching"]);
  assertEquals([given.json, given.quiet], [true, true]);
});

Deno.test("record and qualify: defaults, and typed values", async () => {
  const { seed, workers, eachLimit, limit } = (await parseOptions(["--out", "x"], RECORD))!;
  assertEquals([seed, workers, eachLimit, limit], [1, 1, 20, undefined]);
  for (const [text, fraction] of [["10%", 0.1], ["0%", 0], ["2.5%", 0.025]] as const) {
    const { tolerance } = (await parseOptions(["--profile", "p", "--tolerance", text], QUALIFY))!;
    assertEquals(tolerance, fraction);
  }
});

Deno.test("no command writes a file that it reads, or two files into one, by whatever names", () =>
  inDirectory(async (directory) => {
    for (const [command, options] of Object.entries(ALL)) {
      for (const [name, { value = "", reads, writes }] of Object.entries<Option>(options)) {
        assertEquals(value.includes("FILE"), Boolean(reads ?? writes), `${command} ${name}`);
      }
    }
    const words = new URL("../../kernels/equation.ts", import.meta.url);
    const equation = `import { equation } from "${words}";
      export default equation({ name: "still", fields: { u: [0, 1] }, step: ({ u }) => ({ u }) });`;
    await Deno.writeTextFile(`${directory}/p.ts`, equation);
    await Deno.writeTextFile(`${directory}/p.json.journal.jsonl`, "");
    await Deno.symlink(directory, `${directory}/link`);
    await Deno.link(`${directory}/p.ts`, `${directory}/hard.ts`);
    for (
      const [request, written, read] of [
        ["tune --stencil D/p.ts --out D/hard.ts", "out", "stencil"],
        ["record --stencil D/p.ts --out D/link/p.ts", "out", "stencil"],
        ["qualify --profile D/p.ts --junit D/link/./p.ts", "junit", "profile"],
        ["qualify --profile D/p.ts --junit D/new --markdown D/link/./new", "junit", "markdown"],
        ["report --profile D/x --profile D/p.json --out D/link/p.json.journal.jsonl", "out", "profile"],
        ["report --profile D/x --journal D/p.ts --out D/p.ts", "out", "journal"],
        ["export --format t4 --from D/p.ts --out D/link/p.ts", "out", "from"],
        ["import --from D/p.json.journal.jsonl --out D/p.json", "out", "from"],
        ["merge D/x D/p.ts --out D/hard.ts", "out", "from"],
        ["scaling --profile D/p.ts --out D/link/p.ts", "out", "profile"],
        ["solve --profile D/p.ts --checkpoint D/link/p.ts", "checkpoint", "profile"],
      ] as const
    ) {
      const [name = "", ...args] = request.replaceAll("D/", `${directory}/`).split(" ");
      const message = `Cannot use --${written}: wanted another file than --${read}: found`;
      await assertRejects(() => parseOptions(args, ALL[name]!), RequestError, message, request);
    }
    const fine = ["--profile", `${directory}/p.ts`, "--checkpoint", `${directory}/new`];
    assert(await parseOptions(fine, SOLVE));
  }));
