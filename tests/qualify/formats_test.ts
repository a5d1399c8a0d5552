import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { DOMParser } from "linkedom";
import { qualificationRecord, renderQualification } from "../../tuner/cli/qualify.ts";
import type { Profile } from "../../tuner/profile/schema.ts";
import { qualifyOn } from "../../tuner/qualify/qualify.ts";
import { escapeMarkdown, escapeXml, junitOf, markdownOf } from "../../tuner/qualify/formats.ts";
import type { Behaviour } from "../measuring/fake_runner.ts";
import { inTurn, SimulatedSession } from "../devices/simulated_session.ts";
import { entryOf, profileOf, slowedBy } from "./sample_entries.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";

const NOW = "2026-11-21T10:00:00Z";

/** Texts of any UTF-16 units, halves of pairs and control characters too. */
const TEXTS = fc.array(fc.oneof(fc.nat(0x7f), fc.nat(0xffff))).map((units) => String.fromCharCode(...units));

/** One entry of each kind: pass, slower, wrong, failed, not run, not comparable. */
async function everyVerdict() {
  const lost: Behaviour = { fails: { at: "run", with: new RunFailure("device-lost", "gone <&> away") } };
  const behaviours = [{}, slowedBy(3), { verification: { maxError: 1 } }, lost, {}, slowedBy(3)];
  const session = new SimulatedSession({ behave: inTurn(...behaviours) });
  const onCpu = entryOf({ share: { cpuSlices: 100, gpuSlices: 0, cpuWorkers: 2 } });
  const unknown = entryOf({ problem: { stencil: "navier" } });
  const entries = [entryOf(), entryOf(), entryOf(), entryOf(), unknown, onCpu];
  const profile = profileOf(entries);
  const other: Profile = { ...profile, device: { ...profile.device, cpu: { model: "Old | CPU", cores: 1 } } };
  return await qualifyOn(session, other);
}

// deno-lint-ignore no-explicit-any -- linkedom's types name the browser's, which are not here
function parse(xml: string): any {
  return new DOMParser().parseFromString(xml, "text/xml");
}

Deno.test("JUnit: a case for each entry, with the fate that a CI system shows", async () => {
  const qualification = await everyVerdict();
  assertEquals(
    qualification.results.map(({ verdict }) => verdict),
    ["pass", "slower", "wrong", "failed", "not run", "not comparable"],
  );
  const xml = junitOf(qualification, NOW);
  const suite = parse(xml).querySelector("testsuite");
  const totals = ["tests", "failures", "errors", "timestamp"].map((name) => suite.getAttribute(name));
  assertEquals(totals, ["6", "4", "1", NOW]);
  const cases = [...suite.querySelectorAll("testcase")];
  const fates = cases.map((one) =>
    ["failure", "error"].filter((name) => one.querySelector(name) !== null).join()
  );
  assertEquals(fates, ["", "failure", "failure", "error", "failure", "failure"]);
  assertEquals(cases[0].getAttribute("classname"), "facet.wave");
  assertEquals(cases[0].getAttribute("name"), "wave, order 2, grid 100x100x10, zero boundary, 10 steps");
  for (const one of cases.slice(0, 3)) assertStringIncludes(one.textContent, "stepwise threadsZ=64");
  assertStringIncludes(cases[1].querySelector("failure").getAttribute("message"), "slower by 67%");
  assertStringIncludes(
    xml,
    "measured 0.333 Gcells/s (95% between 0.333 Gcells/s and 0.333 Gcells/s), the best",
  );
  assertStringIncludes(xml, "gone &#60;&#38;&#62; away");
});

