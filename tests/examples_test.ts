/**
 * The examples run as their comments say, each as its own process.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { decode } from "fast-png";
import { dirname, join } from "node:path";
import { inDirectory } from "./cli/run_task.ts";
import { hasPython } from "./files/python.ts";

const ROOT = join(import.meta.dirname!, "..");
const PROFILE = join(ROOT, "fixtures/h100/wave.json");

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function runExample(command: string, args: string[]): Promise<Ended> {
  const env = { XDG_RUNTIME_DIR: Deno.env.get("XDG_RUNTIME_DIR") ?? "/tmp" };
  const { code, stdout, stderr } = await new Deno.Command(command, { args, env, cwd: ROOT }).output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

const WAVE = ["run", "--no-prompt", "--allow-read", "--allow-write", "--allow-sys", "examples/wave_png.ts"];

Deno.test("wave_png draws the wave of a point source, and tells its rate", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "wave.png");
    const { code, stdout, stderr } = await runExample(Deno.execPath(), [...WAVE, PROFILE, path, "48", "24"]);
    assertEquals(code, 0, stderr);
    assertMatch(stdout, /24 steps of 48³ cells: \d+\.\d{3} Gcells\/s/);
    const { width, height, channels, data } = decode(await Deno.readFile(path));
    assertEquals([width, height, channels], [48, 48, 3]);
    const pixel = (y: number, z: number) => [...data.slice(3 * (y * 48 + z), 3 * (y * 48 + z) + 3)];
    // about 24 · 0.9 · 0.5 cells from the middle there is a front, red outside; the corners are still nearly at rest
    const along = Array.from({ length: 24 }, (_, i) => pixel(24, 24 + i));
    assert(along.some(([red, green]) => red === 255 && green! < 150), `${along.join(" ")}`);
    for (const [y, z] of [[0, 0], [0, 47], [47, 0], [47, 47]] as const) {
      assert(Math.min(...pixel(y, z)) > 240);
    }
    // the source lies on a cell: mirror images are the same but for rounding
    for (let i = 1; i < 24; i++) {
      for (const at of [pixel(24, 24 - i), pixel(24 + i, 24), pixel(24 - i, 24)]) {
        const other = pixel(24, 24 + i);
        assert(at.every((value, channel) => Math.abs(value - other[channel]!) <= 1), `${i}: ${at} ${other}`);
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("wave_png says how it is used", async () => {
  const { code, stderr } = await runExample(Deno.execPath(), WAVE);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "usage: wave_png.ts PROFILE PICTURE");
});

const ANTENNA = ["run", "--no-prompt", "--allow-read", "--allow-write", "--allow-sys", "examples/antenna.ts"];

Deno.test("antenna draws the field of a Yagi antenna, which sends more forward than back", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "antenna.png");
    const { code, stdout, stderr } = await runExample(Deno.execPath(), [...ANTENNA, path]);
    assertEquals(code, 0, stderr);
    const [, decibels] = stdout.match(/forward \/ backward: (-?[0-9.]+) dB/)!;
    assert(Number(decibels) > 4, stdout);
    const { width, height, data } = decode(await Deno.readFile(path));
    assertEquals([width, height], [108, 72]);
    const pixel = (y: number, z: number) => [...data.slice(3 * (y * width + z), 3 * (y * width + z) + 3)];
    const isBlack = (y: number, z: number) => Math.max(...pixel(y, z)) === 0;
    // the rods are black but for the gap; waves in front of them are red and blue
    assertEquals([30, 36, 42, 48].map((z) => isBlack(36, z)), [true, false, true, true]);
    const front = Array.from({ length: 40 }, (_, i) => pixel(36, 52 + i));
    for (const channel of [0, 2]) {
      assert(front.some((one) => one[channel]! - one[1]! > 80), `${front.join(" ")}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("antenna says how it is used", async () => {
  const { code, stderr } = await runExample(Deno.execPath(), ANTENNA);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "usage: antenna.ts PICTURE");
});

const BEST_DTS = [
  "NVIDIA H100 80GB HBM3",
  "wave order 2: DTS 6, 871 Gcells/s",
  "wave order 6: DTS 2, 309 Gcells/s",
  "wave order 8: DTS 1, 196 Gcells/s",
  "wave order 4: DTS 3, 468 Gcells/s",
  "",
].join("\n");

Deno.test("best_dts.mjs reads the best DTS with nothing but JSON", async () => {
  const args = ["run", "--no-prompt", "--allow-read", "examples/best_dts.mjs", PROFILE];
  assertEquals((await runExample(Deno.execPath(), args)).stdout, BEST_DTS);
});

const PYTHON = await runExample("python3", ["--version"]).then(({ code }) => code === 0, () => false);

Deno.test({
  name: `best_dts.py reads the best DTS with nothing but JSON${PYTHON ? "" : " (ignored: no Python)"}`,
  ignore: !PYTHON,
  async fn() {
    assertEquals((await runExample("python3", ["examples/best_dts.py", PROFILE])).stdout, BEST_DTS);
  },
});

const NUMPY = await hasPython("numpy");

for (
  const [name, pictures, output] of [
    [
      "membrane",
      ["drum-000", "drum-080", "drum"],
      /Heard within 0\.[0-3]\d% of what a membrane should sound like/,
    ],
    [
      "shot",
      ["gather", "gather-wave-3", "soft"],
      /velocity 1[78]\d\d m\/s .* and 18[01]\d m\/s .*\ndepth 45[0-3] m, in the/,
    ],
  ] as const
) {
  Deno.test({
    name: `${name}.py finds what it should, and draws it${NUMPY ? "" : " (ignored: no Python with NumPy)"}`,
    ignore: !NUMPY,
    fn: () =>
      inDirectory(async (cwd) => {
        const env = { PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`, XDG_RUNTIME_DIR: "/tmp" };
        const args = [join(ROOT, `examples/${name}.py`)];
        const { code, stdout, stderr } = await new Deno.Command("python3", { args, env, cwd }).output();
        assertEquals(code, 0, new TextDecoder().decode(stderr));
        assertMatch(new TextDecoder().decode(stdout), output);
        for (const picture of pictures) {
          assertEquals(decode(await Deno.readFile(`${cwd}/${picture}.png`)).channels, 3);
        }
      }),
  });
}
