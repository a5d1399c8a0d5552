import { assert, assertEquals } from "@std/assert";
import { PICTURES } from "../../bench/draw_traversals.ts";

const DOCS = new URL("../../docs/", import.meta.url);

Deno.test("the pictures in docs/ are those that bench/draw_traversals.ts draws, and traversals.md shows each", async () => {
  const page = await Deno.readTextFile(new URL("traversals.md", DOCS));
  for (const [name, draw] of Object.entries(PICTURES)) {
    // the formatter sets line breaks
    const [drawn, kept] = [draw(), await Deno.readTextFile(new URL(name, DOCS))].map((text) =>
      text.replace(/\s+/g, "")
    );
    assertEquals(kept, drawn, name);
    assert(page.includes(`](${name})`), name);
  }
});
