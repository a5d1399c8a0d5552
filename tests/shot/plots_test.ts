import { assert, assertEquals } from "@std/assert";
import { decode } from "fast-png";
import { layeredModel } from "../../tuner/shot/model.ts";
import { drawPlot } from "../../tuner/files/picture.ts";
import { drawGather, drawWave } from "../../tuner/shot/plots.ts";

type Decoded = ReturnType<typeof decode>;

const pixel = (
  { data, width }: Decoded,
  x: number,
  y: number,
): number[] => [...data.slice(3 * (y * width + x), 3 * (y * width + x) + 3)];

/** Where the plot begins, from its frame. */
const LEFT = 84, TOP = 58;

const model = layeredModel([20, 10, 30]);

Deno.test("a plot is a PNG with its pixels where they belong, a frame, ticks and text around them", async () => {
  const axis = { label: "x (m)", from: 0, to: 100 };
  const size = [40, 30] as const;
  const draw = async (title: string): Promise<Decoded> =>
    decode(
      await drawPlot({
        title,
        across: axis,
        down: { label: "time (s)", from: 0, to: 0.5 },
        size,
        colourAt: (right, down) => [200 * right, 200 * down, 7],
        mark: [0.5, 0.5],
      }),
      { checkCrc: true },
    );
  const picture = await draw("15 Hz");
  assertEquals([picture.channels, picture.depth, picture.palette], [3, 8, undefined]);
  for (const [x, y] of [[0, 0], [39, 0], [0, 29], [39, 29], [10, 20]] as const) {
    const found = pixel(picture, LEFT + x, TOP + y);
    assertEquals(found, [Math.floor(200 * (x + 0.5) / 40), Math.floor(200 * (y + 0.5) / 30), 7]);
  }
  assertEquals(pixel(picture, LEFT + 20, TOP + 15), [0, 140, 0]);
  for (const [x, y] of [[-1, 10], [10, -2], [41, 10], [10, 31]] as const) {
    assertEquals(pixel(picture, LEFT + x, TOP + y), [0, 0, 0]);
  }
  assertEquals(pixel(picture, picture.width - 1, picture.height - 1), [255, 255, 255]);
  // ticks at 0 and at the end of both axes
  for (
    const [x, y] of [[LEFT, TOP + 35], [LEFT + 39, TOP + 35], [LEFT - 6, TOP], [LEFT - 6, TOP + 29]] as const
  ) {
    assertEquals(pixel(picture, x, y), [0, 0, 0]);
  }
  // letters: every one that has a shape changes the picture, a space does not
  const ink = ({ data }: Decoded): number => data.filter((value) => value < 128).length;
  const blank = ink(await draw(" "));
  for (const letter of "0123456789.,-()/=:%abcdefghijklmnopqrstuvwxyzEFH") {
    assert(ink(await draw(letter)) > blank, letter);
  }
});

Deno.test("a gather is blue, white and red where its traces are below, at and above zero", async () => {
  const traces = Array.from(
    { length: 31 },
    (_, i) => Float32Array.of(0, 0, 0, 1, 1, 1).map((one) => i < 16 ? one : -one),
  );
  const receivers = traces.map((_, i) => [10 * i, 0, 0] as const);
  const picture = decode(await drawGather(traces, { interval: 0.1, receivers, model }, "15 Hz"));
  const right = LEFT + 379, low = TOP + 555;
  assertEquals(pixel(picture, LEFT, TOP), [255, 255, 255]);
  const [red, , low1] = pixel(picture, LEFT, low), [low2, , blue] = pixel(picture, right, low);
  assert(red! > 100 && low1! < 20, `${red} ${low1}`);
  assert(blue! > 100 && low2! < 20, `${blue} ${low2}`);
});

