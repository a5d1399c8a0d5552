import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import type { Measurement } from "../../tuner/configuration.ts";
import { gzipSync } from "node:zlib";
import {
  appendRecords,
  checkJournal,
  Journal,
  journalPath,
  readJournal,
} from "../../tuner/profile/journal.ts";
import {
  formatLine,
  type JournalHeader,
  type JournalRecord,
  parseJournal,
} from "../../tuner/profile/journal_format.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { DEVICE, ENTRY, PROBLEM } from "./sample_profile.ts";

const HEADER: JournalHeader = {
  tool: { name: "facet", version: "0.1.0" },
  device: DEVICE,
  problem: PROBLEM,
  kernelSource: "0123abcd",
};

const MEASUREMENT: Measurement = {
  configuration: ENTRY.configuration,
  cellsPerSecond: 770e9,
  confidence95: [760e9, 780e9],
  samples: [770e9, 760e9, 780e9],
  spread: 0.026,
  verification: ENTRY.verification,
  compileNs: 1e9,
};

const EVALUATION = { configuration: ENTRY.configuration, measurement: MEASUREMENT };

/** Letters of more than one byte, so that a cut can fall inside one. */
const FAILURE = { reason: "compile", message: "Ⅷ größer als 255 µs\n\u2028" } as const;

const AT = "2026-11-21T10:00:00.000Z";

const RECORDS: readonly JournalRecord[] = [
  { kind: "run", version: 1, run: "a", startedAt: AT, ...HEADER },
  { kind: "measurement", run: "a", at: AT, measurement: MEASUREMENT },
  { kind: "failure", run: "a", at: AT, configuration: ENTRY.configuration, failure: FAILURE },
  { kind: "run", version: 1, run: "b", startedAt: AT, ...HEADER },
  { kind: "measurement", run: "b", at: AT, measurement: MEASUREMENT },
];

const LINES = RECORDS.map((record) => new TextEncoder().encode(formatLine(record)));

function join(lines: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(lines.flatMap((line) => [...line]));
}

async function withFile(test: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await test(`${directory}/p.json.journal.jsonl`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("journal gives back every record", () => {
  assertEquals(parseJournal(join(LINES)), { records: RECORDS, damaged: [], torn: false });
  assertEquals(parseJournal(new Uint8Array(0)), { records: [], damaged: [], torn: false });
});

Deno.test("journal cut at any byte loses the record in flight and nothing else", () => {
  const whole = join(LINES);
  const ends = LINES.map((_, i) => join(LINES.slice(0, i + 1)).length);
  for (let length = 0; length <= whole.length; length++) {
    const { records, damaged, torn } = parseJournal(whole.subarray(0, length));
    // a record is whole once its closing brace is there, line end or not
    const kept = ends.filter((end) => end - 1 <= length).length;
    assertEquals(records.length, kept, `cut at ${length}`);
    assertEquals(damaged, []);
    const isAtEnd = length === 0 || ends.some((end) => end === length || end - 1 === length);
    assertEquals(torn, !isAtEnd, `cut at ${length}`);
  }
});

Deno.test("journal reports a changed byte, wherever it is, and keeps the other lines", () => {
  const whole = join(LINES);
  const property = fc.property(
    fc.integer({ min: 0, max: whole.length - 1 }),
    fc.integer({ min: 1, max: 255 }),
    (index, flip) => {
      const bytes = whole.slice();
      bytes[index]! ^= flip;
      const { records, damaged, torn } = parseJournal(bytes);
      const known = RECORDS.map((record) => JSON.stringify(record));
      assert(
        records.every((record) => known.includes(JSON.stringify(record))),
        "a changed record was accepted",
      );
      const isLineEnd = index === whole.length - 1;
      assert(damaged.length > 0 || torn || isLineEnd, "nothing was reported");
      // a damaged line costs itself; a damaged start of a run costs the run; a lost line end two lines
      assert(records.length >= RECORDS.length - 3, `${records.length} records left`);
    },
  );
  fc.assert(property, { seed: 5, numRuns: 2000 });
});

Deno.test("journal reports what is no record of this version, with its line", () => {
  const line = (record: unknown) => new TextEncoder().encode(formatLine(record as JournalRecord));
  const [run, measurement] = RECORDS;
  const cases: [record: unknown, reason: string][] = [
    [{ ...run, version: 2 }, "Cannot read the record: version: wanted "],
    [{ ...measurement, run: "c" }, "the record that began its run is missing"],
    [{ ...measurement, kind: "guess" }, "Cannot read the record: kind: "],
    [{ ...measurement, measurement: { ...MEASUREMENT, cellsPerSecond: -1 } }, "measurement.cellsPerSecond: "],
    [
      { ...measurement, measurement: { ...MEASUREMENT, cellsPerSecond: 0 } },
      "wanted a rate above 0, found 0",
    ],
    [
      { ...measurement, measurement: { ...MEASUREMENT, cellsPerSecond: 5e-324 } },
      "wanted 0 or a number >= 1e-30",
    ],
    [JSON.parse('{"kind":"run","__proto__":{"x":1}}'), "wanted no key named __proto__"],
    [null, "Cannot read the record: "],
  ];
  for (const [record, reason] of cases) {
    const { records, damaged } = parseJournal(join([LINES[0]!, line(record), LINES[1]!]));
    assertEquals(records.length, 2);
    assertEquals(damaged.map((d) => d.line), [2]);
    assert(damaged[0]!.reason.includes(reason), damaged[0]!.reason);
  }
});

Deno.test("journal never crashes on bytes that are none", () => {
  const property = fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
    const { records } = parseJournal(bytes);
    assertEquals(records, []);
  });
  fc.assert(property, { seed: 6, numRuns: 500 });
});

