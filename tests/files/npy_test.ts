import { assertEquals, assertThrows } from "@std/assert";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { layeredModel, modelOf } from "../../tuner/shot/model.ts";
import { npyBytes, readNpy, rowsOf, transposed } from "../../tuner/files/npy.ts";

/** A file as another program may write it. */
function foreign(header: string, values: readonly number[], version = 1): Uint8Array<ArrayBuffer> {
  const length = version === 1 ? [header.length, 0] : [header.length, 0, 0, 0];
  const start = [0x93, ...new TextEncoder().encode("NUMPY"), version, 0, ...length];
  const bytes = [...start, ...new TextEncoder().encode(header)];
  return Uint8Array.from([...bytes, ...new Uint8Array(Float32Array.from(values).buffer)]);
}

const headerOf = (descr: string, order: string, shape: string): string =>
  `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }\n`;

Deno.test("traces written as .npy are read again, and values begin at a multiple of 64 bytes", () => {
  const rows = [Float32Array.of(1, -2.5, 3), Float32Array.of(0, 1e-30, 7)];
  const bytes = npyBytes(rowsOf(rows)), { shape, values } = readNpy(bytes, "t.npy");
  assertEquals([shape, [...values]], [[2, 3], rows.flatMap((row) => [...row])]);
  assertEquals((bytes.length - 4 * 6) % 64, 0);
  const [, text] = /^(\{.*\}) *\n$/.exec(new TextDecoder().decode(bytes.subarray(10, bytes.length - 24)))!;
  assertEquals(text, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
});

Deno.test("files of other programs are read: version 2, Fortran order, double quotes, one axis, no axis", () => {
  const six = [1, 2, 3, 4, 5, 6];
  const fortran = readNpy(foreign(headerOf("<f4", "True", "(2, 3)"), six, 2), "f.npy");
  assertEquals([fortran.shape, [...fortran.values]], [[2, 3], [1, 3, 5, 2, 4, 6]]);
  const quoted = '{"shape": (6,), "fortran_order": False, "descr": "<f4"}';
  assertEquals(readNpy(foreign(quoted, six), "q.npy").shape, [6]);
  assertEquals(readNpy(foreign(headerOf("<f4", "False", "()"), [9]), "s.npy").shape, []);
});

Deno.test("axes of an array are brought into any order", () => {
  const values = Float32Array.from({ length: 24 }, (_, i) => i), array = { shape: [2, 3, 4], values };
  for (const axes of [[0, 1, 2], [1, 2, 0], [2, 0, 1], [1, 0, 2], [2, 1, 0]] as const) {
    const { shape: [, n = 0, m = 0], values: turned } = transposed(array, axes), cell = [1, 2, 3] as const;
    const [i, j, k] = axes.map((axis) => cell[axis]);
    assertEquals([turned[(i! * n + j!) * m + k!], turned.length], [23, 24]);
    const back = transposed(transposed(array, axes), [0, 1, 2].map((axis) => axes.indexOf(axis as 0)));
    assertEquals(back, array);
  }
});

Deno.test("a model's cells are those of its file in both orders, and its velocities are known", () => {
  const at = (x: number, y: number, z: number): number => 1000 + 100 * x + 10 * y + z;
  const cells = Array.from(
    { length: 24 },
    (_, i) => [Math.floor(i / 12), Math.floor(i / 4) % 3, i % 4] as const,
  );
  const c = modelOf(
    readNpy(foreign(headerOf("<f4", "False", "(2, 3, 4)"), cells.map((cell) => at(...cell))), "c.npy"),
    "c.npy",
  );
  const byX = Array.from({ length: 24 }, (_, i) => at(i % 2, Math.floor(i / 2) % 3, Math.floor(i / 6)));
  const f = modelOf(readNpy(foreign(headerOf("<f4", "True", "(2, 3, 4)"), byX), "f.npy"), "f.npy");
  for (const model of [c, f]) {
    assertEquals([model.grid, model.least, model.most], [[2, 3, 4], 1000, 1123]);
    assertEquals(cells.map((cell) => model.at(...cell)), cells.map((cell) => at(...cell)));
  }
});

Deno.test("what is no model is refused in a line that says what was wanted and what was found", () => {
  const right = foreign(headerOf("<f4", "False", "(1, 1, 2)"), [1500, 2000]);
  const cases: [Uint8Array<ArrayBuffer>, string][] = [
    [new TextEncoder().encode("a text, not an array"), "a NumPy file (.npy) is wanted: found another kind"],
    [right.slice(0, 11), "a NumPy file (.npy) is wanted"],
    [right.with(6, 3) as Uint8Array<ArrayBuffer>, "version 1 or 2 of .npy is wanted: found 3"],
    [
      foreign(headerOf("<c8", "False", "(1, 1, 2)"), [1, 2]),
      "real numbers, f4, f8, integers or booleans, are wanted (in",
    ],
    [foreign("{'descr': '<f4', 'shape': (1, 1, 2)}", [1, 2]), "a header with fortran_order is wanted"],
    [right.slice(0, -1), "8 bytes of values are wanted, 1x1x2: found 7"],
    [right.slice(0, 20), "is wanted"],
    [
      foreign(headerOf("<f4", "False", "(2,)"), [1, 2]),
      "cells along x, y, z or x, z are wanted: found the shape (2)",
    ],
    [
      foreign(headerOf("<f4", "False", "(1, 1, 2)"), [1500, 0]),
      "velocities above 0 are wanted, in m/s: found 0",
    ],
    [foreign(headerOf("<f4", "False", "(1, 1, 2)"), [NaN, 1]), "found NaN"],
    [
      foreign(headerOf("<f4", "False", "(0, 1, 1)"), []),
      "cells along x, y, z or x, z are wanted: found the shape (0,1,1)",
    ],
  ];
  for (const [bytes, message] of cases) {
    const error = assertThrows(() => modelOf(readNpy(bytes, "v.npy"), "v.npy"), RequestError, message);
    assertEquals(error.message.split("\n").length, 1);
  }
});

Deno.test("the built-in model has four layers and a lens, all between its bounds", () => {
  const { at, least, most } = layeredModel([24, 20, 40]), found = new Set<number>();
  for (let x = 0; x < 24; x++) {
    for (let y = 0; y < 20; y++) for (let z = 0; z < 40; z++) found.add(at(x, y, z));
  }
  assertEquals([...found].sort(), [1800, 2200, 2600, 3000, 3200]);
  assertEquals([least, most], [1800, 3200]);
});
