import { pathToFileURL } from "node:url";
import { assertEquals, assertStrictEquals } from "@std/assert";
import { mergeProfiles } from "../../tuner/profile/merge.ts";
import { ownProfiles } from "../../tuner/profile/own_profile.ts";
import type { Profile } from "../../tuner/profile/profile_types.ts";
import { ENTRY, PROFILE } from "./sample_profile.ts";

const GPU = { vendor: "acme", device: "", description: "Own Profile" };

/** A profile of a device with this CPU: an entry for each number of steps. The seed tells two profiles apart. */
function profileOf(model: string, runs: readonly number[], seed: number): Profile {
  const device = { ...PROFILE.device, cpu: { ...PROFILE.device.cpu, model } };
  const entries = runs.map((steps) => ({
    ...ENTRY,
    problem: { ...ENTRY.problem, steps },
    search: { ...ENTRY.search, seed },
  }));
  return { ...PROFILE, device, entries };
}

Deno.test("Facet's own folder is asked for what the profile here does not hold of the same device", async () => {
  const here = await Deno.makeTempDir(), facet = await Deno.makeTempDir(), before = Deno.cwd();
  const write = (folder: string, profile: Profile): Promise<void> =>
    Deno.writeTextFile(`${folder}/profiles/own-profile.json`, JSON.stringify(profile));
  const found = async () => (await ownProfiles(GPU, pathToFileURL(`${facet}/`))).profiles;
  const runs = async () =>
    (await found()).map(({ entries }) => entries.map(({ problem, search }) => [problem.steps, search.seed]));
  try {
    for (const folder of [here, facet]) await Deno.mkdir(`${folder}/profiles`);
    Deno.chdir(here);
    assertEquals(await runs(), []);
    await write(facet, mergeProfiles(profileOf("a", [64, 128], 2), profileOf("b", [64], 2)));
    assertEquals(await runs(), [[[64, 2], [128, 2]]]);
    await write(here, profileOf("a", [64, 32], 1));
    assertEquals(await runs(), [[[64, 1], [32, 1]], [[128, 2]], [[64, 2]]]);
    // choices are kept with them
    for (const [i, profile] of (await found()).entries()) assertStrictEquals(profile, (await found())[i]);
    await write(facet, profileOf("a", [64, 32], 1));
    assertEquals(await runs(), [[[64, 1], [32, 1]]], "the same file");
  } finally {
    Deno.chdir(before);
    for (const folder of [here, facet]) await Deno.remove(folder, { recursive: true });
  }
});
