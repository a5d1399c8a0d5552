import { assertEquals } from "@std/assert";
import { wgsl } from "../../kernels/wgsl/template.ts";

Deno.test("wgsl takes the margin away and ends with one line break", () => {
  assertEquals(
    wgsl`
      fn main() {
        let a = 1;

        let b = 2;
      }
    `,
    "fn main() {\n  let a = 1;\n\n  let b = 2;\n}\n",
  );
});

Deno.test("wgsl indents every line of a hole like its first", () => {
  const inner = wgsl`
    if (x) {
      y();
    }
  `;
  assertEquals(
    wgsl`
    {
      ${inner}
    }
  `,
    "{\n  if (x) {\n    y();\n  }\n}\n",
  );
});

Deno.test("wgsl drops a line whose holes are all empty, and no other", () => {
  assertEquals(
    wgsl`
    a;
    ${""}
    ${""} ${""}

    ${""};
    b${""};
  `,
    "a;\n\n;\nb;\n",
  );
});

Deno.test("wgsl fills several holes in a line, numbers too", () => {
  assertEquals(wgsl`const N = ${8}; const M = ${-1.5}; // ${"end"}`, "const N = 8; const M = -1.5; // end");
});

Deno.test("wgsl keeps what looks like a pattern of replacement", () => {
  assertEquals(wgsl`a${"$&$1"}b`, "a$&$1b");
});
