/**
 * The programs in `programs/` are those that the page gives of their scenes. The types of their few lines are checked with
 * the tests', which takes less than to check each by itself; thorough runs do, of every scene (`in_browser.ts`).
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { SCENES } from "../../examples/scenes.ts";
import { programOf } from "../../page/program.ts";

for (const name of ["sound", "heat", "reaction"]) {
  Deno.test(`the program of ${name} is one whose types are checked`, async () => {
    const program = (await Deno.readTextFile(new URL(`programs/${name}.ts`, import.meta.url)))
      .replace("../../../mod.ts", "@facet/facet");
    const [, equation] = /\n\n(const stencil = .*)\n\nawait using /s.exec(program)!;
    const picture = {
      scene: name,
      size: [200, 320],
      preset: 0,
      strokes: [],
      sources: [],
      receivers: [],
      ...(name !== "sound" && { walls: [1, 2, 2, 0] }),
    } as const;
    const text = equation!.replace("const stencil =", "export default");
    assertEquals(programOf(SCENES[name]!, picture, text), program);
  });
}
