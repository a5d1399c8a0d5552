import type { PointCounts } from "../../kernels/points.ts";
import * as z from "npm:zod@4.6.7";
import { type Definition, hashOf, stencilOf } from "../../kernels/definition.ts";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { BOUNDARIES } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { wordsOf } from "../../kernels/traversals/parameter.ts";
import type { Configuration, Measurement, Verification } from "../configuration.ts";
import { everyLimit } from "../devices/device.ts";
import { describeValue, formatPlural } from "../format.ts";
import { measurementOf } from "../measuring/evaluate.ts";
import type { SharedFit } from "../../models/shared_fit.ts";
import { checkRecord, parseJson } from "./check_record.ts";
import { checksumOf, isLaidOut } from "./format_profile.ts";
import { recordedCosts, renamed } from "./former_files.ts";
import { devicesOf, isFuture } from "./merge.ts";
import { ProfileError, reasonOf } from "./profile_error.ts";
import { isOfOtherFormula } from "./profile_problem.ts";
import type {
  DeviceEntries,
  Profile,
  ProfileBalance,
  ProfileCostModel,
  ProfileDevice,
  ProfileEntry,
  ProfilePoint,
  ProfileProblem,
  ProfileRate,
  ProfileRated,
  ProfileResult,
  ProfileSearch,
} from "./profile_types.ts";
import { isShared, uses } from "../shares.ts";

export type { Profile, ProfileCostModel, ProfileDevice, ProfileEntry, ProfileProblem, ProfileRated };

/** Version of the format that this Facet reads and writes. */
export const SCHEMA_VERSION = 1;

export const JSON_SCHEMA_NAME = "profile.schema.json";

/** A check of every field of a record: it does not compile if a field is missing, unknown or of another type. */
type Fields<T> = { readonly [Name in keyof T]-?: z.ZodType<T[Name]> };

/** A record of exactly these fields. */
function record<T extends object>(fields: Fields<T>): z.ZodType<T> {
  return z.strictObject(fields) as unknown as z.ZodType<T>;
}

// Every check's message says what is wanted; `checkRecord` adds where, and what was found.
const text = z.string("a text").max(1000, "a text of at most 1000 characters");
const name = text.min(1, "a name")
  .regex(/^[a-z0-9][a-z0-9-]*$/, "a name of small letters, digits and dashes");
const finite = z.number("a number");
// with their products and inverses, numbers that a report can draw
const positive = finite.gt(0, "a number above 0").min(1e-30, "a number >= 1e-30").max(
  1e30,
  "a number <= 1e30",
);
const digest = z.string().regex(/^[0-9a-f]{16}$/, "sixteen hexadecimal digits");
const natural = z.int("a whole number").min(0, "a whole number >= 0");
const counting = z.int("a whole number").min(1, "a whole number >= 1");
const notNegative = finite.min(0, "a number >= 0");
const flag = z.boolean("true or false");
const identifier = z.string().regex(/^[a-zA-Z][a-zA-Z0-9]*$/, "a parameter's name");
const time = z.iso.datetime({ error: "a UTC time such as 2026-11-21T10:00:00Z" });

const interval = z.tuple([notNegative, notNegative], "two numbers, low and high")
  .refine(([low, high]) => low <= high, "an interval, the lower end first");

const gpu = record<NonNullable<ProfileDevice["gpu"]>>({
  vendor: text,
  architecture: text,
  device: text,
  description: text,
  isFallback: flag,
  // some drivers say 2⁶⁴ − 1, beyond the whole numbers that JSON's readers agree on
  limits: record({
    ...everyLimit(() => notNegative),
    maxStorageBuffersPerShaderStage: notNegative.optional(),
    subgroupSize: notNegative.optional(),
  }),
  features: z.array(text, "a list of names"),
  timestampQuery: flag,
});

export const deviceSchema: z.ZodType<ProfileDevice> = record<ProfileDevice>({
  gpu: gpu.nullable(),
  cpu: record({ model: text, cores: counting }),
  os: text,
  deno: text,
  measured: z.object({ copyBytesPerSecond: positive.nullable() }).catchall(notNegative.nullable()),
});

/** The boundary of an axis; of an imported problem it is not known. */
const word = z.enum([...BOUNDARIES, "unknown"]);

