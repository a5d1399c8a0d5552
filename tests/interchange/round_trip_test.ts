import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { importFacetSpace, spaceOfEntry } from "../../tuner/interchange/facet_space.ts";
import { importForeignSpace } from "../../tuner/interchange/foreign_import.ts";
import { SPACE_FORMATS, writeSpace } from "../../tuner/interchange/read_space.ts";
import type { JsonObject, RecordedSpace, SpaceRecord } from "../../tuner/interchange/recorded_space.ts";
import { entryRecords } from "../../tuner/profile/entry_records.ts";
import { type JournalRecord, parseJournal } from "../../tuner/profile/journal_format.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { parseProfile, type Profile } from "../../tuner/profile/schema.ts";
import { arbitraryCache, arbitrarySpace, readWhole, written } from "./arbitrary_space.ts";

const TOOL = { name: "facet", version: "0.0.0" };
const AT = "2026-11-21T10:00:00.000Z";

const read = readWhole;

function fixture(name: string): { profile: Profile; records: readonly JournalRecord[] } {
  const profile = parseProfile(Deno.readTextFileSync(`fixtures/h100/${name}.json`), name);
  const { records } = parseJournal(Deno.readFileSync(`fixtures/h100/${name}.json.journal.jsonl`));
  return { profile, records };
}

Deno.test("T4 written and read again is the same space, and nothing is said to be lost", async () => {
  const property = fc.asyncProperty(arbitrarySpace("any-t4-metadata"), async (space) => {
    const { text, notCarried } = written(writeSpace(space, "t4"));
    const { space: again, notes } = await read(text);
    assertEquals(again, space);
    assertEquals([notCarried, notes], [[], []]);
  });
  await fc.assert(property, { seed: 1, numRuns: 300 });
});

Deno.test("a space is written while its records come: none waits for the others", () => {
  const { profile, records } = fixture("wave");
  const { space } = spaceOfEntry(
    profile,
    profile.entries[0]!,
    entryRecords(profile, profile.entries[0]!, records),
  );
  let taken = 0;
  const counted = {
    length: space.records.length,
    *[Symbol.iterator]() {
      for (const record of space.records) {
        taken++;
        yield record;
      }
    },
  };
  const pieces = writeSpace({ ...space, records: counted }, "t4");
  pieces.next();
  pieces.next();
  assertEquals(taken, 1);
});

Deno.test("a cache through T4 is the same cache", async () => {
  const property = fc.asyncProperty(arbitraryCache(), async (cache) => {
    const first = await read(JSON.stringify(cache));
    assertEquals(first.notes, []);
    const t4 = written(writeSpace(first.space, "t4"));
    const middle = await read(t4.text);
    const last = written(writeSpace(middle.space, "kernel-tuner"));
    assertEquals([t4.notCarried, middle.notes, last.notCarried], [[], [], []]);
    assertEquals(JSON.parse(last.text), cache);
    // Kernel Tuner takes a file for closed that ends so
    assert(/\}\n\}$/.test(last.text.trim()), "the end that Kernel Tuner looks for");
  });
  await fc.assert(property, { seed: 2, numRuns: 200 });
});

Deno.test("T4 through a cache loses only what the list says", async () => {
  const property = fc.asyncProperty(arbitrarySpace("t4"), async (space) => {
    const { text, notCarried } = written(writeSpace(space, "kernel-tuner"));
    const { space: again } = await read(text);
    const says = (word: string): boolean => notCarried.some((line) => line.includes(word));
    const last = new Map(space.records.map((record) => [JSON.stringify(record.values), record]));
    assertEquals(again.records.length, last.size);
    if (space.kernel === null) assert(says("kernel's name"));
    for (const record of again.records) {
      const original = last.get(JSON.stringify(record.values))!;
      const { failure, correctness } = original;
      if (record.failure !== failure) {
        assert(says(`the reason ${failure}`), `${failure} became ${record.failure}`);
      }
      if (correctness !== 1) assert(says("the correctness"));
      assertEquals([record.timeMs, record.timesMs, record.timestamp], [
        original.timeMs,
        original.timesMs,
        original.timestamp,
      ]);
      for (const { name, value, unit } of original.measurements) {
        const kept = record.measurements.find((measurement) => measurement.name === name);
        assertEquals(kept?.value, value);
        if (kept?.unit !== unit) assert(says(`of ${name}`));
      }
      if (Object.keys(original.overheadMs).length < 5) assert(says("some of their costs"));
    }
  });
  await fc.assert(property, { seed: 3, numRuns: 300 });
});

