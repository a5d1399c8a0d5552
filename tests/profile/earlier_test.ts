/**
 * Files of earlier versions, as `fixtures/earlier/` keeps them: they are read whatever becomes of the other fixtures.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import { traversalNamed, TRAVERSALS } from "../../kernels/traversals/all.ts";
import { costsOf, FORMER_TRAVERSALS, recordedCosts } from "../../tuner/profile/former_files.ts";
import { entryRecords } from "../../tuner/profile/entry_records.ts";
import { readJournal } from "../../tuner/profile/journal.ts";
import { configurationIn } from "../../tuner/profile/journal_format.ts";
import type { ProfileRated } from "../../tuner/profile/profile_types.ts";
import { oddValue } from "../../tuner/profile/prediction.ts";
import { problemOf } from "../../tuner/profile/profile_problem.ts";
import { readProfile } from "../../tuner/profile/read_profile.ts";
import { readReplaySpaces } from "../../tuner/replay/read_replay_space.ts";
import { replayCandidates } from "../../tuner/replay/replay_space.ts";

const FOLDER = "fixtures/earlier";

Deno.test("a profile and a journal of an earlier version are read whole, and belong together", async () => {
  const profile = await readProfile(`${FOLDER}/profile.json`);
  const { records, damaged, torn } = await readJournal(`${FOLDER}/profile.json.journal.jsonl`);
  assertEquals([records.length, damaged, torn], [40, [], false]);
  assertEquals(profile.entries.map(({ problem }) => problem.stencil), ["life", "elastic", "heat", "heat"]);
  const [entry] = profile.entries;
  assertEquals([entry!.configuration.traversal, entry!.result.samples.length > 2], ["diamond-torre", true]);
  // elastic waves without metres and seconds are gone
  const known = profile.entries.filter(({ problem }) => problemOf(problem) !== undefined);
  assertEquals(known.map(({ problem }) => problem.stencil), ["life", "heat", "heat"]);
  const { measured, failed } = entryRecords(profile, entry!, records);
  assert(measured.length + failed.length > 30, `${measured.length}, ${failed.length}`);
});

Deno.test("what was one parameter in earlier versions is read as today's, a word or number each", async () => {
  /** What a journal's torres name, in the file and as it is read. */
  const read = async (file: string, name: string, names: readonly string[]) => {
    const text = await Deno.readTextFile(file), { records } = await readJournal(file);
    const torres = records.filter((record) => record.kind !== "run").map(configurationIn)
      .filter(({ traversal }) => traversal === "diamond-torre");
    return {
      former: [...text.matchAll(RegExp(`"${name}":(\\d+)`, "g"))].map(([, value]) => Number(value)),
      today: torres.map(({ parameters }) => names.map((one) => parameters[one])),
    };
  };
  const forms = await read("fixtures/h100/maxwell_pml.json.journal.jsonl", "materials", ["packed", "held"]);
  assertEquals(forms.today, forms.former.map((value) => [0, value]));
  assertEquals(new Set(forms.former).size, 2);
  const words = new Map([[0, "when needed"], [1, "1 chunk ahead"], [2, "2 chunks ahead"], [
    99,
    "tier start",
  ]]);
  const loads = await read(`${FOLDER}/profile.json.journal.jsonl`, "lookahead", ["rest", "loads"]);
  assertEquals(loads.today, loads.former.map((value) => [0, words.get(value)]));
  assertEquals(new Set(loads.former).size, words.size);

  const axes = traversalNamed("diamond-torre").axes!;
  for (const [materials, packed, held] of [[0, 0, 0], [1, 0, 1], [2, 1, 0], [3, 1, 1]] as const) {
    for (
      const [lookahead, rest, loads] of [[1, 0, "1 chunk ahead"], [100, 0, "tier ahead"], [
        101,
        1,
        "tier start",
      ]] as const
    ) {
      const today = { dts: 2, packed, held, rest, loads };
      assertEquals(axes.parameters({ dts: 2, lookahead, materials }), today);
      assertEquals(axes.parameters(today as never), today);
      assertEquals(axes.coordinates(today), { dts: 2, lookahead, materials });
    }
  }
  // what no version had to try is refused by its words
  const odd = axes.parameters({ dts: 2, lookahead: 7 });
  assertStringIncludes(
    oddValue(traversalNamed("diamond-torre"), {
      stencil: wave(2),
      grid: [64, 64, 64],
      boundary: "zero",
      steps: 8,
    }, odd)!,
    "loads must be one of when needed, 1 chunk ahead, 2 chunks ahead, tier start, tier ahead: found 7 chunks ahead",
  );

  // a profile, wherever it names parameters
  const profile = JSON.parse(await Deno.readTextFile(`${FOLDER}/profile.json`));
  const [{ configuration, tieSet }] = profile.entries;
  for (const one of [configuration, ...tieSet.map((tie: ProfileRated) => tie.configuration)]) {
    Object.assign(one.parameters, { lookahead: 101, materials: 3 });
  }
  profile.entries[0].calibration = [{ ...configuration, share: undefined, cellsPerSecond: 1e9 }];
  const [entry] = (await readProfile(JSON.stringify(profile))).entries;
  const { calibration } = entry!;
  for (const { parameters } of [entry!.configuration, entry!.tieSet[0]!.configuration, calibration![0]!]) {
    const { lookahead, materials, rest, loads, packed, held } = parameters;
    assertEquals([lookahead, materials, rest, loads, packed, held], [
      undefined,
      undefined,
      1,
      "tier start",
      1,
      1,
    ]);
  }
});

