/**
 * A rank that is stopped while another waits for it, in `lost_rank_test.ts`.
 *
 * @module
 */
import { onRanks } from "../../tuner/cli/on_ranks.ts";

Deno.exit(
  await onRanks("solve", [], {
    usage: "",
    about: "",
    options: {},
    read: () => Promise.resolve({ request: {}, values: { cpuWorkers: 1, noGpu: true, rankTimeout: 1 } }),
    async work(world) {
      console.log(`${Deno.pid}`);
      await world.meet();
      if (world.rank === 1) Deno.kill(Deno.pid, "SIGSTOP");
      const values = new Float32Array(1);
      await world.finish([world.rank === 0 ? world.receive(1, 0, values) : world.send(0, 0, values)]);
      return 0;
    },
  }),
);
