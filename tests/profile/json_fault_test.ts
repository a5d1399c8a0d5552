import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { jsonFault } from "../../tuner/profile/json_fault.ts";

Deno.test("what is not JSON is reported with line, column, what was wanted and what was found", () => {
  const cases: [text: string, fault: string][] = [
    ["", "line 1, column 1: wanted a value, found the end"],
    ['{"a": 1,}', "line 1, column 9: wanted a name in quotes, found }"],
    ['{\n  "a": [1, 2,\n  ]\n}', "line 3, column 3: wanted a value, found ]"],
    ['{"a" 1}', "line 1, column 6: wanted a colon, found 1"],
    ['{"a": 1 "b": 2}', 'line 1, column 9: wanted a comma or }, found "b"'],
    ["{a: 1}", "line 1, column 2: wanted a name in quotes or }, found a"],
    ["[1, 2", "line 1, column 6: wanted a comma or ], found the end"],
    ["[1, 2}", "line 1, column 6: wanted a comma or ], found }"],
    ["[tru]", "line 1, column 2: wanted a value or ], found tru"],
    ["[1,\n 01]", "line 2, column 3: wanted a comma or ], found 1"],
    ["[1.]", "line 1, column 3: wanted a comma or ], found ."],
    ["[NaN]", "line 1, column 2: wanted a value or ], found NaN"],
    ['{"a": "cut o', "line 1, column 13: wanted the rest of a text in quotes, found the end"],
    ['["a\\x"]', "line 1, column 4: wanted the rest of a text in quotes, found \\"],
    [
      '["a\n"]',
      "line 1, column 4: wanted the rest of a text in quotes, found a line end or a control character",
    ],
    ["[] []", "line 1, column 4: wanted nothing more, found ["],
    ["{'a': 1}", "line 1, column 2: wanted a name in quotes or }, found '"],
  ];
  for (const [text, fault] of cases) assertEquals(jsonFault(text), fault, text);
});

Deno.test("of a text that is cut off the fault is at its end, or where its last word begins", () => {
  fc.assert(fc.property(fc.json({ maxDepth: 4 }), fc.nat(), (json, where) => {
    const text = json.slice(0, where % json.length);
    try {
      JSON.parse(text);
    } catch {
      const column = Number(/^line 1, column (\d+): wanted /.exec(jsonFault(text))?.[1]);
      // the longest word of JSON is a number
      assert(column <= text.length + 1 && column > text.length - 25, `${column} in ${text}`);
    }
  }));
});