Deno.test("JUnit and Markdown are green only where the exit code is 0, and name a tolerance only where one applied", async () => {
  const passing = await qualifyOn(new SimulatedSession(), profileOf([entryOf()]));
  const numerics = await qualifyOn(new SimulatedSession(), profileOf([entryOf()]), { numericsOnly: true });
  const stopped = await qualifyOn(new SimulatedSession(), profileOf([entryOf()]), {
    signal: AbortSignal.abort(),
  });
  const [unknown] = (await everyVerdict()).results.filter(({ verdict }) => verdict === "not run");
  const open = { ...numerics, answer: "unanswered", results: [...numerics.results, unknown!] } as const;
  for (
    const [qualification, isGood] of [[passing, true], [numerics, true], [stopped, false], [
      open,
      false,
    ]] as const
  ) {
    const xml = junitOf(qualification, NOW), markdown = markdownOf(qualification);
    assertEquals([qualification.answer === "yes", /<(failure|error) /.test(xml)], [isGood, !isGood]);
    assertEquals(markdown.split("\n")[0]!.slice(3, 4), isGood ? "✅" : "❌");
    const tolerant = [xml.includes("tolerance"), markdown.includes("Tolerance")];
    assertEquals(tolerant, Array(2).fill(qualification === passing));
    assertEquals(
      renderQualification(qualification).join("\n").includes("tolerance"),
      qualification === passing,
    );
  }
});

Deno.test("JUnit: whatever a profile's texts hold, the document stays one", () => {
  // deno-lint-ignore no-control-regex -- these are what is meant
  const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff<>"']|&(?!#\d+;)/;
  fc.assert(fc.property(TEXTS, (text) => {
    const escaped = escapeXml(text);
    assert(!forbidden.test(escaped) && escaped.isWellFormed(), JSON.stringify(escaped));
  }));
  // the characters that XML has a place for come back from their references
  const back = escapeXml("\"]]><x a='&\n").replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
  assertEquals(back, "\"]]><x a='&\n");
});

Deno.test("Markdown: the answer, a row for each entry, and what lies behind each that is no pass", async () => {
  const lines = markdownOf(await everyVerdict()).split("\n");
  assertEquals(
    lines[0],
    "## ❌ Not qualified: 1 pass, 1 slower, 1 wrong, 1 failed, 1 not run, 1 not comparable",
  );
  const rows = lines.filter((line) =>
    line.startsWith("| ") && !line.startsWith("| |") && !line.includes("---")
  );
  assertEquals(rows.map((row) => row.split(" ")[1]).join(""), "✅❌❌❌❌❌");
  // every row has the same cells, whatever the texts hold
  assertEquals(new Set(rows.map((row) => row.replaceAll("\\|", "").split("|").length)), new Set([8]));
  assertEquals(lines.filter((line) => line.startsWith("**")).length, 5);
  assert(lines.some((line) => line.startsWith("**slower by 67%**: wave, order 2")));
  assert(lines.includes("- device-lost: gone &lt;&amp;&gt; away"));
  assert(lines.some((line) => line.includes("Old \\| CPU")));
});

Deno.test("Markdown: texts cannot make markup, tables or mentions", () => {
  fc.assert(fc.property(TEXTS, (text) => {
    const escaped = escapeMarkdown(text);
    assert(!/[\n\r<>]|(?<!\\)(?:\\\\)*[|`*_[\]]|@(?!\u200b)/.test(escaped), JSON.stringify(escaped));
  }));
});

Deno.test("the text and the record tell the same", async () => {
  const qualification = await everyVerdict();
  const text = renderQualification(qualification).join("\n");
  for (
    const part of [
      "recorded on Test GPU 80GB, Old | CPU (1 core), linux x86_64",
      "slower by 67%: wave, order 2, grid 100x100x10, zero boundary, 10 steps\n  stepwise threadsZ=64",
      "recorded 1.00 Gcells/s (95% between 0.980 Gcells/s and 1.02 Gcells/s)",
      "passes from 0.882 Gcells/s; measured up to 0.333 Gcells/s",
      "not comparable: wave",
      "another CPU: was Old | CPU, is Test CPU",
      'this Facet has no stencil "navier"',
      "incorrect: differs from gpu stepwise 64x4x1 by 1.00, rounding explains 0.00000100",
    ]
  ) assertStringIncludes(text, part);
  const record = JSON.parse(JSON.stringify(qualificationRecord(qualification, "p.json")));
  assertEquals([record.profile, record.answer, record.tolerance], ["p.json", "no", 0.1]);
  assertEquals(record.results[1].recorded, { cellsPerSecond: 1e9, confidence95: [0.98e9, 1.02e9] });
  assertEquals(record.results.map(({ verdict }: { verdict: string }) => verdict), [
    ...qualification.results.map(({ verdict }) => verdict),
  ]);
});