Deno.test("a gather of few receivers has wiggles: lines, black right of zero where traces are above it", async () => {
  const traces = [Float32Array.of(0, 0, 0, 1, 1, 1), Float32Array.of(0, 0, 0, -1, -1, -1)];
  const receivers = [[10, 0, 0], [20, 0, 0]] as const;
  const picture = decode(await drawGather(traces, { interval: 0.1, receivers, model }, "15 Hz"));
  // 190 pixels each, of which a value of 1 goes 0.47 to a side
  const isBlack = (x: number, y: number) => pixel(picture, LEFT + x, TOP + y)[0] === 0, low = 520;
  for (const middle of [95, 285]) {
    const [far, near] = [[-4, 4], [-1, 0]].map((all) => all.some((by) => isBlack(middle + by, 20)));
    assertEquals([far, near], [false, true]);
  }
  const inks = (from: number) =>
    Array.from({ length: 188 }, (_, i) => isBlack(from + i, low)).filter(Boolean).length;
  const [right, left] = [inks(1), inks(191)];
  assert(right > 70 && left > 0 && left < 6, `${right} ${left}`);
  assert(!isBlack(90, low) && isBlack(100, low) && !isBlack(280, low) && !isBlack(290, low));
});

Deno.test("colours are full from 0.4 of a direct wave on, which falls as 1/√r in two dimensions", async () => {
  // far from a line in a medium of one velocity: h²/2π ∫ ricker(t − τ)/√(τ² − r²/v²) dτ, at its largest
  const [spacing, frequency, v, t] = [10, 15, 2000, 0.8], plane = layeredModel([8, 9]), later = v * t;
  const ricker = (t: number) =>
    (1 - 2 * (Math.PI * frequency * t) ** 2) * Math.exp(-((Math.PI * frequency * t) ** 2));
  const traceAt = (s: number) => {
    let sum = 0;
    // with τ = r/v + u², the root in the denominator is u √(u² + 2r/v)
    for (let u = 0.0005; u < 0.6; u += 0.001) {
      sum += 2 * ricker(s - u * u) / Math.sqrt(u * u + 2 * later / v) * 0.001;
    }
    return spacing ** 2 / (2 * Math.PI) * sum;
  };
  const most = Math.max(...Array.from({ length: 200 }, (_, i) => Math.abs(traceAt((i - 100) * 5e-4))));
  for (const [part, isFull] of [[0.42, true], [0.37, false]] as const) {
    const field = new Float32Array(8 * 9).fill(part * most);
    const shot = { source: [45, 0, 45] as const, t };
    const picture = decode(await drawWave(field, { model: plane, spacing, sent: ["s"], frequency }, shot));
    assertEquals(pixel(picture, LEFT + 3, TOP + 3)[0]! === 125, isFull, `${part}`);
  }
});

Deno.test("a gather of silent receivers, of one and of many unevenly spaced is drawn", async () => {
  const silent = decode(
    await drawGather([new Float32Array(9)], { interval: 0.01, receivers: [[1, 2, 3]], model }, ""),
  );
  assertEquals(pixel(silent, LEFT + 50, TOP + 100), [255, 255, 255]);
  const receivers = [[0, 0, 0], [5, 0, 0], [50, 0, 0]] as const;
  const traces = receivers.map((_, i) => Float32Array.from({ length: 20 }, (_, k) => Math.sin(i + k)));
  assertEquals(decode(await drawGather(traces, { interval: 0.01, receivers, model }, "")).channels, 3);
});

Deno.test("a wave is drawn over the medium, which is darker where it is faster", async () => {
  const field = new Float32Array(20 * 30);
  const shot = { source: [95, 45, 25] as const, t: 0.1 };
  const still = decode(await drawWave(field, { model, spacing: 10, sent: ["s"], frequency: 15 }, shot));
  const [top] = pixel(still, LEFT + 5, TOP + 5), [bottom] = pixel(still, LEFT + 5, TOP + 550);
  assertEquals([top, bottom], [245, 135]);
  // 20 x 30 cells in the highest plot, 560 pixels: the place of cell 4, 20
  const scale = 560 / 30, x = LEFT + Math.round(4.5 * scale), y = TOP + Math.round(20.5 * scale);
  field[4 * 30 + 20] = 10;
  const moved = decode(await drawWave(field, { model, spacing: 10, sent: ["s"], frequency: 15 }, shot));
  assert(pixel(moved, x, y)[0]! > 100 && pixel(moved, x, y)[2]! < 30);
  assertEquals(pixel(moved, LEFT + 5, TOP + 5), pixel(still, LEFT + 5, TOP + 5));
});
