import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import type { RecordedConfiguration } from "../../tuner/replay/replay_space.ts";
import {
  checkSpace,
  packSpace,
  readSpaceFile,
  readText,
  type SpaceHeader,
} from "../../tuner/replay/space_file.ts";
import { PROFILE } from "../profile/sample_profile.ts";

const HEADER: SpaceHeader = JSON.parse(JSON.stringify({
  tool: { name: "facet", version: "0.1.0" },
  recordedAt: "2026-11-21T10:00:00Z",
  device: PROFILE.device,
  problem: PROFILE.entries[0].problem,
  kernelSource: "abc",
  space: { candidates: 10, limit: null, seed: 1 },
}));

const configuration = fc.record({
  traversal: fc.constantFrom("stepwise", "marching"),
  n: fc.nat(1000),
  rate: fc.option(fc.integer({ min: 1, max: 99999 }), { nil: undefined }),
  compileMs: fc.option(fc.integer({ min: 0, max: 999 }), { nil: undefined }),
}).map(({ traversal, n, rate, compileMs }): RecordedConfiguration => ({
  traversal,
  parameters: { n },
  rate: rate === undefined ? undefined : rate * 1e7,
  ...(rate === undefined ? { failure: "timeout" } : { interval95: [rate * 1e7, rate * 1e7] as const }),
  ...(compileMs === undefined ? {} : { compileNs: compileMs * 1e6 }),
}));

const configurations = fc.uniqueArray(configuration, {
  minLength: 1,
  maxLength: 30,
  selector: ({ traversal, parameters: { n } }) => `${traversal} ${n}`,
});

/** What a file's JSON says. */
function unpack(bytes: Uint8Array): Record<string, unknown> {
  return JSON.parse(new TextDecoder().decode(gunzipSync(bytes)));
}

Deno.test("what is packed is read back, to the digits that are kept", () => {
  fc.assert(fc.property(configurations, (list) => {
    const { header, configurations: found } = checkSpace(
      unpack(packSpace({ header: HEADER, configurations: list })),
      "a",
    );
    assertEquals(header, HEADER);
    const order = ({ traversal, parameters: { n } }: RecordedConfiguration): string => `${traversal} ${n}`;
    const sorted = (all: readonly RecordedConfiguration[]) =>
      [...all].sort((a, b) => order(a) < order(b) ? -1 : 1);
    assertEquals(sorted(found), sorted(list));
  }));
});

Deno.test("rates keep five digits, times three", () => {
  const one = { traversal: "stepwise", parameters: { n: 1 }, rate: 123456789, compileNs: 1234567 };
  const bytes = packSpace({ header: HEADER, configurations: [one] });
  const [{ rate, compileNs }] = checkSpace(unpack(bytes), "a").configurations;
  assertEquals([rate, compileNs], [123460000, 1230000]);
});

Deno.test("a file that is not whole, or contradicts itself, is refused in one line", () => {
  const list = [1, 2].map((n): RecordedConfiguration => ({
    traversal: "stepwise",
    parameters: { n },
    rate: n,
  }));
  const record = () =>
    unpack(packSpace({ header: HEADER, configurations: list })) as {
      [name: string]: unknown;
      traversals: { [name: string]: unknown[] }[];
    };
  const cases: [string, (file: ReturnType<typeof record>) => void][] = [
    ["version: wanted 1, found 2", (file) => file.version = 2],
    ["traversals: wanted a list", (file) => delete (file as Record<string, unknown>).traversals],
    ['as many entries as "failure" has, 2', (file) => file.traversals[0].low.pop()],
    ["either a rate or a failure", (file) => file.traversals[0].failure[0] = "timeout"],
    ["wanted a rate above 0, found -1", (file) => file.traversals[0].cellsPerSecond[0] = -1],
    ["wanted nothing of this name", (file) => file.surplus = 1],
    ["stands there twice", (file) => (file.traversals[0].parameters as unknown as { n: number[] }).n[1] = 1],
    ["a failure's reason", (file) => file.traversals[0].failure[0] = "__proto__"],
  ];
  for (const [message, damage] of cases) {
    const file = record();
    damage(file);
    const error = assertThrows(() => checkSpace(file, "a.json.gz"), ProfileError, message);
    assert(
      error.message.startsWith("Cannot read a.json.gz: ") && !error.message.includes("\n"),
      error.message,
    );
  }
  const polluted = JSON.parse(JSON.stringify(record()).replace('"n":', '"__proto__":'));
  assertThrows(() => checkSpace(polluted, "a"), ProfileError);
});

Deno.test("a damaged file ends in one line, wherever the damage is", async () => {
  const path = await Deno.makeTempFile();
  try {
    const bytes = packSpace({
      header: HEADER,
      configurations: [{ traversal: "a", parameters: { n: 1 }, rate: 1 }],
    });
    for (const cut of [1, 10, bytes.length >> 1, bytes.length - 1]) {
      await Deno.writeFile(path, bytes.subarray(0, cut));
      await assertRejects(() => readSpaceFile(path), ProfileError, `Cannot read ${path}`);
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const damaged = bytes.slice();
        damaged[at] ^= flip;
        await Deno.writeFile(path, damaged);
        // gzip's header has bytes that nobody reads: then the content must be the same
        const content = await readSpaceFile(path).catch((error) => {
          if (!(error instanceof ProfileError)) throw error;
          return undefined;
        });
        if (content !== undefined) assertEquals(content.configurations[0].rate, 1);
      }),
      { numRuns: 60 },
    );
    await assertRejects(() => readText(`${path}.missing`), ProfileError, "there is no such file");
  } finally {
    await Deno.remove(path);
  }
});
