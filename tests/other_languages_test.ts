/**
 * The programs in docs/from_other_languages.md, run where their languages are on the machine.
 *
 * @module
 */
import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { wholeFields } from "../kernels/layers.ts";
import { EQUATIONS } from "../kernels/stencils/all.ts";
import { readArray } from "../mod.ts";
import { inDirectory } from "./cli/run_task.ts";

const ROOT = join(import.meta.dirname!, ".."),
  TEXT = await Deno.readTextFile(join(ROOT, "docs/from_other_languages.md"));
const { tasks } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));

/** What a language's program says, in a folder in which `deno task` is the repository's, on one worker of the CPU. */
async function runProgram(folder: string, language: string, interpreter: readonly string[]): Promise<string> {
  const flags = tasks.solve.command.split(" ").slice(1, -2).join(" ");
  const program =
    `#!/bin/sh\nshift 2\nexec ${Deno.execPath()} ${flags} ${ROOT}/tuner/cli/main.ts solve --no-gpu --cpu-workers 1 "$@"\n`;
  await Deno.writeTextFile(`${folder}/deno`, program, { mode: 0o755 });
  const [, text = ""] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "ms").exec(TEXT) ?? [];
  const [name = "", ...args] = interpreter;
  const { code, stdout, stderr } = await new Deno.Command(name, {
    args: [...args, text.replace(/^mpirun.*\n/gm, "")],
    cwd: folder,
    env: { PATH: `${folder}:${Deno.env.get("PATH")}` },
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

const PROGRAMS = [
  ["sh", ["sh", "-ec"], "true", /Wrote u-000.npy, u-000.png, u-050.npy.*u.png$.*^Wrote end.npy$/ms],
  ["python", ["python3", "-c"], "import numpy", /\(128, 128\) -[\d.]+ [\d.]+\n$/],
  ["julia", ["julia", "-e"], "using NPZ", /\(128, 128\) \(-[\d.f-]+, [\d.f-]+\)\n$/],
] as const;

for (const [language, interpreter, needs, output] of PROGRAMS) {
  const [name, ...args] = interpreter;
  const trial = new Deno.Command(name, { args: [...args, needs] });
  // a program that is missing is thrown at once
  const isThere = await Promise.try(() => trial.output()).then(({ success }) => success, () => false);
  Deno.test({
    name: `the program in ${language} runs${isThere ? "" : " (ignored: it is not on this machine)"}`,
    ignore: !isThere,
    fn: () =>
      inDirectory(async (folder) => {
        assertMatch(await runProgram(folder, language, interpreter), output);
        assertEquals((await readArray(`${folder}/u.npy`)).shape, [128, 128]);
      }),
  });
}

Deno.test("the table of names has those of each equation", () => {
  for (const { name, dimensions: [most] = [3], variant, create } of EQUATIONS) {
    const { update } = create(variant?.default, undefined, most === 2 ? 2 : undefined);
    const [, ...cells] = TEXT.split("\n").find((line) =>
      line.startsWith("|") && line.includes(`\`${name}\``)
    )!.split("|");
    const wanted = [
      wholeFields(update),
      update.materials.map(({ name }) => name),
      (update.sources ?? []).map(({ name }) => name),
    ];
    assertEquals(cells.slice(1, 4).map((cell) => cell.match(/\w+/g) ?? []), wanted);
  }
});
