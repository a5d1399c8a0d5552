import { assert } from "@std/assert";
import { tally } from "../run.ts";

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/snap/bin/chromium",
];

/** The program of Chromium, a real browser for tests of pages; undefined where none is installed. */
export function findBrowser(): string | undefined {
  return PLACES.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/**
 * Defines a test that runs the tests of a file in a process of its own: driving a browser takes permissions that no other
 * test has. Without a browser it is left out, and its name says why.
 *
 * @param passes tests of the file that must pass
 */
export function testInBrowserProcess(name: string, file: URL, passes: number): void {
  const isThere = findBrowser() !== undefined;
  Deno.test({
    name: `${name}${isThere ? "" : " (left out: no Chromium here; apt-get install chromium)"}`,
    ignore: !isThere,
    async fn() {
      const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["test", "--no-check", "--allow-all", file.pathname],
      }).output();
      const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
      assert(success && tally(output, success).passed === passes, output);
    },
  });
}
