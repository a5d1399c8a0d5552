import type { FloatArray } from "../../kernels/precision.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import {
  checkCheckpoint,
  readCheckpoint,
  restoreCheckpoint,
  writeCheckpoint,
} from "../../tuner/ranks/checkpoint.ts";
import { crc32 } from "node:zlib";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { inDirectory } from "../cli/run_task.ts";
import { life } from "../../kernels/stencils/life.ts";
import { wholeNumberElastic } from "../kernels/whole_numbers.ts";
import { THOROUGH } from "../thorough.ts";
import { mpirun, solveFlags, testUnderMpi } from "./mpirun.ts";
import { gather, onRanks, type RankCase } from "./rank_case.ts";
import "../own_thread.ts";

const CASE: RankCase = {
  stencil: wholeNumberElastic(),
  grid: [6, 12, 13],
  boundary: ["zero", "periodic", "zero"],
  parts: [1, 2, 1],
  exchangeEvery: 1,
  runs: [2],
};
const START = { kind: "integers", seed: 5 } as const;

Deno.test("a run goes on from a checkpoint with another number of ranks, and ends with the same bits", () =>
  inDirectory(async (directory) => {
    const path = `${directory}/state`, cpuPool = await CpuPool.create({ workers: 1 });
    const device = { gpu: undefined, cpuPool };
    const read = (solvers: Parameters<typeof gather>[0]) =>
      Promise.all(["vx", "sxy"].map((name) => gather(solvers, name, 0)));
    const expected: FloatArray[] = [];
    await onRanks(CASE, device, async (solvers) => {
      const each = (work: (solver: typeof solvers[number]) => Promise<unknown>) =>
        Promise.all(solvers.map(work));
      await each((solver) => solver.initialise(START.kind, START.seed));
      await each((solver) => solver.run(1));
      await each((solver) => writeCheckpoint(solver, path, START));
      await each((solver) => solver.run(2));
      expected.push(...await read(solvers));
    });
    const problem: Problem = { ...CASE, steps: 3 }, from = await readCheckpoint(path, problem);
    assertEquals([from.step, from.start], [1, START]);
    const file = await Deno.readFile(path);
    // what a link names is replaced, not the link
    await Deno.writeTextFile(`${path}.again`, "");
    await Deno.symlink(`${path}.again`, `${path}.link`);
    // the second way keeps rows, the third parts of rows
    for (const parts of [[1, 1, 1], [1, 3, 1], [1, 1, 3]] as const) {
      await onRanks({ ...CASE, parts }, device, async (solvers) => {
        await Promise.all(solvers.map((solver) => restoreCheckpoint(solver, path, from)));
        // however the grid is cut, the file is the same
        await Promise.all(solvers.map((solver) => writeCheckpoint(solver, `${path}.link`, START)));
        assertEquals(await Deno.readFile(`${path}.again`), file);
        await Promise.all(solvers.map((solver) => solver.run(2)));
        assertEquals(await read(solvers), expected, `${parts}`);
      });
    }
    cpuPool.dispose();
    const refused = (path: string, of: Problem, message: string) =>
      assertRejects(() => readCheckpoint(path, of), RequestError, message);
    await refused(path, { ...problem, grid: [6, 12, 14] }, "wanted grid 6x12x14: found 6x12x13");
    await refused(path, { ...problem, stencil: life() }, "wanted stencil life: found elastic");
    await refused(`${path}.none`, problem, "found no such file");
    for (const text of ["no checkpoint", "null", "[]", "{}", ""]) {
      await Deno.writeTextFile(`${path}.text`, text);
      await refused(`${path}.text`, problem, "found another kind of file");
    }
    const bytes = file.slice(), header = new TextDecoder().decode(bytes.subarray(0, 4096));
    bytes.set(new TextEncoder().encode(header.replace('"step":1', '"step":-1').slice(0, 4096)));
    await Deno.writeFile(`${path}.step`, bytes);
    await refused(`${path}.step`, problem, 'wanted a step and a start: found {"step":-1,');
    bytes.set(new TextEncoder().encode(header.replace('Checkpoint":2', 'Checkpoint":1')));
    await Deno.writeFile(`${path}.version`, bytes);
    await refused(`${path}.version`, problem, "wanted a checkpoint of version 2: found 1");
    await Deno.truncate(path, 5000);
    await refused(path, problem, "are a checksum: found 5000");
    assert(
      (await Array.fromAsync(Deno.readDir(directory))).every(({ name }) => !name.includes("unfinished")),
    );
  }));

