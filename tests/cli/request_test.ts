import { assert, assertEquals, assertThrows } from "@std/assert";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import { requireLength, requireTraversal } from "../../tuner/cli/request.ts";
import { UserError } from "../../tuner/cli/user_error.ts";
import { DEVICE } from "../profile/sample_profile.ts";
import { runTask } from "../cli/run_task.ts";

const { limits } = DEVICE.gpu!;

function messageOf(check: () => void): string {
  const { message } = assertThrows(check, UserError);
  assert(!message.includes("\n"), message);
  return message;
}

Deno.test("a line that the asked-for traversals cannot cut is refused with the nearest that they can", () => {
  const problem = { stencil: heat1d(), grid: [1, 1, 1000], boundary: "insulated", steps: 100 } as const;
  const swept = [traversalNamed("swept-register")];
  assertEquals(
    messageOf(() => requireTraversal(problem, swept, limits)),
    "Cannot use --grid 1000: swept-register cannot cut 1000 points into nodes: the nearest that work: 992 and 1008",
  );
  requireTraversal({ ...problem, grid: [1, 1, 992] }, swept, limits);
  requireTraversal({ ...problem, grid: [1, 1, 1008] }, swept, limits);
  requireTraversal(problem, [...swept, traversalNamed("classic")], limits);
});

Deno.test("a traversal that cannot compute the problem at all is a wrong request, not a run without it", () => {
  const grid = [64, 64, 64] as const;
  const cases: [Omit<Problem, "grid" | "steps">, traversal: string, message: string][] = [
    [
      { stencil: wave(2), boundary: "periodic" },
      "diamond-torre",
      "torres advance from one end of x to the other through zeros: the boundary is periodic",
    ],
    [{ stencil: wave(2), boundary: "zero" }, "swept", "it sweeps one dimension: the grid must be 1x1xN"],
    [
      { stencil: elastic(), boundary: "zero" },
      "diamond-torre",
      "the update has several fields, sub-steps or materials: a torre's registers hold one field",
    ],
  ];
  for (const [problem, name, reason] of cases) {
    const one = { ...problem, grid, steps: 96 };
    assertEquals(
      messageOf(() => requireTraversal(one, [traversalNamed(name)], limits)),
      `Cannot use --traversal ${name}: ${reason}`,
    );
    requireTraversal(one, [traversalNamed(name), traversalNamed("stepwise")], limits);
  }
});

Deno.test("a line needs more points than a tap reaches", () => {
  assertEquals(
    messageOf(() => requireLength(heat1d(), [1, 1, 1])),
    "Cannot use --grid 1: wanted at least 2 points, as taps reach 1: found 1",
  );
  assertEquals(
    messageOf(() => requireLength(ks(5), [1, 1, 2])),
    "Cannot use --grid 2: wanted at least 3 points, as taps reach 2: found 2",
  );
  requireLength(heat1d(), [1, 1, 2]);
  requireLength(ks(5), [1, 1, 3]);
  requireLength(wave(8), [1, 1, 1]);
});

Deno.test("traversals are the GPU's: without it they cannot be asked for", async () => {
  const { code, stdout, stderr } = await runTask("tune", ["--no-gpu", "--traversal", "stepwise"]);
  assertEquals([code, stdout], [2, ""]);
  assertEquals(
    stderr,
    "facet: Cannot use --traversal stepwise: traversals are the GPU's: --no-gpu leaves it out\n",
  );
});