export const problemSchema: z.ZodType<ProfileProblem> = record<ProfileProblem>({
  stencil: text.regex(/^[a-z0-9][\w-]*$/i, "a name of letters, digits, _ and -"),
  order: counting.optional(),
  delta: counting.optional(),
  rule: text.regex(/^[0-9-]+\/[0-9-]+$/, "a rule such as 5/2-7").optional(),
  medium: name.optional(),
  points: counting.optional(),
  edges: z.union([natural, name]).optional(),
  // its parts are checked as one
  definition: z.looseObject({}, "an equation").optional() as unknown as z.ZodType<Definition | undefined>,
  hash: digest.optional(),
  grid: z.union(
    [z.tuple([counting, counting, counting]), z.tuple([counting, counting])],
    "three whole numbers, x, y and z, or two",
  ),
  boundary: z.union(
    [word, z.tuple([word, word, word]), z.tuple([word, word])],
    `one of ${BOUNDARIES.join(", ")}, or three of them, or two`,
  ),
  survey: record<PointCounts>({ sources: natural, receivers: natural, every: counting.optional() })
    .optional(),
  precision: z.enum(["f32", "f64"], "f32 or f64"),
  steps: counting,
}).refine(({ order, delta }) => order === undefined || delta === undefined, "either order or delta, not both")
  .refine(
    ({ order, delta, points }) => points === undefined || (order ?? delta) === undefined,
    "points without order or delta",
  )
  .refine(
    ({ stencil, order, definition }) => stencil !== "wave" || order !== undefined || definition !== undefined,
    "an order with the wave equation",
  ).check(({ value, issues }) => {
    const fault = equationFault(value);
    if (fault !== undefined) issues.push({ code: "custom", ...fault, input: value });
  });

function equationFault(
  { stencil, definition, hash, ...rest }: ProfileProblem,
): { message: string; path: string[] } | undefined {
  if (definition === undefined) {
    const { read, name, wanted } = EQUATIONS.find(({ name }) => name === stencil)?.variant ?? {};
    const given = name && (rest as Readonly<Record<string, unknown>>)[name];
    const isKnown = given === undefined || read?.(`${given}`) !== undefined;
    return isKnown ? undefined : { message: wanted!, path: [name!] };
  }
  try {
    const { name, update, dimensions } = stencilOf(definition);
    if ((dimensions === 2) !== (rest.grid.length === 2)) {
      return { message: "two numbers in two dimensions, else three", path: ["grid"] };
    }
    if (name !== stencil) return { message: `${name}, as the definition says`, path: ["stencil"] };
    const right = hashOf(update);
    return hash === right ? undefined : { message: `${right}, the definition's`, path: ["hash"] };
  } catch (error) {
    const reason = reasonOf(error).replace(/^Cannot build the equation[^:]*: /, "");
    return { message: `an equation that makes sense: ${reason}`, path: ["definition"] };
  }
}

const traversal = { traversal: name, parameters: z.record(identifier, finite, "parameters by name") };
const setting = z.union([finite, text], "a number or a word");
const worded = { traversal: name, parameters: z.record(identifier, setting, "parameters by name") };

/** A configuration with today's parameters, of which those have words that the traversal has words for, and no others. */
function renamedIn<C extends Pick<Configuration, "traversal" | "parameters">>(schema: z.ZodType<C>) {
  return schema.overwrite(renamed).check(({ value: { traversal, parameters }, issues }) => {
    const known = TRAVERSALS.find(({ name }) => name === traversal)?.parameters;
    for (const [name, input] of Object.entries(parameters)) {
      const words = wordsOf(known?.[name]);
      if (words.length > 0 ? words.includes(`${input}`) : typeof input === "number") continue;
      const message = words.length > 0 ? `one of ${words.join(", ")}` : "a number";
      issues.push({ code: "custom", message, path: ["parameters", name], input });
    }
  });
}

export const configurationSchema: z.ZodType<Configuration> = renamedIn(record<Configuration>({
  ...worded,
  share: record<Configuration["share"]>({
    cpuSlices: natural,
    gpuSlices: natural,
    exchangeEvery: counting,
    cpuWorkers: natural,
    deviceMemory: counting.optional(),
    cpu: record<NonNullable<Configuration["share"]["cpu"]>>(traversal).optional(),
  }).refine((share) => !uses(share, "cpu") || share.cpuWorkers > 0, "a worker for the CPU's slices").refine(
    (share) => share.cpu === undefined || isShared(share),
    "slices on both devices where cpu says how the CPU traverses its own",
  ),
}));

