import type { Configuration } from "../configuration.ts";
import { ProfileError } from "../profile/profile_error.ts";
import type { ParameterValue, SpaceParameter, SpaceRecord } from "./recorded_space.ts";

/**
 * How records' values become configurations: names of letters and digits, values that are numbers.
 *
 * @param parameters with all values that any record has
 * @param kernel its name, which stands as the traversal
 * @param slices those of x, which are all the GPU's
 * @returns what makes a record's configuration, and which names and values are changed
 * @throws {ProfileError} in one line, if two names become the same
 */
export function carryParameters(
  parameters: readonly SpaceParameter[],
  { kernel, slices, source }: Readonly<{ kernel: string; slices: number; source: string }>,
): { configurationOf: (record: SpaceRecord) => Configuration; notes: readonly string[] } {
  const renamed: string[] = [], numbered: string[] = [];
  const taken = new Map<string, string>();
  const columns = parameters.map(({ name, values }) => {
    const carried = identifierOf(name);
    const other = taken.get(carried);
    if (other !== undefined) {
      throw new ProfileError(
        `Cannot import ${source}: wanted parameters that differ in letters and digits, found ${other} and ${name}`,
      );
    }
    taken.set(carried, name);
    if (carried !== name) renamed.push(`${name} is written as ${carried}`);
    const codes = codesOf(values);
    if (codes !== undefined) {
      const told = Array.from(codes, ([value, code]) => `${code} is ${value}`);
      numbered.push(`${name}: ${told.slice(0, 6).join(", ")}${told.length > 6 ? ", …" : ""}`);
    }
    return { carried, codes };
  });
  const share = { cpuSlices: 0, gpuSlices: slices, exchangeEvery: 1, cpuWorkers: 0 };
  const configurationOf = ({ values }: SpaceRecord): Configuration => {
    const entries = columns.flatMap(({ carried, codes }, i): [string, number][] => {
      const value = values[i] ?? null;
      return value === null ? [] : [[carried, codes?.get(value) ?? value as number]];
    });
    return { traversal: kernel, parameters: Object.fromEntries(entries), share };
  };
  return {
    configurationOf,
    notes: [
      ...(renamed.length > 0 ? [`names of parameters: ${renamed.join(", ")}`] : []),
      ...(numbered.length > 0 ? [`values that are no numbers: ${numbered.join("; ")}`] : []),
    ],
  };
}

/** Numbers for values that are none: their place in the list. Undefined where all are numbers already. */
function codesOf(values: readonly ParameterValue[]): ReadonlyMap<ParameterValue, number> | undefined {
  if (values.every((value) => value === null || typeof value === "number")) return undefined;
  return new Map(values.filter((value) => value !== null).map((value, code) => [value, code]));
}

/** `block_size_x` as `blockSizeX`: letters and digits, a letter first. */
function identifierOf(name: string): string {
  const plain = name.normalize("NFKD")
    .replace(/[^a-zA-Z0-9]+([a-zA-Z0-9])/g, (_, next: string) => next.toUpperCase())
    .replace(/[^a-zA-Z0-9]/g, "");
  return /^[a-zA-Z]/.test(plain) ? plain : `p${plain}`;
}

/** A kernel's name as a profile writes names: small letters, digits and dashes. */
export function slug(name: string, source: string): string {
  const plain = name.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  if (plain !== "") return plain;
  throw new ProfileError(`Cannot import ${source}: wanted the kernel's name, found none: give --kernel NAME`);
}
