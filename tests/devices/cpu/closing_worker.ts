/** A CPU worker of which number 1 closes itself when it is to compute: nothing is thrown. */
import "../../../tuner/devices/cpu/wasm_worker.ts";

const scope = globalThis as unknown as {
  name: string;
  onmessage: (event: MessageEvent) => void;
  close(): void;
};
const { onmessage } = scope;
scope.onmessage = (event) => {
  if (scope.name === "cpu 1" && event.data.kind === "run") scope.close();
  else onmessage(event);
};