/** {@linkcode Verification} as JSON; a profile holds no result that failed it. */
export const verificationSchema: z.ZodType<Verification> = record<Verification>({
  maxError: notNegative,
  bound: notNegative,
  against: text,
}).refine(({ maxError, bound }) => maxError <= bound, "a largest error within the bound");

const rate = { cellsPerSecond: positive, confidence95: interval.nullable() };

function isWithinInterval({ cellsPerSecond, confidence95 }: ProfileRate): boolean {
  if (confidence95 === null) return true;
  const [low, high] = confidence95;
  return low <= cellsPerSecond && cellsPerSecond <= high;
}

const residuals = z.array(finite, "a list of relative residuals");

function costs<const Names extends readonly string[]>(
  ...names: Names
): z.ZodType<{ readonly [Name in Names[number]]: number }> {
  return record(Object.fromEntries(names.map((name) => [name, notNegative])) as never);
}

const costModel = z.strictObject({
  coefficients: z.strictObject({
    cpu: costs("updateNs", "stepNs", "missNs", "cachedCells"),
    gpu: costs("updateNs", "stepNs", "passNs", "byteNs"),
    unpack: costs("a", "b"),
    pack: costs("a", "b"),
    schedule: costs("submitNs", "timerNs", "waitNs", "contention", "starvation"),
  }),
  residuals: z.strictObject({
    cpu: residuals,
    gpu: residuals,
    unpack: residuals,
    pack: residuals,
    together: residuals,
  }),
  curve: z.array(z.strictObject({
    exchangeEvery: counting,
    cpuSlices: counting,
    predictedNs: positive,
    measuredNs: positive.nullable(),
  })),
});

const rated = record<ProfileRated>({ configuration: configurationSchema, ...rate })
  .refine(isWithinInterval, "a rate within its interval");

const entry = record<ProfileEntry>({
  problem: problemSchema,
  configuration: configurationSchema,
  features: z.array(text, "a list of names").optional(),
  result: record<ProfileResult>({
    ...rate,
    samples: z.array(positive, "a list of rates").min(1, "at least one sample").max(10_000, "10,000 at most"),
    roofFraction: positive.nullable(),
    speedupOverStepwise: positive.nullable(),
    clock: positive.optional(),
    byHost: record<NonNullable<ProfileResult["byHost"]>>({ cellsPerSecond: positive, steps: counting })
      .optional(),
  }).refine(isWithinInterval, "a rate within its interval"),
  copyBytesPerSecond: record<NonNullable<ProfileEntry["copyBytesPerSecond"]>>({
    gpu: positive.optional(),
    cpu: positive.optional(),
  }).optional(),
  tieSet: z.array(rated),
  bestOfEach: z.array(rated).optional(),
  calibration: z.array(
    renamedIn(record<ProfilePoint>({ ...worded, cpuWorkers: counting.optional(), cellsPerSecond: positive })),
  ).optional(),
  balance: z.array(record<ProfileBalance>({
    cpuSlices: natural,
    gpuSlices: natural,
    cpuTimeNs: notNegative,
    gpuTimeNs: notNegative,
  })),
  costModel: costModel.optional(),
  verification: verificationSchema,
  search: record<ProfileSearch>({
    strategy: name,
    seed: z.int("a whole number"),
    spaceSize: natural,
    evaluated: natural,
    failed: z.record(name, counting, "numbers by reason"),
    elapsedMs: notNegative,
  }),
}).check(({ value: { problem, configuration, tieSet, bestOfEach = [], balance }, issues }) => {
  const slices = problem.grid[0];
  const shares = [
    { of: configuration.share, path: ["configuration", "share"] },
    ...Object.entries({ tieSet, bestOfEach }).flatMap(([list, all]) =>
      all.map(({ configuration }, i) => ({
        of: configuration.share,
        path: [list, i, "configuration", "share"],
      }))
    ),
    ...balance.map((of, i) => ({ of, path: ["balance", i] })),
  ];
  for (const { of, path } of shares) {
    if (of.cpuSlices + of.gpuSlices === slices) continue;
    issues.push({ code: "custom", message: `slices that add up to ${slices}, the grid's`, path, input: of });
  }
});

