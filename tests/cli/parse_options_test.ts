import { assertEquals, assertThrows } from "@std/assert";
import { isGiven, parseOptions, renderHelp } from "../../tuner/cli/parse_options.ts";
import { UserError } from "../../tuner/cli/user_error.ts";

const SPECS = {
  grid: { type: "string", value: "XxYxZ", help: "cells along the axes" },
  order: { type: "string", value: "N", default: "2", help: "order in space" },
  traversal: { type: "strings", value: "NAME", help: "restrict the search" },
  "no-gpu": { type: "boolean", help: "leave the GPU alone" },
  json: { type: "boolean", help: "print JSON" },
} as const;

Deno.test("parseOptions gives each option its value or its default", () => {
  const none = { help: false, json: false, "no-gpu": false, grid: undefined, order: "2", traversal: [] };
  assertEquals({ ...parseOptions([], SPECS) }, none);
  const args = ["--grid=64", "--order", "4", "--no-gpu", "--traversal", "a", "--traversal=b", "--json", "-h"];
  const all = { help: true, json: true, "no-gpu": true, grid: "64", order: "4", traversal: ["a", "b"] };
  assertEquals({ ...parseOptions(args, SPECS) }, all);
});

Deno.test("isGiven finds an option in either form, and takes no other for it", () => {
  for (const args of [["--order", "4"], ["--json", "--order=4"]]) assertEquals(isGiven(args, "order"), true);
  for (const args of [[], ["order"], ["--order-of", "4"], ["--orders=4"], ["--grid=--order"]]) {
    assertEquals(isGiven(args, "order"), false, args.join(" "));
  }
});

Deno.test("parseOptions refuses each kind of mistake, naming it", () => {
  const mistakes: Array<[args: string[], message: string]> = [
    [["--grdi", "64"], "Unknown option --grdi: did you mean --grid?"],
    [["--ordre=4"], "Unknown option --ordre: did you mean --order?"],
    [["--frobnicate"], "Unknown option --frobnicate: --help lists the options"],
    [["-x"], "Unknown option -x"],
    [["--no-json"], "Unknown option --no-json"],
    [["stray"], 'Unexpected argument "stray"'],
    [["--", "stray"], 'Unexpected argument "stray"'],
    [["--grid"], "Cannot read --grid: it needs a value: --grid XxYxZ"],
    [["--grid="], "--grid"],
    [["--grid", "--json"], "Cannot read --grid: it needs a value"],
    [["--grid", "5", "--grid", "6"], "Cannot read --grid: it may be given once: found 5 and 6"],
    [["--json=yes"], "Cannot read --json: it is a switch"],
  ];
  for (const [args, message] of mistakes) {
    assertThrows(() => parseOptions(args, SPECS), UserError, message, args.join(" "));
  }
});

Deno.test("renderHelp lists every option with its default", () => {
  assertEquals(
    renderHelp("deno task tune [OPTIONS]", SPECS).split("\n"),
    [
      "Usage: deno task tune [OPTIONS]",
      "",
      "Options:",
      "  --grid XxYxZ      cells along the axes",
      "  --order N         order in space (default 2)",
      "  --traversal NAME  restrict the search (repeatable)",
      "  --no-gpu          leave the GPU alone",
      "  --json            print JSON",
      "  --help            print this help",
    ],
  );
});

Deno.test("a short option is no guess for another short one", () => {
  const specs = { dt: { type: "string", help: "time step" } } as const;
  const { message } = assertThrows(() => parseOptions(["--out", "x"], specs), UserError);
  assertEquals(message, "Unknown option --out: --help lists the options");
});
