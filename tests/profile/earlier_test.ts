/**
 * Files of earlier versions, as `fixtures/earlier/` keeps them: they are read whatever becomes of the other fixtures.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { entryRecords } from "../../tuner/profile/entry_records.ts";
import { readJournal } from "../../tuner/profile/journal.ts";
import { problemOf } from "../../tuner/profile/profile_problem.ts";
import { readProfile } from "../../tuner/profile/read_profile.ts";
import { readReplaySpaces } from "../../tuner/replay/read_replay_space.ts";
import { replayCandidates } from "../../tuner/replay/replay_candidates.ts";

const FOLDER = "fixtures/earlier";

Deno.test("a profile and a journal of an earlier version are read whole, and belong together", async () => {
  const profile = await readProfile(`${FOLDER}/profile.json`);
  const { records, damaged, torn } = await readJournal(`${FOLDER}/profile.json.journal.jsonl`);
  assertEquals([records.length, damaged, torn], [40, [], false]);
  assertEquals(profile.entries.map(({ problem }) => problem.stencil), ["life", "elastic", "heat", "heat"]);
  const [entry] = profile.entries;
  assertEquals([entry!.configuration.traversal, entry!.result.samples.length > 2], ["diamond-torre", true]);
  for (const { problem } of profile.entries) assert(problemOf(problem) !== undefined, problem.stencil);
  const { measured, failed } = entryRecords(profile, entry!, records);
  assert(measured.length + failed.length > 30, `${measured.length}, ${failed.length}`);
});

Deno.test("a journal of an earlier version is replayed", async () => {
  const { spaces: [space], notes } = await readReplaySpaces(`${FOLDER}/profile.json.journal.jsonl`);
  assertEquals(notes, []);
  const candidates = replayCandidates(space!);
  assertEquals(candidates.length, space!.configurations.length);
  assert(candidates.length > 35 && candidates.length < 40, `${candidates.length}`);
  assert(candidates.every(({ predicted }) => predicted! > 0));
});
