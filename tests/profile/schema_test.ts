import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { wave } from "../../kernels/stencils/wave.ts";
import { describeProblem, problemOf } from "../../tuner/profile/profile_problem.ts";
import { Ajv2020 } from "npm:ajv@^8.17.1/dist/2020.js";
import type { Configuration, Verification } from "../../tuner/configuration.ts";
import type { DeviceDescription } from "../../tuner/devices/device.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import {
  parseProfile,
  type Profile,
  type ProfileDevice,
  type ProfileEntry,
} from "../../tuner/profile/schema.ts";
import { JSON_SCHEMA_URL, renderJsonSchema } from "../../bench/write_json_schema.ts";
import { THOROUGH } from "../thorough.ts";
import { ENTRY, PROFILE } from "./sample_profile.ts";

type Changeable = Record<string, unknown>;

/** The sample profile with one place changed. */
function changed(path: readonly (string | number)[], value: unknown): string {
  const copy = structuredClone(PROFILE) as unknown as Changeable;
  const parent = path.slice(0, -1).reduce<Changeable>((at, key) => at[key] as Changeable, copy);
  const last = path.at(-1)!;
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return JSON.stringify(copy);
}

function messageOf(json: string): string {
  try {
    parseProfile(json, "p.json");
  } catch (error) {
    assert(error instanceof ProfileError, String(error));
    assert(!error.message.includes("\n"));
    return error.message;
  }
  return "";
}

Deno.test("schema takes the sample profile and gives it back", () => {
  assertEquals(parseProfile(JSON.stringify(PROFILE), "p.json"), PROFILE);
});

Deno.test("schema takes the best of each traversal where it is listed, and checks its shares and rates", () => {
  const best = ENTRY.tieSet[0]!;
  const at = ["entries", 0, "bestOfEach"];
  assertEquals(parseProfile(changed(at, [best]), "p.json").entries[0]!.bestOfEach, [best]);
  const { configuration } = best;
  const thin = { ...configuration, share: { ...configuration.share, cpuSlices: 3 } };
  assertStringIncludes(
    messageOf(changed(at, [best, { ...best, configuration: thin }])),
    "bestOfEach[1].configuration.share: wanted slices that add up to 100, the grid's",
  );
  assertStringIncludes(
    messageOf(changed(at, [{ ...best, cellsPerSecond: 1 }])),
    "bestOfEach[0]: wanted a rate within its interval",
  );
});

Deno.test("schema takes the bandwidth of an entry, which earlier files lack", () => {
  const at = ["entries", 0, "copyBytesPerSecond"];
  assertEquals(parseProfile(changed(at, { cpu: 1e10 }), "p.json").entries[0]!.copyBytesPerSecond, {
    cpu: 1e10,
  });
  assertStringIncludes(
    messageOf(changed(at, { cpu: 0 })),
    "copyBytesPerSecond.cpu: wanted a number above 0, found 0",
  );
});

Deno.test("schema's records are the ones that the tuner exchanges", () => {
  // fails to compile when they drift apart
  const configuration: Configuration = ENTRY.configuration;
  const back: ProfileEntry["configuration"] = configuration;
  const verification: Verification = ENTRY.verification;
  const description: DeviceDescription = PROFILE.device;
  const device: ProfileDevice = { ...description, measured: { copyBytesPerSecond: null } };
  assert(back && verification && device);
});

Deno.test("schema refuses another version, naming both", () => {
  for (const [version, shown] of [[2, "2"], ["1", '"1"'], [null, "null"]] as const) {
    assertEquals(
      messageOf(changed(["schemaVersion"], version)),
      `Cannot read p.json: it is a profile of version ${shown}: this Facet reads version 1`,
    );
  }
});

