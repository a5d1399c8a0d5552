import { formatInterval, formatPlural, formatRate } from "../format.ts";
import { gpuName } from "../devices/vendors.ts";
import { appendRecords, journalPath } from "../profile/journal.ts";
import { describeProfileProblem } from "../profile/describe.ts";
import { type Conflict, devicesOf, mergeProfiles } from "../profile/merge.ts";
import type { Profile } from "../profile/profile_types.ts";
import { checkFileWritable, readProfile, writeProfile } from "../profile/store.ts";
import { RequestError } from "../problem/request_error.ts";
import { COMMON, file, type Options, readText } from "./options.ts";
import { command } from "./parse_options.ts";
import { readProfileJournal } from "./read_inputs.ts";
import { print, say } from "./terminal.ts";

export const OPTIONS = {
  from: {
    value: "FILE",
    help: "a profile to merge; a name without an option is one, too",
    read: readText,
    repeatable: true,
    isBare: true,
  },
  out: { ...file("the profile to write; its journal goes beside it"), required: "the profile to write" },
  json: COMMON.json,
} as const satisfies Options;

export const run = command({
  usage: "deno task merge FILE FILE … --out FILE [--json]",
  about:
    "Makes one profile of several, of other machines or other problems. Where two have the same problem on " +
    "the same device, the newer entry counts; where they disagree, it is said.",
  options: OPTIONS,
}, async ({ from, out, json }) => {
  if (from.length < 2) {
    throw new RequestError(`Cannot merge: wanted at least two profiles: found ${from.join() || "none"}`);
  }
  await checkFileWritable(out);
  const profiles: Profile[] = [];
  for (const path of from) profiles.push(await readProfile(path));
  const conflicts: Conflict[] = [];
  const merged = profiles.reduce((all, one) =>
    mergeProfiles(all, one, (conflict) => conflicts.push(conflict))
  );
  if (await Deno.stat(out).then(() => true, () => false)) {
    throw new RequestError(`Cannot merge into ${out}: it exists: name it first and write to another file`);
  }
  for (const path of from) {
    const { records, warnings } = await readProfileJournal(path, undefined);
    for (const warning of warnings) say(`facet: ${warning}`);
    if (records.length > 0) await appendRecords(journalPath(out), records);
  }
  await writeProfile(out, merged);
  const devices = devicesOf(merged);
  const words = conflicts.map(({ kept, replaced }) =>
    `${describeProfileProblem(kept.problem)}: ${rate(kept)} replaces ${rate(replaced)}`
  );
  print(
    json
      ? { out, devices: devices.length, entries: devices.flatMap(({ entries }) => entries).length, conflicts }
      : [
        `Wrote ${out}: ${formatPlural(devices.length, "device")}`,
        ...devices.map(({ device: { gpu, cpu }, entries }) =>
          `  ${gpu === null ? cpu.model : gpuName(gpu)}: ${formatPlural(entries.length, "problem")}`
        ),
        ...(words.length === 0
          ? []
          : ["Measured twice, and not the same; the newer counts:", ...words.map((line) => `  ${line}`)]),
      ],
  );
});

function rate({ result: { cellsPerSecond, confidence95 } }: Conflict["kept"]): string {
  return `${formatRate(cellsPerSecond)}${formatInterval(confidence95)}`;
}