Deno.test("a profile and its journal through either format: the entry whole, every rate to the digit", async () => {
  for (const name of ["wave", "heat"]) {
    const { profile, records } = fixture(name);
    for (const entry of profile.entries) {
      const known = entryRecords(profile, entry, records);
      const { space } = spaceOfEntry(profile, entry, known);
      for (const format of SPACE_FORMATS) {
        const { text } = written(writeSpace(space, format));
        const found = await read(text);
        const imported = importFacetSpace(found.space, { source: "file", run: "r" });
        assertEquals(imported.profile, { ...profile, entries: [entry] });
        assertEquals([found.notes, imported.notCarried], [[], []]);
        const [, ...evaluations] = [...imported.journal];
        assertEquals(evaluations.length, known.measured.length + known.failed.length);
        known.measured.forEach(({ measurement, at }, i) => {
          const again = evaluations[i];
          assert(again!.kind === "measurement");
          assertEquals([again!.at, again!.measurement], [at, measurement]);
        });
      }
    }
  }
});

Deno.test("T4 through a profile is the same T4, but for what the list says", async () => {
  const { profile, records } = fixture("wave");
  const space = (of: Profile, journal: readonly JournalRecord[]): RecordedSpace =>
    spaceOfEntry(of, of.entries[0]!, entryRecords(of, of.entries[0]!, journal)).space;
  const { text: first } = written(writeSpace(space(profile, records), "t4"));
  const imported = importFacetSpace((await read(first)).space, { source: "t4", run: "r" });
  const journal = [...imported.journal];
  const { text: second } = written(writeSpace(space(imported.profile, journal), "t4"));
  assertEquals(second, first);
});

Deno.test("failures of all kinds come back with their reasons", async () => {
  const { profile } = fixture("wave");
  const [entry] = profile.entries;
  const reasons = ["compile", "limits", "incorrect", "timeout", "device-lost", "out-of-memory"] as const;
  const failed = reasons.map((reason, i) => ({
    configuration: { ...entry!.configuration, parameters: { dts: i } },
    failure: { reason, message: `why: "${reason}"\n` },
    at: AT,
  }));
  const records = { ...entryRecords(profile, entry!, []), failed };
  for (const format of SPACE_FORMATS) {
    const { text } = written(writeSpace(spaceOfEntry(profile, entry!, records).space, format));
    const { space } = await read(text);
    const { journal } = importFacetSpace(space, { source: "file", run: "r" });
    const again = [...journal].flatMap((record) =>
      record.kind === "failure"
        ? [{ configuration: record.configuration, failure: record.failure, at: record.at }]
        : []
    );
    assertEquals(again, failed);
  }
});

Deno.test("another tool's cache becomes a profile that says what it does not know", async () => {
  const property = fc.asyncProperty(arbitraryCache(), async (cache) => {
    const { space } = await read(JSON.stringify(cache));
    const timed = space.records.filter(({ timeMs }) => timeMs !== null);
    fc.pre(timed.length > 0);
    const { profile, journal, records, notCarried } = importForeignSpace(space, {
      source: "cache",
      run: "r",
      tool: TOOL,
      now: AT,
      kernel: "Kernel_1",
      device: "GPU",
      grid: [10, 20, 30],
    });
    const { result, problem, verification, configuration } = profile.entries[0]!;
    assertEquals([problem.stencil, problem.grid, configuration.share.gpuSlices], [
      "kernel-1",
      [10, 20, 30],
      10,
    ]);
    const rates = timed.map(({ timesMs }) => {
      const sorted = timesMs.toSorted((a, b) => b - a).map((time) => 6000 / time * 1e3);
      return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
    });
    const best = Math.max(...rates);
    assert(Math.abs(result.cellsPerSecond - best) <= 1e-9 * best);
    assertEquals(verification.against, "nothing by Facet: the file says that the result is correct");
    assertEquals([...journal].length, 1 + records);
    assertEquals(records, space.records.length);
    assert(notCarried.some((line) => line.includes("did not compare")));
    assert(notCarried.some((line) => line.includes("flag: 0 is true, 1 is false")));
    assert(notCarried.some((line) => line.includes("power")));
  });
  await fc.assert(property, { seed: 4, numRuns: 60 });
});

