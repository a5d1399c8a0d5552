import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { parseBalanceOptions } from "../../tuner/cli/balance_options.ts";
import { UserError } from "../../tuner/cli/user_error.ts";

const CHOICES = { traversals: ["stepwise", "marching"] };

function parse(...args: string[]) {
  const options = parseBalanceOptions(args, CHOICES);
  assert(!("help" in options));
  return options;
}

Deno.test("balance: defaults, and every option", () => {
  const { startShare, exchangeEvery, sweep, passes, traversals, json, gpu, equation } = parse();
  assertEquals([startShare, exchangeEvery, sweep, passes], [0.1, undefined, undefined, 7]);
  assertEquals([traversals, json, gpu, equation.name], [["stepwise"], false, true, "wave"]);
  const given = parse(
    ...["--stencil", "heat", "--delta", "3", "--grid", "64x32x16", "--boundary", "periodic", "--steps", "24"],
    ...["--start-share", "0.5", "--exchange-every", "4", "--cpu-workers", "1", "--traversal", "marching"],
    ...["--json", "--quiet"],
  );
  assertEquals([given.equation.name, given.variant, given.grid], ["heat", 3, [64, 32, 16]]);
  assertEquals([given.boundary, given.steps, given.startShare], ["periodic", 24, 0.5]);
  assertEquals([given.exchangeEvery, given.cpuWorkers, given.traversals], [4, 1, ["marching"]]);
  assertEquals([given.json, given.quiet], [true, true]);
  const { sweep: periods, passes: times } = parse("--sweep-exchange", "1..32", "--passes", "3");
  assertEquals([periods?.length, periods?.at(0), periods?.at(-1), times], [32, 1, 32, 3]);
});

Deno.test("balance: wrong requests name the option", () => {
  const wrong: [args: string[], text: string][] = [
    [["--start-share", "1.1"], "--start-share"],
    [["--start-share", "-0.1"], "--start-share"],
    [["--exchange-every", "0"], "--exchange-every"],
    [["--exchange-every", "2.5"], "--exchange-every"],
    [["--sweep-exchange", "5"], "as 1..32"],
    [["--sweep-exchange", "5..2"], "the smaller first"],
    [["--sweep-exchange", "0..2"], "--sweep-exchange"],
    [["--sweep-exchange", "1..4", "--exchange-every", "2"], "--exchange-every with --sweep-exchange"],
    [["--sweep-exchange", "1..4", "--start-share", "0.2"], "--start-share with --sweep-exchange"],
    [["--passes", "3"], "--passes without --sweep-exchange"],
    [["--sweep-exchange", "1..4", "--passes", "0"], "--passes"],
    [["--cpu-workers", "0"], "--cpu-workers 0"],
    [["--no-gpu"], "no-gpu"],
    [["--traversal", "swept"], "--traversal"],
    [["--traversal", "stepwise", "--traversal", "marching"], "it may be given once"],
    [["--order", "3"], "--order"],
    [["--delta", "2"], "it belongs to heat"],
  ];
  for (const [args, text] of wrong) {
    const error = assertThrows(() => parseBalanceOptions(args, CHOICES), UserError);
    assertStringIncludes(error.message, text);
  }
});

Deno.test("balance --help names every option", () => {
  const options = parseBalanceOptions(["--help"], CHOICES);
  assert("help" in options);
  for (
    const name of ["start-share", "exchange-every", "sweep-exchange", "passes", "cpu-workers", "stencil"]
  ) {
    assertStringIncludes(options.help, `--${name}`);
  }
  assert(!options.help.includes("--no-gpu"));
});
