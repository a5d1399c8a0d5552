import { parseArgs } from "@std/cli";
import { parseArgs as fromSubpath } from "@std/cli/parse-args";
import { assertEquals, assertStrictEquals } from "@std/assert";

Deno.test("parseArgs is the same function at both addresses", () => {
  assertStrictEquals(parseArgs, fromSubpath);
});

Deno.test("parseArgs reads strings, booleans and what is neither", () => {
  const args = parseArgs(["--grid", "64", "--order=4", "--json", "rest", "7"], {
    string: ["grid", "order"],
    boolean: ["json", "quiet"],
  });
  const grid: string | undefined = args.grid;
  const json: boolean = args.json;
  assertEquals([grid, args.order, json, args.quiet, args._], ["64", "4", true, false, ["rest", 7]]);
});

Deno.test("parseArgs leaves a string that is not given undefined, and one without a value empty", () => {
  const args = parseArgs(["--out"], { string: ["grid", "out"] });
  assertEquals([args.grid, args.out], [undefined, ""]);
});

Deno.test("parseArgs keeps the last of a repeated option, unless it is collected", () => {
  const options = { string: ["grid", "traversal"], collect: ["traversal"] } as const;
  const repeated = ["--grid=1", "--grid=2", "--traversal=a", "--traversal=b"];
  const args = parseArgs(repeated, options);
  const traversals: string[] = args.traversal;
  assertEquals([args.grid, traversals], ["2", ["a", "b"]]);
  assertEquals(parseArgs(["--traversal=a"], options).traversal, ["a"]);
  assertEquals(parseArgs([], options).traversal, []);
});

Deno.test("parseArgs gives defaults their types, and lets them be overridden", () => {
  const options = {
    string: ["order"],
    boolean: ["gpu"],
    default: { order: "2", gpu: true, seed: 1 },
  } as const;
  const { order, gpu, seed }: { order: string; gpu: boolean; seed: number } = parseArgs([], options);
  assertEquals([order, gpu, seed], ["2", true, 1]);
  assertEquals(parseArgs(["--order", "4"], options).order, "4");
});

Deno.test("parseArgs takes --no-NAME as a negation only where NAME is negatable", () => {
  const seen: unknown[] = [];
  const unknown = (arg: string, key?: string): boolean => {
    seen.push([arg, key]);
    return false;
  };
  const args = parseArgs(["--no-gpu", "--no-json"], {
    boolean: ["gpu", "json"],
    negatable: ["gpu"],
    default: { gpu: true, json: true },
    unknown,
  });
  assertEquals([args.gpu, args.json, seen], [false, true, [["--no-json", "no-json"]]]);
  assertEquals(parseArgs(["--no-gpu"], { boolean: ["no-gpu"] })["no-gpu"], true);
});

Deno.test("parseArgs hands every unknown argument to `unknown`, and drops it on false", () => {
  const seen: unknown[][] = [];
  const args = parseArgs(["--grdi", "--x=3", "stray", "--json"], {
    boolean: ["json"],
    unknown: (...call) => {
      seen.push(call);
      return false;
    },
  });
  assertEquals(seen.map(([arg]) => arg), ["--grdi", "--x=3", "stray"]);
  assertEquals(seen[1], ["--x=3", "x", "3"]);
  assertEquals(args, { _: [], json: true });
});

Deno.test("parseArgs stops early, and leaves what follows -- alone", () => {
  const early = parseArgs(["--json", "tune", "--no-gpu", "--json"], { boolean: ["json"], stopEarly: true });
  assertEquals([early.json, early._], [true, ["tune", "--no-gpu", "--json"]]);
  const after = parseArgs(["a", "--", "--no-b"], { "--": true });
  assertEquals([after._, after["--"]], [["a"], ["--no-b"]]);
});

Deno.test("parseArgs sets an option and its alias alike", () => {
  const args = parseArgs(["-h", "-t", "a"], {
    boolean: ["help"],
    string: ["traversal"],
    collect: ["traversal"],
    alias: { help: "h", traversal: ["t"] },
  });
  assertEquals([args.help, args.h, args.traversal, args.t], [true, true, ["a"], ["a"]]);
});
