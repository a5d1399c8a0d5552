/**
 * Runs a case on the product, and judges what came back by the interpreter.
 *
 * @module
 */
import {
  type Bounded,
  type Handed,
  Interpreter,
  readsBefore,
  visibleFields,
  WrongStart,
} from "./interpreter.ts";
import { type LimitedGpu, type Machine, makeMachine } from "./machines.ts";
import { type Call, isUnshared, type Outcome, type Outcomes, type RandomCase } from "./random_case.ts";

/** A wrong result, or an error where there should be none. */
export interface Fault {
  /** What kind it is: faults of one kind may be the same. */
  readonly kind: "wrong" | "error" | "start" | "count";
  /** The call that shows it. */
  readonly by: number;
  readonly message: string;
  /** Wrong values, of each of which the index among the call's, what is right and what was found. */
  readonly wrong?: readonly (readonly [list: number, index: number, right: number, found: number])[];
}

/** What became of a case. */
export interface Verdict {
  readonly fault?: Fault;
  /** Why the product would not do it. */
  readonly refused?: string;
  /** Values that were compared; those among them whose bound hides a tap; those that had to be equal. */
  readonly compared: number;
  readonly blind: number;
  readonly exact: number;
  /** Whether values grew beyond what f32 can be compared with, so that the rest was left out. */
  readonly isLost: boolean;
}

/** What the product may refuse: parts of its sentences. */
export const REFUSALS: readonly RegExp[] = [
  /would take more than twice the memory/,
  /bytes in (one time level|the \d+ slices)/,
  /one is thinner than the ghost zone/,
  /parts are thinner than their ghost zones/,
  /a window of \d+ bytes holds/,
  /bytes of (exchanged values|workgroup memory), max/,
];

