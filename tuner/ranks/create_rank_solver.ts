/**
 * A grid on several devices, from other programs: `@facet/facet/ranks`. Apart from `mod.ts`, because MPI is called by
 * Deno's foreign function interface, which pages and Node.js do not have.
 *
 * @example
 * ```ts
 * import { openWorld } from "./create_rank_solver.ts";
 * import { createSolver } from "../solver/create_solver.ts";
 * import { life } from "../../kernels/stencils/life.ts";
 *
 * const world = await openWorld(); // the ranks of mpirun, or this process alone
 * const problem = { stencil: life(), grid: [16, 16, 16], boundary: "periodic", steps: 8 } as const;
 * {
 *   await using solver = await createSolver(problem, { world });
 *   await solver.initialise("binary");
 *   await solver.run(20);
 *   const field = await solver.read();
 *   console.assert(field.length === (world.rank === 0 ? 16 ** 3 : 0));
 * }
 * await world.close();
 * ```
 *
 * @module
 */
export { openWorld, type Patience } from "./mpi_world.ts";
export { type OpenedDevice, openRankDevice } from "./open_rank_device.ts";
export type { DeviceWishes, Message, RankDevice, World } from "../devices/world.ts";
