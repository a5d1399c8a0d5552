import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { type ListFile, ListScanner } from "../../tuner/interchange/list_scanner.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";

/** What a scanner makes of a text that comes in these pieces. */
function scan(pieces: readonly string[]): { file: ListFile; records: [string, number, number][] } {
  const records: [string, number, number][] = [];
  const scanner = new ListScanner("f", (text, { line, column }) => records.push([text, line, column]));
  for (const piece of pieces) scanner.push(piece);
  return { file: scanner.end(), records };
}

const CACHE = `{"a": "\\"{[", "b": [[1, 2], {"c": 3}],
"cache": {
"1,x": {"t": "}]\\\\", "u": [1, 2]},
"2": {}
},
"z": 1}
`;

Deno.test("a text is split into its records and the rest, with the place of each", () => {
  const { file, records } = scan([CACHE]);
  assertEquals(records, [
    ['\n"1,x": {"t": "}]\\\\", "u": [1, 2]}', 2, 11],
    ['\n"2": {}\n', 3, 35],
  ]);
  assertEquals([file.list, file.isOpen, file.isTorn], ["cache", false, false]);
  assertEquals(JSON.parse(file.head), { a: '"{[', b: [[1, 2], { c: 3 }], cache: {}, z: 1 });
  // what is behind the list keeps its line
  assertEquals(file.head.slice(0, file.head.indexOf('"z"')).split("\n").length, 6);
  const { file: { head }, records: results } = scan(['{"results":[1,{"results":[2]},"a,b"]}']);
  assertEquals([head, results.map(([text]) => text)], ['{"results":[]}', ["1", '{"results":[2]}', '"a,b"']]);
  assertEquals(scan(['{"results": [ ]}']).records, []);
});

Deno.test("it makes no difference where the pieces of a text end", () => {
  const whole = scan([CACHE]);
  fc.assert(fc.property(fc.array(fc.nat(CACHE.length), { maxLength: 8 }), (cuts) => {
    const ends = [0, ...cuts.sort((a, b) => a - b), CACHE.length];
    assertEquals(scan(ends.slice(1).map((end, i) => CACHE.slice(ends[i], end))), whole);
  }));
  assertEquals(scan([...CACHE]), whole);
});

Deno.test("a cache that was cut off is closed, other texts that end too soon are reported", () => {
  const open = '{"a": 1, "cache": {"1": {"x": 1}, "2": {"x": 2}';
  for (const end of ["", ",", "}", "}}", ",\n", ', "3": {"x']) {
    const { file, records } = scan([open + end]);
    assertEquals(records.length, 2, end);
    assertEquals(JSON.parse(file.head), { a: 1, cache: {} });
    assertEquals([file.isOpen, file.isTorn], [!end.startsWith("}"), end.includes("3")]);
  }
  assert(scan(['{"results": [1, 2']).file.isOpen);
  // a quote is missing: what follows is not one torn record
  const damaged = `${open},\n"3: {"x": 3},\n"4": {"x": 4}`;
  assertThrows(() => scan([damaged]), ProfileError, "several lines after the last whole record");
  assertThrows(
    () => scan(['{"tune_params_keys": ["x"], "ca']),
    ProfileError,
    "cut off before its first record",
  );
  assertThrows(() => scan(['{"x": 1}']), ProfileError, "wanted T4 results");
});

Deno.test("what would not fit is refused while it is counted", () => {
  const feed = (start: string, piece: string): unknown =>
    assertThrows(
      () => {
        const scanner = new ListScanner("f");
        scanner.push(start);
        for (let i = 0; i < 100; i++) scanner.push(piece);
      },
      ProfileError,
      "found more",
    );
  const million = "x".repeat(2 ** 20);
  feed('{"results": ["', million);
  feed(`{"${million}`, million);
  feed('{"results": [', `[${"0,".repeat(999)}0],`.repeat(500));
});