Deno.test("any bit that changes is noticed, and a sum that is missing", () =>
  inDirectory(async (directory) => {
    const path = `${directory}/state`, cpuPool = await CpuPool.create({ workers: 1 });
    const problem: Problem = { ...CASE, steps: 3 };
    await onRanks(CASE, { gpu: undefined, cpuPool }, async (solvers) => {
      await Promise.all(solvers.map((solver) => solver.initialise(START.kind, START.seed)));
      await Promise.all(solvers.map((solver) => writeCheckpoint(solver, path, START)));
    });
    cpuPool.dispose();
    const file = await Deno.readFile(path);
    const sum = new DataView(file.buffer).getUint32(file.length - 4, true);
    assertEquals(sum, crc32(file.subarray(0, -4)));
    await checkCheckpoint(path, problem, true);
    const step = new TextDecoder().decode(file.subarray(0, 4096)).indexOf('"step":0') + 7;
    const some = Array.from({ length: Math.floor(file.length / 997) }, (_, i) => 997 * i);
    for (const at of [step, 4095, ...some, file.length - 1]) {
      const bytes = file.slice();
      bytes[at]! ^= 1 << at % 8;
      await Deno.writeFile(path, bytes);
      await assertRejects(() => checkCheckpoint(path, problem, true), RequestError, path, `byte ${at}`);
    }
    // nor is one that lost its sum taken for one of a version that had none
    await Deno.writeFile(path, file.subarray(0, -4));
    const message = `wanted ${file.length} bytes, of which the last four are a checksum: found ${
      file.length - 4
    }`;
    await assertRejects(() => checkCheckpoint(path, problem, true), RequestError, message);
  }));

Deno.test("a checkpoint replaces nothing but an empty file and one of the same problem", () =>
  inDirectory(async (directory) => {
    const path = `${directory}/state`, problem: Problem = { ...CASE, steps: 3 };
    await checkCheckpoint(path, problem, false);
    // what a run that was killed has left, at whatever moment, goes
    for (
      const begun of ["{", '{"facetCheckpoint":', '{"facetCheckpoint":2,"stencil":"other"}'.padEnd(4096)]
    ) {
      await Deno.writeTextFile(`${path}.unfinished`, begun);
      await checkCheckpoint(path, problem, false);
      await assertRejects(() => Deno.stat(`${path}.unfinished`), Deno.errors.NotFound);
    }
    for (const file of [path, `${path}.unfinished`]) {
      await Deno.writeTextFile(file, "my own notes");
      await assertRejects(
        () => checkCheckpoint(path, problem, false),
        RequestError,
        `Cannot replace ${file}: wanted a checkpoint: found another kind of file`,
      );
      await Deno.truncate(file);
      await checkCheckpoint(path, problem, false);
    }
  }));

/** The processes that compute for a run, by its checkpoint's path; the rest of them only watch. */
async function computing(path: string): Promise<number[]> {
  const holds = (file: string, text: string) => `tr '\\0' '\\n' < $p/${file} 2>/dev/null | grep -q '${text}'`;
  const found = `${holds("cmdline", path)} && ${holds("environ", "^FACET_RANK=1$")} && basename $p`;
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `for p in /proc/[0-9]*; do ${found}; done`],
  }).output();
  return new TextDecoder().decode(stdout).split("\n").filter(Boolean).map(Number);
}

for (let kill = 0; kill < (THOROUGH ? 10 : 1); kill++) {
  testUnderMpi(
    `a rank that is killed ends all, and its run goes on from the checkpoint (${kill})`,
    (launcher) =>
      inDirectory(async (directory) => {
        const path = `${directory}/state`;
        const solve = (ranks: number, steps: number, more: readonly string[]) => {
          const args = ["--stencil", "life", "--grid", "20x8x8", "--steps", `${steps}`, "--checkpoint", path];
          return mpirun(launcher, ranks, [
            ...solveFlags(),
            ...args,
            "--no-gpu",
            "--cpu-workers",
            "1",
            ...more,
          ]);
        };
        const running = solve(2, 1e7, ["--every", "5", "--exchange-every", "2"]);
        let ended: Awaited<typeof running> | undefined;
        running.then((result) => ended = result);
        while (!await Deno.stat(path).then(() => true, () => false)) {
          assert(ended === undefined, `the run ended before its first checkpoint: ${ended?.stderr}`);
          await new Promise((next) => setTimeout(next, 20));
        }
        await new Promise((next) => setTimeout(next, kill * 37));
        const ranks = await computing(path);
        assertEquals(ranks.length, 2);
        Deno.kill(ranks[kill % 2]!, "SIGKILL");
        const { code, stderr } = await running;
        // MPICH's mpirun has a code and a message of its own
        if (launcher.name === "mpirun.openmpi") {
          assertEquals(code, 3);
          assertEquals(stderr.match(/^facet: .*$/gm)?.map((line) => line.replace(/\d/, "N")), [
            "facet: rank N: its process was ended by SIGKILL",
          ]);
        } else assert(code !== 0);
        assertEquals(await computing(path), []);
        const { step } = JSON.parse((await Deno.readTextFile(path)).slice(0, 4096));
        const { code: after, stderr: why } = await solve(3, step + 7, [
          "--restart",
          "--verify",
          "--exchange-every",
          "2",
        ]);
        assertEquals([after, why], [0, ""]);
      }),
  );
}
