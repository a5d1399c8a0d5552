/**
 * Whole shaders compared with files: a change of any writer shows line by line. After a change on purpose, renew the
 * files and read their difference:
 *
 *     FACET_RENEW_SNAPSHOTS=1 npx -y deno@2.9.6 test -A tests/kernels/
 *     git diff tests/kernels
 *
 * @module
 */
import { assertEquals } from "@std/assert";

const isRenewing = Deno.env.get("FACET_RENEW_SNAPSHOTS") === "1";

/** Adds a test for each shader: it is the one in `folder`, beside this file; and one for files without a shader. */
export function checkSnapshots(folder: string, shaders: Readonly<Record<string, string>>): void {
  const at = new URL(`./${folder}/`, import.meta.url);
  for (const [name, shader] of Object.entries(shaders)) {
    Deno.test(`the shader ${name} is the one in its snapshot`, async () => {
      const file = new URL(`${name}.wgsl`, at);
      if (isRenewing) {
        await Deno.mkdir(at, { recursive: true });
        await Deno.writeTextFile(file, shader);
      }
      // by lines, so that a failure shows the ones that differ
      assertEquals(shader.split("\n"), (await Deno.readTextFile(file)).split("\n"));
    });
  }
  Deno.test(`every file in ${folder} has its shader`, async () => {
    const files = (await Array.fromAsync(Deno.readDir(at))).map(({ name }) => name).sort();
    assertEquals(files, Object.keys(shaders).map((name) => `${name}.wgsl`).sort());
  });
}

/** Adds a test for each shader: no `+ 0`, no `* 1`, no line that ends in the middle of an expression. */
export function checkTidy(shaders: Readonly<Record<string, string>>): void {
  for (const [name, shader] of Object.entries(shaders)) {
    Deno.test(`the shader ${name} has no empty arithmetic and no broken lines`, () => {
      const code = shader.split("\n").map((line) => line.replace(/\/\/.*/, "").trim());
      assertEquals(code.filter((line) => /[-+] 0\b(?!\.)|\* 1\b(?!\.)|\b1 \*|[-+] -/.test(line)), []);
      assertEquals(code.filter((line) => line !== "fn main(" && /[-+*(]$/.test(line)), []);
    });
  }
}
