/**
 * The items in random order (Fisher and Yates).
 *
 * @param items left as they are
 * @param draw random numbers in [0, 1)
 */
export function shuffled<T>(items: readonly T[], draw: () => number): T[] {
  const order = [...items];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(draw() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
