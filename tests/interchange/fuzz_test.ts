import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { gzipSync } from "node:zlib";
import { importFacetSpace, spaceOfEntry } from "../../tuner/interchange/facet_space.ts";
import { importForeignSpace } from "../../tuner/interchange/foreign_import.ts";
import { SPACE_FORMATS, writeSpace } from "../../tuner/interchange/read_space.ts";
import { entryRecords } from "../../tuner/profile/entry_records.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { parseProfile } from "../../tuner/profile/schema.ts";
import { THOROUGH } from "../thorough.ts";
import { arbitraryCache, readWhole, type WholeSpace, written } from "./arbitrary_space.ts";

const PROFILE = parseProfile(Deno.readTextFileSync("fixtures/h100/wave.json"), "wave.json");
const SPACE =
  spaceOfEntry(PROFILE, PROFILE.entries[0]!, entryRecords(PROFILE, PROFILE.entries[0]!, [])).space;
const FACET = SPACE_FORMATS.map((format) => written(writeSpace(SPACE, format)).text);

/** Files of both formats: Facet's own, and another tool's. */
const files = fc.oneof(
  fc.constantFrom(...FACET),
  arbitraryCache().map((cache) => JSON.stringify(cache)),
  fc.constantFrom(...await othersT4()),
);

/** A few T4 files that were caches of another tool. */
function othersT4(): Promise<string[]> {
  return Promise.all(
    fc.sample(arbitraryCache(), { seed: 6, numRuns: 8 }).map(async (cache) => {
      const { space } = await readWhole(JSON.stringify(cache));
      return (written(writeSpace(space, "t4"))).text;
    }),
  );
}

const OPTIONS = { source: "file", run: "r" };
const FOREIGN = {
  ...OPTIONS,
  tool: { name: "facet", version: "0" },
  now: "2026-11-21T10:00:00Z",
  grid: [8, 8, 8] as const,
};

/** Reads, converts and imports; whatever goes wrong has to be an error of one line. */
async function survive(bytes: Uint8Array): Promise<WholeSpace | undefined> {
  try {
    const { space } = await readWhole(bytes);
    checkSpace(space);
    for (const format of SPACE_FORMATS) written(writeSpace(space, format));
    if (space.facet === null) importForeignSpace(space, { ...FOREIGN, kernel: "k", device: "d" });
    else importFacetSpace(space, OPTIONS);
    return space;
  } catch (error) {
    assert(error instanceof ProfileError, `${error instanceof Error ? error.stack : error}`);
    assert(/^Cannot (read|import|write) /.test(error.message), error.message);
    assert(!error.message.includes("\n") && error.message.length < 600, error.message);
    return undefined;
  }
}

/** What is accepted is what the type says. */
function checkSpace({ parameters, records }: WholeSpace): void {
  for (const { values, timeMs, timesMs, failure, overheadMs, correctness } of records) {
    assertEquals(values.length, parameters.length);
    assert(timeMs === null || (Number.isFinite(timeMs) && timeMs > 0));
    assert(failure === null || timeMs === null, "a failure has no time");
    for (const number of [...timesMs, ...Object.values(overheadMs), correctness]) {
      assert(Number.isFinite(number) && number >= 0);
    }
    for (const value of values) {
      assert(value === null || ["number", "string", "boolean"].includes(typeof value));
    }
  }
  assertEquals(Object.getPrototypeOf({}), Object.prototype);
  assertEquals(({} as Record<string, unknown>).polluted, undefined);
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

Deno.test("a file with bytes changed, cut or doubled is read as what it says or refused in one line", async () => {
  let accepted = 0, refused = 0;
  const property = fc.asyncProperty(
    files,
    fc.nat(),
    fc.nat(),
    fc.constantFrom("cut", "flip", "double", "drop"),
    async (file, at, size, how) => {
      const bytes = encode(file);
      const start = at % bytes.length;
      const end = Math.min(bytes.length, start + 1 + size % 40);
      const parts = {
        cut: [bytes.subarray(0, start)],
        drop: [bytes.subarray(0, start), bytes.subarray(end)],
        double: [bytes.subarray(0, end), bytes.subarray(start)],
        flip: [bytes.subarray(0, start), Uint8Array.of(size % 256), bytes.subarray(start + 1)],
      }[how];
      const mutated = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
      let length = 0;
      for (const part of parts) {
        mutated.set(part, length);
        length += part.length;
      }
      if (await survive(mutated) === undefined) refused++;
      else accepted++;
    },
  );
  await fc.assert(property, { seed: 7, numRuns: THOROUGH ? 1500 : 150 });
  assert(accepted > 5 && refused > 50, `${accepted} accepted, ${refused} refused`);
});

Deno.test("a field of another type, a huge number or a key of the prototype is refused or carried, never a crash", async () => {
  const strange = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      "",
      "x".repeat(5000),
      1e308,
      -1,
      1.5,
      [],
      {},
      [[]],
      "__proto__",
      "NaN",
    ),
    fc.constantFrom('{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}').map((
      text,
    ) => JSON.parse(text)),
    fc.constant("1e999"),
    fc.constantFrom(40, 20000).map((depth) => ({ deep: depth })),
  );
  const property = fc.asyncProperty(
    files,
    fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
    strange,
    fc.boolean(),
    async (file, path, value, renames) => {
      const data = JSON.parse(file);
      let target = data;
      for (const step of path) {
        const keys = Object.keys(target);
        if (keys.length === 0) break;
        const key = keys[step % keys.length];
        const inner = target[key!];
        if (typeof inner !== "object" || inner === null || step % 5 === 0) {
          if (renames) {
            delete target[key!];
            Object.defineProperty(target, "__proto__", {
              value: inner,
              enumerable: true,
              configurable: true,
            });
          } else target[key!] = value;
          break;
        }
        target = inner;
      }
      const depth = typeof value === "object" && value !== null && "deep" in value ? value.deep as number : 0;
      const text = JSON.stringify(data)
        .replace('"1e999"', "1e999")
        .replace(/\{"deep":\d+\}/, "[".repeat(depth) + "]".repeat(depth));
      const space = await survive(encode(text));
      if (space !== undefined) {
        assert(
          !JSON.stringify(space).includes('"__proto__":'),
          "a key of the prototype was accepted",
        );
      }
    },
  );
  await fc.assert(property, { seed: 8, numRuns: THOROUGH ? 1500 : 150 });
});

Deno.test("gzip data that are damaged are refused", async () => {
  const packed = gzipSync(FACET[0]!);
  const property = fc.asyncProperty(
    fc.nat(packed.length - 1),
    fc.integer({ min: 1, max: 255 }),
    async (at, flip) => {
      const damaged = Uint8Array.from(packed);
      damaged[at]! ^= flip;
      await survive(damaged);
      await survive(packed.subarray(0, at));
    },
  );
  await fc.assert(property, { seed: 9, numRuns: THOROUGH ? 300 : 50 });
});

Deno.test("bytes that are none of all this are refused", async () => {
  const property = fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
    assertEquals(await survive(bytes), undefined);
  });
  await fc.assert(property, { seed: 10, numRuns: THOROUGH ? 500 : 100 });
  assertEquals(await survive(encode("[".repeat(1e6) + '"results":')), undefined);
  assertEquals(await survive(encode(`{"results":${"[".repeat(1e5)}${"]".repeat(1e5)}}`)), undefined);
});
