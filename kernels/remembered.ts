/**
 * The function, which remembers what it found for an object, as an update, and other arguments: an enumeration of
 * parameters asks again and again.
 */
export function remembered<U extends object, Rest extends readonly unknown[], T>(
  find: (of: U, ...rest: Rest) => T,
): (of: U, ...rest: Rest) => T {
  const all = new WeakMap<U, Found<T>>();
  return (of, ...rest) => {
    let found = all.get(of);
    if (found === undefined) all.set(of, found = {});
    // a map for each argument: to write them as one text takes longer than most of what is found
    for (let i = 0; i < rest.length; i++) {
      const argument = rest[i], key = typeof argument === "object" ? JSON.stringify(argument) : argument;
      let next: Found<T> | undefined = (found.others ??= new Map()).get(key);
      if (next === undefined) found.others.set(key, next = {});
      found = next;
    }
    return (found.result ??= { value: find(of, ...rest) }).value;
  };
}

/** What was found for some arguments, and for those with more of them. */
interface Found<T> {
  result?: { readonly value: T };
  others?: Map<unknown, Found<T>>;
}
