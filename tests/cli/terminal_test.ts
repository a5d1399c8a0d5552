import { assert, assertEquals } from "@std/assert";
import { fitLines, type Line, withoutControls } from "../../tuner/cli/terminal.ts";

const LINES: Line[] = [
  "Fastest: diamond-torre dts=5 nt=96, 96 slices; CPU, 8 workers",
  "  770 Gcells/s (95% between 760 Gcells/s and 780 Gcells/s)",
  "",
  "  - one of several things that would help on a machine",
  {
    rows: [
      ["GPU diamond-torre", "741 Gcells/s", "████████████████", "the fastest"],
      ["CPU stepwise", "9.50 Gcells/s", "▎", "1.3% of the fastest"],
    ],
    right: [1],
    indent: "  ",
  },
  { rows: [["deno task report --profile profiles/a-device.json", "charts and tables"]], indent: "  " },
];

Deno.test("lines fit the terminal, and what is wrapped is indented", () => {
  assertEquals(
    fitLines(LINES, 39),
    `Fastest: diamond-torre dts=5 nt=96,
  96 slices; CPU, 8 workers
  770 Gcells/s (95% between 760
    Gcells/s and 780 Gcells/s)

  - one of several things that would
    help on a machine
  GPU diamond-torre   741 Gcells/s
      ████████████████  the fastest
  CPU stepwise       9.50 Gcells/s
      ▎  1.3% of the fastest
  deno task report --profile profiles/a-device.json
      charts and tables`,
  );
  assertEquals(
    fitLines(LINES.slice(4), 79),
    `  GPU diamond-torre   741 Gcells/s  ████████████████  the fastest
  CPU stepwise       9.50 Gcells/s  ▎                 1.3% of the fastest
  deno task report --profile profiles/a-device.json  charts and tables`,
  );
});

Deno.test("a path with spaces that was typed stays on one line at any width, and so does its folder", () => {
  const path = "/data/my wave runs/the first one.json";
  const lines: Line[] = [
    `Profile: ${path}`,
    `Wrote ${path}.html: 2 measurements, and more than fits a line`,
    `Cannot write ${path}: there is no folder /data/my wave runs`,
    { rows: [["a", `its journal is ${path}.journal.jsonl`]] },
  ];
  for (const typed of [["tune", "--out", path], [`--out=${path}`]]) {
    for (let width = 1; width <= 100; width++) {
      const text = fitLines(lines, width, typed);
      assertEquals([text.split(path).length, text.split("/data/my wave runs").length], [5, 6], text);
      assert(width > 60 || text.split("\n").length > 4, text);
    }
  }
  assertEquals(fitLines(lines.slice(0, 1), 30, []).split("\n").length, 2);
});

Deno.test("in a pipe every line stays one", () => {
  assertEquals(fitLines(LINES, Infinity).split("\n").length, 4 + 2 + 1);
});

Deno.test("every width leaves nothing out, and only single words are wider", () => {
  const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "").sort();
  const all = words(fitLines(LINES, Infinity));
  for (let width = 1; width <= 100; width++) {
    const text = fitLines(LINES, width);
    assertEquals(words(text), all);
    for (const line of text.split("\n")) {
      const isCommand = line.includes("deno task report");
      assert(isCommand || line.length <= width || line.trim().split(/ +/).length <= 2 || width < 36, line);
    }
  }
});

Deno.test("what a file quotes reaches the terminal as text, never as commands", () => {
  const name = "a\x1b[2J\x07b\x9b1m\r\nQualified\u202e";
  const shown = "a\ufffd[2J\ufffdb\ufffd1m Qualified\ufffd";
  assertEquals(withoutControls(name), shown);
  assertEquals(fitLines([name, { rows: [[name, name]] }], Infinity), `${shown}\n${shown}  ${shown}`);
});