const deviceEntries = {
  tool: record({ name: text, version: text }),
  createdAt: time,
  device: deviceSchema,
  entries: z.array(entry, "a list of entries"),
};

/**
 * The checks of a profile's file. `profile_types.ts` says what each field means; `profile.schema.json` is made from the
 * checks. What a JSON Schema cannot say (shares that add up to the grid, ordered intervals) is checked here too.
 */
export const profileSchema: z.ZodType<ProfileFile> = record<ProfileFile>({
  $schema: text,
  schemaVersion: z.literal(SCHEMA_VERSION, String(SCHEMA_VERSION)),
  ...deviceEntries,
  others: z.array(record<DeviceEntries>(deviceEntries), "a list of other devices").optional(),
  checksum: digest.optional(),
});

/** A profile with its checksum, of which files of earlier versions have none. */
interface ProfileFile extends Profile {
  readonly checksum?: string | undefined;
}

/** How a profile is read. */
export interface ReadOptions {
  /** Called with what is odd about a profile that can be read all the same, in one line. */
  readonly onRemark?: ((text: string) => void) | undefined;
}

/** The cost model as an entry has it: without the measurements that it was fitted to. */
export function describeCostModel(
  { costs, residuals, curve }: SharedFit & Pick<ProfileCostModel, "curve">,
): ProfileCostModel {
  return { coefficients: recordedCosts(costs), residuals, curve };
}

/** An entry's result as it was measured. */
export function resultOf(
  { configuration, result, verification }: ProfileEntry,
  compileNs: number,
): Measurement {
  const { cellsPerSecond, confidence95, samples } = result;
  const found = measurementOf(configuration, samples, { verification, compileNs });
  return { ...found, cellsPerSecond, ...(confidence95 && { confidence95 }) };
}

/** Reads a profile from its text; errors call it `source` and say where, what was wanted and what was found. */
export function parseProfile(json: string, source: string, options?: ReadOptions): Profile {
  const data = parseJson(json, source) as Partial<ProfileFile> | null, found = data?.checksum;
  if (typeof found !== "string" || isLaidOut(json)) return checkProfile(data, source, options);
  const checksum = checksumOf(data!);
  if (found !== checksum) {
    options?.onRemark?.(
      `${source} was changed by another program: its checksum is that of an earlier content`,
    );
  }
  return checkProfile({ ...data, checksum }, source, options);
}

export function checkProfile(data: unknown, source: string, { onRemark }: ReadOptions = {}): Profile {
  const version = (data as Partial<Profile> | null)?.schemaVersion;
  if (version !== undefined && version !== SCHEMA_VERSION) {
    throw new ProfileError(
      `Cannot read ${source}: it is a profile of version ${describeValue(version)}: ` +
        `this Facet reads version ${SCHEMA_VERSION}`,
    );
  }
  const { checksum, ...profile } = checkRecord(profileSchema, data, source);
  if (checksum !== undefined && checksum !== checksumOf(data as object)) {
    throw new ProfileError(
      `Cannot read ${source}: its checksum is not that of its content: it was damaged, or edited: ` +
        `take "checksum" out if the content is right`,
    );
  }
  if (checksum === undefined) {
    onRemark?.(`${source} has no checksum, so damage would not be noticed; tune and merge write one`);
  }
  const late = [profile, ...profile.others ?? []].find(({ createdAt }) => isFuture(createdAt));
  if (late !== undefined) {
    const what = "a clock was wrong: where anything else is known of a problem, that counts";
    onRemark?.(`${source} is dated ${late.createdAt}, in the future: ${what}`);
  }
  const former = onRemark === undefined ? [] : devicesOf(profile).flatMap(({ entries }) => {
    return entries.flatMap(({ problem }) => isOfOtherFormula(problem) ? [problem.stencil] : []);
  });
  if (former.length > 0) {
    const found = formatPlural(former.length, "entry", "entries"), names = [...new Set(former)].join(", ");
    onRemark!(`${source} has ${found} of another formula of ${names}, not taken as measured: tune again`);
  }
  return profile;
}
