import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { assertRefused } from "../cli/run_task.ts";
import { waiting } from "../../tuner/ranks/mpi_world.ts";
import { RankError } from "../../tuner/devices/world.ts";
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

testUnderMpi("a rank that is stopped ends all after a limit, and itself", async (launcher) => {
  const { code, stdout, stderr } = await mpirun(launcher, 2, ["run", "-A", "tests/ranks/late_rank.ts"]);
  if (launcher.name === "mpirun.openmpi") assertEquals(code, 3);
  assert(code !== 0);
  assertMatch(stderr, /^facet: rank 0: Cannot go on: this rank has waited for rank 1 for \d+ s$/m);
  const pids = stdout.match(/^\d+$/gm)!;
  assertEquals(pids.length, 2, stdout);
  // of one that ended and that nobody has asked after, no command is left
  const isThere = (pid: string) =>
    Deno.readTextFile(`/proc/${pid}/cmdline`).then((text) => text !== "", () => false);
  for (const pid of pids) while (await isThere(pid));
});

Deno.test("a wait of 30 s is said once, and one beyond the limit ends", () => {
  const said: string[] = [], patience = { onLate: (text: string) => void said.push(text), limitMs: Infinity };
  const wait = waiting(patience, [3, undefined, 1, 3], 1000);
  for (const ms of [1000, 30_999]) wait(ms);
  assertEquals(said, []);
  for (const ms of [31_000, 31_001, 90_000]) wait(ms);
  assertEquals(said, ["has waited for rank 1, 3 for 30 s: busy, stopped or unreachable"]);
  patience.limitMs = 60_000;
  assertThrows(() => wait(61_000), RankError, "this rank has waited for rank 1, 3 for 60 s");
  assertThrows(() => waiting(patience, [undefined], 0)(60_000), RankError, "for other ranks");
});

Deno.test("what mpirun says of ranks must be numbers that can be", async () => {
  const cases = [
    [
      { OMPI_COMM_WORLD_SIZE: "abc" },
      "OMPI_COMM_WORLD_SIZE, which mpirun sets, must be a whole number from 1 up: found abc",
    ],
    [{ OMPI_COMM_WORLD_SIZE: "0" }, "from 1 up: found 0"],
    [{ OMPI_COMM_WORLD_SIZE: "1.5" }, "found 1.5"],
    [{ PMI_SIZE: "-1" }, "PMI_SIZE, which mpirun sets, must be a whole number from 1 up: found -1"],
    [{ PMI_SIZE: "" }, "found nothing"],
    [
      { OMPI_COMM_WORLD_SIZE: "2", OMPI_COMM_WORLD_RANK: "2" },
      "OMPI_COMM_WORLD_RANK, which mpirun sets, must be a whole number from 0 to 1: found 2",
    ],
    [
      { PMI_SIZE: "2", PMI_RANK: "x" },
      "PMI_RANK, which mpirun sets, must be a whole number from 0 to 1: found x",
    ],
  ] as const;
  for (const [env, message] of cases) {
    for (const [name, value] of Object.entries(env)) Deno.env.set(name, value);
    try {
      await assertRefused("solve", [[["--no-gpu"], message]]);
    } finally {
      for (const name of Object.keys(env)) Deno.env.delete(name);
    }
  }
});
