/**
 * What `solve` takes from files and formulas and writes, compared with plain loops and between ways to say the same.
 *
 * @module
 */
import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { decode } from "fast-png";
import { createSolver, readArray, writeArray } from "../../mod.ts";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { hasPython, python } from "../files/python.ts";
import { mpirun, solveFlags, testUnderMpi } from "../ranks/mpirun.ts";
import { assertRefused, inDirectory, runCommand } from "./run_task.ts";
import "../own_thread.ts";

const CPU = ["--no-gpu", "--cpu-workers", "1", "--quiet"], NX = 9, NY = 7;
const WAVE = [...CPU, "--stencil", "wave", "--set", "courant=0.5", "--order", "2"];

/** A membrane of order 2 with c Δt/h = ½ that is periodic, from rest: its states by step. */
function membrane(start: (x: number, y: number) => number, steps: number): number[][] {
  const cells = Array.from({ length: NX * NY }, (_, i) => [Math.floor(i / NY), i % NY] as const);
  const states = [cells.map(([x, y]) => Math.fround(start(x, y)))];
  for (let step = 0; step < steps; step++) {
    const u = states.at(-1)!, before = states.at(-2) ?? u;
    const at = (x: number, y: number) => u[(x + NX) % NX * NY + (y + NY) % NY]!;
    states.push(cells.map(([x, y], i) => {
      const sum = at(x + 1, y) + at(x - 1, y) + at(x, y + 1) + at(x, y - 1) - 4 * u[i]!;
      return 2 * u[i]! - before[i]! + 0.25 * sum;
    }));
  }
  return states;
}

const differenceOf = (found: ArrayLike<number>, wanted: readonly number[]): number =>
  wanted.reduce((most, value, i) => Math.max(most, Math.abs(value - found[i]!)), 0);

const BUMP = "exp(-20*((x-.5)^2 + (y-.3)^2))";
const bump = (x: number, y: number): number =>
  Math.exp(-20 * (((x + .5) / NX - .5) ** 2 + ((y + .5) / NY - .3) ** 2));

Deno.test("a membrane begins with a formula or a file, alike, and is written by the step and at the end", () =>
  inDirectory(async (d) => {
    const states = membrane(bump, 8),
      shape = [NX, NY],
      run = [...WAVE, "--boundary", "periodic", "--steps", "8"];
    const values = Float32Array.from(states[0]!);
    await writeArray(`${d}/u0.npy`, { shape, values });
    const grid = ["--grid", `${NX}x${NY}`], out = ["--out", `${d}/u.npy`];
    const first = await runCommand("solve", [
      ...run,
      ...grid,
      "--initial",
      `F=${BUMP}`,
      ...out,
      "--every",
      "3",
      "--json",
    ]);
    assertEquals([first.code, first.stderr], [0, ""]);
    const { fields: { F }, files, step } = JSON.parse(first.stdout);
    assertEquals([step, files], [8, ["u-0", "u-3", "u-6", "u"].map((name) => `${d}/${name}.npy`)]);
    for (const [name, at] of [["u-0", 0], ["u-3", 3], ["u-6", 6], ["u", 8]] as const) {
      const { shape: found, values } = await readArray(`${d}/${name}.npy`);
      assertEquals(found, shape);
      assertLess(differenceOf(values, states[at]!), 1e-6, name);
    }
    assertLess(differenceOf([F.least, F.most], [Math.min(...states[8]!), Math.max(...states[8]!)]), 1e-6);
    const formula = await Deno.readFile(`${d}/u.npy`);
    // the file's shape is the grid
    const second = await runCommand("solve", [...run, "--initial", `F=${d}/u0.npy`, ...out]);
    assertEquals([second.code, second.stderr], [0, ""]);
    assertMatch(second.stdout, /^F from -?[\d.]+ to [\d.]+, all finite\nWrote \S+u.npy$/m);
    assertEquals(await Deno.readFile(`${d}/u.npy`), formula);
    // a leapfrog goes on from both levels; what a layer's array lacks is said
    for (const [name, at] of [["u3", 3], ["u2", 2]] as const) {
      await writeArray(`${d}/${name}.npy`, { shape, values: Float32Array.from(states[at]!) });
    }
    const layer = ["--grid", `${NX}x${NY}x1`, "--boundary", "periodic,periodic,insulated", "--steps", "5"];
    const levels = ["--initial", `F=${d}/u3.npy`, "--initial", `F@-1=${d}/u2.npy`];
    const third = await runCommand("solve", [...WAVE, ...layer, ...levels, ...out]);
    assertEquals(third.code, 0);
    assertStringIncludes(third.stderr, `facet: ${d}/u3.npy: 9x7 became 9x7x1\n`);
    const { shape: flat, values: last } = await readArray(`${d}/u.npy`);
    assertEquals(flat, [NX, NY, 1]);
    assertLess(differenceOf(last, states[8]!), 2e-6);
    // and a formula knows which axis is which
    await runCommand("solve", [
      ...WAVE,
      ...layer.with(3, "periodic"),
      "--initial",
      `F=${BUMP}`,
      ...out,
      "--every",
      "5",
    ]);
    assertLess(differenceOf((await readArray(`${d}/u-0.npy`)).values, states[0]!), 1e-6);
  }));