Deno.test("journal on disk holds every record when its append resolves", () =>
  withFile(async (path) => {
    const now = () => new Date(AT);
    const journal = await Journal.open(path, HEADER, now);
    await Promise.all([
      journal.record(EVALUATION),
      journal.record({ configuration: ENTRY.configuration, failure: FAILURE }),
      journal.record(EVALUATION),
    ]);
    const content = await readJournal(path);
    const kinds = content.records.map(({ kind }) => kind);
    assertEquals(kinds, ["run", "measurement", "failure", "measurement"]);
    assertEquals(content.records[2], {
      kind: "failure",
      run: journal.run,
      at: AT,
      configuration: ENTRY.configuration,
      failure: FAILURE,
    });
    assertEquals(content.damaged, []);
    assertEquals((await Deno.readTextFile(path)).split("\n").length, 5, "a line a record");
    journal.close();
    journal.close();
  }));

Deno.test("a later run goes on in the same journal, whatever its last line looks like", () =>
  withFile(async (path) => {
    const whole = join(LINES.slice(0, 3));
    const second = LINES[0]!.length + LINES[1]!.length;
    for (const length of [0, LINES[0]!.length - 1, second - 1, second, second + 9, whole.length]) {
      await Deno.writeFile(path, whole.subarray(0, length));
      const before = parseJournal(whole.subarray(0, length)).records;
      const journal = await Journal.open(path, HEADER);
      await journal.record(EVALUATION);
      journal.close();
      const { records, damaged, torn } = await readJournal(path);
      assertEquals(records.slice(0, -2), before, `cut at ${length}`);
      assertEquals(records.slice(-2).map(({ run }) => run), [journal.run, journal.run]);
      assertEquals([damaged, torn], [[], false], `cut at ${length}`);
    }
  }));

Deno.test("two runs at once on one journal lose nothing, also beside one that was killed while it wrote", () =>
  withFile(async (path) => {
    const journals = await Promise.all([1, 2, 3].map(() => Journal.open(path, HEADER)));
    const each = async (journal: Journal): Promise<void> => {
      for (let i = 0; i < 20; i++) await journal.record(EVALUATION);
    };
    const opens = Promise.all(Array.from({ length: 5 }, () => Journal.open(path, HEADER)));
    await Promise.all([...journals.map(each), opens]);
    await Deno.writeTextFile(path, '{"crc32":"0123', { append: true });
    await journals[0]!.record(EVALUATION);
    [...journals, ...await opens].forEach((journal) => journal.close());
    const { records, damaged, torn } = await readJournal(path);
    assertEquals([records.length, torn], [3 * 20 + 3 + 5 + 1, false]);
    // the half of a line that the killed one left
    assertEquals(damaged.map(({ line }) => line), [3 * 20 + 3 + 5 + 1]);
  }));

