import { assert, assertEquals, assertThrows } from "@std/assert";
import { gunzipSync } from "node:zlib";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { readOldRecording } from "../../tuner/replay/old_recording.ts";
import { readReplaySpaces } from "../../tuner/replay/read_replay_space.ts";

const PATH = "fixtures/llvmpipe/wave_order_2.json.gz";

interface OldFile {
  [name: string]: unknown;
  version: number;
  traversals: { parameters: Record<string, unknown[]>; [column: string]: unknown }[];
}

function oldFile(): OldFile {
  return JSON.parse(new TextDecoder().decode(gunzipSync(Deno.readFileSync(PATH))));
}

Deno.test("a file that record wrote before it wrote journals is read: every configuration with its times", async () => {
  const { spaces: [space], notes } = await readReplaySpaces(PATH);
  const { traversals } = oldFile();
  assertEquals(notes, []);
  assert(space !== undefined && space.title.startsWith("wave"));
  const { configurations, facet } = space;
  assertEquals([configurations.length, facet?.problem.grid], [700, [48, 48, 64]]);
  assertEquals(configurations.filter(({ failure }) => failure === "timeout").length, 284);
  const { traversal, parameters, cellsPerSecond, compileMs, evaluationMs } = traversals[0] as unknown as {
    traversal: string;
    parameters: Record<string, number[]>;
    [column: string]: unknown;
  };
  assertEquals(configurations[0], {
    traversal,
    parameters: Object.fromEntries(Object.entries(parameters).map(([name, list]) => [name, list[0]!])),
    rate: (cellsPerSecond as number[])[0],
    compileNs: (compileMs as number[])[0]! * 1e6,
    evaluationNs: (evaluationMs as number[])[0]! * 1e6,
    failure: undefined,
  });
});

Deno.test("an old file that is damaged or contradicts itself is refused in one line", () => {
  const cases: [message: string, damage: (file: OldFile) => void][] = [
    ["version: wanted 1, found 2", (file) => file.version = 2],
    ["traversals: wanted a list", (file) => delete (file as Partial<OldFile>).traversals],
    ["wanted columns of equal length", (file) => (file.traversals[0]!.compileMs as unknown[]).pop()],
    [
      "wanted either a rate or a failure",
      (file) => (file.traversals[0]!.failure as unknown[])[0] = "timeout",
    ],
    ["a number >= 0, found -1", (file) => (file.traversals[0]!.cellsPerSecond as unknown[])[0] = -1],
    ["a configuration occurs twice", (file) => file.traversals.push(file.traversals[0]!)],
  ];
  for (const [message, damage] of cases) {
    const file = oldFile();
    damage(file);
    const error = assertThrows(
      () => readOldRecording(JSON.stringify(file), "a.json.gz"),
      ProfileError,
      message,
    );
    assert(error.message.startsWith("Cannot read a.json.gz: ") && !error.message.includes("\n"));
  }
  const text = JSON.stringify(oldFile());
  assertThrows(() => readOldRecording(text.slice(0, -9), "a"), ProfileError, "it is not JSON");
  const polluted = text.replace('"parameters":{', '"parameters":{"__proto__":[],');
  assertThrows(() => readOldRecording(polluted, "a"), ProfileError, "wanted no key named __proto__");
});
