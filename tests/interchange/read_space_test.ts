import { assert, assertEquals, assertRejects } from "@std/assert";
import { gzipSync } from "node:zlib";
import { pythonText } from "../../tuner/interchange/kernel_tuner.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { writeSpace } from "../../tuner/interchange/read_space.ts";
import { placesOf } from "../../tuner/interchange/recorded_space.ts";
import { readWhole } from "./arbitrary_space.ts";

const HEADER = `{
"device_name": "NVIDIA RTX A4000",
"kernel_name": "k \\"{[",
"problem_size": [48, 64],
"tune_params_keys": ["x", "method"],
"tune_params": {"x": [1, 2.5], "method": ["a,b", "{"]},
"objective": "time",
"cache": {`;
const RECORDS = [
  `"1,a,b": {"x": 1, "method": "a,b", "time": 0.5, "times": [0.4, 0.6], "compile_time": 440.9}`,
  `"2.5,{": {"x": 2.5, "method": "{", "time": "CompilationFailedConfig", "compile_time": 12, "log": "}}\\" {"}`,
  `"1,{": {"x": 1, "method": "{", "time": 1e20}`,
];
const CLOSED = `${HEADER}\n${RECORDS.join(",\n")}}\n}`;

const read = readWhole;

Deno.test("a cache: header, times, failures in words and as 1e20", async () => {
  const { space, notes, format } = await read(CLOSED);
  assertEquals(format, "kernel-tuner");
  assertEquals([space.device, space.kernel, space.problemSize], ["NVIDIA RTX A4000", 'k "{[', [48, 64]]);
  assertEquals(space.parameters, [{ name: "x", values: [1, 2.5] }, { name: "method", values: ["a,b", "{"] }]);
  assertEquals(space.records.map(({ failure, timeMs }) => failure ?? timeMs), [0.5, "compile", "runtime"]);
  assertEquals([space.records[0]!.timesMs, space.records[0]!.overheadMs], [[0.4, 0.6], { compile: 440.9 }]);
  assertEquals(notes, ["1 record with the time 1e20, as old Kernel Tuners wrote a failure: read as failed"]);
  assertEquals(await read(CLOSED + "\n"), await read(CLOSED));
  assertEquals(await read(gzipSync(CLOSED)), await read(CLOSED));
});

Deno.test("a cache cut off anywhere has the records that were whole", async () => {
  const open = `${HEADER}\n${RECORDS.join(",\n")},`;
  const ends = RECORDS.map((_, i) => HEADER.length + RECORDS.slice(0, i + 1).join(",\n").length + 1);
  for (let length = 0; length <= open.length; length++) {
    const cut = open.slice(0, length);
    if (length < HEADER.length) {
      const { message } = await assertRejects(() => read(cut), ProfileError);
      const isKnown = length > HEADER.indexOf(":", HEADER.indexOf("tune_params_keys"));
      const found = isKnown ? "found a cache that was cut off before its first record" : "wanted T4 results";
      assert(message.startsWith("Cannot read file: ") && message.includes(found), message);
      continue;
    }
    const { space, notes } = await read(cut);
    const whole = ends.filter((end) => end <= length).length;
    assertEquals(space.records.length, whole, `cut at ${length}`);
    const rest = cut.slice(ends[whole - 1] ?? HEADER.length).trim();
    const isTorn = notes.includes("the last record was cut off while it was written: left out");
    assertEquals(isTorn, rest !== "" && rest !== ",", `cut at ${length}`);
  }
});

Deno.test("Python's NaN and Infinity are no values, in texts they stay", async () => {
  const { space, notes } = await read(
    CLOSED.replace("0.5", "NaN").replace("[0.4, 0.6]", "[0.4]").replace('"}}', '"NaN'),
  );
  assertEquals([space.records[0]!.timeMs, space.records[0]!.failure], [null, null]);
  assertEquals(space.records[1]!.measurements.find(({ name }) => name === "log")?.value, 'NaN" {');
  assert(notes.includes("1 value of NaN or Infinity: read as nothing"));
  assert(notes.includes("1 record with neither a time nor a failure"));
});

Deno.test("a key that occurs twice is reported, and the last counts, as in Python", async () => {
  const { space, notes } = await read(CLOSED.replace(RECORDS[2]!, RECORDS[0]!.replace("0.5", "0.75")));
  assertEquals(space.records.map(({ timeMs }) => timeMs), [null, 0.75]);
  assertEquals(notes, ["1 record with the key of another: the last of each counts"]);
});