Deno.test("a run ends where fields rest, and materials may be formulas and files", () =>
  inDirectory(async (d) => {
    const equation = `import { add, equation, multiply, subtract } from "${new URL(
      "../../mod.ts",
      import.meta.url,
    )}";
export default equation({ name: "decay", dimensions: 2, fields: { u: [0, 1], v: [0, 1] }, materials: { k: [0, 1] },
  step: ({ u, v, k }) => ({ u: multiply(u, subtract(1, k)), v: add(v, 0) }) });`;
    await Deno.writeTextFile(`${d}/decay.ts`, equation);
    await writeArray(`${d}/k.raw`, { shape: [4, 3], values: new Float32Array(12).fill(0.25) });
    const run = [
      ...CPU,
      "--stencil",
      `${d}/decay.ts`,
      "--grid",
      "4x3",
      "--initial",
      "u=1 + x",
      "--steps",
      "5000",
    ];
    const { code, stdout, stderr } = await runCommand("solve", [
      ...[...run, "--material", `k=${d}/k.raw`, "--until", "change<1e-6", "--out", `${d}/all.npy`, "--json"],
    ]);
    assertEquals([code, stderr], [0, ""]);
    const { step, files, fields } = JSON.parse(stdout);
    assertEquals([step, files, fields.v], [100, [`${d}/all-u.npy`, `${d}/all-v.npy`], { least: 0, most: 0 }]);
    assertLess(differenceOf([fields.u.most], [1.875 * 0.75 ** 100]), 1e-16);
    const whole = await runCommand("solve", [
      ...run.with(-1, "3"),
      "--material",
      "k=y/2",
      "--out",
      `u=${d}/u.npy`,
    ]);
    assertEquals(whole.code, 0, whole.stderr);
    const { values } = await readArray(`${d}/u.npy`);
    assertLess(
      differenceOf(
        values,
        Array.from({ length: 12 }, (_, i) => {
          return (1 + (Math.floor(i / 3) + .5) / 4) * (1 - (i % 3 + .5) / 6) ** 3;
        }),
      ),
      1e-6,
    );
  }));

