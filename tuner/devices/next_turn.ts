/** How long timers wait for their turn at most: Deno's event loop may pass on messages and never look at timers. */
const TIMERS_MS = 100;

/** When timers had their turn. */
let timersMs = 0;

/** The turn that was asked for last. */
let last: Promise<void> = Promise.resolve();

/**
 * Lets the event loop do what waits, in some ten microseconds; now and then its timers too, of which one takes a millisecond.
 * Who asks first goes on first.
 */
export function nextTurn(): Promise<void> {
  const before = last, { promise, resolve } = Promise.withResolvers<void>();
  if (performance.now() - timersMs > TIMERS_MS) {
    setTimeout(() => {
      timersMs = performance.now();
      resolve();
    });
  } else {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  }
  return last = promise.then(() => before);
}