Deno.test("values as Python writes them", () => {
  const cases = [
    [1, "1"],
    [-2.45, "-2.45"],
    [1e-7, "1e-07"],
    [0.00001, "1e-05"],
    [0.0001, "0.0001"],
    [1.5e-10, "1.5e-10"],
    [true, "True"],
    [null, "None"],
    ["a", "a"],
  ] as const;
  for (const [value, text] of cases) assertEquals(pythonText(value), text);
});

Deno.test("what is wrong with a file is one line: where, wanted, found", async () => {
  const t4 = (result: string): string => `{"results": [${result}]}`;
  const right = `"configuration": {"x": 1}, "invalidity": "correct", "correctness": 1, "times": {}`;
  const cases: [text: string, message: string][] = [
    ["", 'wanted T4 results (a field "results") or a Kernel Tuner cache'],
    ["hello", "wanted T4 results"],
    [CLOSED + "x", "it is not JSON: line 12, column 2: wanted nothing more, found x"],
    [CLOSED.replace('"times": [0.4', '"times": [04'), "record 1: it is not JSON: line 9, column 60: wanted "],
    [
      CLOSED.replace("0.5", "5e-324"),
      'cache["1,a,b"].time: wanted a time from 1e-9 to 1e15 ms, found 5e-324',
    ],
    [CLOSED.replace("0.4", "5e-324"), "times[0]: wanted 0 or a time from 1e-9 to 1e15 ms, found 5e-324"],
    [CLOSED.replace("440.9", "1e308"), "compile_time: wanted a time from 0 to 1e20, found 1e+308"],
    [CLOSED.replace("2.5]", "1e308]"), "tune_params.x[1]: wanted a number from 1e-15 to 1e15"],
    [
      CLOSED.replace('"time": 0.5', '"time": 0.5, "time": 0.6'),
      "record 1: wanted every key once, found one twice",
    ],
    [
      CLOSED.replace('"device_name"', '"kernel_name": "k", "kernel_name"'),
      "wanted every key once, found one twice",
    ],
    [CLOSED.replace("A4000", "\\u001b[2J"), "device_name: wanted a text without control characters"],
    [CLOSED.replace('"compile_time"', '"\\u009b31m"'), 'wanted no key named "\ufffd31m", found one'],
    [CLOSED.replaceAll("a,b", "\\u0007"), "tune_params.method[0]: wanted a number from 1e-15"],
    [CLOSED.replace("[1, 2.5]", "5"), "tune_params.x: wanted a list of values, found 5"],
    [
      CLOSED.replace('["x", "method"]', '["x", "x"]'),
      'tune_params_keys[1]: wanted a name of its own, found "x"',
    ],
    [
      CLOSED.replace('["x", "method"]', '["x"]'),
      "tune_params.method: wanted a name that is in tune_params_keys",
    ],
    [
      CLOSED.replace('["x", "method"]', '["x", "method", "y"]'),
      "tune_params.y: wanted a list of values, found nothing",
    ],
    [CLOSED.replace('"1,a,b"', '"2,a,b"'), 'wanted the key "1,a,b" of its values, found "2,a,b"'],
    [CLOSED.replace('"2.5,{"', '"2.25,{"'), 'wanted the key "2.5,{" of its values, found "2.25,{"'],
    [CLOSED.replace("0.5", "-0.5"), 'cache["1,a,b"].time: wanted a time from 1e-9 to 1e15 ms, found -0.5'],
    [CLOSED.replace("0.5", "1e999"), 'cache["1,a,b"].time: wanted a finite number, found "Infinity"'],
    [CLOSED.replace("0.5", '"quick"'), 'cache["1,a,b"].time: wanted a number or one of InvalidConfig'],
    [
      CLOSED.replace("[0.4, 0.6]", '[0.4, "0.6"]'),
      'cache["1,a,b"]: times[1]: wanted 0 or a time from 1e-9 to 1e15 ms, found "0.6"',
    ],
    [CLOSED.replace('"compile_time"', '"__proto__"'), "wanted no key named __proto__, found one"],
    [
      CLOSED.replace('"objective": "time"', '"objective": 5'),
      "objective: wanted a name or a list of names, found 5",
    ],
    [t4("5"), "results[0]: the whole: wanted an object, found 5"],
    [
      t4(`{${right}}`).replace('"correct"', '"fine"'),
      "results[0]: invalidity: wanted one of correct, timeout, ",
    ],
    [t4(`{${right.replace("{}", "[]")}}`), "results[0]: times: wanted an object, found a list of 0"],
    [
      t4(`{${right.replace('{"x": 1}', '{"x": []}')}}`),
      "results[0]: configuration.x: wanted a number from 1e-15",
    ],
    [
      t4(`{${right}, "measurements": [{"name": "time", "value": 1, "unit": "fortnights"}]}`),
      "measurements[0].unit: wanted a unit of time",
    ],
    [
      t4(`{${right}, "measurements": [{"name": "a", "value": 1}, {"name": "a", "value": 2}]}`),
      "measurements[1].name: wanted a name of its own",
    ],
    [
      t4(`{${right}, "objectives": ["time"]}, {${right}, "objectives": ["energy"]}`),
      'results[1].objectives: wanted ["time"] as in the results before',
    ],
    [
      `{"schema_version": "2.0.0", "results": []}`,
      'schema_version: wanted version 1, such as 1.0.0, found "2.0.0"',
    ],
    [`{"metadata": {"timeunit": "days"}, "results": []}`, "metadata.timeunit: wanted one of s, seconds, ms"],
  ];
  for (const [text, message] of cases) {
    const error = await assertRejects(() => read(text), ProfileError);
    assert(error.message.startsWith("Cannot read file: "), error.message);
    assert(error.message.includes(message), `${error.message}\nwanted: ${message}`);
    assert(!error.message.includes("\n"), "one line");
  }
  const damaged = gzipSync(CLOSED);
  damaged[40]! ^= 0xff;
  await assertRejects(() => read(damaged), ProfileError, "wanted whole gzip data");
  await assertRejects(() => read(Uint8Array.of(0xff, 0xfe, 0)), ProfileError, "wanted text in UTF-8");
});

