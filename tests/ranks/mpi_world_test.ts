import { assert, assertEquals, assertMatch } from "@std/assert";
import { THOROUGH } from "../thorough.ts";
import { mpirun, testUnderMpi } from "./mpirun.ts";

const PROGRAM = ["run", "--no-prompt", "--allow-ffi", "--allow-env", "tests/ranks/mpi_rank.ts"];

/** What rank `rank` of `size` should have found. */
function expected(rank: number, size: number): unknown {
  const left = (rank + size - 1) % size;
  return {
    rank,
    size,
    short: [left, left + 0.5, -left],
    long: true,
    own: 7,
    answer: rank === size - 1 ? 5 : 0,
    texts: Array.from({ length: size }, (_, one) => ({ rank: one, text: "é".repeat(one) })),
    most: [size - 1 + 0.1, 0],
    part: rank === size - 1
      ? undefined
      : [size - 1, (rank + size - 2) % (size - 1), size - 2, ...Array(size - 1).keys()],
    isEarly: false,
  };
}

for (const size of THOROUGH ? [2, 3, 4, 8] : [3]) {
  testUnderMpi(
    `${size} ranks send, receive, share and meet, and the event loop goes on`,
    async (launcher) => {
      const { code, stdout, stderr } = await mpirun(launcher, size, PROGRAM);
      assertEquals([code, stderr], [0, ""]);
      const found = stdout.trim().split("\n").map((line) => JSON.parse(line)).sort((a, b) => a.rank - b.rank);
      // -0 is 0 in JSON
      assertEquals(found, JSON.parse(JSON.stringify(found.map((_, rank) => expected(rank, size)))));
      assertEquals(found.length, size);
    },
  );
}

testUnderMpi("one rank ends all, with its exit code", async (launcher) => {
  const { code } = await mpirun(launcher, 2, [...PROGRAM, "abort"]);
  assertEquals(code, 3);
});

testUnderMpi("a message that fails says which one it is, and what MPI says of it", async (launcher) => {
  const { stderr } = await mpirun(launcher, 2, [...PROGRAM, "short"]);
  assertMatch(stderr, /^Cannot receive from rank 0: .*[Mm]essage truncated[^\n]*\n$/);
});

testUnderMpi(
  "a world with a message under way does not end, but says so and ends all ranks",
  async (launcher) => {
    const { code, stderr } = await mpirun(launcher, 2, [...PROGRAM, "left"]);
    assert(code !== 0);
    assertMatch(
      stderr,
      /Cannot end the world: 1 message under way, as after a run that failed: abort ends it/,
    );
  },
);

testUnderMpi("a library that is not there is one line that says what to do", async (launcher) => {
  const { code, stderr } = await mpirun(launcher, 1, PROGRAM, { FACET_MPI: "libnone.so" });
  assertEquals(code, 1);
  assertMatch(
    stderr,
    /Cannot open MPI's library: libnone\.so: [^\n]*apt-get install lib\w+, or name it in FACET_MPI/,
  );
});
