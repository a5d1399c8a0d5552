import { dirname, join } from "node:path";
import { assertEquals, assertLessOrEqual } from "@std/assert";

/** Folders whose files a page may name without the folder. */
const NEAR = ["", "kernels/", "kernels/traversals/", "models/", "tuner/", "tests/"];

async function markdownFiles(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.flatMap(({ name, isFile }) => isFile && name.endsWith(".md") ? [join(folder, name)] : []);
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path) !== undefined;
  } catch {
    return false;
  }
}

/** A heading as GitHub links to it. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

Deno.test("links between pages lead somewhere, with the heading that they name", async () => {
  const pages = (await Promise.all([".", "docs", "bench/notes", "fixtures"].map(markdownFiles))).flat();
  const texts = new Map(
    await Promise.all(
      pages.map(async (page) =>
        [page, (await Deno.readTextFile(page)).replace(/^```.*?^```/gms, "")] as const
      ),
    ),
  );
  const broken = [...texts].flatMap(([page, text]) =>
    [...text.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([, file, heading]) => {
      const target = file ? join(dirname(page), file) : page, known = texts.get(target);
      const headings = [...known?.matchAll(/^#+ (.+)$/gm) ?? []].map(([, words]) => anchorOf(words!));
      const isThere = exists(target) && (!heading || !known || headings.includes(heading));
      return isThere ? [] : [`${page}: ${file}${heading ? `#${heading}` : ""}`];
    })
  );
  assertEquals(broken, []);
});

Deno.test("files and folders that the architecture names are there, and it stays short", async () => {
  const text = await Deno.readTextFile("ARCHITECTURE.md");
  const named = [...text.matchAll(/`([\w.-]+\/[\w./-]*)`/g)].map(([, path]) => path!);
  // what a CUDA device would be
  const missing = named.filter((path) =>
    path !== "kernels/cuda/" && !NEAR.some((near) => exists(near + path))
  );
  assertEquals(missing, []);
  assertLessOrEqual(text.split("\n").length, 261, "more than a newcomer reads");
});