Deno.test("T4: units, the schema's name of the compile time, unknown fields", async () => {
  const { space, notes } = await read(JSON.stringify({
    metadata: { timeunit: "microseconds", source: "KTT" },
    results: [{
      configuration: { x: 1, y: null },
      invalidity: "correct",
      correctness: 1,
      times: { compilation_time: 2000, runtimes: [500], warmup: 3 },
      measurements: [{ name: "time", value: 500, unit: "us" }],
      id: 7,
    }, {
      configuration: { x: 2 },
      invalidity: "correct",
      correctness: 1,
      times: {},
      measurements: [{ name: "time", value: "" }],
    }],
  }));
  const [record, other] = space.records;
  assertEquals([record!.timeMs, record!.timesMs, record!.overheadMs], [0.5, [0.5], { compile: 2 }]);
  assertEquals([record!.values, other!.values, other!.timeMs], [[1, null], [2, null], null]);
  assertEquals(space.other.t4Metadata, { source: "KTT" });
  assertEquals(notes.length, 5);
  for (const word of ["results[].times.warmup", "results[].id", "microseconds", "compilation_time", "null"]) {
    assert(notes.some((note) => note.includes(word)), `no note of ${word}: ${notes}`);
  }
});

Deno.test("T4: times without a unit are reported", async () => {
  const result = (measurement: string, times: string): string =>
    `{"results": [{"configuration": {"x": 1}, "invalidity": "correct", "correctness": 1, "times": {${times}}, ` +
    `"measurements": [{"name": "time", "value": 1${measurement}}]}]}`;
  const notesOf = async (text: string) => (await read(text)).notes;
  const first = "the unit of times, which the file does not say: read as milliseconds";
  const second = "1 measured time without a unit: read as milliseconds";
  assertEquals(await notesOf(result("", '"runtimes": [1]')), [first, second]);
  assertEquals(await notesOf(result(', "unit": "ms"', "")), []);
  assertEquals(await notesOf(result(', "unit": ""', "")), [second]);
});

/** A T4 file of one result, whose time and runs are told beside each other. */
function t4Of(
  metadata: object,
  measurement: object,
  { times = {}, ...rest }: { times?: object; objectives?: string[]; configuration?: object } = {},
): string {
  const result = { configuration: { x: 1 }, invalidity: "correct", correctness: 1, times, ...rest };
  return JSON.stringify({
    metadata,
    results: [{ ...result, measurements: [{ name: "time", ...measurement }] }],
  });
}

