/**
 * Rejects a key that no option has: a typing error would go unnoticed.
 *
 * @param call what the options are for, as `build the wave stencil`
 * @param known all keys that they can have; to leave one out is an error of types
 * @throws {RangeError} naming the key
 */
export function checkOptions<T extends object, const K extends readonly (keyof T)[]>(
  call: string,
  given: T,
  known: [keyof T] extends [K[number]] ? K : never,
): void {
  const odd = Object.keys(given ?? {}).find((key) => !(known as readonly PropertyKey[]).includes(key));
  const wanted = () => known.length === 0 ? "no options" : `of the options ${known.join(", ")}`;
  if (odd !== undefined) throw new RangeError(`Cannot ${call}: wanted ${wanted()}: found ${odd}`);
}
