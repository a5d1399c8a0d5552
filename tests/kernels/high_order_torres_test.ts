import { assertEquals } from "@std/assert";
import { testOnGpu } from "../test_on_gpu.ts";
import { HIGH_ORDER_TORRES } from "./high_order_torres.ts";

/**
 * Mesa's software driver: plain vectors and no optimiser halve the time to compile. Other drivers don't know
 * these variables.
 */
const COMPILE_QUICKLY = { LP_NATIVE_VECTOR_WIDTH: "128", GALLIVM_PERF: "nopt" };

/** Runs the cases of some orders in a process of their own; returns what went wrong. */
async function runOrders(orders: readonly number[]): Promise<string> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--allow-env",
      new URL("./high_order_torres.ts", import.meta.url).pathname,
      ...orders.map(String),
    ],
    env: COMPILE_QUICKLY,
    stdout: "null",
    stderr: "piped",
  }).output();
  return success ? "" : new TextDecoder().decode(stderr) || "failed without a word";
}

testOnGpu("torres of orders 10, 12 and 14 equal the oracle but for rounding", async () => {
  const orders = HIGH_ORDER_TORRES.map(({ order }) => order);
  assertEquals(orders, [10, 12, 14]);
  // The highest takes as long as the others together.
  assertEquals(await Promise.all([runOrders([14]), runOrders([10, 12])]), ["", ""]);
});