Deno.test("what sources send and receivers record is what a solver's do, and a checkpoint goes on with both", () =>
  inDirectory(async (d) => {
    const signature = [0, 1, -2, 0.5, 3], places = [[4, 3, 2], [5.5, 4.25, 3]] as const;
    await Deno.writeTextFile(`${d}/s.csv`, `amplitude\n${signature.join("\n")}\n`);
    await Deno.writeTextFile(`${d}/r.csv`, `x,y,z\n${places.map((place) => place.join(",")).join("\r\n")}\n`);
    const run = [...CPU, "--stencil", "acoustic", "--grid", "12x9x8", "--edges", "around", "--json"];
    const points = ["--source", `s@5,4,3.5=${d}/s.csv`, "--receivers", `p=${d}/r.csv`];
    const traces = ["--traces", `${d}/t.npy`],
      solve = (...more: string[]) => runCommand("solve", [...run, ...more]);
    const first = await solve(...points, ...traces, "--steps", "12");
    assertEquals([first.code, first.stderr], [0, ""]);
    assertEquals(JSON.parse(first.stdout).files, [`${d}/t.npy`]);
    const { create, variant } = EQUATIONS.find(({ name }) => name === "acoustic")!;
    const stencil = create(variant!.default, undefined, 3);
    const problem = { stencil, grid: [12, 9, 8], boundary: "zero", edges: "around", steps: 12 } as const;
    await using solver = await createSolver(problem, { device: null });
    await solver.addSources("s", [[5, 4, 3.5]], signature);
    await solver.addReceivers("p", places);
    await solver.run(12);
    const wanted = await solver.traces(), whole = await readArray(`${d}/t.npy`);
    assertEquals([whole.shape, [...whole.values]], [[2, 13], wanted.flatMap((trace) => [...trace])]);
    assert(whole.values.some((value) => Math.abs(value) > 0.1));
    const kept = ["--checkpoint", `${d}/state`];
    const second = await solve(...points, ...traces, ...kept, "--steps", "5");
    assertEquals(second.code, 0, second.stderr);
    const third = await solve(...traces, ...kept, "--restart", "--steps", "12");
    assertEquals(third.code, 0, third.stderr);
    assertEquals((await readArray(`${d}/t.npy`)).values, whole.values);
  }));

Deno.test("pictures, a series for ParaView and an array of Zarr are written by the step", () =>
  inDirectory(async (d) => {
    const out = ["--out", `${d}/u.vti`, "--picture", `${d}/u.png`, "--out", `${d}/u.npy`, "--spacing", "0.5"];
    const run = ["--grid", "6x5x4", "--steps", "4", "--every", "2", "--initial", "F=x - y*z", "--json"];
    const all = [...run, ...out, "--out", `${d}/u.zarr`];
    const { code, stdout, stderr } = await runCommand("solve", [...WAVE, ...all]);
    assertEquals(code, 0, stderr);
    const names = ["u-0", "u-2", "u"].flatMap((name) =>
      [".vti", ".png", ".npy"].map((end) => `${d}/${name}${end}`)
    );
    assertEquals(JSON.parse(stdout).files.toSorted(), [...names, `${d}/u.pvd`, `${d}/u.zarr`].sort());
    const sets = (await Deno.readTextFile(`${d}/u.pvd`)).matchAll(/timestep="(\d+)" file="(.*?)"/g);
    assertEquals([...sets].map(([, ...all]) => all.join()), ["0,u-0.vti", "2,u-2.vti", "4,u.vti"]);
    assertEquals(decode(await Deno.readFile(`${d}/u-2.png`)).channels, 3);
    const series = await Promise.all(["u-0", "u-2", "u"].map((name) => readArray(`${d}/${name}.npy`)));
    for (const [i, { values }] of series.entries()) {
      assertEquals(await Deno.readFile(`${d}/u.zarr/${i}.0.0.0`), new Uint8Array(values.buffer));
    }
    const said = await Promise.all(
      [".zarray", ".zattrs"].map((name) => Deno.readTextFile(`${d}/u.zarr/${name}`)),
    );
    const [{ shape, chunks, dtype, zarr_format }, { steps }] = said.map((text) => JSON.parse(text));
    assertEquals([shape, chunks, dtype, zarr_format, steps], [[3, 6, 5, 4], [1, 6, 5, 4], "<f4", 2, [
      0,
      2,
      4,
    ]]);
    if (await hasPython("zarr")) {
      const program =
        "import sys, zarr, numpy as n; d = sys.argv[1]; z = zarr.open(d + '/u.zarr', mode='r'); " +
        "print([bool((z[i] == n.load(d + f)).all()) for i, f in enumerate(['/u-0.npy', '/u-2.npy', '/u.npy'])])";
      assertEquals(await python(program, d), "[True, True, True]\n");
    }
    // again, over it: fewer snapshots
    assertEquals((await runCommand("solve", [...WAVE, ...run.slice(0, 4), "--out", `${d}/u.zarr`])).code, 0);
    assertEquals(JSON.parse(await Deno.readTextFile(`${d}/u.zarr/.zarray`)).shape, [1, 6, 5, 4]);
  }));

