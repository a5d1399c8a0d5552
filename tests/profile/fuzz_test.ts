import { THOROUGH } from "../thorough.ts";
/**
 * The readers of profiles and journals on files that are wrong: every one is refused in one line, nothing crashes,
 * and nothing wrong is taken for right.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Measurement } from "../../tuner/configuration.ts";
import { formatLine, type JournalRecord, parseJournal } from "../../tuner/profile/journal_format.ts";
import { formatProfile } from "../../tuner/profile/format_profile.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { parseProfile, type Profile } from "../../tuner/profile/schema.ts";
import { DEVICE, ENTRY, PROBLEM, PROFILE } from "./sample_profile.ts";

/** Random changes that are tried. */
const RUNS = THOROUGH ? 3000 : 600;

const AT = "2026-11-21T10:00:00.000Z";

const MEASUREMENT: Measurement = {
  configuration: ENTRY.configuration,
  cellsPerSecond: 770e9,
  confidence95: [760e9, 780e9],
  samples: [770e9, 760e9, 780e9],
  spread: 0.026,
  verification: ENTRY.verification,
  compileNs: 1e9,
};

const RUN: JournalRecord = {
  kind: "run",
  version: 1,
  run: "a",
  startedAt: AT,
  tool: { name: "facet", version: "0.1.0" },
  device: DEVICE,
  problem: PROBLEM,
  kernelSource: "cpu=1",
  driver: "lib.so 1",
};

const RECORDS: readonly JournalRecord[] = [
  RUN,
  { kind: "measurement", run: "a", at: AT, measurement: MEASUREMENT },
  {
    kind: "failure",
    run: "a",
    at: AT,
    configuration: ENTRY.configuration,
    failure: { reason: "compile", message: "no" },
  },
];

/** Reads a profile; what is wrong has to be an error of one line. */
function readProfile(text: string): Profile | undefined {
  try {
    return parseProfile(text, "p.json");
  } catch (error) {
    assert(error instanceof ProfileError, `${error}`);
    assert(!error.message.includes("\n") && error.message.length < 500, error.message);
    return undefined;
  }
}

Deno.test("a bit of a profile's file that flips is noticed, or changes nothing", () => {
  const bytes = new TextEncoder().encode(formatProfile(PROFILE)), places = 8 * bytes.length;
  let refused = 0;
  for (let i = 0; i < RUNS; i++) {
    const bit = THOROUGH ? i % places : (i * 7919) % places;
    const flipped = bytes.slice();
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    const profile = readProfile(new TextDecoder().decode(flipped));
    if (profile === undefined) refused++;
    else assertEquals(profile, PROFILE, `bit ${bit}`);
  }
  assert(refused > 0.9 * RUNS, `${refused}`);
});

/** Reads a journal that begins with a right run; whether the record is among its records. */
function isRecord(text: string): boolean {
  const line = text.includes("\n") ? text : `${text}\n`;
  const { records, damaged } = parseJournal(
    new TextEncoder().encode(formatLine(RUN) + line + formatLine(RUN)),
  );
  assertEquals(records.length + damaged.length, 3);
  for (const { reason } of damaged) assert(!reason.includes("\n") && reason.length < 500, reason);
  return damaged.length === 0;
}

/** The line of what may be no record at all. */
const lineOf = (data: unknown): string => formatLine(data as JournalRecord);

type Path = readonly (string | number)[];

/** Paths to every value of a record. */
function pathsOf(data: unknown, path: Path = []): Path[] {
  if (typeof data !== "object" || data === null) return [path];
  const keys = Array.isArray(data) ? data.map((_, i) => i) : Object.keys(data);
  const inner = keys.flatMap((key) =>
    pathsOf((data as Record<string | number, unknown>)[key], [...path, key])
  );
  return path.length === 0 ? inner : [path, ...inner];
}

