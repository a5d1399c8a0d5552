/** A CPU worker of which number 1 throws in the fourth step: for the tests of failure. */
import "./fault.ts";
import "../../../tuner/devices/cpu/wasm_worker.ts";
