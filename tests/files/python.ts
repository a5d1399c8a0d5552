/**
 * Programs of Python that read what Facet writes.
 *
 * @module
 */

/** Runs a program with arguments, and returns what it prints. */
export async function python(program: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("python3", { args: ["-c", program, ...args] })
    .output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** Whether Python is on this machine, with a package. */
export const hasPython = (name: string): Promise<boolean> =>
  python(`import ${name}`).then(() => true, () => false);
