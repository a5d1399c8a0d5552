/** Runs `in_browser.ts`, the tests of the page in a real browser. */
import { testInBrowserProcess } from "../report/find_browser.ts";
import { THOROUGH } from "../thorough.ts";

testInBrowserProcess(
  "the page of waves in a real browser",
  new URL("in_browser.ts", import.meta.url),
  THOROUGH ? 8 : 5,
);
