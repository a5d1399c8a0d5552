/**
 * Makes a failing case small: fewer calls, cells, fields and terms, as long as it fails in the same way.
 *
 * @module
 */
import { type Definition, type ExpressionData, stencilOf } from "../../mod.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { partOfRank, planOf } from "../../models/rank_part.ts";
import { type Fault, tryCase, type Verdict } from "./judge.ts";
import { type LimitedGpu, problemOf } from "./machines.ts";
import type { Boundary, Call, RandomCase } from "./random_case.ts";

/** What shrinking may take. */
export interface ShrinkOptions {
  readonly gpu: LimitedGpu | undefined;
  readonly attempts: number;
  readonly milliseconds: number;
}

/** A smaller case that fails alike, with what it shows. */
export interface Shrunk {
  readonly one: RandomCase;
  readonly fault: Fault;
}

/** Numbers in messages differ from case to case. */
function likenessOf({ kind, message }: Fault): string {
  return kind === "error" ? message.replace(/[\d.]+/g, "#").slice(0, 130) : kind;
}

/** Shrinks a case as far as it goes. */
export async function shrink(one: RandomCase, fault: Fault, options: ShrinkOptions): Promise<Shrunk> {
  return await shrinkWhile(one, fault, async (one) => (await failing(one, options.gpu)).fault, options);
}

/** Shrinks a case as long as `faultOf` finds a fault of the same kind. */
export async function shrinkWhile(
  one: RandomCase,
  fault: Fault,
  faultOf: (one: RandomCase) => Promise<Fault | undefined>,
  { attempts, milliseconds }: Omit<ShrinkOptions, "gpu">,
): Promise<Shrunk> {
  const end = performance.now() + milliseconds, tried = new Set<string>();
  let best: Shrunk = { one, fault }, left = attempts;
  /** The first of some smaller cases that fails as well; undefined where the time is over, too. */
  const smallerOf = async (make: Smaller): Promise<Shrunk | undefined> => {
    for (const candidate of make(best.one, best.fault)) {
      const key = JSON.stringify(candidate);
      if (tried.has(key)) continue;
      tried.add(key);
      if (left-- <= 0 || performance.now() > end) return undefined;
      const found = await faultOf(candidate);
      if (found !== undefined && likenessOf(found) === likenessOf(fault)) {
        return { one: candidate, fault: found };
      }
    }
  };
  tried.add(JSON.stringify(one));
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const make of SMALLER) {
      for (let next = await smallerOf(make); next !== undefined; next = await smallerOf(make)) {
        [best, isSmaller] = [next, true];
      }
    }
  }
  return best;
}

async function failing(one: RandomCase, gpu: LimitedGpu | undefined): Promise<Pick<Verdict, "fault">> {
  try {
    stencilOf(one.definition);
    return await tryCase(one, gpu);
  } catch {
    return {}; // makes no sense
  }
}

type Smaller = (one: RandomCase, fault: Fault) => Iterable<RandomCase>;

/** Parameters of which 0 is a value. */
const MAY_BE_0 = new Set(["tile", "ahead", "tiles", "farsh", "across", "materials", "fused", "strip"]);

