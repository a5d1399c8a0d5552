import { assertEquals } from "@std/assert";
import { Sentinel } from "../../tuner/measuring/sentinel.ts";
import { measurementNamed } from "./fake_runner.ts";

/** A rate with an interval of ± 1%. */
const rate = (name: string, value: number) => measurementNamed(name, value, [0.99 * value, 1.01 * value]);

/** A sentinel on a clock that the test moves; the first measurement is its level of 100. */
function watch() {
  const time = { nowNs: 0 };
  const sentinel = new Sentinel(() => time.nowNs);
  sentinel.note(rate("level", 100));
  const look = () => sentinel.look()?.traversal;
  const again = (): string[] => {
    const names: string[] = [];
    for (let one = sentinel.again(); one !== undefined; one = sentinel.again()) names.push(one.traversal);
    return names;
  };
  return { time, sentinel, look, again };
}

Deno.test("the sentinel is looked at now and then, and only if something was measured", () => {
  const { time, sentinel, look, again } = watch();
  time.nowNs = 20e9;
  assertEquals(look(), undefined);
  sentinel.note(rate("a", 90));
  assertEquals([look(), look()], ["level", undefined]); // one look at a time
  sentinel.seen(rate("level", 101), 1e9);
  assertEquals([again(), sentinel.drifts], [[], 0]);
  sentinel.note(rate("b", 90));
  time.nowNs += 15e9;
  assertEquals(look(), undefined); // a look takes 1 s: 20 s apart
  time.nowNs += 5e9;
  assertEquals(look(), "level");
});

Deno.test("what was measured while the device ran slower is measured again when it has come back", () => {
  const { time, sentinel, look, again } = watch();
  sentinel.note(rate("before", 90));
  time.nowNs = 10e9;
  look();
  sentinel.seen(rate("level", 100), 0);
  for (const name of ["a", "b", "a"]) sentinel.note(rate(name, 70));
  time.nowNs = 20e9;
  look();
  sentinel.seen(rate("level", 80), 0);
  assertEquals(again(), []); // not before it is back
  assertEquals(look(), "level"); // at once
  sentinel.seen(rate("level", 99), 0);
  assertEquals(again(), ["a", "b"]);
  assertEquals([again(), sentinel.drifts, look()], [[], 1, undefined]);
});

Deno.test("a drift that stays is the new level, and what it has affected is measured again at it", () => {
  const { time, sentinel, look, again } = watch();
  sentinel.note(rate("a", 70));
  time.nowNs = 10e9;
  for (let i = 0; i < 3; i++) {
    assertEquals(look(), "level");
    sentinel.seen(rate("level", 80), 0);
  }
  assertEquals([again(), sentinel.drifts], [["a"], 3]);
  sentinel.note(rate("b", 60));
  time.nowNs = 20e9;
  assertEquals(look(), "level");
  sentinel.seen(rate("level", 80), 0);
  assertEquals([again(), sentinel.drifts], [[], 3]);
});

Deno.test("neither a small change nor a wide interval is a drift; a sentinel that fails gives way to another", () => {
  const { time, sentinel, look, again } = watch();
  sentinel.note(rate("a", 70));
  time.nowNs = 10e9;
  look();
  sentinel.seen(rate("level", 96), 0); // 4%, apart
  sentinel.note(rate("a", 70));
  time.nowNs = 20e9;
  look();
  sentinel.seen(measurementNamed("level", 80, [50, 110]), 0);
  assertEquals([again(), sentinel.drifts], [[], 0]);
  sentinel.note(rate("a", 70));
  time.nowNs = 30e9;
  look();
  sentinel.seen(undefined, 0);
  sentinel.note(rate("next", 70));
  sentinel.note(rate("b", 70));
  time.nowNs = 50e9;
  assertEquals(look(), "next");
});
