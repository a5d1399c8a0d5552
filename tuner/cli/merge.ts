import { formatMeasured, formatPlural } from "../format.ts";
import { appendRecords, journalPath } from "../profile/journal.ts";
import { describeProfileProblem } from "../profile/describe.ts";
import { type Conflict, devicesOf, mergeProfiles } from "../profile/merge.ts";
import type { Profile } from "../profile/profile_types.ts";
import { deviceTitle } from "../report/device_card.ts";
import { checkFileWritable, writeProfile } from "../profile/store.ts";
import { refuserOf, RequestError } from "../problem/request_error.ts";
import { COMMON, type Options, profileInput, profileOutput } from "./options.ts";
import { command } from "./parse_options.ts";
import { readProfileJournal, readProfileSaying } from "./read_inputs.ts";
import { print, say } from "./terminal.ts";

export const OPTIONS = {
  from: {
    ...profileInput("a profile to merge; so is every name without an option"),
    repeatable: true,
    isBare: true,
  },
  out: {
    ...profileOutput("the profile to write; its journal goes beside it"),
    required: "the profile to write",
  },
  json: COMMON.json,
} as const satisfies Options;

export const run = command({
  usage: "deno task merge FILE FILE … --out FILE [--json]",
  about: `Merges profiles of several machines or problems into one.
Of two entries for the same problem and device, the newer profile's counts; rates that disagree are listed.`,
  options: OPTIONS,
}, async ({ from, out, json }) => {
  if (from.length < 2) refuserOf("merge")("wanted at least two different profiles", from.join() || "none");
  await checkFileWritable(out);
  const profiles: Profile[] = [];
  for (const path of from) profiles.push(await readProfileSaying(path));
  const conflicts: Conflict[] = [];
  const merged = profiles.reduce((all, profile) =>
    mergeProfiles(all, profile, (conflict) => conflicts.push(conflict))
  );
  if (await Deno.stat(out).then(() => true, () => false)) {
    throw new RequestError(`Cannot write ${out}: it exists: name another file`);
  }
  for (const path of from) {
    const { records, warnings } = await readProfileJournal(path, undefined);
    for (const warning of warnings) say(`facet: ${warning}`);
    if (records.length > 0) await appendRecords(journalPath(out), records);
  }
  await writeProfile(out, merged);
  const devices = devicesOf(merged);
  const words = conflicts.map(({ kept, replaced }) => {
    const [by, before] = [kept, replaced].map(({ result }) => formatMeasured(result));
    return `${describeProfileProblem(kept.problem)}: ${by} replaces ${before}`;
  });
  print(
    json
      ? { out, devices: devices.length, entries: devices.flatMap(({ entries }) => entries).length, conflicts }
      : [
        `Wrote ${out}: ${formatPlural(devices.length, "device")}`,
        ...devices.map(({ device, entries }) =>
          `  ${deviceTitle(device, entries)}: ${formatPlural(entries.length, "problem")}`
        ),
        ...(words.length === 0 ? [] : [
          "Measured twice with different rates; the newer profile counts:",
          ...words.map((line) => `  ${line}`),
        ]),
      ],
  );
});