Deno.test("a torn line longer than a block is removed, what is no line of ours stays as a damaged one", () =>
  withFile(async (path) => {
    const lines = Array.from({ length: 60 }, () => LINES).flat();
    for (const [start, left] of [['{"crc32":"', 0], ["my notes", 1]] as const) {
      const tail = start + "x".repeat(200_000);
      await Deno.writeFile(path, join([...lines, new TextEncoder().encode(tail)]));
      (await Journal.open(path, HEADER)).close();
      const { records, damaged } = await readJournal(path);
      assertEquals([records.length, damaged.length], [lines.length + 1, left]);
      assertEquals((await Deno.readTextFile(path)).includes(tail), left === 1);
    }
  }));

Deno.test("a file that is no journal is refused and left as it is", () =>
  withFile(async (path) => {
    const text = new TextEncoder();
    const files: Record<string, Uint8Array> = {
      gzip: Uint8Array.from(gzipSync(join(LINES))),
      zeros: new Uint8Array(22_000),
      "random bytes": Uint8Array.from({ length: 22_000 }, (_, i) => Math.imul(i, 2654435761) >>> 13),
      "a single cut-off line": LINES[0]!.subarray(0, 60),
      "no line end at all": text.encode("x".repeat(22_000)),
      "a text": text.encode("my\nnotes\n"),
      "JSON Lines of another program": text.encode('{"a":1}\n{"a":2}\n'),
      "a checksum that differs": text.encode(formatLine(RECORDS[0]!).replace("facet", "other")),
    };
    for (const [what, bytes] of Object.entries(files)) {
      await Deno.writeFile(path, bytes);
      const attempts = [() => checkJournal(path), () =>
        Journal.open(path, HEADER), () =>
        appendRecords(path, RECORDS)];
      for (const attempt of attempts) {
        const { message } = await assertRejects(
          attempt,
          ProfileError,
          "wanted a journal, found a file that is none",
        );
        assert(message.startsWith(`Cannot write ${path}: `) && !message.includes("\n"), what);
        assertEquals(await Deno.readFile(path), bytes, what);
      }
    }
    await assertRejects(
      () =>
        checkJournal("/tmp"),
      ProfileError,
      "it is not a regular file",
    );
    await checkJournal(`${path}.none`);
    // whose first line is damaged, but others are not; lines with the ends of Windows
    const crlf = text.encode(RECORDS.map(formatLine).join("").replaceAll("\n", "\r\n"));
    for (const bytes of [join([LINES[0]!.subarray(1), ...LINES.slice(1)]), crlf]) {
      await Deno.writeFile(path, bytes);
      const { records } = parseJournal(bytes);
      (await Journal.open(path, HEADER)).close();
      assertEquals((await readJournal(path)).records.length, records.length + 1);
      assert(records.length >= 2);
    }
  }));

Deno.test("what could not be read back is not written", () =>
  withFile(async (path) => {
    const journal = await Journal.open(path, HEADER);
    const measurement = { ...MEASUREMENT, cellsPerSecond: NaN };
    const { configuration } = ENTRY;
    await assertRejects(() => journal.record({ configuration, measurement }), ProfileError, "cellsPerSecond");
    await journal.record({ configuration, failure: { reason: "compile", message: "e".repeat(1e5) } });
    journal.close();
    const { records, damaged } = await readJournal(path);
    assertEquals([records.map(({ kind }) => kind), damaged], [["run", "failure"], []]);
  }));

Deno.test("an unwritable journal is one line, one that is not there is empty", async () => {
  const error = await assertRejects(() => Journal.open("/no/such/journal", HEADER), ProfileError);
  assertEquals(error.message, "Cannot write /no/such/journal: No such file or directory");
  assertEquals(await readJournal("/no/such/journal"), { records: [], damaged: [], torn: false });
  assertEquals(journalPath("profiles/x.json"), "profiles/x.json.journal.jsonl");
});
