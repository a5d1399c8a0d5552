/**
 * The profile: the record in which Facet keeps what it found out about a device. This schema is its contract;
 * `profile.schema.json` is made from it. What a JSON Schema can't say (shares that add up to the grid, ordered
 * intervals) is checked here too.
 *
 * @module
 */
import * as z from "zod";
import { costModelSchema } from "./cost_model_schema.ts";
import { checkRecord, describeValue, firstLine } from "./check_record.ts";
import { ProfileError } from "./profile_error.ts";
import type {
  Profile,
  ProfileCostModel,
  ProfileDevice,
  ProfileEntry,
  ProfileProblem,
} from "./profile_types.ts";

export type { Profile, ProfileCostModel, ProfileDevice, ProfileEntry, ProfileProblem };

/** Version of the format that this Facet reads and writes. */
export const SCHEMA_VERSION = 1;

/** File name of the JSON Schema, a profile's `$schema`. */
export const JSON_SCHEMA_NAME = "profile.schema.json";

// Every check's message says what is wanted; `checkRecord` adds where, and what was found.
const text = z.string("a text").max(1000, "a text of at most 1000 characters");
const name = text.min(1, "a name").regex(
  /^[a-z0-9][a-z0-9-]*$/,
  "a name of small letters, digits and dashes",
);
const finite = z.number("a number");
const positive = finite.gt(0, "a number above 0");
const natural = z.int("a whole number").min(0, "a whole number >= 0");
const counting = z.int("a whole number").min(1, "a whole number >= 1");
const notNegative = finite.min(0, "a number >= 0");
const identifier = z.string().regex(/^[a-zA-Z][a-zA-Z0-9]*$/, "a parameter's name");
const time = z.iso.datetime({ error: "a UTC time as 2026-11-21T10:00:00Z" });

const interval = z.tuple([notNegative, notNegative], "two numbers, low and high")
  .refine(([low, high]) => low <= high, "an interval, the lower end first");

const gpu = z.strictObject({
  vendor: text,
  architecture: text,
  device: text,
  description: text,
  isFallback: z.boolean("true or false"),
  // some drivers say 2⁶⁴ − 1, beyond the whole numbers that JSON's readers agree on
  limits: z.strictObject({
    maxStorageBufferBindingSize: notNegative,
    maxBufferSize: notNegative,
    maxComputeWorkgroupStorageSize: notNegative,
    maxComputeInvocationsPerWorkgroup: notNegative,
    maxComputeWorkgroupSizeX: notNegative,
    maxComputeWorkgroupSizeY: notNegative,
    maxComputeWorkgroupSizeZ: notNegative,
    maxComputeWorkgroupsPerDimension: notNegative,
  }),
  features: z.array(text, "a list of names"),
  timestampQuery: z.boolean("true or false"),
});

/** A device as a profile describes it. */
export const deviceSchema = z.strictObject({
  gpu: gpu.nullable(),
  cpu: z.strictObject({ model: text, cores: counting }),
  os: text,
  deno: text,
  /** Rates of the device itself; null where the device has no such part. */
  measured: z.object({ copyBytesPerSecond: positive.nullable() }).catchall(notNegative.nullable()),
});

/** A problem as a profile names it. */
export const problemSchema = z.strictObject({
  stencil: name,
  order: counting.optional(),
  delta: counting.optional(),
  /** Of life: numbers of living neighbours, as 5/2-7. */
  rule: text.regex(/^[0-9-]+\/[0-9-]+$/, "a rule as 5/2-7").optional(),
  /** Of elastic waves. */
  medium: name.optional(),
  /** Of KS: points of a sub-step. */
  points: counting.optional(),
  grid: z.tuple([counting, counting, counting], "three whole numbers, x, y and z"),
  boundary: name,
  precision: z.enum(["f32"], '"f32"'),
  steps: counting,
}).refine(({ order, delta }) => order === undefined || delta === undefined, "either order or delta, not both")
  .refine(
    ({ order, delta, points }) => points === undefined || (order ?? delta) === undefined,
    "points without order or delta",
  )
  .refine(
    ({ stencil, order }) => stencil !== "wave" || order !== undefined,
    "an order with the wave equation",
  );

const share = z.strictObject({
  cpuSlices: natural,
  gpuSlices: natural,
  exchangeEvery: counting,
  cpuWorkers: natural,
}).refine(({ cpuSlices, cpuWorkers }) => cpuSlices === 0 || cpuWorkers > 0, "a worker for the CPU's slices");

/** {@linkcode Configuration} as JSON. */
export const configurationSchema = z.strictObject({
  traversal: name,
  parameters: z.record(identifier, finite, "parameters by name"),
  share,
});

/** {@linkcode Verification} as JSON; a profile holds no result that failed it. */
export const verificationSchema = z.strictObject({ maxError: notNegative, bound: notNegative, against: text })
  .refine(({ maxError, bound }) => maxError <= bound, "a largest error within the bound");

const rate = {
  cellsPerSecond: positive,
  confidence95: interval,
};