/** A copy with a change to the object that holds the path's value. */
function changed(
  data: unknown,
  path: Path,
  change: (holder: Record<string | number, unknown>) => void,
): unknown {
  const copy = structuredClone(data);
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], copy);
  change(holder as Record<string | number, unknown>);
  return copy;
}

const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "list" : typeof value;

const at = (data: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], data);

/** Both readers, on a right record and what makes a file of one. */
const READERS = [
  { records: [PROFILE], accepts: (data: unknown) => readProfile(JSON.stringify(data)) !== undefined },
  { records: RECORDS, accepts: (data: unknown) => isRecord(lineOf(data)) },
] as const;

/** Calls a test with every value of every record of both readers. */
function forEveryValue(
  test: (data: unknown, path: Path, accepts: (data: unknown) => boolean) => void,
): void {
  for (const { records, accepts } of READERS) {
    for (const record of records) {
      const data = JSON.parse(JSON.stringify(record));
      assert(accepts(data), "the right record is refused");
      for (const path of pathsOf(data)) test(data, path, accepts);
    }
  }
}

const nameOf = (path: Path): string => path.join(".");

Deno.test("a value of another type is refused, wherever it is", () => {
  const strangers = [true, "text", 1.5, [], {}, [[]], [null], { deep: {} }];
  let refused = 0;
  forEveryValue((data, path, accepts) => {
    const right = at(data, path);
    for (const strange of strangers) {
      // a number may stand where nobody knew one
      if (kindOf(strange) === kindOf(right) || (right === null && kindOf(strange) === "number")) continue;
      const wrong = changed(data, path, (holder) => holder[path.at(-1)!] = strange);
      assert(
        !accepts(wrong),
        `${nameOf(path)}: ${JSON.stringify(strange)} instead of ${JSON.stringify(right)}`,
      );
      refused++;
    }
  });
  assert(refused > 500, `${refused} refused`);
});

/** What may be null, or missing: nobody knows, or there is none. */
const NULLABLE =
  /^(entries\.0\.result\.(roofFraction|speedupOverStepwise)|(device\.)gpu|device\.measured\..*|.*measuredNs|.*confidence95)$/;
const OPTIONAL =
  /(^|\.)(costModel|driver|share\.cpu|features\.\d+|samples\.\d+|balance\.\d+|tieSet\.\d+|parameters\.\w+|failed\.[\w-]+|curve\.\d+|entries\.0|together\.\d+|cpu\.\d+|gpu\.\d+)$/;

Deno.test("nothing in the place of a value, and no value, are refused where there has to be one", () => {
  let refused = 0;
  forEveryValue((data, path, accepts) => {
    const key = path.at(-1)!;
    if (!NULLABLE.test(nameOf(path))) {
      assert(!accepts(changed(data, path, (holder) => holder[key] = null)), `${nameOf(path)}: null`);
      refused++;
    }
    if (!OPTIONAL.test(nameOf(path)) && typeof key === "string") {
      assert(!accepts(changed(data, path, (holder) => delete holder[key])), `${nameOf(path)}: missing`);
      refused++;
    }
  });
  assert(refused > 150, `${refused} refused`);
});

Deno.test("a number beyond all numbers, below the least, or no number is refused", () => {
  for (const [index, text] of [PROFILE, ...RECORDS].map((record) => JSON.stringify(record)).entries()) {
    const numbers = [...text.matchAll(/(?<=[:[,])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=[,\]}])/g)];
    assert(numbers.length > 0 || index > 0);
    for (const { index: start, 0: number } of numbers) {
      for (const wrong of ["1e999", "-1e999", "-1", "NaN", "Infinity", "0x10", "01"]) {
        const changed = text.slice(0, start) + wrong + text.slice(start + number.length);
        const isParameter = /"parameters":\{[^}]*$/.test(text.slice(0, start));
        const isResidual = /"residuals":\{[^}]*$/.test(text.slice(0, start));
        const isSeed = text.slice(0, start).endsWith('"seed":');
        if (wrong === "-1" && (isParameter || isResidual || isSeed)) continue;
        const isAccepted = index === 0 ? readProfile(changed) !== undefined : isRecord(lineOfText(changed));
        assert(!isAccepted, `${wrong} at ${changed.slice(Math.max(0, start - 40), start + 20)}`);
      }
    }
  }
});

