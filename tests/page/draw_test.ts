import { assert, assertEquals } from "@std/assert";
import { openDevice } from "../../mod.ts";
import { COLOURS, renderer } from "../../page/draw.ts";
import { SCENES } from "../../examples/scenes.ts";
import { Simulation } from "../../page/simulation.ts";

const SIZE = [32, 64] as const;

/** A picture's bytes as the render pass draws them, one texel a cell. */
async function rendered(device: GPUDevice, simulation: Simulation, map: string): Promise<Uint8Array> {
  const [height, width] = SIZE, usage = GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC;
  const texture = device.createTexture({ size: [width, height], format: "rgba8unorm", usage });
  const buffer = device.createBuffer({
    size: 4 * width * height,
    usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ,
  });
  renderer(device, "rgba8unorm")(texture, simulation, { map, gain: 1 });
  const encoder = device.createCommandEncoder();
  encoder.copyTextureToBuffer({ texture }, { buffer, bytesPerRow: 4 * width }, [width, height]);
  device.queue.submit([encoder.finish()]);
  await buffer.mapAsync(GPUMapMode.READ);
  const bytes = new Uint8Array(buffer.getMappedRange().slice(0));
  texture.destroy();
  buffer.destroy();
  return bytes;
}

Deno.test("the render pass draws what the solver's memory holds, in the map's colours", async () => {
  const device = await openDevice();
  assert(device !== null, "no adapter");
  for (const name of ["sound", "volume", "life"]) {
    const scene = SCENES[name]!;
    const picture = {
      scene: name,
      size: SIZE,
      preset: 0,
      strokes: [],
      sources: [[500, 500]],
      receivers: [],
    } as const;
    const simulation = await Simulation.open(scene, picture, { device, cpuWorkers: 0 }, []);
    try {
      await simulation.solver.run(name === "life" ? 4 : 40);
      const cells = await simulation.readPicture(), [low, high] = scene.range;
      const bytes = await rendered(device, simulation, "dark to light");
      const isShaded = scene.paints !== scene.shown;
      const medium = isShaded ? await simulation.readPicture(scene.paints) : cells;
      assert(cells.some((value) => value !== cells[0]), `${name} draws nothing`);
      cells.forEach((value, i) => {
        const grey = 255 * Math.min(1, Math.max(0, (value - low) / (high - low)));
        const expected = isShaded ? grey + 0.4 * (medium[i]! - 1500) / 3000 * (150 - grey) : grey;
        const found = bytes[4 * i]!;
        assert(Math.abs(found - expected) <= 2, `${name}, cell ${i}: ${found} instead of ${expected}`);
      });
    } finally {
      await simulation.solver[Symbol.asyncDispose]();
    }
  }
  device.destroy();
});

Deno.test("every colour map is made of colours", () => {
  for (const [name, stops] of Object.entries(COLOURS)) {
    assert(stops.length >= 2, name);
    assertEquals(stops.filter((stop) => !/^[0-9a-f]{6}$/.test(stop)), [], name);
  }
});
