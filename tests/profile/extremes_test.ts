import { assertEquals, assertThrows } from "@std/assert";
import { reportError } from "../../tuner/cli/report_error.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import { problemOf } from "../../tuner/profile/profile_problem.ts";
import { parseProfile } from "../../tuner/profile/schema.ts";
import { escapeMarkdown, escapeXml } from "../../tuner/qualify/formats.ts";
import { escapeHtml } from "../../tuner/report/html.ts";
import { ENTRY, PROBLEM, PROFILE } from "./sample_profile.ts";

Deno.test("rates that no report can draw are refused", () => {
  const parse = (result: object) =>
    parseProfile(
      JSON.stringify({ ...PROFILE, entries: [{ ...ENTRY, result: { ...ENTRY.result, ...result } }] }),
      "p",
    );
  for (const result of [{ samples: [1e-300] }, { samples: Array(2e6).fill(1) }, { roofFraction: 1.7e308 }]) {
    assertThrows(() => parse(result), ProfileError, "wanted");
  }
});

Deno.test("a problem with sources of an equation that declares none is unknown, and is not run", () => {
  assertEquals(problemOf({ ...PROBLEM, survey: { sources: 1, receivers: 0 } }), undefined);
  assertEquals(problemOf({ ...PROBLEM, survey: { sources: 0, receivers: 1 } })?.survey?.receivers, 1);
});

Deno.test("control and bidirectional characters of names reach no report, Markdown or JUnit", () => {
  for (const escape of [escapeHtml, escapeMarkdown, escapeXml]) {
    assertEquals(escape("a\u0007b\u202ec\u009b"), "a\ufffdb\ufffdc\ufffd");
  }
});

Deno.test("a file system that becomes read-only is a disk that failed", () => {
  const cause = Object.assign(new Error("Read-only file system (os error 30)"), { code: "EROFS" });
  assertEquals(reportError(new ProfileError("Cannot write p", { cause })).exitCode, 3);
});