/** The line of a text, which need not be JSON. */
function lineOfText(json: string): string {
  const marker = "put the record here";
  const line = formatLine(marker as unknown as JournalRecord);
  const { crc32 } = checksums;
  return line.replace(/"crc32":"[0-9a-f]{8}"/, `"crc32":"${crc32(json)}"`).replace(`"${marker}"`, () => json);
}

const { crc32: crc } = await import("node:zlib");
const checksums = { crc32: (text: string): string => crc(text).toString(16).padStart(8, "0") };

Deno.test("a key too many is refused, above all one that would reach a prototype", () => {
  let refused = 0;
  forEveryValue((data, path, accepts) => {
    for (const key of ["extra", "__proto__", "constructor", "prototype", "toString", "hasOwnProperty"]) {
      const wrong = changed(data, path, (holder) => {
        if (Array.isArray(holder)) return;
        Object.defineProperty(holder, key, { value: { polluted: 1 }, enumerable: true, configurable: true });
      });
      if (Array.isArray(at(data, path.slice(0, -1)))) continue;
      assert(!accepts(wrong), `${nameOf(path)}: ${key}`);
      refused++;
    }
  });
  assert(refused > 500, `${refused} refused`);
  assertEquals((({}) as Record<string, unknown>).polluted, undefined);
});

Deno.test("a profile cut anywhere is refused; one with other bytes is refused, or says what they say", () => {
  const text = JSON.stringify(PROFILE, null, 2);
  for (let length = 0; length < text.length; length += THOROUGH ? 7 : 61) {
    assertEquals(readProfile(text.slice(0, length)), undefined, `cut at ${length}`);
  }
  let accepted = 0, refused = 0;
  const property = fc.property(
    fc.nat(text.length - 1),
    fc.integer({ min: 1, max: 3 }),
    fc.string({ unit: "binary", minLength: 0, maxLength: 3 }),
    (at, length, put) => {
      const mutated = text.slice(0, at) + put + text.slice(at + length);
      const profile = readProfile(mutated);
      if (profile === undefined) return void refused++;
      accepted++;
      assertEquals(profile, JSON.parse(mutated)); // nothing dropped, nothing changed
    },
  );
  fc.assert(property, { seed: 3, numRuns: RUNS });
  assert(refused > RUNS / 2 && accepted > RUNS / 300, `${refused} refused, ${accepted} accepted`);
});

Deno.test("what is endless, deep or no text is refused in time", () => {
  for (const depth of [40, 1e5, ...(THOROUGH ? [3e6] : [])]) {
    const deep = "[".repeat(depth) + "]".repeat(depth);
    assertEquals(readProfile(deep), undefined);
    assertEquals(readProfile(`{"schemaVersion":1,"entries":${deep}}`), undefined);
    assert(!isRecord(lineOfText(deep)));
    assert(!isRecord(lineOfText(`{"kind":"run","run":${deep}}`)));
  }
  assert(!isRecord("x".repeat(1e6)));
  assert(!isRecord(lineOf({ ...RUN, kernelSource: "x".repeat(1e6) })));
  assert(!isRecord(lineOf({ ...RUN, run: "" })));
  for (const wrong of ["", "null", "[]", "1", '"text"', "\u0000", "{}"]) {
    assertEquals(readProfile(wrong), undefined);
    assert(!isRecord(lineOfText(wrong)));
  }
  const bytes = fc.property(fc.uint8Array({ maxLength: 400 }), (data) => {
    assertEquals(readProfile(new TextDecoder().decode(data)), undefined);
  });
  fc.assert(bytes, { seed: 4, numRuns: RUNS / 6 });
});
