/**
 * Runs `in_browser.ts`, the tests of the page in a real browser, in a process of its own: serving and driving take
 * permissions that no other test has. Without a browser it is left out, and its name says why.
 *
 * @module
 */
import { assert } from "@std/assert";
import { findBrowser } from "../report/find_browser.ts";
import { tally } from "../run.ts";
import { THOROUGH } from "../thorough.ts";

const isThere = findBrowser() !== undefined;

Deno.test({
  name: `the page of waves in a real browser${
    isThere ? "" : " (left out: no Chromium here; apt-get install chromium)"
  }`,
  ignore: !isThere,
  async fn() {
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "--no-check", "--allow-all", new URL("in_browser.ts", import.meta.url).pathname],
    }).output();
    const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert(success && tally(output, success).passed === (THOROUGH ? 6 : 3), output);
  },
});
