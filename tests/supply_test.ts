/**
 * What a command downloads is what was tested: lock files that no run changes, packages and tools by exact version.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";

const read = (path: string): Promise<string> => Deno.readTextFile(new URL(`../${path}`, import.meta.url));

Deno.test("no task changes a lock file", async () => {
  const { tasks } = JSON.parse(await read("deno.json"));
  for (const [name, task] of Object.entries<string | { command: string }>(tasks)) {
    const { command } = typeof task === "string" ? { command: task } : task;
    assertEquals(command.includes("--lock="), command.includes("--frozen"), name);
  }
  assertEquals(JSON.parse(await read("tuner/deno.json")).lock, { frozen: true });
});

Deno.test("what programs download that import mod.ts, Deno itself and actions are named by exact versions", async () => {
  const workflow = await read(".github/workflows/qualify.yml");
  for (const [, action] of workflow.matchAll(/uses: (\S+)/g)) assert(/@[0-9a-f]{40}$/.test(action!), action);
  for (const path of ["README.md", ".ci/run", ".github/workflows/qualify.yml"]) {
    const named = [...(await read(path)).matchAll(/npx -y (\S+) task/g)].map(([, deno]) => deno);
    assert(named.length > 0 && named.every((deno) => deno === "deno@2.9.6"), `${path}: ${named}`);
  }
  const args = ["info", "--json", "--no-lock", new URL("../mod.ts", import.meta.url).href];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(stdout));
  const asked = modules.flatMap(({ dependencies = [] }: { dependencies?: { specifier: string }[] }) =>
    dependencies.map(({ specifier }) => specifier).filter((specifier) => specifier.startsWith("npm:"))
  );
  assert(asked.length > 0);
  for (const name of asked) assert(/^npm:[^@]+@\d+\.\d+\.\d+$/.test(name), name);
});
