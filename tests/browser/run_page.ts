/**
 * Bundles `page.ts` for browsers, serves it, opens it in Chromium, without a window and on Chromium's own software
 * adapter, and prints what the page posts. A process of its own, since tests have no network:
 *
 *     deno run -A tests/browser/run_page.ts CHROMIUM
 *
 * @module
 */
import { join } from "node:path";

const HERE = import.meta.dirname!, ROOT = join(HERE, "../..");
const TIMEOUT_MS = 120_000;

const PAGE = `<!doctype html><title>Facet</title><script type="module">
  addEventListener("error", ({ message }) => fail(message));
  const fail = (error) => fetch("report", { method: "POST", body: JSON.stringify({ error: String(error) }) });
  import("./tests/browser/page.js").catch(fail);
</script>`;

const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--no-first-run",
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
];

/** Writes the page's script, its chunks, and the workers' module. */
async function bundle(folder: string): Promise<void> {
  const entries = ["tests/browser/page.ts", "tuner/devices/cpu/wasm_worker.ts"];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--platform=browser", "--code-splitting", `--outdir=${folder}`, ...entries],
    cwd: ROOT,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`deno bundle failed: ${new TextDecoder().decode(stderr)}`);
}

/** Serves the folder; pages are isolated, so that they may share memory with workers. */
function serve(folder: string, onReport: (report: string) => void): Deno.HttpServer<Deno.NetAddr> {
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
    const path = pathname === "/profile.json"
      ? join(ROOT, "fixtures/h100/wave.json")
      : join(folder, pathname);
    try {
      const type = path.endsWith(".js") ? "text/javascript" : "application/json";
      return answer(await Deno.readFile(path), type);
    } catch {
      return new Response("there is no such file", { status: 404, headers });
    }
  });
}

const [chromium] = Deno.args;
const folder = await Deno.makeTempDir({ prefix: "facet-browser-" });
const posted = Promise.withResolvers<string>();
try {
  await bundle(folder);
  await using server = serve(folder, posted.resolve);
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