testUnderMpi(
  "two ranks begin, write and end as one does, bit for bit",
  (launcher) =>
    inDirectory(async (d) => {
      const run = [...WAVE, "--grid", "12x9x8", "--boundary", "insulated", "--steps", "12", "--every", "5"];
      const begun = ["--initial", `F=cos(pi*x)*y + z`, "--out"];
      assertEquals((await runCommand("solve", [...run, ...begun, `${d}/one.npy`])).code, 0);
      const { code, stderr } = await mpirun(launcher, 2, [...solveFlags(), ...run, ...begun, `${d}/two.npy`]);
      assertEquals([code, stderr], [0, ""]);
      for (const name of ["-00", "-05", "-10", ""]) {
        assertEquals(await Deno.readFile(`${d}/two${name}.npy`), await Deno.readFile(`${d}/one${name}.npy`));
      }
    }),
);

Deno.test("what solve cannot begin with or write is said in a line, and nothing is overwritten", () =>
  inDirectory(async (d) => {
    const write = (name: string, shape: number[], values: number[]) =>
      writeArray(`${d}/${name}`, { shape, values: Float32Array.from(values) });
    await write("u.npy", [2, 3], [1, 2, 3, 4, 5, 6]);
    await write("nan.npy", [2, 3], [1, 2, 3, 4, NaN, 6]);
    await write("long.npy", [2, 4], [1, 2, 3, 4, 5, 6, 7, 8]);
    await write("one.npy", [6], [1, 2, 3, 4, 5, 6]);
    const bytes = await Deno.readFile(`${d}/u.npy`);
    await Deno.writeFile(`${d}/cut.npy`, bytes.slice(0, -3));
    const changed = (from: string, to: string): Uint8Array =>
      Uint8Array.from(String.fromCharCode(...bytes).replace(from, to), (char) => char.charCodeAt(0));
    await Deno.writeFile(`${d}/complex.npy`, changed("<f4", "<c8"));
    await Deno.writeFile(`${d}/order.npy`, changed("fortran_order", "fortran_arder"));
    await Deno.writeFile(`${d}/new.npy`, bytes.with(6, 9));
    await Deno.writeFile(`${d}/head.npy`, bytes.slice(0, 30));
    await Deno.writeFile(`${d}/empty.npy`, new Uint8Array());
    await Deno.writeFile(`${d}/odd.raw`, bytes);
    await Deno.writeTextFile(`${d}/far.csv`, "1,1,1\n1,1,9\n");
    await Deno.writeTextFile(`${d}/infinite.csv`, "1\n1e999\n");
    await Deno.writeTextFile(`${d}/none.csv`, "\n");
    await Deno.writeTextFile(`${d}/state`, "no checkpoint");
    await Deno.writeTextFile(`${d}/text.npy`, "1,2,3");
    for (const end of ["npy", "zarr"]) await Deno.mkdir(`${d}/folder.${end}`);
    await Deno.symlink(`${d}/u.npy`, `${d}/link.npy`);
    const base = [...WAVE, "--grid", "2x3", "--steps", "2"],
      initial = (text: string) => [...base, "--initial", text];
    await Deno.writeTextFile(`${d}/words.csv`, "a header\n1\ntwo\n");
    const sound = [...CPU, "--stencil", "acoustic", "--grid", "4", "--edges", "around", "--steps", "2"];
    const out = (text: string) => [...initial(`F=${d}/u.npy`), "--out", text];
    const sent = (text: string) => [...sound, "--source", text], state = ["--checkpoint", `${d}/state`];
    const heard = (text: string, to = "t.npy") => [...sound, "--receivers", text, "--traces", `${d}/${to}`];
    const contents = async () => {
      const files = (await Array.fromAsync(Deno.readDir(d))).filter(({ isFile }) => isFile);
      return await Promise.all(
        files.map(({ name }) => name).sort().map(async (name) => [name, await Deno.readFile(`${d}/${name}`)]),
      );
    };
    const before = await contents();
    await assertRefused(
      "solve",
      [
        [initial(`F=${d}/none.npy`), "none.npy: there is no such file"],
        [initial(`F=${d}/folder.npy`), "folder.npy: it is a folder"],
        [initial(`F=${d}/text.npy`), "a NumPy file (.npy) is wanted"],
        [initial(`F=${d}/cut.npy`), "24 bytes of values are wanted, 2x3: found 21"],
        [initial(`F=${d}/long.npy`), "an array of 2x3 is wanted: found 2x4"],
        [initial(`F=${d}/one.npy`), "an array of 2x3 is wanted: found 6"],
        [initial(`F=${d}/nan.npy`), "numbers that f32 can hold are wanted: found NaN at (1, 1)"],
        [
          initial("F=x +"),
          'Cannot read the formula "x +": a number, a variable or a function is wanted: found its end',
        ],
        [initial("F=z"), 'Cannot read the formula "z"'],
        [initial("F=none.npz"), "none.npz: there is no such file"],
        [initial(`F=${d}/words.csv`), "a NumPy file (.npy) is wanted: found another kind"],
        [initial("F=1/0"), "numbers that f32 can hold are wanted: found Infinity at (0, 0)"],
        [initial("G=1"), "FIELD=FILE|FORMULA, where FIELD is one of F"],
        [initial("F"), "FIELD=FILE|FORMULA, where FIELD is one of F"],
        [[...initial("F=1"), "--initial", "F=2"], "F can only begin once"],
        [[...CPU, "--stencil", "life", "--grid", "4", "--initial", "F@-1=1"], "no step reads it"],
        [[...out(`F=${d}/o.npy`), "--out", `${d}/o.npy`], "a file for each field"],
        [[...base, "--material", "k=1"], "no material: wave has none"],
        [[...initial("F=1"), "--seed", "2"], "Cannot use --initial with --seed"],
        [[...initial("F=1"), "--verify"], "Cannot use --verify with --initial"],
        [[...initial("F=1"), "--until", "1e-6"], "change<NUMBER"],
        [[...initial("F=1"), "--every", "2"], "Cannot use --every without --out, --picture or --checkpoint"],
        [[...out(`${d}/o.npy`).with(13, "99999999"), "--every", "9"], "at least 10000, for 10000 files"],
        [out(`${d}/o.mat`), "a name that ends in .npy or .vti or .zarr or .raw or .f32 or .bin"],
        [[...base, "--picture", `${d}/o.jpg`], "a name that ends in .png"],
        [[
          ...out(`${d}/o.vti`),
          "--out",
          `${d}/o.vti`,
          "--every",
          "1",
          "--picture",
          `${d}/o-0.png`,
          "--spacing",
          "0",
        ], "above 0"],
        [[...base, "--source", `s@1,1=${d}/one.npy`], "no source: wave declares none"],
        [[...sound, "--source", `s@1,1,1=${d}/one.npy`, "--verify"], "Cannot use --verify with --source"],
        [[...base, "--picture", `${d}/none/o.png`], "there is no folder"],
        [[...sound, "--source", `q@1,1,1=${d}/one.npy`], "where NAME is one of s"],
        [[...sound, "--source", `s@1,1=${d}/one.npy`], "places of 3 numbers, in cells"],
        [[...sound, "--source", `s@1,1,9=${d}/one.npy`], "Cannot add the sources"],
        [[...sound, "--source", `s@1,1,1=${d}/u.npy`], "one axis is wanted: found 2"],
        [[...sound, "--source", `s@1,1,1=${d}/words.csv`], "a number is wanted in line 3: found two"],
        [[...sound, "--receivers", `${d}/words.csv`], "Cannot use --receivers without --traces"],
        [[...sound, "--traces", `${d}/o.npy`], "Cannot use --traces without --receivers"],
        [
          [...sound, "--receivers", `${d}/words.csv`, "--traces", `${d}/o.npy`],
          "are wanted in line 2: found 1",
        ],
        [out(`G=${d}/o.npy`), "FILE or FIELD=FILE, where FIELD is one of F"],
        [out(`${d}/link.npy`), "another file than --initial"],
        [out(`${d}/none/o.npy`), "there is no folder"],
        [out(`${d}/folder.npy`), "it is a folder"],
        [out(`${d}/folder.zarr`), "an array of Zarr, or nothing, is wanted: found something else"],
        [initial("F=x)"), 'Cannot read the formula "x)": an operator is wanted: found ")"'],
        [initial("F=foo(x)"), 'Cannot read the formula "foo(x)": a number, x, y, pi or a function ('],
        [initial("F=sin x"), '( is wanted: found "x"'],
        [initial("F=max(x)"), ', is wanted: found ")"'],
        [initial("F="), 'FIELD=FILE|FORMULA, where FIELD is one of F: found "F="'],
        [initial(`F=${d}/complex.npy`), "real numbers, f4, f8, integers or booleans, are wanted"],
        [initial(`F=${d}/order.npy`), "a header with fortran_order is wanted"],
        [initial(`F=${d}/new.npy`), "version 1 or 2 of .npy is wanted: found 9"],
        [initial(`F=${d}/head.npy`), "a header with fortran_order is wanted"],
        [initial(`F=${d}/empty.npy`), "a NumPy file (.npy) is wanted: found another kind"],
        [initial(`F=${d}/odd.raw`), "24 bytes of values are wanted, 2x3: found 152"],
        [[...WAVE, "--grid", "2xtwo"], "Cannot use --grid: wanted XxYxZ or XxY with whole numbers"],
        [[...WAVE, "--steps", "many"], "Cannot use --steps: wanted a whole number of at least 1"],
        [[...CPU, "--stencil", "nonesuch"], "Cannot use --stencil: wanted one of wave, heat,"],
        [[...CPU, "--stencil", `${d}/none.ts`], "it cannot be imported: Module not found"],
        [[...CPU, "--order", "3"], "Cannot use --order: wanted one of 2, 4,"],
        [[...CPU, "--set", "courant=9"], "at most 0.577350, the stability limit of order 2"],
        [[...CPU, "--set", "speed=1"], "wanted an option of wave, order=VALUE or courant=VALUE"],
        [[...base, "--boundary", "hard"], "Cannot use --boundary: wanted one of zero, periodic, insulated,"],
        [[...base, "--boundary", "x=soft"], "Cannot use --boundary: wanted walls, such as x=value:1,"],
        [[...base, "--profile", `${d}/state`], "it is not JSON: line 1, column 1"],
        [[...base, "--restart"], "Cannot use --restart without --checkpoint"],
        [[...base, ...state, "--restart"], "wanted a checkpoint: found another kind of file"],
        [[...base, ...state], `Cannot replace ${d}/state: wanted a checkpoint: found another kind`],
        [[...out(`${d}/o.npy`), "--checkpoint", `${d}/o.npy`], "wanted another file than --checkpoint"],
        [[...base, "--initail", "F=1"], "Unknown option --initail: did you mean --initial?"],
        [[...base, "--out"], "Cannot read --out: it needs a value: --out [FIELD=]FILE"],
        [[...base, "more"], 'Unexpected argument "more": every option begins with --'],
        [sent(`s@a,b,c=${d}/one.npy`), "a place X,Y,Z or X,Y in cells, 0 the first"],
        [sent(`s@1,1,1=${d}/infinite.csv`), "a number is wanted in line 2: found 1e999"],
        [sent(`s@1,1,1=${d}/none.csv`), "a line with a number for each step is wanted: found none"],
        [sent(`s@1,1,1=${d}`), "it is a folder"],
        [heard(`${d}/far.csv`), "positions must lie within 0 to 3, 3, 3 cells: found 1, 1, 9"],
        [heard(`q=${d}/far.csv`), "FILE or FIELD=FILE, where FIELD is one of p"],
        [heard(`${d}/far.csv`, "far.csv"), "Cannot use --traces: wanted a name that ends in .npy or .raw"],
        [[...sound, "--material", "velocity=-1"], "values must lie from 1500 to 4500: found -1 at (0, 0, 0)"],
        [[...sound, "--material", "velocity=0/0"], "found NaN at (0, 0, 0)"],
        [
          [...sound, "--material", "v=1"],
          "MATERIAL=FILE|FORMULA, where MATERIAL is one of velocity, ex, mx, ey, my, ez, mz",
        ],
      ],
    );
    assertEquals(await contents(), before);
  }));
