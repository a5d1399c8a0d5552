import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { assertRefused, inDirectory, runCommand, runTask } from "./run_task.ts";

const FIXTURE = "fixtures/h100/heat_delta_1.jsonl.gz";
const JOURNAL = "fixtures/h100/wave.json.journal.jsonl";

Deno.test("replay prints a table for each space of a file, the same every time", async () => {
  const args = ["--space", JOURNAL, "--strategy", "auto", "--strategy", "random", "--seeds", "3"];
  const { code, stdout, stderr } = await runTask("replay", args);
  assertEquals(code, 0);
  // a line where each space begins, then one now and then
  assertEquals(stderr.match(/journal\.jsonl\): \d\/6$/gm)?.length, stderr.trim().split("\n").length);
  assertStringIncludes(stdout, "wave, order 2, 584x5280x128, 192 steps, NVIDIA H100 80GB HBM3");
  assertEquals(stdout.match(/^ {2}auto /gm)?.length, 5); // four spaces and the means
  assertEquals(stdout.match(/^ {2}random /gm)?.length, 5);
  const again = await runCommand("replay", [...args, "--quiet"]);
  assertEquals([again.stdout, again.stderr], [stdout, ""]);
});

Deno.test("replay --workers has several evaluations under way, which takes less time", async () => {
  const run = async (workers: string) => {
    const args = ["--space", FIXTURE, "--strategy", "auto", "--seeds", "1", "--budget", "20"];
    const { stdout } = await runCommand("replay", [...args, "--workers", workers]);
    return {
      note: /(\d+) evaluations under way at once/.exec(stdout)?.[1],
      row: /^ {2}auto .*$/m.exec(stdout)![0],
    };
  };
  const one = await run("1"), eight = await run("8");
  assertEquals([one.note, eight.note], [undefined, "8"]);
  const seconds = ({ row }: { row: string }) => Number(/\(20, (\d+\.?\d*) s\)/.exec(row)![1]);
  assert(seconds(eight) < 0.6 * seconds(one), `${one.row}, ${eight.row}`);
});

Deno.test("replay --json says the same in figures", async () => {
  const args = ["--space", JOURNAL, "--strategy", "exhaustive", "--seeds", "2", "--budget", "5", "--json"];
  const { code, stdout } = await runCommand("replay", args);
  assertEquals(code, 0);
  const { seeds, spaces } = JSON.parse(stdout);
  assertEquals([seeds, spaces.length], [2, 4]);
  const [{ file, configurations, bestRate, results: [result] }] = spaces;
  assertEquals([file, result.strategy, result.evaluations.median], [JOURNAL, "exhaustive", 5]);
  assert(configurations > 40 && bestRate > 8e11);
});

Deno.test("replay refuses files that it cannot read, and those with nothing to replay", () =>
  inDirectory(async (directory) => {
    const [run = ""] = (await Deno.readTextFile(JOURNAL)).split("\n");
    const paths = { empty: "", begun: `${run}\n`, torn: run.slice(0, 300) };
    for (const [name, text] of Object.entries(paths)) {
      await Deno.writeTextFile(`${directory}/${name}.jsonl`, text);
    }
    const given = (name: string): string[] => ["--space", `${directory}/${name}.jsonl`];
    await assertRefused("replay", [
      [["--space", "none.json"], "Cannot read none.json: there is no such file"],
      [["--space", "deno.json"], "wanted T4 results"],
      [given("empty"), /empty\.jsonl: no configuration has a rate$/],
      [[...given("begun"), "--unseen"], /begun\.jsonl: no configuration has a rate$/],
      [
        given("torn"),
        /no configuration has a rate: the last line was cut off while it was written: left out$/,
      ],
      [
        ["--space", FIXTURE, "--unseen"],
        "wanted two problems recorded by Facet on a device: found fewer",
      ],
      [["--space", FIXTURE, "--prior", FIXTURE], "the models predict it"],
      [["--space", FIXTURE, "--unseen", "--json"], "Cannot choose: wanted two problems"],
    ]);
  }));
