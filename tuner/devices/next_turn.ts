/** How long timers wait for their turn at most: Deno's event loop may pass on messages and never look at timers. */
const TIMERS_MS = 100;

/** When timers had their turn. */
let timersMs = 0;

/** Lets the event loop do what waits, in some ten microseconds; now and then its timers too, of which one takes a millisecond. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (performance.now() - timersMs > TIMERS_MS) {
      setTimeout(() => {
        timersMs = performance.now();
        resolve();
      });
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
