import { assert, assertEquals } from "@std/assert";
import {
  formatProgressBar,
  formatProgressLine,
  Progress,
  type ProgressMode,
  progressMode,
  type ProgressState,
} from "../../tuner/cli/progress.ts";

const STATE: ProgressState = {
  stage: "search",
  done: 12,
  total: 96,
  bestCellsPerSecond: 770e9,
  leftNs: 41.2e9,
};

/** A progress whose output and clock the test holds. */
function record(mode: ProgressMode, columns = 80) {
  const written: string[] = [];
  const clock = { nowNs: 0 };
  const progress = new Progress({
    mode,
    write: (text) => written.push(text),
    now: () => clock.nowNs,
    columns: () => columns,
  });
  return { progress, written, clock };
}

Deno.test("the bar shows stage, share, count, best and time left", () => {
  assertEquals(
    formatProgressBar(STATE, 80),
    "search ███░░░░░░░░░░░░░░░░░ 12/96 · best 770 Gcells/s · 41 s left",
  );
});

Deno.test("the bar fits every width", () => {
  for (let columns = 0; columns <= 90; columns++) {
    const line = formatProgressBar(STATE, columns);
    assert(line.length <= Math.max(0, columns - 1), `${columns} columns: ${line}`);
  }
  assertEquals(formatProgressBar(STATE, 40), "search 12/96 · best 770 Gcells/s");
  assertEquals(formatProgressBar(STATE, 20), "search 12/96");
  assertEquals(formatProgressBar(STATE, 5), "sear");
});

Deno.test("the bar copes with totals that are unknown, exceeded or not finite", () => {
  assertEquals(formatProgressBar({ stage: "warm up", done: 0, total: 0 }, 80), "warm up");
  assertEquals(formatProgressBar({ stage: "search", done: 7, total: Infinity }, 80), "search 7");
  assertEquals(formatProgressBar({ stage: "s", done: 9, total: 3 }, 80), `s ${"█".repeat(20)} 9/3`);
  assertEquals(formatProgressBar({ stage: "s", done: 1, total: 0, leftNs: NaN }, 80), "s 1");
  assertEquals(formatProgressBar({ ...STATE, leftNs: 3e8 }, 30), "search 12/96");
  assertEquals(
    formatProgressLine({ ...STATE, leftNs: 3e8 }),
    "search: 12/96 · best 770 Gcells/s · nearly done",
  );
  assertEquals(formatProgressLine({ stage: "warm up", done: 0, total: 0 }), "warm up");
  assertEquals(
    formatProgressLine({ ...STATE, leftNs: 125e9 }),
    "search: 12/96 · best 770 Gcells/s · 2 min 05 s left",
  );
});

Deno.test("a terminal is redrawn at most ten times a second, a new stage at once", () => {
  const { progress, written, clock } = record("bar");
  for (let i = 0; i < 1000; i++) {
    progress.update({ stage: "search", done: i, total: 1000 });
    clock.nowNs += 1e6;
  }
  assertEquals(written.length, 10);
  assert(written.every((text) => text.startsWith("\r\x1b[K") && !text.includes("\n")));
  progress.update({ stage: "final", done: 0, total: 5 });
  assertEquals(written.length, 11);
});

Deno.test("a bar is cleared for other text, and drawn again after it", () => {
  const { progress, written } = record("bar");
  progress.clear();
  assertEquals(written, []);
  progress.update(STATE);
  progress.clear();
  progress.update(STATE);
  progress.clear();
  progress.clear();
  assertEquals(written[1], "\r\x1b[K");
  assertEquals(written[2], written[0]);
  assertEquals(written.length, 4);
});

Deno.test("a log gets a line at a new stage and every eight seconds, without control characters", () => {
  const { progress, written, clock } = record("lines");
  for (let second = 0; second < 60; second++) {
    progress.update({ stage: second < 30 ? "search" : "final round", done: second, total: 60 });
    clock.nowNs += 1e9;
  }
  assertEquals(written.length, 8);
  assertEquals(written[0], "search: 0/60\n");
  assertEquals(written[4], "final round: 30/60\n");
  // deno-lint-ignore no-control-regex
  assert(written.every((text) => !/[\r\x1b]/.test(text)));
});

Deno.test("quiet shows nothing", () => {
  const { progress, written } = record("none");
  progress.update(STATE);
  progress.clear();
  assertEquals(written, []);
});

Deno.test("the stream decides how progress is shown", () => {
  assertEquals(progressMode({ isTerminal: () => true }, false), "bar");
  assertEquals(progressMode({ isTerminal: () => false }, false), "lines");
  assertEquals(progressMode({ isTerminal: () => true }, true), "none");
});
