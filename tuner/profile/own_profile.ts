import { remembered } from "../../kernels/remembered.ts";
import { cpuDescriptionOf } from "../devices/device.ts";
import { cpuName, environmentOf, isPage, mayRead } from "../platform.ts";
import type { AdapterIdentity } from "./match_device.ts";
import { devicesOf, isSameDevice } from "./merge.ts";
import { ProfileError } from "./profile_error.ts";
import { isSameProblem } from "./profile_problem.ts";
import type { Profile, ProfileEntry } from "./profile_types.ts";

/** What a device is called in a profile. */
interface Named {
  readonly gpu:
    | Pick<AdapterIdentity, "vendor" | "device" | "description">
    | null;
  readonly cpu: { readonly model: string };
}

/** A file name for a device's profile, of small letters, digits and dashes, without an ending. */
export function profileName({ gpu, cpu }: Named): string {
  const title = gpu === null ? cpu.model : gpu.description || `${gpu.vendor} ${gpu.device}`;
  const safe = title.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-")
    .slice(0, 80);
  const name = safe.replace(/^-+|-+$/g, "");
  // Windows keeps a few names to itself
  return name === "" ? "device" : /^(con|prn|aux|nul|com\d|lpt\d)$/.test(name) ? `${name}-device` : name;
}

/** The folder of profiles where nothing else is said. It alone is made where it is missing. */
export const PROFILES = "profiles";

/** Where `tune` writes without `--out`: `profiles/<device>.json`. */
export function defaultProfilePath(device: Named): string {
  return `${PROFILES}/${profileName(device)}.json`;
}

/** Facet's own folder, in which its tasks run; not in words that bundlers look for. */
const ROOT = "../../", FACET = new URL(ROOT, import.meta.url);

/** Profiles by the path of their file, as it was read last: the choices of a profile are kept with it. */
const known = new Map<
  string,
  { readonly text: string; readonly profile: Profile }
>();

/**
 * The profiles that `tune` wrote of a GPU, or of the CPU, on this machine: the file that the environment variable
 * FACET_PROFILE names, else `profiles/<device>.json` in the folder where the program runs, and then what that one of
 * Facet's own folder has of other problems. None in pages, and where Deno may not read them; `note` then says which flags
 * permit it.
 *
 * @param facet Facet's own folder
 * @throws {ProfileError} if FACET_PROFILE names no file, or the file is no valid profile
 */
export async function ownProfiles(
  gpu: Named["gpu"],
  facet = FACET,
): Promise<{ readonly profiles: readonly Profile[]; readonly note?: string }> {
  if (isPage()) return { profiles: [] };
  const named = environmentOf("FACET_PROFILE");
  if (named) {
    const profile = await readKnown(named);
    if (profile !== undefined) return { profiles: [profile] };
    throw new ProfileError(`Cannot read ${named}, which FACET_PROFILE names: there is no such file`);
  }
  const path = defaultProfilePath({ gpu, cpu: cpuDescriptionOf() });
  const places = [path, ...facet.protocol === "file:" ? [new URL(path, facet)] : []];
  const found = await Promise.all(places.filter(mayRead).map(readKnown));
  const [first, second] = found.filter((profile) => profile !== undefined);
  if (first !== undefined) {
    const others = second === undefined || second === first ? [] : unheldBy(first)(second);
    return { profiles: [first, ...others] };
  }
  const flags = [
    ...(mayRead(path) ? [] : [`--allow-read=${PROFILES}`]),
    // a CPU's profile has its name
    ...(gpu === null && cpuName() === "" ? ["--allow-sys=cpus"] : []),
  ];
  return {
    profiles: [],
    ...(flags.length > 0 && { note: `no profile was found: Deno looks for it with ${flags.join(" ")}` }),
  };
}

/** What another profile has that this one has not: choices are kept with profiles, so it is the same object each time. */
const unheldBy = remembered((own: Profile) =>
  remembered((other: Profile): Profile[] =>
    devicesOf(other).map((its) => {
      const held = devicesOf(own).filter(({ device }) => isSameDevice(device, its.device));
      const isHeld = ({ problem }: ProfileEntry): boolean =>
        held.some(({ entries }) => entries.some((entry) => isSameProblem(entry.problem, problem)));
      return { ...its, entries: its.entries.filter((entry) => !isHeld(entry)) };
    })
  )
);

async function readKnown(path: string | URL): Promise<Profile | undefined> {
  // pages, which have no file, do not load what checks one
  const { readFileIfThere } = await import("./read_profile.ts"),
    { parseProfile } = await import("./schema.ts");
  const text = await readFileIfThere(path);
  if (text === undefined) return undefined;
  // the program may run in Facet's folder
  const before = [...known.values()].find((one) => one.text === text);
  const profile = before?.profile ?? parseProfile(text, `${path}`);
  known.set(`${path}`, { text, profile });
  return profile;
}
