import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Options, readText, whole } from "../../tuner/cli/options.ts";
import { command, parseOptions, renderHelp } from "../../tuner/cli/parse_options.ts";
import { fitLines } from "../../tuner/cli/terminal.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";

const OPTIONS = {
  grid: { value: "XxYxZ", help: "cells along the axes", read: readText },
  order: { value: "N", help: "order in space", read: whole(1, 14), default: "2" },
  traversal: { value: "NAME", help: "restrict the search", read: readText, repeatable: true },
  noGpu: { help: "leave the GPU alone", notWith: { "--order 4": "there is a reason" } },
  json: { help: "print JSON", onlyWith: { "--no-gpu": "so it is" } },
} as const satisfies Options;

Deno.test("parseOptions gives each option its typed value or its default", async () => {
  const none = { json: false, noGpu: false, grid: undefined, order: 2, traversal: [] as string[] };
  assertEquals(await parseOptions([], OPTIONS), none);
  const args = ["--grid=64", "--order", "6", "--no-gpu", "--traversal", "a", "--traversal=b", "--json"];
  const values = (await parseOptions([...args, "--traversal", "a"], OPTIONS))!;
  const order: number = values.order, traversals: readonly string[] = values.traversal;
  const grid: string | undefined = values.grid, json: boolean = values.json;
  assertEquals([order, traversals, grid, json, values.noGpu], [6, ["a", "b"], "64", true, true]);
});

Deno.test("parseOptions refuses each kind of mistake, naming it", async () => {
  const mistakes: [args: string, message: string][] = [
    ["--grdi 64", "Unknown option --grdi: did you mean --grid?"],
    ["--ordre=4", "Unknown option --ordre: did you mean --order?"],
    ["--nogpu", "Unknown option --nogpu: did you mean --no-gpu?"],
    ["--noGpu", "Unknown option --noGpu: did you mean --no-gpu?"],
    ["--redro 4", "Unknown option --redro: --help lists the options"],
    ["--frobnicate", "Unknown option --frobnicate: --help lists the options"],
    [`--${"x".repeat(100_000)}`, "Unknown option --xxx"],
    ["-x", "Unknown option -x"],
    ["--no-json", "Unknown option --no-json"],
    ["stray", 'Unexpected argument "stray"'],
    ["-- stray", 'Unexpected argument "stray"'],
    ["--grid", "Cannot read --grid: it needs a value: --grid XxYxZ"],
    ["--grid=", "--grid"],
    ["--grid --json", "Cannot read --grid: it needs a value"],
    ["--grid 5 --grid 6", "Cannot read --grid: it can only be given once: found 5 and 6"],
    ["--json=yes", "Cannot read --json: it is a switch"],
    ["--order -2", 'Cannot use --order: wanted a whole number from 1 to 14: found "-2"'],
    ["--order two", 'Cannot use --order: wanted a whole number from 1 to 14: found "two"'],
    ["--no-gpu --order 4", "Cannot use --no-gpu with --order 4: there is a reason"],
    ["--json", "Cannot use --json without --no-gpu: so it is"],
  ];
  for (const [args, message] of mistakes) {
    await assertRejects(
      () => parseOptions(args.split(" "), OPTIONS),
      RequestError,
      message,
      args.slice(0, 40),
    );
  }
});

Deno.test("an option that must be given is asked for, except by --help", async () => {
  const options = {
    out: { value: "FILE", help: "a file", read: readText, required: "the file to write" },
  } as const;
  await assertRejects(
    () => parseOptions([], options),
    RequestError,
    "Missing option --out: wanted the file to write",
  );
  for (const help of ["--help", "-h"]) assertEquals(await parseOptions([help], options), undefined);
  const out: string = (await parseOptions(["--out", "x"], options))!.out;
  assertEquals(out, "x");
});

Deno.test("renderHelp lists every option with its default, in lines that fit", () => {
  const long = { help: "word ".repeat(30).trim(), value: "X", read: readText, required: "it" };
  assertEquals(
    fitLines(
      renderHelp({ usage: "deno task tune [OPTIONS]", about: "Tunes.", options: { ...OPTIONS, long } }),
      110,
    )
      .split(
        "\n",
      ),
    [
      "Usage: deno task tune [OPTIONS]",
      "",
      "Tunes.",
      "",
      "Options:",
      "  --grid XxYxZ      cells along the axes",
      "  --order N         order in space (default 2)",
      "  --traversal NAME  restrict the search (repeatable)",
      "  --no-gpu          leave the GPU alone",
      "  --json            print JSON",
      "  --long X          " + "word ".repeat(18).trim(),
      "                    " + "word ".repeat(12) + "(required)",
      "  --help            print this help",
    ],
  );
});

Deno.test("a short option is not suggested for another short one", async () => {
  const options = { dt: { value: "X", help: "time step", read: readText } } as const;
  const { message } = await assertRejects(() => parseOptions(["--out", "x"], options), RequestError);
  assertEquals(message, "Unknown option --out: --help lists the options");
});

Deno.test("a command gets its values; with --help it prints and does nothing", async () => {
  const seen: unknown[] = [], printed: string[] = [];
  const run = command({ usage: "u", about: "a", options: OPTIONS }, (values) => {
    seen.push(values.order);
    return Promise.resolve(130);
  });
  assertEquals([await run(["--order", "6"]), seen], [130, [6]]);
  const { log } = console;
  console.log = (text: string) => printed.push(text);
  try {
    assertEquals([await run(["--help"]), seen.length], [0, 1]);
  } finally {
    console.log = log;
  }
  assert(printed[0]!.startsWith("Usage: u\n"));
});
