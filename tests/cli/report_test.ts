import { assert, assertEquals } from "@std/assert";
import { assertRefused, inDirectory, runCommand, runTask } from "./run_task.ts";

const FIXTURE = "fixtures/h100/wave.json";

Deno.test("the task report writes one page, and says what it shows", () =>
  inDirectory(async (folder) => {
    const out = `${folder}/page.html`;
    const { code, stdout, stderr } = await runTask("report", ["--profile", FIXTURE, "--out", out, "--json"]);
    assertEquals([code, stderr], [0, ""]);
    const record = JSON.parse(stdout);
    assertEquals([record.out, record.journal, record.warnings], [out, `${FIXTURE}.journal.jsonl`, []]);
    const page = await Deno.readTextFile(out);
    assert(page.startsWith("<!doctype html>") && page.includes("NVIDIA H100 80GB HBM3"));
    assertEquals(record.bytes, new TextEncoder().encode(page).length);
    // a damaged journal is reported on the terminal and on the page
    const journal = `${folder}/damaged.jsonl`;
    const lines = (await Deno.readTextFile(record.journal)).split("\n");
    await Deno.writeTextFile(journal, [...lines.slice(0, 3), "x", ...lines.slice(3)].join("\n"));
    const args = ["--profile", FIXTURE, "--entry", "1", "--journal", journal, "--out", out];
    const damaged = await runCommand("report", args);
    assert(damaged.stdout.includes("left out 1 damaged line, the first is line 4"), damaged.stdout);
    assert((await Deno.readTextFile(out)).includes("left out 1 damaged line"));
  }));

Deno.test("several profiles make one page; entries are counted over all of them", () =>
  inDirectory(async (folder) => {
    const out = `${folder}/page.html`,
      profiles = ["--profile", FIXTURE, "--profile", "fixtures/h100/heat.json"];
    await runCommand("report", [...profiles, "--out", out]);
    const page = await Deno.readTextFile(out);
    assert(
      page.includes("<h1>2 profiles</h1>") && page.includes("heat, δ 4") && page.includes("wave, order 8"),
    );
    await runCommand("report", [...profiles, "--entry", "5", "--out", out]);
    assert((await Deno.readTextFile(out)).includes('<h2 id="entry-5">heat, δ 1, '));
    const { stderr } = await runCommand("report", [...profiles, "--entry", "9", "--out", out]);
    assert(stderr.includes("wanted a whole number from 1 to 8"), stderr);
  }));

Deno.test("report refuses what it cannot show", () =>
  assertRefused("report", [
    [["--profile", "/no/such"], "Cannot read /no/such: there is no such file"],
    [["--profile", "deno.json"], "Cannot read deno.json: "],
    [["--profile", FIXTURE, "--journal", "/no/such"], "Cannot read /no/such: there is no such file"],
    [["--profile", FIXTURE, "--journal", "deno.json"], "Cannot read deno.json: wanted a journal"],
    [["--profile", FIXTURE, "--entry", "5"], "Cannot use --entry: wanted a whole number from 1 to 4"],
    [
      ["--profile", FIXTURE, "--out", "/nowhere/x/y"],
      "Cannot write /nowhere/x/y: there is no folder /nowhere/x",
    ],
  ]));
