/** What a shell prints. */
export async function shell(script: string): Promise<string> {
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script], stderr: "null" }).output();
  return new TextDecoder().decode(stdout);
}
