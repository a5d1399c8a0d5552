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