const SMALLER: readonly Smaller[] = [
  function* onePlain(one) {
    const { isHasty: _, ...rest } = one, [nx = 1] = one.grid;
    const share = { cpuSlices: nx, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
    // what fails everywhere is no device's
    const where = { on: "solver", configuration: { traversal: "stepwise", parameters: {}, share } } as const;
    if (JSON.stringify(one.where) !== JSON.stringify(where)) yield { ...rest, where };
    if (one.isHasty) yield rest;
  },
  function* fewerCalls({ calls, ...rest }, { by }) {
    if (by >= 0 && by + 1 < calls.length) yield { ...rest, calls: calls.slice(0, by + 1) };
    for (let size = Math.ceil(calls.length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0) {
      for (let at = calls.length - size; at > -size; at -= size) {
        const from = Math.max(0, at), kept = calls.toSpliced(from, at + size - from);
        if (kept.length > 0) yield { ...rest, calls: kept };
      }
    }
  },
  function* smallerCalls({ calls, ...rest }) {
    for (const [i, call] of calls.entries()) {
      for (const other of smallerCall(call)) yield { ...rest, calls: calls.with(i, other) };
    }
  },
  function* lessAround(one) {
    const { survey, boundary, steps } = one;
    if (survey !== undefined) {
      const { survey: _, ...rest } = one;
      yield rest;
    }
    for (const fewer of [1, 2, Math.floor(steps / 2)]) {
      if (fewer >= 1 && fewer < steps) yield { ...one, steps: fewer };
    }
    for (const axis of boundary.keys()) {
      if (boundary[axis] !== "zero") yield { ...one, boundary: boundary.with(axis, "zero" as Boundary) };
    }
  },
  function* fewerCells(one) {
    for (const [axis, cells] of one.grid.entries()) {
      for (const fewer of [1, 2, Math.floor(cells / 2), cells - 2, cells - 1]) {
        const smaller = fewer >= 1 && fewer < cells ? cutTo(one, axis, fewer) : undefined;
        if (smaller !== undefined) yield smaller;
      }
    }
  },
  function* smallerEquation(one) {
    for (const definition of smallerDefinitions(one.definition)) {
      const names = new Set(
        [...definition.fields, ...definition.materials, ...definition.profiles ?? []].map(({ name }) => name),
      );
      const sources = new Set((definition.sources ?? []).map(({ name }) => name));
      const calls = one.calls.filter((call) =>
        !("name" in call) || (call.call === "sources" ? sources : names).has(call.name)
      )
        .filter((call) =>
          call.call !== "write" && call.call !== "read" || call.ago !== 1 ||
          JSON.stringify(definition.substeps).includes('"before"')
        );
      yield { ...one, definition, calls };
    }
  },
  function* smallerParameters(one) {
    const { where } = one;
    if (where.on !== "solver") return;
    const { configuration } = where, { parameters } = configuration;
    for (const [name, value] of Object.entries(parameters)) {
      for (const other of MAY_BE_0.has(name) ? [0, 1, 2, 4, 8] : [1, 2, 4, 8]) {
        if (!(typeof value === "number" && other < value)) break;
        if (other === 1 && name === "nt") continue;
        yield {
          ...one,
          where: {
            ...where,
            configuration: { ...configuration, parameters: { ...parameters, [name]: other } },
          },
        };
      }
    }
  },
];

function* smallerCall(call: Call): Iterable<Call> {
  const without = <K extends string>(...names: K[]): Call => {
    return Object.fromEntries(
      Object.entries(call).filter(([name]) => !names.includes(name as K)),
    ) as unknown as Call;
  };
  switch (call.call) {
    case "run":
      for (const steps of [1, 2, Math.floor(call.steps / 2), call.steps - 1]) {
        if (steps >= 1 && steps < call.steps) yield { ...call, steps };
      }
      return;
    case "write":
      if (call.isList) yield without("isList");
      if (call.x !== undefined) yield without("x", "slices");
      if (call.values.kind !== "same") yield { ...call, values: { kind: "same", value: 1 } };
      return;
    case "read":
      if (call.x !== undefined) yield without("x", "slices");
      return;
    case "snapshots":
      if (call.box) yield without("box");
      if (call.stride > 1) yield { ...call, stride: 1 };
      return;
    case "sources":
    case "receivers": {
      const { positions } = call, signatures = call.call === "sources" ? call.signatures : [];
      if (call.slope !== undefined) yield without("slope");
      if (call.interpolation !== undefined) yield without("interpolation");
      for (const [i] of positions.length > 1 ? positions.entries() : []) {
        const own = signatures.length > 1 ? { signatures: signatures.toSpliced(i, 1) } : {};
        yield { ...call, positions: positions.toSpliced(i, 1), ...own } as Call;
      }
      for (const [i, position] of positions.entries()) {
        for (const [axis, at] of position.entries()) {
          for (const simpler of [0, Math.round(at)]) {
            if (Math.abs(simpler) < Math.abs(at) || at !== Math.round(at)) {
              yield { ...call, positions: positions.with(i, position.with(axis, simpler)) } as Call;
            }
          }
        }
      }
      if (call.call === "sources") {
        if (signatures.length > 1) yield { ...call, signatures: [signatures[0]!] };
        for (const [i, list] of signatures.entries()) {
          if (list.length > 1) yield { ...call, signatures: signatures.with(i, list.slice(0, -1)) };
        }
      } else {
        if (call.takes !== undefined) yield without("takes");
      }
    }
  }
}

/** The case with fewer cells along an axis; undefined where its parts would be others. */
function cutTo(one: RandomCase, axis: number, cells: number): RandomCase | undefined {
  const { where, definition } = one, grid = one.grid.with(axis, cells);
  const calls = one.calls.flatMap((call): Call[] => {
    switch (call.call) {
      case "sources":
      case "receivers":
        return [{
          ...call,
          positions: call.positions.map((at) => at.with(axis, Math.min(at[axis]!, cells - 1))),
        }];
      case "snapshots": {
        if (call.box === undefined) return [call];
        const low = Math.min(call.box.low[axis]!, cells - 1),
          size = Math.min(call.box.size[axis]!, cells - low);
        return [{
          ...call,
          box: { low: call.box.low.with(axis, low), size: call.box.size.with(axis, size) },
        }];
      }
      case "write":
      case "read": {
        const values = call.call === "write" && call.values.kind === "spike"
          ? {
            values: {
              ...call.values,
              at: call.values.at.with(axis, Math.min(call.values.at[axis]!, cells - 1)),
            },
          }
          : {};
        if (axis > 0 || call.x === undefined) return [{ ...call, ...values } as Call];
        const x = Math.min(call.x, cells - 1);
        return [
          {
            ...call,
            ...values,
            x,
            ...(call.slices !== undefined && { slices: Math.min(call.slices, cells - x) }),
          } as Call,
        ];
      }
      default:
        return [call];
    }
  });
  const smaller = { ...one, grid, calls };
  if (axis > 0 && where.on === "solver") return smaller;
  if (where.on === "solver") {
    const { configuration, configuration: { share } } = where, isCpu = share.gpuSlices === 0;
    const cpuSlices = isCpu ? cells : share.cpuSlices, gpuSlices = cells - cpuSlices;
    if (!isCpu && gpuSlices < 1) return undefined;
    return {
      ...smaller,
      where: { ...where, configuration: { ...configuration, share: { ...share, cpuSlices, gpuSlices } } },
    };
  }
  const problem = plannedProblem(problemOf(smaller)), { exchangeEvery, rates } = where;
  const plan = planOf(problem, {
    parts: where.parts as unknown as [number, number, number],
    exchangeEvery,
    rates,
  });
  if (plan === undefined || definition.dimensions === 1) return undefined;
  const configurations = where.configurations.map((configuration, rank) => {
    const [own] = partOfRank(problem, plan, rank).grid, { share } = configuration;
    return {
      ...configuration,
      share: { ...share, ...(share.gpuSlices > 0 ? { gpuSlices: own } : { cpuSlices: own }) },
    };
  });
  return { ...smaller, where: { ...where, configurations } };
}

/** Definitions with something less. */
export function* smallerDefinitions(definition: Definition): Iterable<Definition> {
  const { fields, materials, profiles = [], sources, substeps, layers } = definition;
  const without = (...names: (keyof Definition)[]): Definition => {
    return Object.fromEntries(
      Object.entries(definition).filter(([name]) => !names.includes(name as keyof Definition)),
    ) as unknown as Definition;
  };
  if (sources) yield without("sources");
  if (definition.surface !== undefined) yield without("surface");
  if (definition.stagger !== undefined) yield without("stagger");
  if (definition.signal !== undefined) {
    yield { ...replaced(without("signal"), (of) => of[0] === "signal" ? 0 : of) };
  }
  for (const [i, source] of sources?.entries() ?? []) {
    if (sources!.length > 1) yield { ...definition, sources: sources!.toSpliced(i, 1) };
    for (const field of Object.keys(source.into)) {
      if (Object.keys(source.into).length < 2) break;
      const into = Object.fromEntries(Object.entries(source.into).filter(([name]) => name !== field));
      yield { ...definition, sources: sources!.with(i, { ...source, into }) };
    }
  }
  for (const { name } of fields.length > 1 && layers === undefined ? fields : []) {
    const rest = {
      ...definition,
      fields: fields.filter((one) => one.name !== name),
      substeps: substeps.map((substep) =>
        Object.fromEntries(Object.entries(substep).filter(([field]) => field !== name))
      )
        .filter((substep) => Object.keys(substep).length > 0),
    };
    const kept = sources?.map((source) => ({
      ...source,
      into: Object.fromEntries(Object.entries(source.into).filter(([field]) => field !== name)),
    }))
      .filter(({ into }) => Object.keys(into).length > 0);
    const { sources: _, stagger: _s, ...bare } = rest;
    yield replaced(
      { ...bare, ...(kept && kept.length > 0 && { sources: kept }) },
      (of) => of[1] === name ? 0 : of,
    );
  }
  for (const { name } of materials) {
    yield replaced(
      { ...definition, materials: materials.filter((one) => one.name !== name) },
      (of) => of[1] === name ? 1 : of,
    );
  }
  for (const { name } of profiles) {
    const left = profiles.filter((one) => one.name !== name), { profiles: _, ...bare } = definition;
    yield replaced({ ...bare, ...(left.length > 0 && { profiles: left }) }, (of) => of[1] === name ? 1 : of);
  }
  for (const [i, substep] of substeps.entries()) {
    for (const [field, of] of Object.entries(substep)) {
      for (const simpler of simplerOf(of)) {
        yield { ...definition, substeps: substeps.with(i, { ...substep, [field]: simpler }) };
      }
    }
  }
  for (const [i, { packed, formula, ...material }] of materials.entries()) {
    if (packed || formula) yield { ...definition, materials: materials.with(i, material) };
  }
}

/** A definition with every node of its expressions replaced. */
function replaced(
  definition: Definition,
  by: (of: readonly (string | ExpressionData)[]) => ExpressionData,
): Definition {
  const again = (of: ExpressionData): ExpressionData => {
    if (typeof of === "number") return of;
    const found = by(of);
    return found !== of || typeof found === "number"
      ? found
      : found.map((part) => Array.isArray(part) ? again(part as ExpressionData) : part) as ExpressionData;
  };
  const all = (values: Readonly<Record<string, ExpressionData>>) =>
    Object.fromEntries(Object.entries(values).map(([name, of]) => [name, again(of)]));
  const { sources } = definition;
  return {
    ...definition,
    substeps: definition.substeps.map(all),
    ...(sources && { sources: sources.map((source) => ({ ...source, into: all(source.into) })) }),
  };
}

/** Simpler expressions: without a node, or with nearer taps. */
function* simplerOf(of: ExpressionData): Iterable<ExpressionData> {
  if (typeof of === "number") {
    if (of !== 1 && of !== 0) yield 1;
    return;
  }
  const [word, ...parts] = of as readonly [string, ...ExpressionData[]];
  if (word === "at" || word === "before" || word === "next") {
    yield 1;
    const cells = parts.slice(1) as number[];
    for (const [axis, far] of cells.entries()) {
      for (const nearer of [0, Math.sign(far)]) {
        if (Math.abs(nearer) < Math.abs(far)) yield [word, parts[0]!, ...cells.with(axis, nearer)];
      }
    }
    return;
  }
  const operands = word === "shifted" ? parts.slice(0, 1) : parts;
  yield* operands;
  if (operands.length > 2 && word !== "choose") {
    for (const i of operands.keys()) yield [word, ...operands.toSpliced(i, 1)];
  }
  for (const [i, operand] of operands.entries()) {
    for (const simpler of simplerOf(operand)) yield [word, ...parts.with(i, simpler)];
  }
}
