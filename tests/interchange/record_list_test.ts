import { assertEquals, assertThrows } from "@std/assert";
import { RecordList } from "../../tuner/interchange/record_list.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";

function find(text: string): RecordList {
  return new RecordList(new TextEncoder().encode(text), "f");
}

function textsOf(list: RecordList): string[] {
  return Array.from({ length: list.length }, (_, i) => list.textOf(i));
}

const CACHE = `{"a": "\\"{[", "b": [[1, 2], {"c": 3}],
"cache": {
"1,x": {"t": "}]\\\\µ", "u": [1, 2]}, "x": 1,
"2": {}
},
"z": 1}
`;

Deno.test("a text is split into its records and the rest, with the place of each", () => {
  const list = find(CACHE);
  assertEquals(textsOf(list), ['\n"1,x": {"t": "}]\\\\µ", "u": [1, 2]}', ' "x": 1', '\n"2": {}\n']);
  // columns count letters, not bytes
  assertEquals([0, 1, 2].map((i) => list.placeOf(i)), [
    { line: 2, column: 11 },
    { line: 3, column: 36 },
    { line: 3, column: 44 },
  ]);
  assertEquals([list.name, list.isTorn], ["cache", false]);
  assertEquals(JSON.parse(list.head), { a: '"{[', b: [[1, 2], { c: 3 }], cache: {}, z: 1 });
  // what is behind the list keeps its line
  assertEquals(list.head.slice(0, list.head.indexOf('"z"')).split("\n").length, 6);
  const results = find('{"results":[1,{"results":[2]},"a,b"]}');
  assertEquals([results.head, textsOf(results)], ['{"results":[]}', ["1", '{"results":[2]}', '"a,b"']]);
  assertEquals(textsOf(find('{"results": [ ]}')), []);
});

Deno.test("a cache that was cut off is closed, other texts that end too soon are reported", () => {
  const open = '{"a": 1, "cache": {"1": {"x": 1}, "2": {"x": 2}';
  for (const end of ["", ",", "}", "}}", ",\n", ', "3": {"x']) {
    const list = find(open + end);
    assertEquals(list.length, 2, end);
    assertEquals(JSON.parse(list.head), { a: 1, cache: {} });
    assertEquals(list.isTorn, end.includes("3"));
  }
  // a quote is missing: what follows is not one torn record
  const damaged = `${open},\n"3: {"x": 3},\n"4": {"x": 4}`;
  assertThrows(() => find(damaged), ProfileError, "several lines after the last whole record");
  assertThrows(
    () => find('{"tune_params_keys": ["x"], "ca'),
    ProfileError,
    "cut off before its first record",
  );
  assertThrows(() => find('{"x": 1}'), ProfileError, "wanted T4 results");
  assertThrows(
    () => find('{\n  "$schema": "profile.schema.json"'),
    ProfileError,
    "found a profile: what was",
  );
});

Deno.test("what would not fit is refused before any record is read", () => {
  const large = "x".repeat(2 ** 24 + 1);
  for (
    const text of [
      `{"results": ["${large}"]}`,
      `{"${large}": 1, "results": [1]}`,
      `{"results": [1], "${large}": 1}`,
    ]
  ) {
    assertThrows(() => find(text), ProfileError, "found more");
  }
  assertThrows(
    () => find(`{"results": [${"0,".repeat(2e6)}0]}`),
    ProfileError,
    "at most 2 million records, found more",
  );
});
