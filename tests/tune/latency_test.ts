import { assertAlmostEquals, assertEquals } from "@std/assert";
import { Latency } from "../../tuner/tune/latency.ts";
import { measurementNamed } from "../measuring/fake_runner.ts";

Deno.test("evaluations side by side wait for each other's turns, but compile at the same time", () => {
  const latency = new Latency();
  assertEquals(latency.expectNs(15), 0);
  const measurement = { ...measurementNamed("a", 1e9), compileNs: 2e9 };
  latency.observe({
    evaluation: { configuration: measurement.configuration, measurement },
    evaluationNs: 2.5e9,
  });
  // the first of fifteen: what the others have not told yet makes it no longer
  assertEquals([1, 15].map((workers) => latency.expectNs(workers)), [2.5e9, 9.5e9]);
  const failure = { reason: "timeout", message: "" } as const;
  latency.observe({
    evaluation: { configuration: measurement.configuration, failure },
    evaluationNs: 1.5e9,
  });
  assertAlmostEquals(latency.expectNs(2), (2e9 + 2 * 2e9) / 2, 1);
});
