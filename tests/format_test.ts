import { assertEquals } from "@std/assert";
import {
  describeValue,
  formatBandwidth,
  formatCount,
  formatDuration,
  formatError,
  formatFactor,
  formatMeasured,
  formatPercent,
  formatRate,
  formatTable,
} from "../tuner/format.ts";

Deno.test("rates have three digits and no exponent", () => {
  const cases: [number, string][] = [
    [770.4e9, "770 Gcells/s"],
    [0.2905e9, "0.290 Gcells/s"],
    [8.4e9, "8.40 Gcells/s"],
    [99.96e9, "100 Gcells/s"],
    [9.996e9, "10.0 Gcells/s"],
    [1234e9, "1,234 Gcells/s"],
    [99.9e6, "99.9 Mcells/s"],
    [99.96e6, "0.100 Gcells/s"],
    [105e3, "0.105 Mcells/s"],
    [54.1e3, "54.1 kcells/s"],
    [1, "1.00 cells/s"],
    [0, "0 Gcells/s"],
    [NaN, "unknown Gcells/s"],
  ];
  for (const [rate, text] of cases) assertEquals(formatRate(rate), text);
  assertEquals(formatRate(4e6, { like: 2e9 }), "0.00400 Gcells/s");
  assertEquals(
    formatMeasured({ cellsPerSecond: 54.1e6, confidence95: [0, 120e6] }),
    "54.1 Mcells/s (95% between 0 Mcells/s and 120 Mcells/s)",
  );
  assertEquals(formatBandwidth(2995e9), "2,995 GB/s");
});

Deno.test("durations take the unit that suits them", () => {
  const cases: [number, string][] = [
    [0, "0 ns"],
    [850, "850 ns"],
    [2050, "2.05 µs"],
    [999.9e3, "1.00 ms"],
    [11e6, "11.0 ms"],
    [4.2e9, "4.20 s"],
    [59.4e9, "59.4 s"],
    [59.7e9, "1 min 00 s"],
    [125e9, "2 min 05 s"],
    [3599.9e9, "1 h 00 min"],
    [3725e9, "1 h 02 min"],
    [47 * 3600e9, "47 h 00 min"],
    [60 * 3600e9, "2.5 days"],
    [Infinity, "unknown"],
  ];
  for (const [timeNs, text] of cases) assertEquals(formatDuration(timeNs), text);
});

Deno.test("percents and factors keep two digits where they are small", () => {
  assertEquals([0.771, 0.0312, 0.0002, 0, 1.29].map(formatPercent), ["77%", "3.1%", "0.020%", "0%", "129%"]);
  assertEquals([3.14159, 0.95, 129, 0.5].map(formatFactor), ["3.1×", "0.95×", "129×", "0.50×"]);
  assertEquals([0.99, 1, 1.012, 1.1].map(formatFactor), ["0.99×", "1.00×", "1.01×", "1.1×"]);
  assertEquals(formatCount(1234567.2), "1,234,567");
});

Deno.test("tables align left and right, without spaces at the ends", () => {
  const rows = [["kernel", "rate", "note"], ["torre", "770"], ["größer ×", "3.1", "é"]];
  assertEquals(
    formatTable(rows, { right: [1], indent: "  " }),
    ["  kernel    rate  note", "  torre      770", "  größer ×   3.1  é"].join("\n"),
  );
  assertEquals(formatTable([]), "");
});

Deno.test("a table too wide wraps its last column, or sets below their row those that do not fit", () => {
  const rows = [["--grid XxYxZ", "cells along x, y, z, or points of a line"], ["--json", "print JSON"]];
  assertEquals(
    formatTable(rows, { width: 42 }),
    `--grid XxYxZ  cells along x, y, z, or
              points of a line
--json        print JSON`,
  );
  assertEquals(
    formatTable(rows, { width: 30, indent: "  " }),
    `  --grid XxYxZ
      cells along x, y, z, or
      points of a line
  --json
      print JSON`,
  );
});

Deno.test("columns of numbers that go below their rows stay whole and aligned", () => {
  const rows = [["", "1%", "after 10", "after 100"], ["random", "never", "12% [9%, 15%]", "1%"], [
    "auto",
    "7",
    "1%",
  ]];
  assertEquals(
    formatTable(rows, { right: [1, 2, 3], width: 30 }),
    `           1%       after 10
    after 100
random  never  12% [9%, 15%]
           1%
auto        7             1%`,
  );
});

Deno.test("small numbers keep their exponent, and 0 is exact", () => {
  assertEquals(formatError({ maxError: 1.91e-6, bound: 0.000153 }), "largest error 1.9e-6, bound 1.5e-4");
  assertEquals(formatError({ maxError: 0, bound: 0.1 }), "exact");
});

Deno.test("a value that is wrong is shown as it was typed: JSON has no NaN", () => {
  const found = [NaN, -Infinity, 1.5, "1", 2n, null, undefined].map(describeValue);
  assertEquals(found, ["NaN", "-Infinity", "1.5", '"1"', "2n", "null", "nothing"]);
});
