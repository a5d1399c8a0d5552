/**
 * Arrays in files: NumPy's own reading and writing where Python has it, and the library's around it.
 *
 * @module
 */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { readArray, writeArray } from "../../mod.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { inDirectory } from "../cli/run_task.ts";
import { hasPython, python } from "./python.ts";

Deno.test({
  name: "NumPy's arrays of every type, byte order and memory order are read, and Facet's by NumPy",
  ignore: !await hasPython("numpy"),
  fn: () =>
    inDirectory(async (directory) => {
      const types = ["<f4", ">f4", "<f8", ">f8", "<i2", ">i2", "<i4", ">i4", "|u1", "<u2"];
      await python(
        `
import numpy as np, sys
for i, t in enumerate(sys.argv[2].split()):
    a = (2 * np.arange(24).reshape(2, 3, 4)).astype(t)
    np.save(f"{sys.argv[1]}/c{i}.npy", a)
    np.save(f"{sys.argv[1]}/f{i}.npy", np.asfortranarray(a))`,
        directory,
        types.join(" "),
      );
      for (const [i, type] of types.entries()) {
        for (const order of "cf") {
          const { shape, values, converted } = await readArray(`${directory}/${order}${i}.npy`);
          assertEquals([shape, [...values]], [[2, 3, 4], Array.from({ length: 24 }, (_, k) => 2 * k)]);
          assertEquals(converted, type === "<f4" ? undefined : type);
        }
      }
      const values = Float32Array.from({ length: 6 }, (_, i) => i / 3);
      for (const shape of [[6], [2, 3], [1, 3, 2]]) {
        await writeArray(`${directory}/w.npy`, { shape, values });
        const found = await python(
          "import numpy as np, sys; a = np.load(sys.argv[1]); print(a.dtype.str, a.shape, a.flags.c_contiguous, a.ravel().tolist())",
          `${directory}/w.npy`,
        );
        const tuple = shape.length === 1 ? "(6,)" : `(${shape.join(", ")})`;
        assertEquals(
          found,
          `<f4 ${tuple} True [${[...values].map((v) => v === 0 || v === 1 ? v.toFixed(1) : v).join(", ")}]\n`,
        );
      }
    }),
});

Deno.test("raw f32 is read with a shape, and refused without one or with another", () =>
  inDirectory(async (directory) => {
    const path = `${directory}/u.raw`,
      array = { shape: [2, 3], values: Float32Array.of(1, -2, 3, 4, 5.5, 6) };
    await writeArray(path, array);
    assertEquals([...await Deno.readFile(path)].slice(0, 8), [0, 0, 128, 63, 0, 0, 0, 192]);
    const { shape, values } = await readArray(path, { shape: [2, 3] });
    assertEquals([shape, [...values]], [[2, 3], [...array.values]]);
    for (
      const [act, message] of [
        [() => readArray(path), "the shape of raw values is wanted: found none"],
        [() => readArray(path, { shape: [2, 4] }), "32 bytes of values are wanted, 2x4: found 24"],
        [() => readArray("LICENSE"), "Cannot read LICENSE: a NumPy file (.npy) is wanted"],
        [() => writeArray(path, { ...array, shape: [7] }), "7 values are wanted, 7: found 6"],
        [() => writeArray(`${directory}/u.mat`, array), "a name that ends in .npy"],
      ] as const
    ) {
      const { message: found } = await assertRejects(act, RequestError);
      assertStringIncludes(found, message);
    }
    assertEquals((await Deno.readFile(path)).length, 24);
  }));
