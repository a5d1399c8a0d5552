import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { type Choice, chooseConfiguration, type ChooseOptions } from "../../tuner/profile/choose.ts";
import type { TargetDevice } from "../../tuner/profile/match_device.ts";
import type { Profile } from "../../tuner/profile/profile_types.ts";
import { readProfile } from "../../tuner/profile/read_profile.ts";

const WAVE = await readProfile("fixtures/h100/wave.json");
const { limits, vendor, architecture, device, description } = WAVE.device.gpu!;
const INFO = { vendor, architecture, device, description };
const OPTIONS: ChooseOptions = { cpuWorkers: 0, copyBytesPerSecond: 2e12 };

/** A boundary that torres refuse keeps the space small. */
const problemOn = (x: number, changed: Partial<Problem> = {}): Problem => ({
  stencil: wave(2),
  grid: [x, 40, 48],
  boundary: "periodic",
  steps: 96,
  ...changed,
});

/** Everything made anew for each call, as programs do, and how often stepwise was asked what it demands. */
function choose(
  profiles: Profile | readonly Profile[],
  changed: Partial<Problem> = {},
  on: Partial<TargetDevice> = {},
  options: ChooseOptions = {},
): { readonly choice: Choice; readonly asked: number } {
  const changeable = stepwise as { demand: typeof stepwise.demand }, { demand } = stepwise;
  let asked = 0;
  changeable.demand = (...given) => {
    asked++;
    return demand(...given);
  };
  try {
    const target = { limits: { ...limits }, adapterInfo: { ...INFO }, ...on };
    return {
      choice: chooseConfiguration(profiles, problemOn(40, changed), target, { ...OPTIONS, ...options }),
      asked,
    };
  } finally {
    changeable.demand = demand;
  }
}

Deno.test("the same choice again asks nothing of the traversals, whatever a caller made of the first", () => {
  for (const profiles of [WAVE, [WAVE, { ...WAVE }]]) {
    const first = choose(profiles);
    assert(first.asked > 0);
    const before = structuredClone(first.choice);
    (first.choice.configuration.parameters as Record<string, number>).threadsZ = 7;
    const again = choose(Array.isArray(profiles) ? [...profiles] : profiles);
    assertEquals([again.asked, again.choice], [0, before]);
    assert(again.choice.entry === first.choice.entry);
  }
});

Deno.test("another profile, problem, device, limit or option is a choice of its own", () => {
  choose(WAVE);
  const asked = (...given: Parameters<typeof choose>): boolean => choose(...given).asked > 0;
  assert(!asked(WAVE));
  assert(asked({ ...WAVE }));
  assert(asked([WAVE, { ...WAVE, entries: [] }]));
  for (
    const changed of [{ grid: [40, 48, 40] as const }, { steps: 95 }, { boundary: "insulated" as const }, {
      stencil: wave(4),
    }]
  ) assert(asked(WAVE, changed), JSON.stringify(changed));
  for (const [name, value] of Object.entries(limits)) {
    assert(asked(WAVE, {}, { limits: { ...limits, [name]: value / 2 } }), name);
  }
  choose(WAVE, { boundary: "zero" });
  assert(asked(WAVE, { boundary: "zero" }, { limits: { ...limits, windowBytes: 2 ** 20 } }));
  for (const name of Object.keys(INFO)) {
    assert(asked(WAVE, {}, { adapterInfo: { ...INFO, [name]: "other" } }), name);
  }
  assert(asked(WAVE, {}, { adapterInfo: { ...INFO, isFallbackAdapter: true } }));
  for (const copyBytesPerSecond of [1e12, 1e13]) assert(asked(WAVE, {}, {}, { copyBytesPerSecond }));
  assert(asked(WAVE, {}, {}, { cpuWorkers: 3 }));
});

Deno.test("a device that cannot run a kept choice gets another", () => {
  const small = { ...limits, maxComputeInvocationsPerWorkgroup: 16 };
  const large = choose(WAVE).choice.configuration;
  assertNotEquals(choose(WAVE, {}, { limits: small }).choice.configuration, large);
  assertEquals(choose(WAVE).choice.configuration, large);
});
