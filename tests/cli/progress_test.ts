import { assert, assertEquals } from "@std/assert";
import type { Budget } from "../../tuner/cli/options.ts";
import {
  formatProgressBar,
  formatProgressLine,
  Progress,
  type ProgressMode,
  progressMode,
  type ProgressState,
  viewOf,
} from "../../tuner/cli/progress.ts";

const STATE: ProgressState = { stage: "search", done: 12, total: 4096, bestCellsPerSecond: 770e9 };

const MINUTE = { timeNs: 60e9 };

/** A progress whose output and clock the test holds. */
function record(mode: ProgressMode, { columns = 80, budget }: { columns?: number; budget?: Budget } = {}) {
  const written: string[] = [];
  const clock = { nowNs: 0 };
  const progress = new Progress({
    mode,
    write: (text) => written.push(text),
    now: () => clock.nowNs,
    columns: () => columns,
    budget,
  });
  return { progress, written, clock };
}

/** The line of a state within a run. */
function barOf(
  state: ProgressState,
  columns: number,
  run: Partial<Parameters<typeof viewOf>[1]> = {},
): string {
  const highest = state.bestCellsPerSecond;
  return formatProgressBar(viewOf(state, { elapsedNs: 24e9, highest, counting: "search", ...run }), columns);
}

Deno.test("with a time the bar shows how much of it is used, whatever the stage", () => {
  const search = barOf(STATE, 80, { budget: MINUTE });
  assertEquals(search, "search ████████░░░░░░░░░░░░ 24 of 60 s · best 770 Gcells/s · 12/4,096");
  const later = { stage: "final round", done: 1, total: 12 };
  assertEquals(
    barOf(later, 80, { budget: MINUTE, elapsedNs: 66e9 }),
    `final round ${"█".repeat(20)} 66 of 60 s · 1/12`,
  );
  assertEquals(
    barOf(later, 80, { budget: { timeNs: 3600e9 }, elapsedNs: 1800e9 }),
    `final round ${"█".repeat(10)}${"░".repeat(10)} 30 of 60 min · 1/12`,
  );
});

Deno.test("where evaluations are counted the bar shows those that were made, and stays full afterwards", () => {
  const budget = { evaluations: 96 };
  const counted = { ...STATE, total: 96 };
  assertEquals(
    barOf(counted, 80, { budget }),
    "search ███░░░░░░░░░░░░░░░░░ 12/96 · best 770 Gcells/s",
  );
  assertEquals(
    barOf({ stage: "final round", done: 1, total: 4 }, 40, { budget }),
    `final round ${"█".repeat(20)} 1/4`,
  );
  const { progress, written } = record("bar", { budget });
  for (const stage of ["device", "search", "final round"]) {
    progress.update({ stage, done: 0, total: stage === "device" ? 0 : 9 });
  }
  progress[Symbol.dispose]();
  assertEquals(written.slice(0, 3).map((text) => text.match(/█/g)?.length ?? 0), [0, 0, 20]);
});

Deno.test("without a budget each stage has its own bar, and the time left", () => {
  assertEquals(
    barOf({ ...STATE, total: 96, leftNs: 41.2e9 }, 80),
    "search ███░░░░░░░░░░░░░░░░░ 12/96 · best 770 Gcells/s · 41 s left",
  );
  const line = (state: ProgressState): string =>
    formatProgressLine(viewOf(state, { elapsedNs: 0, highest: undefined }));
  assertEquals(line({ ...STATE, leftNs: 3e8 }), "search: 12/4,096 · nearly done");
  assertEquals(line({ stage: "s", done: 1, total: 0, leftNs: 125e9 }), "s: 1 · 2 min 05 s left");
  assertEquals(line({ stage: "warm up", done: 0, total: 0 }), "warm up");
});

Deno.test("the best never falls; what a later measurement makes of it is shown beside it", () => {
  const { progress, written, clock } = record("lines");
  for (
    const [stage, best] of [["search", 800e9], ["again", 700e9], ["finals", 790.4e9], [
      "end",
      undefined,
    ]] as const
  ) {
    clock.nowNs += 10e9;
    progress.update({ stage, done: 0, total: 0, bestCellsPerSecond: best });
  }
  assertEquals(written, [
    "search: best 800 Gcells/s\n",
    "again: best 800 Gcells/s, corrected to 700\n",
    "finals: best 800 Gcells/s, corrected to 790\n",
    "end: best 800 Gcells/s\n",
  ]);
  assertEquals(progress.highest, 800e9);
});

Deno.test("the bar fits every width: it shrinks, it goes, then the last parts go", () => {
  for (let columns = 0; columns <= 90; columns++) {
    const line = barOf(STATE, columns, { budget: MINUTE });
    assert(line.length <= Math.max(0, columns - 1), `${columns} columns: ${line}`);
  }
  assertEquals(
    barOf(STATE, 60, { budget: MINUTE }),
    "search ████░░░░░░ 24 of 60 s · best 770 Gcells/s · 12/4,096",
  );
  assertEquals(barOf(STATE, 40, { budget: MINUTE }), "search 24 of 60 s · best 770 Gcells/s");
  assertEquals(barOf(STATE, 20, { budget: MINUTE }), "search 24 of 60 s");
  assertEquals(barOf(STATE, 5, { budget: MINUTE }), "sear");
});

Deno.test("the bar copes with totals that are unknown, exceeded or not finite", () => {
  assertEquals(barOf({ stage: "warm up", done: 0, total: 0 }, 80), "warm up");
  assertEquals(barOf({ stage: "search", done: 7, total: Infinity }, 80), "search 7");
  assertEquals(barOf({ stage: "s", done: 9, total: 3 }, 80), `s ${"█".repeat(20)} 9/3`);
  assertEquals(barOf({ stage: "s", done: 1, total: 0, leftNs: NaN }, 80), "s 1");
});

Deno.test("while a measurement takes long, the clock of the bar goes on", async () => {
  const { progress, written, clock } = record("bar", { budget: MINUTE });
  progress.update(STATE);
  clock.nowNs = 30e9;
  while (written.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  progress[Symbol.dispose]();
  assert(written[1]!.includes("30 of 60 s"), written[1]);
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
  progress[Symbol.dispose]();
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
  progress[Symbol.dispose]();
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