Deno.test("a journal of an earlier version is replayed", async () => {
  const { spaces: [space], notes } = await readReplaySpaces(`${FOLDER}/profile.json.journal.jsonl`);
  assertEquals(notes, []);
  const candidates = replayCandidates(space!);
  assertEquals(candidates.length, space!.configurations.length);
  assert(candidates.length > 35 && candidates.length < 40, `${candidates.length}`);
  assert(candidates.every(({ predicted }) => predicted! > 0));
});

Deno.test("a cost model of an earlier version had a wait of three parts, and a cache", () => {
  const cost = { a: 1, b: 2 };
  const gpu = { updateNs: 1, stepNs: 2, passNs: 3, byteNs: 4 };
  const today = { cpu: { updateNs: 1, stepNs: 5 }, gpu, unpack: cost, pack: cost };
  const costs = { ...today, schedule: { waitNs: 3, starvation: 0.5 } };
  assertEquals(costsOf(recordedCosts(costs), 66), costs);
  const recorded = {
    ...today,
    cpu: { ...today.cpu, missNs: 2, cachedCells: 33 },
    schedule: { submitNs: 100, timerNs: 20, waitNs: 3, contention: 7, starvation: 0.5 },
  };
  assertEquals(costsOf(recorded, 66), {
    ...today,
    cpu: { updateNs: 1 + 2 * 0.5, stepNs: 5 },
    schedule: { waitNs: 123, starvation: 0.5 },
  });
  // what fits the cache misses nothing
  assertEquals(costsOf(recorded, 33).cpu, today.cpu);
});

Deno.test("no traversal of today is a former one, and files may lack what came later", () => {
  assertEquals(TRAVERSALS.filter(({ name }) => FORMER_TRAVERSALS.includes(name)), []);
  const later = TRAVERSALS.flatMap(({ name, parameters }) =>
    Object.entries(parameters).flatMap(([parameter, [, , facts]]) =>
      facts?.isLater ? [`${name} ${parameter}`] : []
    )
  );
  const ofTorres = ["bands", "rest", "packed", "held"].map((name) => `diamond-torre ${name}`);
  const ofMarches = ["zPerThread", "tile", "ahead", "depth", "exchange"].map((name) => `marching ${name}`);
  assertEquals(later, [...ofMarches, ...ofTorres, "volume-torre packed"]);
});