Deno.test("schema says where, what was wanted and what was found", () => {
  const cases: [path: (string | number)[], value: unknown, message: string][] = [
    [["device", "cpu", "cores"], 0, "device.cpu.cores: wanted a whole number >= 1, found 0"],
    [["device", "cpu", "cores"], 1.5, "device.cpu.cores: wanted a whole number, found 1.5"],
    [["entries", 0, "result", "cellsPerSecond"], "fast", 'cellsPerSecond: wanted a number, found "fast"'],
    [["entries", 0, "result", "cellsPerSecond"], -3, "cellsPerSecond: wanted a number above 0, found -3"],
    [["entries", 0, "result", "cellsPerSecond"], 1, "result: wanted a rate within its interval, found {"],
    [
      ["entries", 0, "result", "confidence95"],
      [2, 1],
      "wanted an interval, the lower end first, found a list",
    ],
    [["entries", 0, "result", "samples"], [], "samples: wanted at least one sample, found a list of 0"],
    [["entries", 0, "result", "samples"], undefined, "samples: wanted a list of rates, found nothing"],
    [
      ["entries", 0, "problem", "grid"],
      [100],
      "grid: wanted three whole numbers, x, y and z, or two, found a list of 1",
    ],
    [["entries", 0, "problem", "order"], undefined, "wanted an order with the wave equation"],
    [["entries", 0, "problem", "delta"], 2, "wanted either order or delta, not both"],
    [
      ["entries", 0, "problem", "order"],
      3,
      "problem.order: wanted one of 2, 4, 6, 8, 10, 12, 14, found 3",
    ],
    [
      ["entries", 0, "problem"],
      { ...ENTRY.problem, stencil: "heat", order: undefined, delta: 7 },
      "problem.delta: wanted one of 1, 2, 3, 4, found 7",
    ],
    [
      ["entries", 0, "problem", "boundary"],
      "cyclic",
      'boundary: wanted one of zero, periodic, insulated, or three of them, or two, found "cyclic"',
    ],
    [
      ["entries", 0, "problem", "boundary"],
      ["zero", "zero", "cyclic"],
      "boundary: wanted one of zero, periodic",
    ],
    [["entries", 0, "problem", "precision"], "f16", 'precision: wanted f32 or f64, found "f16"'],
    [["entries", 0, "configuration", "share", "gpuSlices"], 95, "share: wanted slices that add up to 100"],
    [
      ["entries", 0, "configuration", "share", "cpuWorkers"],
      0,
      "share: wanted a worker for the CPU's slices",
    ],
    [
      ["entries", 0, "configuration", "share"],
      { ...ENTRY.configuration.share, cpuSlices: 0, gpuSlices: 100 },
      "share: wanted slices on both devices where cpu says how the CPU traverses its own",
    ],
    [
      ["entries", 0, "configuration", "share", "cpu", "parameters"],
      { tiles: "8" },
      'share.cpu.parameters.tiles: wanted a number, found "8"',
    ],
    [["entries", 0, "balance", 0, "gpuSlices"], 1, "entries[0].balance[0]: wanted slices that add up to 100"],
    [["entries", 0, "verification", "maxError"], 1, "verification: wanted a largest error within the bound"],
    [
      ["entries", 0, "search", "failed"],
      { "No Reason": 1 },
      "wanted a name of small letters, digits and dashes",
    ],
    [["entries", 0, "speed"], 9, "entries[0].speed: wanted nothing of this name"],
    [
      ["createdAt"],
      "yesterday",
      'createdAt: wanted a UTC time such as 2026-11-21T10:00:00Z, found "yesterday"',
    ],
    [["entries"], {}, "entries: wanted a list of entries, found {}"],
    [["device"], null, "device: wanted an object, found null"],
  ];
  for (const [path, value, message] of cases) assertStringIncludes(messageOf(changed(path, value)), message);
});

Deno.test("schema refuses what is no profile at all", () => {
  for (const json of ["", "{", "[]", "null", "7", '"profile"', "{}", "\0", '{"schemaVersion":1}']) {
    assertStringIncludes(messageOf(json), "Cannot read p.json: ");
  }
  assertEquals(messageOf("[]"), "Cannot read p.json: the whole: wanted an object, found a list of 0");
});

Deno.test("schema refuses numbers that JSON can write and no device can have", () => {
  const text = JSON.stringify(PROFILE);
  assertStringIncludes(messageOf(text.replace('"seed":1', '"seed":1e400')), "search.seed: wanted");
  assertStringIncludes(messageOf(text.replace('"cores":8', '"cores":9007199254740993')), "cores: wanted");
});

Deno.test("schema refuses keys that reach a prototype, at any depth", () => {
  const text = JSON.stringify(PROFILE);
  for (const key of ["__proto__", "constructor", "prototype"]) {
    const inParameters = text.replace('"dts":5', `"${key}":{"polluted":1}`);
    assertEquals(messageOf(inParameters), `Cannot read p.json: wanted no key named ${key}, found one`);
  }
  assertEquals(({} as Changeable).polluted, undefined);
});

Deno.test("schema survives nesting that would overflow a stack", () => {
  assertStringIncludes(messageOf("[".repeat(1e5) + "]".repeat(1e5)), "levels of nesting");
});

Deno.test("schema never accepts a profile with a part of the wrong type, and never crashes", () => {
  const paths: (string | number)[][] = [];
  const collect = (value: unknown, path: (string | number)[]): void => {
    if (path.length > 0) paths.push(path);
    if (typeof value !== "object" || value === null) return;
    const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
    for (const key of keys) collect((value as Changeable)[key], [...path, key]);
  };
  collect(PROFILE, []);
  const property = fc.property(
    fc.constantFrom(...paths),
    fc.constantFrom<unknown>(undefined, true, -1, 1e300, "", "x".repeat(2000), [[]], { a: { b: 1 } }),
    (path, value) => {
      const json = changed(path, value);
      const message = messageOf(json);
      if (message !== "") return;
      // accepted: then the place may hold any text, number or flag, or may be empty
      const last = String(path[path.length - 1]);
      if (["costModel", "cpu"].includes(last) && value === undefined) return; // profiles of before have none
      const isFree = ["string", "number", "boolean"].includes(typeof value) ||
        typeof path.at(-1) === "number";
      assert(
        isFree || ["dts", "nt", "tiles", "levels", "block", "compile", "device-lost"].includes(last),
        `${path}: ${json}`,
      );
    },
  );
  fc.assert(property, { seed: 4, numRuns: THOROUGH ? 1500 : 300 });
});

