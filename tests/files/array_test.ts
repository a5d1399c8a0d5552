/**
 * Arrays in files: NumPy's own reading and writing where Python has it, and the library's around it.
 *
 * @module
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { decode } from "fast-png";
import { drawField, readArray, writeArray } from "../../mod.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { inDirectory } from "../cli/run_task.ts";
import { hasPython, python } from "./python.ts";

Deno.test({
  name: "NumPy's arrays of every type, byte order and memory order are read, and Facet's by NumPy",
  ignore: !await hasPython("numpy"),
  fn: () =>
    inDirectory(async (directory) => {
      const types = [
        "<f4",
        ">f4",
        "<f8",
        ">f8",
        "<i2",
        ">i2",
        "<i4",
        ">i4",
        "<i8",
        ">i8",
        "|u1",
        "<u2",
        "<u8",
        "|b1",
      ];
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
          assertEquals([shape, [...values]], [
            [2, 3, 4],
            Array.from({ length: 24 }, (_, k) => type === "|b1" ? Number(k > 0) : 2 * k),
          ]);
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

Deno.test("f64 is written and read as it is, where f64 is asked for", () =>
  inDirectory(async (directory) => {
    const array = { shape: [3], values: Float64Array.of(1 / 3, -1e-300, 1e300) };
    for (const [name, shape] of [["u.npy"], ["u.raw", [3]]] as const) {
      const path = `${directory}/${name}`;
      await writeArray(path, array);
      const found = await readArray(path, { precision: "f64", ...(shape && { shape }) });
      assertEquals({ shape: found.shape, values: found.values }, array);
    }
    const { values, converted } = await readArray(`${directory}/u.npy`);
    assertEquals([values, converted], [Float32Array.from(array.values), "<f8"]);
    await assertRejects(
      () => writeArray(`${directory}/u.f32`, array),
      RequestError,
      "a name that ends in .npy",
    );
  }));

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

Deno.test({
  name: "fields in .vti are those that a reader of XML and bytes finds, the first axis fastest",
  ignore: !await hasPython("numpy"),
  fn: () =>
    inDirectory(async (directory) => {
      const path = `${directory}/u.vti`, shape = [4, 3, 2];
      const fieldOf = (by: number) => ({
        shape,
        values: Float32Array.from({ length: 24 }, (_, i) => by * i),
      });
      await writeArray(path, { u: fieldOf(0.5), v: fieldOf(-2) }, { spacing: 12.5 });
      const program = `
import numpy as np, re, struct, sys
b = open(sys.argv[1], "rb").read()
start = b.index(b'encoding="raw">_') + 16
head = b[:start].decode()
assert 'byte_order="LittleEndian" header_type="UInt64"' in head and "type=\\"ImageData\\"" in head
extents = set(re.findall('xtent="(.*?)"', head))
n = [int(end) + 1 for end in extents.pop().split()[1::2]]
print(n, len(extents), re.findall('Spacing="(.*?)"', head))
for name, offset in re.findall('type="Float32" Name="(.*?)" format="appended" offset="(.*?)"', head):
    at = start + int(offset)
    count, = struct.unpack("<Q", b[at:at + 8])
    a = np.frombuffer(b[at + 8:at + 8 + count], "<f4").reshape(n[::-1])
    print(name, all(a[z, y, x] == a[0, 0, 1] / 6 * ((x * 3 + y) * 2 + z) for x in range(4) for y in range(3) for z in range(2)), float(a.ravel()[-1]))
assert b[at + 8 + count:].startswith(b"</AppendedData>")`;
      assertEquals(
        await python(program, path),
        "[4, 3, 2] 0 ['12.5 12.5 12.5']\nu True 11.5\nv True -46.0\n",
      );
      for (
        const [fields, message] of [
          [
            { u: fieldOf(1), v: { shape: [24], values: fieldOf(1).values } },
            "arrays of one shape are wanted",
          ],
          [{}, "one array is wanted"],
        ] as const
      ) await assertRejects(() => writeArray(path, fields), RequestError, message);
      await assertRejects(
        () => writeArray(`${directory}/u.npy`, { u: fieldOf(1), v: fieldOf(2) }),
        RequestError,
        "found 2",
      );
    }),
});

Deno.test("a field is drawn with its first axis to the right and its second upwards, beside its colours", async () => {
  const pixelsOf = async (shape: number[], valueAt: (x: number, y: number, z: number) => number) => {
    const [nx = 1, ny = 1, nz = 1] = shape;
    const values = Float32Array.from({ length: nx * ny * nz }, (_, i) => {
      return valueAt(Math.floor(i / ny / nz), Math.floor(i / nz) % ny, i % nz);
    });
    const picture = decode(await drawField({ shape, values }, { title: "u" }), { checkCrc: true });
    // where the frame begins and the plot's pixels
    return (right: number, up: number): number[] => {
      const x = 84 + Math.floor(right * 560), y = 58 + Math.floor((1 - up) * 560);
      return [...picture.data.slice(3 * (y * picture.width + x), 3 * (y * picture.width + x) + 3)];
    };
  };
  // four quarters: 0, 1 to the right, 2 up, 3 both
  const quarters = await pixelsOf([2, 2], (x, y) => x + 2 * y);
  const found = [[0.05, 0.05], [0.95, 0.05], [0.05, 0.95], [0.95, 0.95]].map(([x, y]) => quarters(x!, y!));
  assertEquals([found[0], found[3]], [[68, 1, 84], [253, 231, 37]]);
  const green = found.map((colour) => colour[1]!);
  assert(green.every((value, i) => i === 0 || value > green[i - 1]!), `${found}`);
  // the bar: the largest value above
  assertEquals([quarters(1.05, 0.999), quarters(1.05, 0.001)], [[252, 231, 37], [68, 1, 84]]);
  // of three axes the slice in the middle of the shortest; red above 0, blue below
  const slice = await pixelsOf([4, 3, 4], (x, y, z) => y !== 1 ? 100 : x < 2 ? -1 : z);
  const [[red, , blue], [redder, , less]] = [slice(0.1, 0.5), slice(0.9, 0.9)] as [number[], number[]];
  assert(blue! > red! && redder! > less!, `${slice(0.1, 0.5)} ${slice(0.9, 0.9)}`);
  for (
    const array of [{ shape: [4], values: new Float32Array(4) }, {
      shape: [2, 2],
      values: Float32Array.of(1, NaN, 2, 3),
    }]
  ) {
    await assertRejects(() => drawField(array), RequestError, "are wanted: found");
  }
});
