/** Runs `in_browser.ts`, the tests of the page in a real browser. */
import { THOROUGH } from "../thorough.ts";
import { testInBrowserProcess } from "./find_browser.ts";

testInBrowserProcess(
  "the page in a real browser",
  new URL("in_browser.ts", import.meta.url),
  THOROUGH ? 7 : 2,
);
