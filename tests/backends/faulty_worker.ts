/** A CPU worker of which number 1 throws in the fourth step: for the tests of failure. */
import "./fault.ts";
import "../../tuner/backends/wasm_worker.ts";
