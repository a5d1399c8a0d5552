import fc from "fast-check";
import { unpack } from "../../tuner/interchange/read_input.ts";
import { pythonKey } from "../../tuner/interchange/kernel_tuner.ts";
import { readSpace } from "../../tuner/interchange/read_space.ts";
import {
  type JsonObject,
  type JsonValue,
  type Overhead,
  type ParameterValue,
  type RecordedSpace,
  SPACE_FAILURES,
  type SpaceRecord,
} from "../../tuner/interchange/recorded_space.ts";

/** Parts of an evaluation's cost. */
const OVERHEADS: readonly Overhead[] = ["compile", "benchmark", "framework", "search", "validation"];

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/).map((text) => `p_${text}`);
const value: fc.Arbitrary<ParameterValue> = fc.oneof(
  fc.integer({ min: -4096, max: 4096 }),
  fc.double({ min: 1e-9, max: 1e15, noNaN: true }),
  fc.boolean(),
  fc.string({ maxLength: 6 }).map((text) => `s${text}`),
);
const time = fc.double({ min: 1e-6, max: 1e9, noNaN: true });
const measurement = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x === 0 ? 0 : x),
  fc.string({ maxLength: 8 }),
  fc.array(fc.integer(), { maxLength: 3 }),
);

/** A record of a space with these lists of values; its time and its failure stand in its measurements. */
function record(lists: readonly (readonly ParameterValue[])[], isT4: boolean): fc.Arbitrary<SpaceRecord> {
  return fc.record({
    values: fc.tuple(...lists.map((list) => fc.constantFrom(...list))),
    failure: fc.option(fc.constantFrom(...SPACE_FAILURES), { freq: 2 }),
    timeMs: time,
    timesMs: fc.array(fc.double({ min: 0.6, max: 1.9, noNaN: true }), { maxLength: 4 }),
    overheadMs: isT4
      ? fc.dictionary(fc.constantFrom(...OVERHEADS), time, { noNullPrototype: true })
      : fc.tuple(time, time, time, time, time).map((costs) =>
        Object.fromEntries(OVERHEADS.map((o, i) => [o, costs[i]]))
      ),
    others: fc.uniqueArray(fc.record({ name: name.map((text) => `m_${text}`), value: measurement }), {
      maxLength: 3,
      selector: (item) => item.name,
    }),
    unit: isT4 ? fc.constantFrom("", "W", "GFLOP/s") : fc.constant(""),
    timestamp: fc.option(fc.constantFrom("2022-12-23 12:11:26.411558+00:00", "2026-01-01T00:00:00Z")),
    correctness: isT4
      ? fc.double({ min: 0, max: 1, noNaN: true }).map((x) => x === 0 ? 0 : x)
      : fc.constant(1),
  }).map(({ others, unit, timeMs, timesMs, failure, ...rest }): SpaceRecord => ({
    ...rest,
    failure,
    timesMs: timesMs.map((part) => part * timeMs),
    timeMs: failure === null ? timeMs : null,
    measurements: [
      ...(failure === null ? [{ name: "time", value: timeMs, unit: "ms" }] : []),
      ...others.map((other) => ({ ...other, unit })),
    ],
  }));
}

/** Spaces that a T4 file can hold, or that a cache could have been read into. */
export function arbitrarySpace(kind: "t4" | "any-t4-metadata"): fc.Arbitrary<WholeSpace> {
  const lists = fc.uniqueArray(
    fc.tuple(
      name,
      fc.uniqueArray(fc.oneof({ arbitrary: value, weight: 9 }, { arbitrary: fc.constant(null), weight: 1 }), {
        minLength: 1,
        maxLength: 4,
      }),
    ),
    { minLength: 1, maxLength: 4, selector: ([text]) => text },
  );
  return lists.chain((pairs) =>
    fc.record({
      kernel: fc.option(fc.string({ maxLength: 10 })),
      device: fc.option(fc.string({ maxLength: 10 })),
      problemSize: fc.constantFrom<JsonValue>(null, 100, [48, 64], "callable"),
      objectives: fc.constant(["time"]),
      parameters: fc.constant(pairs.map(([text, values]) => ({ name: text, values }))),
      records: fc.uniqueArray(record(pairs.map(([, values]) => values), true), {
        maxLength: 8,
        minLength: 1,
        selector: ({ values }) => pythonKey(values),
      }),
      facet: fc.constant(null),
      other: fc.record({
        cacheHeader: fc.constantFrom<JsonObject>({}, { note: "x", list: [1, 2] }),
        t4Metadata: kind === "t4"
          ? fc.constant<JsonObject>({})
          : fc.constantFrom<JsonObject>({}, { hardware: { gpu: "x" } }),
      }, { noNullPrototype: true }),
    }, { noNullPrototype: true })
  );
}

/** The text of a cache as Kernel Tuner writes it: records with all fields, failures in place of the time. */
export function arbitraryCache(): fc.Arbitrary<Record<string, unknown>> {
  const errors = ["InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig"];
  return fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 64 }), fc.constantFrom(1, 2, 4), fc.boolean()), {
    minLength: 1,
    maxLength: 12,
    selector: (values) => values.join(),
  }).chain((configurations) =>
    fc.record({
      device_name: fc.string({ maxLength: 12 }),
      kernel_name: fc.string({ maxLength: 12 }),
      problem_size: fc.constantFrom<unknown>(100, [48, 64], "callable"),
      restrictions: fc.constantFrom("x > 1", "__import__('os').system('true')"),
      records: fc.tuple(...configurations.map((values) =>
        fc.record({
          time: fc.oneof(time, fc.constantFrom(...errors)),
          power: time,
          times: fc.array(fc.double({ min: 0.6, max: 1.9, noNaN: true }), { minLength: 1 }),
        })
          .map(({ times, ...fields }) => {
            const unit = typeof fields.time === "number" ? fields.time : 1;
            return { values, fields: { ...fields, times: times.map((part) => part * unit) } };
          })
      )),
    }).map(({ records, ...header }) => ({
      ...header,
      tune_params_keys: ["x", "y", "flag"],
      tune_params: {
        x: [
          ...new Set(configurations.map(([x]) => x)),
        ],
        y: [1, 2, 4],
        flag: [true, false],
      },
      objective: "time",
      cache: Object.fromEntries(records.map(({ values: [x, y, flag], fields }) => [
        `${x},${y},${flag ? "True" : "False"}`,
        {
          x,
          y,
          flag,
          ...fields,
          compile_time: 440.5,
          verification_time: 0,
          benchmark_time: 1.5,
          strategy_time: 0,
          framework_time: 0.25,
          timestamp: "2022-12-23 12:11:26.411558+00:00",
        },
      ])),
    }))
  );
}

/** A space with its records in memory. */
export type WholeSpace = RecordedSpace & { readonly records: readonly SpaceRecord[] };

/** Reads a file with all of its records. */
export async function readWhole(bytes: Uint8Array | string) {
  const content = typeof bytes === "string" ? new TextEncoder().encode(bytes) : Uint8Array.from(bytes);
  const { space, ...reading } = readSpace(await unpack(content, "file"), "file");
  const whole: WholeSpace = { ...space, records: [...space.records] };
  return { space: whole, ...reading };
}

/** Writes a space, and what was said of it. */
export function written<Writing>(pieces: Generator<string, Writing>): { text: string } & Writing {
  let text = "", next = pieces.next();
  for (; !next.done; next = pieces.next()) text += next.value;
  return { text, ...next.value };
}
