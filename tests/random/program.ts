/**
 * A case as a program that a person can run and read: what it does, what is right, what comes out.
 *
 * @module
 */
import type { Fault } from "./judge.ts";
import {
  type Call,
  isUnshared,
  type Pattern,
  patternAt,
  type RandomCase,
  readsBefore,
  visibleFields,
} from "./random_case.ts";

const json = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/"(\w+)":/g, "$1: ").replaceAll(",", ", ");

/** A program that imports `./mod.ts` from the project's root. */
export function programOf(one: RandomCase, fault: Fault): string {
  const { definition, grid, boundary, steps, survey, where, pieceCells } = one;
  const isSame = boundary.every((word) => word === boundary[0]);
  const problem = { grid, boundary: isSame ? boundary[0] : boundary, steps, ...(survey && { survey }) };
  const usesGpu = where.on === "solver"
    ? where.configuration.share.gpuSlices > 0
    : where.configurations.some(({ share }) => share.gpuSlices > 0);
  const usesHash = one.calls.some((call) =>
    call.call === "write" && (call.values.kind === "whole" || call.values.kind === "real")
  );
  const lines = [
    `// case ${one.seed}: ${fault.message.replaceAll("\n", " ")}`,
    `import * as F from "./mod.ts";`,
    isUnshared(one) ? `delete (globalThis as any).SharedArrayBuffer; // the CPU computes in this thread` : "",
    ...where.on === "ranks" ? RANKS : [],
    pieceCells ? `(await import("./tuner/devices/shared/boxes.ts")).PIECE.cells = ${pieceCells};` : "",
    usesHash
      ? `const { patternAt } = await import("./tests/random/random_case.ts"); // whole numbers or fractions from a hash of the cell`
      : "",
    `const stencil = F.stencilOf(${json({ ...definition, title: definition.name })});`,
    `const problem = { stencil, ...${json(problem)} } as any;`,
    usesGpu
      ? `const device: any = await F.openDevice(${json({ precision: definition.precision })});`
      : `const device = null;`,
    ...where.on === "solver" ? solverLines(where, definition) : rankLines(where, usesGpu, one.seed),
    ...one.calls.map((call, by) =>
      callOf(call, by === fault.by ? fault : undefined, { isRanks: where.on === "ranks", definition })
    ),
    fault.kind === "start" && fault.by < 0 ? `// ${fault.message}` : "",
    `Deno.exit(0);`,
  ];
  void [readsBefore, visibleFields, patternAt];
  return lines.filter((line) => line !== "").join("\n");
}

const RANKS = [
  `import { openOnRanks } from "./tuner/solver/open_on_ranks.ts";`,
  `import { CpuPool } from "./tuner/devices/cpu/wasm_workers.ts";`,
  `import { GpuDevice } from "./tuner/devices/gpu/gpu_device.ts";`,
  `import { planOf } from "./models/rank_part.ts";`,
  `import { plannedProblem } from "./kernels/planned_problem.ts";`,
  `import { localWorlds } from "./tests/ranks/local_world.ts";`,
];

function solverLines(
  { configuration, sections, hasBuffers }: Extract<RandomCase["where"], { on: "solver" }>,
  { precision }: RandomCase["definition"],
): string[] {
  return [
    `const configuration = ${json(configuration)} as any;`,
    ...sections
      ? [
        `const own: any = {}; for (const name in Object.getOwnPropertyDescriptors(Object.getPrototypeOf(device.limits))) own[name] = device.limits[name];`,
        `Object.defineProperty(device, "limits", { value: { ...own, maxStorageBufferBindingSize: ${sections.bytes}${
          sections.isBuffer ? `, maxBufferSize: ${sections.bytes}` : ""
        } } });`,
      ]
      : [],
    ...hasBuffers
      ? [
        `const { length } = F.solverLayout(problem, configuration), usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;`,
        `const buffers: any = [0, 1].map(() => device.createBuffer({ size: ${
          precision === "f64" ? 8 : 4
        } * length, usage }));`,
        `const options = { buffers, timeoutMs: 600000 };`,
      ]
      : [`const options = { timeoutMs: 600000 };`],
    `let solver = await F.createSolver(device, problem, configuration, options);`,
  ];
}

