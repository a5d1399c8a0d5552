/**
 * The task `page`: builds a folder for any static host, and serves it if asked:
 *
 *     deno task page [--out site] [--serve [PORT]]
 *
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { join, resolve } from "node:path";
import { bundle, importedPackages } from "../pack/bundle.ts";

const HELP = `Usage: deno task page [--out FOLDER] [--serve [PORT]]

Builds a page that tunes and shows waves on its visitor's device.

  --out FOLDER     where it is written [default: site]
  --serve [PORT]   then serves it on this machine [default port: 8000]`;

const ROOT = join(import.meta.dirname!, "..");

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css",
  js: "text/javascript",
  txt: "text/plain; charset=utf-8",
};

/** Files that are copied, and modules that are made. */
const FILES = {
  "index.html": "page/index.html",
  "scenes.webp": "docs/scenes.webp",
  "page.jpg": "docs/page.jpg",
  "equations.txt": "docs/equations.md",
  "readme.txt": "README.md",
};
const MODULES = ["page/app.ts", "page/page.css", "page/words.ts", "tuner/devices/cpu/wasm_worker.ts"];

async function build(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  await bundle(MODULES, folder, await importedPackages(), { minify: true });
  for (const [name, from] of Object.entries(FILES)) await Deno.copyFile(join(ROOT, from), join(folder, name));
  const equations = (await Deno.readTextFile(join(ROOT, "examples/scene_equations.ts")))
    .matchAll(/^((?:\/\/.*\n)*)export const (\w+) = ([^]*?\);)\n(?=\n|(?![^]))/gm);
  const texts = Object.fromEntries(
    [...equations].map(([, comment, name, text]) => [name, `${comment}export default ${text}\n`]),
  );
  await Deno.writeTextFile(join(folder, "texts.js"), `export default ${JSON.stringify(texts)};\n`);
}

/** Serves the folder's own files, with the headers that let a page share memory with workers. */
function serve(folder: string, port: number): void {
  const onListen = ({ port }: { port: number }) => console.log(`http://localhost:${port}/`);
  Deno.serve({ hostname: "127.0.0.1", port, onListen }, async (request) => {
    const name = new URL(request.url).pathname.slice(1) || "index.html";
    const body = /^[\w-]+\.\w+$/.test(name)
      ? await Deno.readFile(join(folder, name)).catch(() => undefined)
      : undefined;
    if (body === undefined) return new Response("There is no such file", { status: 404 });
    return new Response(body, {
      headers: {
        "content-type": TYPES[name.split(".").at(-1)!] ?? "application/octet-stream",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
      },
    });
  });
}

function end(text: string, code: number): never {
  (code === 0 ? console.log : console.error)(text);
  Deno.exit(code);
}

const { _: others, help, h, out, serve: port, ...unknown } = parseArgs(Deno.args, {
  string: ["out", "serve"],
  boolean: ["help", "h"],
});
if (help || h) end(HELP, 0);
const odd = others[0] ?? Object.keys(unknown).map((name) => `--${name}`)[0];
if (odd !== undefined) end(`facet: Unexpected argument "${odd}": see deno task page --help`, 2);
if (out === "") end("facet: --out needs a folder", 2);
const number = Number(port || 8000);
if (!(number >= 0 && number < 65536)) end(`facet: --serve must be a port: found "${port}"`, 2);
const folder = resolve(out ?? "site");
try {
  await build(folder);
} catch (error) {
  end(`facet: Cannot build the page in ${folder}: ${(error as Error).message.split("\n")[0]}`, 2);
}
if (port === undefined) end(folder, 0);
serve(folder, number);
