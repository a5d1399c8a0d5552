import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { formatProfile } from "../../tuner/profile/format_profile.ts";
import { readProfile } from "../../tuner/profile/read_profile.ts";
import { PROFILE } from "./sample_profile.ts";

Deno.test("a profile is read from a text, a path and a URL", async () => {
  assertEquals(await readProfile(`\n ${JSON.stringify(PROFILE)}`), PROFILE);
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "a {b} #1.json");
    await Deno.writeTextFile(path, JSON.stringify(PROFILE));
    assertEquals(await readProfile(path), PROFILE);
    const url = new URL(`file://${path.replaceAll("#", "%23").replaceAll(" ", "%20")}`);
    assertEquals(await readProfile(url), PROFILE);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  const data = new URL(`data:application/json,${encodeURIComponent(JSON.stringify(PROFILE))}`);
  assertEquals(await readProfile(data), PROFILE);
});

Deno.test("a file without a checksum and a date in the future are said; what a checksum is not of is refused", async () => {
  const remarksOf = async (source: string | object): Promise<string[]> => {
    const remarks: string[] = [];
    const profile = await readProfile(source, { onRemark: (text) => remarks.push(text) });
    assertEquals({ ...profile, createdAt: PROFILE.createdAt }, PROFILE);
    return remarks;
  };
  const text = formatProfile(PROFILE), data = JSON.parse(text);
  for (const right of [text, data, JSON.stringify(data)]) assertEquals(await remarksOf(right), []);
  const [bare, ...others] = await remarksOf(JSON.stringify(PROFILE));
  assertStringIncludes(bare!, "the profile has no checksum");
  assertEquals(others, []);
  const [late] = await remarksOf(formatProfile({ ...PROFILE, createdAt: "2999-01-01T00:00:00Z" }));
  assertStringIncludes(late!, "the profile is dated 2999-01-01T00:00:00Z, in the future: a clock was wrong");
  const [edited] = await remarksOf(JSON.stringify({ ...data, createdAt: "2026-11-21T10:00:00Z" }));
  assertStringIncludes(edited!, "the profile was changed by another program");
  const byHand = text.replace(PROFILE.createdAt, "2026-11-21T10:00:00Z");
  for (
    const wrong of [byHand, { ...data, createdAt: "2026-11-21T10:00:00Z" }, {
      ...data,
      checksum: "0".repeat(16),
    }]
  ) {
    const error = await assertRejects(() => readProfile(wrong), ProfileError);
    assertStringIncludes(error.message, "its checksum is not that of its content: it was damaged, or edited");
  }
});

Deno.test("what is no profile is one line: what could not be read, what was wanted, what was found", async () => {
  const messageOf = async (source: string | URL): Promise<string> => {
    const { message } = await assertRejects(() => readProfile(source), ProfileError);
    assertEquals(message.split("\n").length, 1);
    return message;
  };
  assertEquals(await messageOf("nowhere.json"), "Cannot read nowhere.json: there is no such file");
  assertStringIncludes(await messageOf("."), "Cannot read .: ");
  assertStringIncludes(await messageOf("{"), "Cannot read the profile: it is not JSON");
  assertStringIncludes(await messageOf('{"schemaVersion":7}'), "version 7: this Facet reads version 1");
  assertStringIncludes(await messageOf("{}"), "wanted a text, found nothing");
  assertEquals(await messageOf("tests"), "Cannot read tests: it is a folder");
  const data = new URL("data:application/json,[]");
  assertStringIncludes(await messageOf(data), "wanted an object, found a list of 0");
  assertStringIncludes(await messageOf(new URL("unknown:nothing")), "Cannot read unknown:nothing: ");
});

Deno.test("a page without files reads texts, and says so of paths", async () => {
  const runtime = globalThis as { process?: unknown };
  const { process } = runtime;
  try {
    delete runtime.process;
    assertEquals(await readProfile(JSON.stringify(PROFILE)), PROFILE);
    const error = await readProfile("a.json").catch((error: Error) => error);
    assertStringIncludes(`${error}`, "files cannot be read here: wanted the JSON text or a URL");
  } finally {
    runtime.process = process;
  }
});