function rankLines(
  { parts, exchangeEvery, rates, workers, configurations }: Extract<RandomCase["where"], { on: "ranks" }>,
  usesGpu: boolean,
  seed: number,
): string[] {
  return [
    `const configurations = ${json(configurations)} as any;`,
    `const plan = planOf(plannedProblem(problem), ${json({ parts, exchangeEvery, rates })} as any)!;`,
    `const its: any = { gpu: ${
      usesGpu ? "await GpuDevice.borrow(device, { timeoutMs: 600000 })" : "undefined"
    }, cpuPool: ${
      configurations.some(({ share }) => share.cpuWorkers > 0)
        ? `await CpuPool.create({ workers: ${workers} })`
        : "undefined"
    } };`,
    `const worlds = localWorlds(${rates.length}, { seed: ${seed} });`,
    `const open = (from?: Blob) => Promise.all(worlds.map((world, rank) => openOnRanks(plannedProblem(problem), { world, device: its, profiles: [], plan, choose: () => configurations[rank], from })));`,
    `let ranks = await open();`,
    `const all = async <T>(of: (rank: (typeof ranks)[0]) => Promise<T>): Promise<T> => (await Promise.all(ranks.map(of)))[0]!;`,
  ];
}

function valuesText(values: Pattern, isProfile = false): string {
  if (isProfile && values.kind !== "same") return `(i: number) => patternAt(${json(values)}, [i])`;
  switch (values.kind) {
    case "same":
      return `${values.value}`;
    case "spike":
      return `(...cell: number[]) => cell.join() === "${values.at.join()}" ? ${values.value} : ${values.other}`;
    default:
      return `(...cell: number[]) => patternAt(${json(values)}, cell)`;
  }
}

function callOf(
  call: Call,
  fault: Fault | undefined,
  { isRanks, definition: { profiles = [] } }: {
    readonly isRanks: boolean;
    readonly definition: RandomCase["definition"];
  },
): string {
  const on = (text: string) => isRanks ? `await all((solver) => solver.${text});` : `await solver.${text};`;
  const got = (text: string) =>
    `console.log(${isRanks ? `await all((solver) => solver.${text})` : `await solver.${text}`});`;
  const right = fault === undefined ? "" : ` // ${fault.message}${rightOf(fault)}`;
  const place = (one: { interpolation?: string; slope?: number }): string =>
    [
      one.interpolation ? `interpolation: "${one.interpolation}"` : "",
      one.slope !== undefined ? `weight: (x: number) => 1 + ${one.slope} * x` : "",
    ].filter((text) => text !== "").join(", ");
  switch (call.call) {
    case "write": {
      const { name, values, ago, x, slices } = call, isProfile = profiles.some((one) => one.name === name);
      const options = {
        ...(ago && { ago }),
        ...(x !== undefined && { x }),
        ...(slices !== undefined && { slices }),
      };
      const rest = Object.keys(options).length > 0 ? `, ${json(options)}` : "";
      return on(`write("${name}", ${valuesText(values, isProfile)}${rest})`) +
        (call.isList ? " // as a list" : "") + right;
    }
    case "run":
      return on(`run(${call.steps})`) + right;
    case "sources":
      return on(
        `addSources("${call.name}", ${json(call.positions)} as any, ${
          json(call.signatures.length === 1 ? call.signatures[0] : call.signatures)
        }, { ${place(call)} } as any)`,
      ) + right;
    case "receivers": {
      const takes = call.takes === "samples"
        ? `, onSamples: (first: number, values: any) => console.log("samples", first, values)`
        : call.takes
        ? `, frequencies: ${json(call.takes)}`
        : "";
      return on(
        `addReceivers("${call.name}", ${json(call.positions)} as any, { every: ${call.every}${takes}, ${
          place(call)
        } } as any)`,
      ) + right;
    }
    case "snapshots":
      return on(
        `addSnapshots("${call.name}", { ${
          json({ every: call.every, stride: call.stride, ...(call.box && { box: call.box }) }).slice(1, -1)
        }, onSnapshot: (one: any) => console.log(one) } as any)`,
      ) + right;
    case "reset":
      return on(`reset()`) + right;
    case "continue":
      return (isRanks
        ? `{ const from = await all((solver) => solver.save()); ranks.forEach((rank) => rank.dispose()); ranks = await open(from); }`
        : `{ const from = await solver.save(); await solver[Symbol.asyncDispose](); solver = await F.createSolver(device, problem, configuration, { ...options, from }); }`) +
        right;
    case "initialise":
      return on(`initialise("${call.kind}", ${call.seed})`) + right;
    case "read": {
      const { name, ago, x, slices } = call;
      const which = {
        ...(ago && { ago }),
        ...(x !== undefined && { x }),
        ...(slices !== undefined && { slices }),
      };
      const text = `read("${name}", ${json(which)})`;
      return got(text) + right;
    }
    case "traces":
    case "spectra":
      return got(`${call.call}()`) + right;
  }
}

/** What is right, in words: the index of each wrong value, what is right there, and what was found. */
export function rightOf({ wrong = [] }: Fault): string {
  if (wrong.length === 0) return "";
  const words = wrong.map(([list, index, right, found]) =>
    `${list > 0 ? `list ${list}, ` : ""}[${index}] is ${right}, found ${found}`
  );
  return `: right: ${words.join("; ")}`;
}
