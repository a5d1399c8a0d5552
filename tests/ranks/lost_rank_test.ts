import { assert, assertEquals, assertMatch } from "@std/assert";
import { mpirun, testUnderMpi } from "./mpirun.ts";

const HAS_ADAPTER = await navigator.gpu?.requestAdapter() != null;

testUnderMpi("a rank whose GPU is lost says so and ends the others", async (launcher) => {
  const program = ["run", "-A", "tests/ranks/lost_rank.ts"];
  const { code, stderr } = await mpirun(launcher, 2, program);
  // MPICH's mpirun has a code of its own if it hears of one process before the other
  if (launcher.name === "mpirun.openmpi") assertEquals(code, 3);
  assert(code !== 0);
  const lines = stderr.match(/^facet: .*$/gm) ?? [];
  assertEquals(lines.length, 1, stderr);
  assertMatch(lines[0]!, /^facet: rank 1: .*lost/);
}, { ignore: !HAS_ADAPTER });
