import { assertEquals } from "@std/assert";
import { inDirectory } from "../cli/run_task.ts";
import { mpirun, testUnderMpi } from "./mpirun.ts";

testUnderMpi(
  "four ranks in rows along two axes see what a solver alone sees: materials, points, what was saved",
  (launcher) =>
    inDirectory(async (directory) => {
      const program = ["run", "-A", "--no-check", "tests/ranks/mpi_solver.ts"];
      const { code, stdout, stderr } = await mpirun(launcher, 4, [
        ...program,
        `${directory}/state`,
        "2x2x1,1x2x2",
      ]);
      assertEquals([code, stderr], [0, ""]);
      assertEquals(stdout.match(/^.*(?=: \d+ different values$)/gm), ["2x2x1", "1x2x2"]);
    }),
);