function hasOrderedRate({ cellsPerSecond, confidence95: [low, high] }: {
  cellsPerSecond: number;
  confidence95: number[];
}): boolean {
  return low <= cellsPerSecond && cellsPerSecond <= high;
}

const entry = z.strictObject({
  problem: problemSchema,
  configuration: configurationSchema,
  result: z.strictObject({
    ...rate,
    samples: z.array(positive, "a list of rates").min(1, "at least one sample"),
    /** Of the roof of this traversal on this device; null where no roof is known, as for a CPU alone. */
    roofFraction: positive.nullable(),
    /** Over the best stepwise configuration; null where none could be measured. */
    speedupOverStepwise: positive.nullable(),
  }).refine(hasOrderedRate, "a rate within its interval"),
  /** Configurations that can't be told apart from the chosen one, the chosen one included. */
  tieSet: z.array(
    z.strictObject({ configuration: configurationSchema, ...rate })
      .refine(hasOrderedRate, "a rate within its interval"),
  ),
  balance: z.array(
    z.strictObject({
      cpuSlices: natural,
      gpuSlices: natural,
      cpuTimeNs: notNegative,
      gpuTimeNs: notNegative,
    }),
  ),
  /** Where both devices took part and R was chosen by prediction. */
  costModel: costModelSchema.optional(),
  verification: verificationSchema,
  search: z.strictObject({
    strategy: name,
    seed: z.int("a whole number"),
    spaceSize: natural,
    evaluated: natural,
    failed: z.record(name, counting, "numbers by reason"),
    elapsedMs: notNegative,
  }),
}).check(({ value, issues }) => {
  const slices = value.problem.grid[0];
  const shares = [
    { of: value.configuration.share, path: ["configuration", "share"] },
    ...value.tieSet.map((tie, i) => ({
      of: tie.configuration.share,
      path: ["tieSet", i, "configuration", "share"],
    })),
    ...value.balance.map((of, i) => ({ of, path: ["balance", i] })),
  ];
  for (const { of, path } of shares) {
    if (of.cpuSlices + of.gpuSlices !== slices) {
      issues.push({
        code: "custom",
        message: `slices that add up to ${slices}, the grid's`,
        path,
        input: of,
      });
    }
  }
});

/** The whole profile. */
export const profileSchema = z.strictObject({
  $schema: text,
  schemaVersion: z.literal(SCHEMA_VERSION, String(SCHEMA_VERSION)),
  tool: z.strictObject({ name: text, version: text }),
  createdAt: time,
  device: deviceSchema,
  entries: z.array(entry, "a list of entries"),
});

/** The same record, not to be changed in place. */
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** The same record with everything in it: what may be missing must exist in both as well. */
type Full<T> = T extends object ? { [K in keyof T]-?: Full<T[K]> } : T;

/** Whether a type that `profile_types.ts` writes out and one that is checked here are the same. */
type Same<A, B> = [A, B, Full<A>, Full<B>] extends [B, A, Full<B>, Full<A>] ? true : never;

const _checked: [
  Same<Profile, DeepReadonly<z.infer<typeof profileSchema>>>,
  Same<ProfileDevice, DeepReadonly<z.infer<typeof deviceSchema>>>,
  Same<ProfileProblem, DeepReadonly<z.infer<typeof problemSchema>>>,
  Same<ProfileEntry, DeepReadonly<z.infer<typeof entry>>>,
] = [true, true, true, true];

/** The cost model as an entry has it: without the measurements that it was fitted to. */
export function describeCostModel(
  { costs, residuals, curve }: {
    readonly costs: ProfileCostModel["coefficients"];
    readonly residuals: ProfileCostModel["residuals"];
    readonly curve: ProfileCostModel["curve"];
  },
): ProfileCostModel {
  return { coefficients: costs, residuals, curve };
}

/**
 * Reads a profile from its text.
 *
 * @param json the text
 * @param source what to call it in errors, as its path
 * @throws {ProfileError} in one line: where in the JSON, what was wanted, what was found
 *
 * @example
 * ```ts
 * import { parseProfile } from "./schema.ts";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(() => parseProfile('{"schemaVersion":2}', "a.json"), Error, "version 2: this Facet reads version 1");
 * ```
 */
export function parseProfile(json: string, source: string): Profile {
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch (error) {
    throw new ProfileError(`Cannot read ${source}: it is no JSON: ${firstLine(error)}`);
  }
  const version = typeof data === "object" && data !== null && !Array.isArray(data)
    ? (data as Record<string, unknown>).schemaVersion
    : undefined;
  if (version !== undefined && version !== SCHEMA_VERSION) {
    throw new ProfileError(
      `Cannot read ${source}: it is a profile of version ${describeValue(version)}: ` +
        `this Facet reads version ${SCHEMA_VERSION}`,
    );
  }
  return checkProfile(data, source);
}

/**
 * Checks that a record is a profile.
 *
 * @param data what should be one
 * @param source what to call it in errors
 * @throws {ProfileError} in one line: where in the record, what was wanted, what was found
 */
export function checkProfile(data: unknown, source: string): Profile {
  return checkRecord(profileSchema, data, source);
}
