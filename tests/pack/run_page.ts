/**
 * Serves `page.ts` and the unpacked package that it imports, opens it in Chromium, without a window and on Chromium's
 * own software adapter, and prints what the page posts. A process of its own, since tests have no network:
 *
 *     deno run -A tests/pack/run_page.ts CHROMIUM PACKAGE_FOLDER
 *
 * @module
 */
import { join } from "node:path";

const HERE = import.meta.dirname!, ROOT = join(HERE, "../..");
const TIMEOUT_MS = 120_000;
const [chromium, library = ""] = Deno.args;

const PAGE = `<!doctype html><title>Facet</title><script type="module">
  addEventListener("error", ({ message }) => fail(message));
  const fail = (error) => fetch("report", { method: "POST", body: JSON.stringify({ error: String(error) }) });
  import("./page.js").catch(fail);
</script>`;

const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--no-first-run",
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
];

/** The page's script: `page.ts` without its types, which imports the package as it is. */
async function pageScript(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["transpile", "--no-check", join(HERE, "page.ts")],
  }).output();
  const text = new TextDecoder();
  if (!success) throw new Error(`deno transpile failed: ${text.decode(stderr)}`);
  return text.decode(stdout).replace('"../../mod.ts"', '"./package/mod.js"');
}

/** Serves the page and the package; pages are isolated, so that they may share memory with workers. */
function serve(script: string, onReport: (report: string) => void): Deno.HttpServer<Deno.NetAddr> {
  const headers = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  };
  const answer = (body: BodyInit, type: string): Response =>
    new Response(body, { headers: { ...headers, "content-type": type } });
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === "POST" && pathname === "/report") {
      onReport(await request.text());
      return answer("", "text/plain");
    }
    if (pathname === "/") return answer(PAGE, "text/html");
    if (pathname === "/page.js") return answer(script, "text/javascript");
    const path = pathname === "/profile.json"
      ? join(ROOT, "fixtures/h100/wave.json")
      : join(library, pathname.replace(/^\/package/, ""));
    try {
      const type = path.endsWith(".js") ? "text/javascript" : "application/json";
      return answer(await Deno.readFile(path), type);
    } catch {
      return new Response("there is no such file", { status: 404, headers });
    }
  });
}

const folder = await Deno.makeTempDir({ prefix: "facet-browser-" });
const posted = Promise.withResolvers<string>();
try {
  await using server = serve(await pageScript(), posted.resolve);
  const browser = new Deno.Command(chromium!, {
    args: [...FLAGS, `--user-data-dir=${join(folder, "user")}`, `http://127.0.0.1:${server.addr.port}/`],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const said = new Response(browser.stderr).text();
  const timer = setTimeout(() => posted.reject(new Error("the page did not report in time")), TIMEOUT_MS);
  browser.status.then(async ({ code }) =>
    posted.reject(new Error(`${chromium} ended with ${code}: ${(await said).slice(-500)}`))
  );
  try {
    console.log(await posted.promise);
  } finally {
    clearTimeout(timer);
    browser.kill();
    await browser.status;
  }
} finally {
  // Chromium may still be writing its last files
  await Deno.remove(folder, { recursive: true }).catch(() => {});
}
Deno.exit(0);