Deno.test("schema survives profiles cut off anywhere", () => {
  const text = JSON.stringify(PROFILE);
  for (let length = 0; length < text.length; length += THOROUGH ? 7 : 61) {
    assertStringIncludes(messageOf(text.slice(0, length)), "it is not JSON");
  }
});

Deno.test("a definition is checked like any other, and its hash", () => {
  const problem = describeProblem({ ...problemOf(ENTRY.problem)!, stencil: wave(2, { courant: 0.1 }) });
  const at = ["entries", 0, "problem"] as const;
  const { definition } = parseProfile(changed(at, problem), "p.json").entries[0]!.problem;
  assertEquals(definition, problem.definition);
  const wrong = (change: object): string => messageOf(changed(at, { ...problem, ...change }));
  const equation = (change: object) => wrong({ definition: { ...definition, ...change } });
  const where = "Cannot read p.json: entries[0].problem.";
  assertStringIncludes(
    wrong({ hash: "0123456789abcdef" }),
    `${where}hash: wanted ${problem.hash}, the definition's`,
  );
  assertStringIncludes(wrong({ hash: undefined }), `${where}hash: wanted ${problem.hash}`);
  const odd = wrong({ definition: undefined, hash: "wave" });
  assertStringIncludes(odd, `${where}hash: wanted sixteen hexadecimal digits, found "wave"`);
  assertStringIncludes(wrong({ stencil: "heat" }), `${where}stencil: wanted wave, as the definition says`);
  assertStringIncludes(wrong({ definition: 5 }), `${where}definition: wanted an object, found 5`);
  const edited = JSON.parse(JSON.stringify(definition!.substeps).replace(/-?0\.0\d+/, "0.5"));
  assertStringIncludes(equation({ substeps: edited }), `${where}hash: wanted`);
  assertStringIncludes(
    equation({ substeps: [{ F: ["at", "G", 0, 0, 0] }] }),
    `${where}definition: wanted an equation that makes sense: sub-step 1, field F: the name of a field`,
  );
  assertStringIncludes(equation({ substeps: [] }), "at least one sub-step is wanted");
  assertStringIncludes(equation({ fields: null }), "fields: a list of objects is wanted");
});

Deno.test("the shipped JSON Schema is current", async () => {
  const shipped = await Deno.readTextFile(JSON_SCHEMA_URL);
  const advice = "run deno run --allow-write=. bench/write_json_schema.ts";
  assertEquals(shipped, renderJsonSchema(), advice);
});

Deno.test("the shipped JSON Schema is valid draft 2020-12 and judges as the schema does", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const schema = JSON.parse(renderJsonSchema());
  assertEquals(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
  assert(ajv.validateSchema(schema), JSON.stringify(ajv.errors));
  const judge = ajv.compile(schema);
  const judges = (json: string): boolean => judge(JSON.parse(json) as Profile);
  assert(judges(JSON.stringify(PROFILE)), JSON.stringify(judge.errors));
  assert(!judges(changed(["device", "cpu", "cores"], 0)));
  assert(!judges(changed(["entries", 0, "speed"], 9)));
  assert(!judges(changed(["entries", 0, "problem", "grid"], [1])));
});

Deno.test("an entry without a cost model is one, as those of before; a wrong one is refused", () => {
  const at = ["entries", 0, "costModel"] as const;
  assertEquals(parseProfile(changed(at, undefined), "p.json").entries[0]!.costModel, undefined);
  const { costModel } = ENTRY;
  const wrong = (change: object): string => messageOf(changed(at, { ...costModel, ...change }));
  assertStringIncludes(
    wrong({ curve: [{ exchangeEvery: 0, cpuSlices: 1, predictedNs: 1, measuredNs: null }] }),
    ">= 1",
  );
  assertStringIncludes(
    wrong({ curve: [{ exchangeEvery: 1, cpuSlices: 1, predictedNs: 0, measuredNs: null }] }),
    "a number above 0",
  );
  const { coefficients } = costModel!;
  assertStringIncludes(
    wrong({ coefficients: { ...coefficients, unpack: { a: -1, b: 0 } } }),
    "a number >= 0",
  );
  assertStringIncludes(wrong({ residuals: { cpu: [] } }), "gpu");
});