Deno.test("a file of Facet's that was changed is refused, or what is new in it is reported", () => {
  const { profile, records } = fixture("wave");
  const [entry] = profile.entries;
  const { space } = spaceOfEntry(profile, entry!, entryRecords(profile, entry!, records));
  const winner = space.records.findIndex(({ measurements }) =>
    measurements.some(({ name, value }) =>
      name === "cells_per_second" && value === entry!.result.cellsPerSecond
    )
  );
  const change = (
    at: number,
    changes: Partial<SpaceRecord>,
    edit = (own: string): string => own,
  ): RecordedSpace => ({
    ...space,
    records: space.records.map((record, i) =>
      i !== at ? record : {
        ...record,
        measurements: record.measurements.map((one) =>
          one.name === "facet_record" ? { ...one, value: edit(one.value as string) } : one
        ),
        ...changes,
      }
    ),
  });
  const refused = (changed: RecordedSpace): string =>
    assertThrows(() => importFacetSpace(changed, { source: "file", run: "r" }), ProfileError).message;
  assertStringIncludes(refused(change(0, { timeMs: 1 })), "record 1: wanted the values and the time");
  assertStringIncludes(
    refused(change(0, { measurements: [] })),
    "record 1: wanted the measurement facet_record",
  );
  const { values } = space.records[0]!;
  assertStringIncludes(refused(change(0, { values: values.with(1, -7) })), "record 1: wanted the values");
  const worse = (own: string): string => own.replace(/"maxError":[^,]+/, '"maxError":1');
  assertStringIncludes(refused(change(0, {}, worse)), "wanted a largest error within the bound");
  assertStringIncludes(refused(change(0, {}, (own) => own.slice(1))), "record 1: it is not JSON");
  const without = { ...space, records: space.records.filter((_, i) => i !== winner) };
  assertStringIncludes(
    refused(without),
    "wanted a record with the configuration and the rate of the facet block",
  );
  assertStringIncludes(
    refused({ ...space, facet: { ...space.facet as JsonObject, version: 1 } }),
    "version: wanted 2, found 1",
  );
  // a hundred times the rate, in everything that says so
  const loser = entryRecords(profile, entry!, records).measured[0]!;
  const { cellsPerSecond, confidence95 } = loser.measurement;
  const measurement = {
    ...loser.measurement,
    cellsPerSecond: 100 * cellsPerSecond,
    confidence95: [100 * confidence95[0], 100 * confidence95[1]] as const,
  };
  const faster = spaceOfEntry(profile, entry!, {
    ...entryRecords(profile, entry!, records),
    measured: entryRecords(profile, entry!, records).measured.with(0, { ...loser, measurement }),
  }).space;
  const { profile: kept, notCarried } = importFacetSpace(faster, { source: "file", run: "r" });
  assertEquals(kept.entries, [entry!]);
  assertStringIncludes(notCarried.join(), "1 record faster than the entry, which stays as it was");
});

Deno.test("of single samples the fastest is chosen: it has no interval, and nothing ties with it", async () => {
  const header = { device_name: "G", kernel_name: "k", problem_size: [10], tune_params_keys: ["x"] };
  const x = Array.from({ length: 2000 }, (_, i) => i + 1);
  const profileOf = async (fields: (i: number) => object) => {
    const cache = Object.fromEntries(x.map((i) => [`${i}`, { x: i, time: 1 + i / 1e4, ...fields(i) }]));
    const { space } = await read(JSON.stringify({ ...header, tune_params: { x }, cache }));
    const { profile: { entries: [entry] } } = importForeignSpace(space, {
      source: "f",
      run: "r",
      tool: TOOL,
      now: AT,
    });
    const { configuration, result: { samples, confidence95 }, tieSet } = entry!;
    return [configuration.parameters.x, samples.length, confidence95 !== null, tieSet.length];
  };
  assertEquals(await profileOf(() => ({})), [1, 1, false, 1]);
  const times = (i: number, step: number) => ({
    times: [0, 1, 2, 3].map((k) => (1 + i / 1e4) * (1 + k * step)),
  });
  assertEquals(await profileOf((i) => i < 3 ? times(i, -1e-3) : {}), [1, 4, true, 2]);
  assertEquals(await profileOf((i) => i > 1 ? times(i, 1e-3) : {}), [1, 1, false, 1]);
});