async function startOf(machine: Machine, { definition }: RandomCase, withFields: boolean) {
  const start: Record<string, ArrayLike<number>[]> = {};
  for (const { name } of [...definition.materials, ...definition.profiles ?? []]) {
    start[name] = [await machine.read(name)];
  }
  if (!withFields) return start;
  for (const name of visibleFields(definition)) {
    start[name] = [await machine.read(name)];
    if (readsBefore(definition)) start[name].push(await machine.read(name, 1));
  }
  return start;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Makes the calls of a case. */
export async function runCase(one: RandomCase, gpu: LimitedGpu | undefined): Promise<Outcomes> {
  const scope = globalThis as { SharedArrayBuffer?: unknown }, { SharedArrayBuffer } = scope;
  if (isUnshared(one)) delete scope.SharedArrayBuffer;
  try {
    return await makeCalls(one, gpu);
  } finally {
    scope.SharedArrayBuffer = SharedArrayBuffer;
  }
}

async function makeCalls(one: RandomCase, gpu: LimitedGpu | undefined): Promise<Outcomes> {
  const taken: Outcomes["taken"][number][] = [];
  let machine: Machine;
  try {
    machine = await makeMachine(one, gpu);
  } catch (error) {
    return { calls: [], taken, refused: messageOf(error) };
  }
  const make = async (call: Call, by: number): Promise<Outcome> => {
    const take = (first: number, values: ArrayLike<number>, size?: readonly number[]) =>
      void taken.push({ by, first, values: Array.from(values), ...(size && { size: [...size] }) });
    switch (call.call) {
      case "write":
        return void await machine.write(call);
      case "run":
        return void await machine.run(call.steps);
      case "sources":
        return void await machine.sources(call);
      case "receivers":
        return void await machine.receivers(call, take);
      case "snapshots":
        return void await machine.snapshots(call, take);
      case "reset":
        return void await machine.reset();
      case "continue":
        return void await machine.continue();
      case "initialise": {
        await machine.initialise(call.kind, call.seed);
        return { start: await startOf(machine, one, true) };
      }
      case "read":
        return { values: await machine.read(call.name, call.ago, call.x, call.slices) };
      case "traces":
        return { lists: await machine.traces() };
      case "spectra":
        return { lists: await machine.spectra() };
    }
  };
  const calls: Outcome[] = [], failing = (error: unknown): Outcome => ({ error: messageOf(error) });
  try {
    calls.push(await startOf(machine, one, false).then((start) => ({ start })).catch(failing));
    // the reads after `initialise` come one after another, and another solver when the one before has saved
    const isHasty = one.isHasty &&
      one.calls.every(({ call }) => call !== "initialise" && call !== "continue");
    if (isHasty) calls.push(...await Promise.all(one.calls.map((call, by) => make(call, by).catch(failing))));
    for (const [by, call] of isHasty ? [] : one.calls.entries()) {
      const outcome = await make(call, by).catch(failing);
      calls.push(outcome);
      if (outcome !== undefined && "error" in outcome) break;
    }
  } finally {
    await machine[Symbol.asyncDispose]();
  }
  return { calls, taken };
}

/** How many wrong values are kept. */
const MOST_WRONG = 8;

class Comparison {
  compared = 0;
  blind = 0;
  exact = 0;

  /** The wrong values among some; undefined where all are right. */
  of(found: readonly ArrayLike<number>[], right: readonly Bounded[]): Fault["wrong"] | undefined {
    const wrong: [number, number, number, number][] = [];
    right.forEach(({ values, bounds }, list) => {
      const largest = values.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
      for (let i = 0; i < values.length; i++) {
        const value = values[i]!, its = bounds[i]!, is = found[list]![i]!;
        this.compared++;
        if (its === 0) this.exact++;
        else if (!(its < 1e-2 * largest)) this.blind++;
        if (!(Math.abs(is - value) <= 1.01 * its)) wrong.push([list, i, value, is]);
      }
    });
    return wrong.length > 0 ? wrong.slice(0, MOST_WRONG) : undefined;
  }
}

/** Judges what a case gave. */
export function judge(one: RandomCase, { calls, taken, refused }: Outcomes): Verdict {
  const comparison = new Comparison();
  const verdict = (rest: Pick<Verdict, "fault" | "refused"> & { isLost?: boolean } = {}): Verdict => {
    const { compared, blind, exact } = comparison;
    return { compared, blind, exact, isLost: false, ...rest };
  };
  const isExpected = (message: string) => REFUSALS.some((one) => one.test(message));
  if (refused !== undefined) {
    if (isExpected(refused)) return verdict({ refused });
    return verdict({ fault: { kind: "error", by: -1, message: `the solver is refused: ${refused}` } });
  }
  const interpreter = new Interpreter(one), [start, ...outcomes] = calls;
  for (const [i, call] of [undefined, ...one.calls].entries()) {
    const by = i - 1, outcome = calls[i];
    if (outcome !== undefined && "error" in outcome) {
      if (isExpected(outcome.error)) return verdict({ refused: outcome.error });
      if (call?.call === "run") {
        interpreter.call(call, by, undefined);
        if (interpreter.isLost) return verdict({ isLost: true });
      }
      const message = `${call?.call ?? "the first read"} fails: ${outcome.error}`;
      return verdict({ fault: { kind: "error", by, message } });
    }
    try {
      if (call === undefined) {
        const given = start !== undefined && "start" in start ? start.start : {};
        interpreter.create(given, one.where.on === "solver" && one.where.hasBuffers);
        continue;
      }
      const expected = interpreter.call(call, by, outcome);
      if (interpreter.isLost) return verdict({ isLost: true });
      if (expected === undefined) continue;
      const found = outcome === undefined
        ? []
        : "values" in outcome
        ? [outcome.values]
        : "lists" in outcome
        ? outcome.lists
        : [];
      const right = expected.kind === "values" ? [expected.of] : expected.of;
      const lengths = (of: readonly { readonly length: number }[]) => of.map(({ length }) => length).join();
      const wanted = lengths(right.map(({ values }) => values));
      if (lengths(found) !== wanted) {
        const message = `${call.call} gives lists of ${lengths(found) || "no"} values, ${wanted} are right`;
        return verdict({ fault: { kind: "count", by, message } });
      }
      const wrong = comparison.of(found, right);
      if (wrong !== undefined) {
        const name = "name" in call ? ` ${call.name}` : "";
        return verdict({
          fault: { kind: "wrong", by, message: `${call.call}${name} at t = ${interpreter.step}`, wrong },
        });
      }
    } catch (error) {
      if (!(error instanceof WrongStart)) throw error;
      return verdict({ fault: { kind: "start", by, message: error.message } });
    }
  }
  void outcomes;
  return verdict(compareHanded(one, { handed: interpreter.handed, taken, comparison }));
}

/** Compares what callbacks got: each sample and snapshot once, in order. */
function compareHanded(
  one: RandomCase,
  { handed, taken, comparison }: {
    readonly handed: readonly Handed[];
    readonly taken: Outcomes["taken"];
    readonly comparison: Comparison;
  },
): { fault?: Fault } {
  for (const [by, call] of one.calls.entries()) {
    if (call.call !== "receivers" && call.call !== "snapshots") continue;
    const right = handed.filter((one) => one.by === by),
      width = call.call === "receivers" ? call.positions.length : 0;
    const found = taken.filter((one) => one.by === by).flatMap((one) => {
      if (width === 0) return [one];
      const values = Array.from(one.values);
      return Array.from({ length: values.length / width }, (_, i) => ({
        ...one,
        first: one.first + i,
        values: values.slice(i * width, (i + 1) * width),
      }));
    });
    const nameOf = (list: readonly { first: number; size?: readonly number[] }[]) =>
      list.map(({ first, size }) => size ? `${first} (${size.join("x")})` : first).join(", ");
    // ranks hand over at `traces` what they kept until then; a reset or the end comes first in some scripts made small
    const isKept = one.where.on === "ranks" && keepsSamples(one.calls);
    if (isKept && found.every(({ first }, i) => first === right[i]?.first)) continue;
    if (nameOf(found) !== nameOf(right)) {
      const message = `the callback of ${call.call} gets ${nameOf(found) || "nothing"}, right: ${
        nameOf(right) || "nothing"
      }`;
      return { fault: { kind: "count", by, message } };
    }
    const wrong = comparison.of(found.map(({ values }) => values), right.map(({ of }) => of));
    if (wrong !== undefined) {
      return { fault: { kind: "wrong", by, message: `the callback of ${call.call} ${call.name}`, wrong } };
    }
  }
  return {};
}

/** Whether a run is followed by a reset, a new beginning or the end, and no `traces` between. */
function keepsSamples(calls: readonly Call[]): boolean {
  let isKept = false;
  for (const { call } of calls) {
    if ((call === "reset" || call === "initialise") && isKept) return true;
    if (call === "run") isKept = true;
    if (call === "traces" || call === "spectra") isKept = false;
  }
  return isKept;
}

/** Runs and judges a case. */
export async function tryCase(one: RandomCase, gpu: LimitedGpu | undefined): Promise<Verdict> {
  return judge(one, await runCase(one, gpu));
}
