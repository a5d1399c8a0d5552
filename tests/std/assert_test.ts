import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertExists,
  assertGreater,
  assertGreaterOrEqual,
  AssertionError,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
  fail,
} from "@std/assert";

const PASSING: Record<string, () => void> = {
  "assert of 1": () => assert(1),
  "assertEquals of nested records": () => assertEquals({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }),
  "assertEquals of -0 and 0": () => assertEquals([-0, { a: -0 }], [0, { a: 0 }]),
  "assertEquals of NaN": () => assertEquals([NaN], [NaN]),
  "assertEquals of fields with -0": () => assertEquals(Float32Array.of(-0, 1), Float32Array.of(0, 1)),
  "assertNotEquals of 1 and 2": () => assertNotEquals(1, 2),
  "assertStrictEquals of one string": () => assertStrictEquals("a", "a"),
  "assertAlmostEquals within the default": () => assertAlmostEquals(1, 1 + 0.9e-7),
  "assertAlmostEquals within a tolerance": () => assertAlmostEquals(1, 1.1, 0.2),
  "assertExists of 0": () => assertExists(0),
  "assertThrows of any error": () => void assertThrows(() => fail()),
  "assertThrows with class and text": () =>
    assertEquals(assertThrows(() => [].at(0)!["x"], TypeError, "x") instanceof TypeError, true),
  "assertMatch of abc": () => assertMatch("abc", /b/),
  "assertStringIncludes of abc": () => assertStringIncludes("abc", "bc"),
  "assertLess of 1 and 2": () => assertLess(1, 2),
  "assertLessOrEqual of 2 and 2": () => assertLessOrEqual(2, 2),
  "assertGreater of 2 and 1": () => assertGreater(2, 1),
  "assertGreaterOrEqual of 2 and 2": () => assertGreaterOrEqual(2, 2),
};

const FAILING: Record<string, () => void> = {
  "assert of 0": () => assert(0),
  "assertEquals of 1 and '1'": () => assertEquals<unknown>(1, "1"),
  "assertEquals of records": () => assertEquals({ a: 1 }, { a: 2 }),
  "assertEquals of a list and a typed array": () => assertEquals<unknown>([1], Float32Array.of(1)),
  "assertNotEquals of equal lists": () => assertNotEquals([1], [1]),
  "assertStrictEquals of two lists": () => assertStrictEquals([], []),
  "assertStrictEquals of -0 and 0": () => assertStrictEquals(-0, 0),
  "assertAlmostEquals beyond the default": () => assertAlmostEquals(1, 1 + 1.1e-7),
  "assertAlmostEquals of NaN and a number": () => assertAlmostEquals(NaN, 1, 10),
  "assertExists of null": () => assertExists(null),
  "assertThrows of nothing": () => void assertThrows(() => {}),
  "assertThrows of another class": () => void assertThrows(() => fail(), RangeError),
  "assertThrows of another text": () => void assertThrows(() => fail("a"), AssertionError, "b"),
  "assertMatch of abc": () => assertMatch("abc", /d/),
  "assertStringIncludes of abc": () => assertStringIncludes("abc", "d"),
  "assertLess of 2 and 2": () => assertLess(2, 2),
  "assertLess of NaN": () => assertLess(NaN, 2),
  "assertLessOrEqual of 3 and 2": () => assertLessOrEqual(3, 2),
  "assertGreater of 2 and 2": () => assertGreater(2, 2),
  "assertGreaterOrEqual of 1 and 2": () => assertGreaterOrEqual(1, 2),
  "fail": () => fail("on purpose"),
};

for (const [name, check] of Object.entries(PASSING)) Deno.test(`${name} passes`, check);

for (const [name, check] of Object.entries(FAILING)) {
  Deno.test(`${name} fails`, () => {
    let thrown: unknown;
    try {
      check();
    } catch (error) {
      thrown = error;
    }
    if (!(thrown instanceof AssertionError)) throw new Error(`no AssertionError, but ${thrown}`);
  });
}

Deno.test("assertRejects wants a rejection, of the class and with the text asked for", async () => {
  const reject = (): Promise<void> => Promise.reject(new RangeError("too wide"));
  assertEquals((await assertRejects(reject, RangeError, "wide")).message, "too wide");
  await assertRejects(() => assertRejects(() => Promise.resolve()), AssertionError, "to reject");
  await assertRejects(() => assertRejects(reject, TypeError), AssertionError, "TypeError");
  await assertRejects(() => assertRejects(() => fail("at once")), AssertionError, "throws");
});

Deno.test("assertEquals says what was found, what was wanted, and the caller's words", () => {
  const one = [1, 2, 3], other = [1, 2, 4711];
  const error = assertThrows(() => assertEquals(one, other, "field"), AssertionError, "not equal: field");
  assertStringIncludes(error.message, "4711");
});

Deno.test("assertEquals does not pass over a difference late in large fields", () => {
  const one = new Float32Array(100_000), other = one.slice();
  other[99_983] = 1;
  // what it throws is too large for the published package to describe: it then is a RangeError
  assertThrows(() => assertEquals(one, other));
});