Deno.test("T4: of a time and its runs the unit that is known decides, and the other may be none", async () => {
  const times = { compilation: 2000, runtimes: [500] };
  const microseconds = [0.5, [0.5], { compile: 2 }], milliseconds = [500, [500], { compile: 2000 }];
  const cases: [text: string, expected: unknown][] = [
    [t4Of({ timeunit: "microseconds" }, { value: 500, unit: "" }, { times }), microseconds],
    [t4Of({ timeunit: "seconds" }, { value: 0.5 }, { times: { runtimes: [0.5] } }), [500, [500], {}]],
    [t4Of({}, { value: 500, unit: "us" }, { times }), microseconds],
    [t4Of({}, { value: 0.5, unit: "s" }, { times }), milliseconds],
    [t4Of({}, { value: 500 }, { times }), milliseconds],
    // as KTT names it
    [
      t4Of({}, { name: "TotalDuration", value: 500, unit: "Microseconds" }, {
        times,
        objectives: ["TotalDuration"],
      }),
      microseconds,
    ],
  ];
  for (const [text, expected] of cases) {
    const { space: { records: [record], objectives }, notes } = await read(text);
    assertEquals([record!.timeMs, record!.timesMs, record!.overheadMs], expected, text);
    assertEquals([objectives, record!.measurements[0]!.name], [["time"], "time"]);
    assert(notes.some((note) => note.includes("unit") || note.includes("milliseconds")), `${notes}`);
  }
});

Deno.test("a time that contradicts the runs beside it is refused, a mean of some of them is not", async () => {
  const ofCache = (time: string): string => CLOSED.replace('"time": 0.5', `"time": ${time}`);
  const ofT4 = (value: number): string =>
    t4Of({ timeunit: "ms" }, { value, unit: "us" }, { times: { runtimes: [400, 600] } });
  for (const right of [ofCache("0.45"), ofCache("0.39"), ofT4(5e5)]) await read(right);
  for (
    const [text, found] of [[ofCache("500"), "0.4 to 0.6 ms, the times of its runs, found 500"], [
      ofT4(500),
      "400 to 600 ms, the times of its runs, found 0.5",
    ]] as const
  ) {
    await assertRejects(() => read(text), ProfileError, found);
  }
});

Deno.test("T4 as KTT writes it: its device, and numbers as texts", async () => {
  const metadata = { timeunit: "microseconds", device: "A GPU" };
  const { space } = await read(t4Of(metadata, { value: 5 }, { configuration: { x: "64", word: "fast" } }));
  assertEquals(space.device, "A GPU");
  assertEquals(placesOf(["64", null, "128"]), new Map([["64", 64], ["128", 128]]));
  assertEquals(placesOf(["64", "064"]), new Map([["64", 0], ["064", 1]]));
});

Deno.test("a cache's record that has its time alone has the values of its key", async () => {
  const bare = CLOSED.replace('"a,b"', '"true", 1.5').replaceAll("true", "a")
    .replace(
      /"cache": {[^]*/,
      '"cache": {"2.5,{": {"time": 0.5}, "1,1.50": {"time": 2}, "7,a": {"time": 3}}}',
    );
  const { space, notes } = await read(bare);
  assertEquals(space.records.map(({ values, timeMs }) => [...values, timeMs]), [
    [2.5, "{", 0.5],
    [1, 1.5, 2],
    [7, "a", 3],
  ]);
  assertEquals(notes, ["1 record with values that tune_params does not list"]);
  await assertRejects(() => read(bare.replace('"7,a"', '"7,a,b"')), ProfileError, "x: wanted a number");
});

Deno.test("times that are whole numbers are written as Python's floats", async () => {
  const { space } = await read(
    CLOSED.replace("0.5", "2").replace("[0.4, 0.6]", "[1, 3]").replace("440.9", "5"),
  );
  const text = (format: "t4" | "kernel-tuner"): string => [...writeSpace(space, format)].join("");
  for (const field of ['"time":2.0', '"times":[1.0,3.0]', '"compile_time":5.0', '"x":1,']) {
    assert(text("kernel-tuner").includes(field), `${field} in ${text("kernel-tuner")}`);
  }
  for (const field of ['"value":2.0', '"runtimes":[1.0,3.0]', '"x":1,']) {
    assert(text("t4").includes(field), `${field} in ${text("t4")}`);
  }
});

Deno.test("T4: the unit as older Kernel Tuners spelt it", async () => {
  const result =
    '{"configuration": {"x": 1}, "invalidity": "correct", "correctness": 1, "times": {"compilation": 3}}';
  const text = `{"metadata": {"timeunit": "miliseconds"}, "results": [${result}]}`;
  const { space, notes } = await read(text);
  assertEquals([space.records[0]!.overheadMs, notes], [{ compile: 3 }, []]);
});

Deno.test("a key that writes 1 as 1.0 belongs to 1, and is kept", async () => {
  const { space } = await read(CLOSED.replace('"1,{"', '"1.0,{"'));
  assertEquals(space.records.map(({ key }) => key), [undefined, undefined, "1.0,{"]);
});
