/// <reference lib="dom" />
/**
 * Draws the picture: by a render pass from the solver's own memory, or, where the CPU computes, from cells that were read.
 *
 * @module
 */
import type { Drawn, Simulation } from "./simulation.ts";

/** Colour maps that people with colour blindness can read: colours at equal distances. */
export const COLOURS: Readonly<Record<string, readonly string[]>> = {
  "ice and fire": ["b8f3ff", "4db8f0", "1b63b0", "0d2b55", "080b14", "5a1a17", "b8402a", "f08a3c", "ffe6a8"],
  "embers": ["000004", "420a68", "932667", "dd513a", "fca50a", "fcffa4"],
  "blue and red": ["053061", "2166ac", "4393c3", "92c5de", "f7f7f7", "f4a582", "d6604d", "b2182b", "67001f"],
  "blue to yellow": ["00204d", "31446b", "666970", "958f78", "cbba69", "ffea46"],
  "dark to light": ["000000", "ffffff"],
};

const STEPS = 256;

/** The colour that a medium adds where it has its largest value, and how much of it. */
const TINT = [150, 165, 190], STRENGTH = 0.4;

/** A map's colours as bytes: red, green, blue, opacity. */
function bytesOf(map: string): Uint8Array<ArrayBuffer> {
  const stops = COLOURS[map]!.map((text) => [0, 2, 4].map((i) => parseInt(text.slice(i, i + 2), 16)));
  const bytes = new Uint8Array(4 * STEPS).fill(255);
  for (let i = 0; i < STEPS; i++) {
    const at = i / (STEPS - 1) * (stops.length - 1), low = Math.min(stops.length - 2, Math.floor(at));
    bytes.set(stops[low]!.map((one, c) => one + (at - low) * (stops[low + 1]![c]! - one)), 4 * i);
  }
  return bytes;
}

/** How values become colours. */
export interface Look {
  readonly map: string;
  /** By which the ends of the range come nearer to its middle, or to 0 where it starts there. */
  readonly gain: number;
}

/** Draws a simulation as it is now. */
export type Painter = (simulation: Simulation, look: Look) => Promise<void>;

const SHADER = `
struct View {
  origin: i32, slice: i32, pitch: i32, medium: i32,
  rows: i32, columns: i32, low: f32, high: f32,
  mediumLow: f32, mediumHigh: f32, smooth_: f32, unused: f32,
}
@group(0) @binding(0) var<storage, read> cells: array<f32>;
@group(0) @binding(1) var<uniform> view: View;
@group(0) @binding(2) var colours: texture_2d<f32>;
struct Corner { @builtin(position) position: vec4f, @location(0) place: vec2f }
@vertex fn corner(@builtin(vertex_index) i: u32) -> Corner {
  let at = vec2f(f32(i & 1u), f32(i >> 1u)) * 2;
  return Corner(vec4f(at * 2 - 1, 0, 1), vec2f(at.x, 1 - at.y));
}
fn value(row: i32, column: i32, offset: i32) -> f32 {
  let r = clamp(row, 0, view.rows - 1); let c = clamp(column, 0, view.columns - 1);
  return cells[view.origin + offset + r * view.slice + c];
}
@fragment fn colour(in: Corner) -> @location(0) vec4f {
  let at = in.place * vec2f(f32(view.columns), f32(view.rows)) - 0.5 * view.smooth_;
  let cell = vec2i(floor(at)); let part = (at - floor(at)) * view.smooth_;
  let top = mix(value(cell.y, cell.x, 0), value(cell.y, cell.x + 1, 0), part.x);
  let bottom = mix(value(cell.y + 1, cell.x, 0), value(cell.y + 1, cell.x + 1, 0), part.x);
  let level = clamp((mix(top, bottom, part.y) - view.low) / (view.high - view.low), 0, 1);
  var found = textureLoad(colours, vec2i(i32(level * ${STEPS - 1} + 0.5), 0), 0).rgb;
  if (view.medium != 0) {
    let medium = value(i32(in.place.y * f32(view.rows)), i32(in.place.x * f32(view.columns)), view.medium);
    let part = clamp((medium - view.mediumLow) / (view.mediumHigh - view.mediumLow), 0, 1);
    found = mix(found, vec3f(${TINT.map((one) => one / 255)}), ${STRENGTH} * part);
  }
  return vec4f(found, 1);
}`;

/** The values at the ends of the colours, and of the medium; the first brush's is no shade, and a mirror's none of its own. */
function endsOf({ scene: { range, brushes } }: Simulation, gain: number): number[] {
  const values = brushes.map(([, value]) => value).filter((value) => value < 1e5);
  return [range[0] / gain, range[1] / gain, values[0]!, values.at(-1)!];
}

/** Draws by a render pass on the device that computes. */
export function gpuPainter(canvas: HTMLCanvasElement, device: GPUDevice): Painter {
  const context = canvas.getContext("webgpu") as unknown as GPUCanvasContext;
  const format = navigator.gpu.getPreferredCanvasFormat(), render = renderer(device, format);
  context.configure({ device, format });
  return (...how) => Promise.resolve(render(context.getCurrentTexture(), ...how));
}

/** What draws a simulation on this device into a texture of a format. */
export function renderer(
  device: GPUDevice,
  format: GPUTextureFormat,
): (into: GPUTexture, simulation: Simulation, look: Look) => void {
  const module = device.createShaderModule({ code: SHADER });
  const pipeline = device.createRenderPipeline({
    layout: "auto",
    vertex: { module, entryPoint: "corner" },
    fragment: { module, entryPoint: "colour", targets: [{ format }] },
    primitive: { topology: "triangle-list" },
  });
  const uniform = device.createBuffer({ size: 48, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
  const texture = device.createTexture({
    size: [STEPS, 1],
    format: "rgba8unorm",
    usage: GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST,
  });
  const write = (drawn: Drawn, simulation: Simulation, { map, gain }: Look): void => {
    const { layout, planes } = drawn, { size, scene, cut } = simulation;
    const origin = layout.origin + cut * layout.pitch + planes.field * layout.plane;
    const medium = planes.medium < 0 ? 0 : (planes.medium - planes.field) * layout.plane;
    const bytes = new ArrayBuffer(48);
    new Int32Array(bytes, 0, 6).set([origin, layout.slice, layout.pitch, medium, ...size]);
    const isSharp = scene.shown === scene.paints && scene.range[1] === 1;
    new Float32Array(bytes, 24).set([...endsOf(simulation, gain), isSharp ? 0 : 1]);
    device.queue.writeBuffer(uniform, 0, bytes);
    device.queue.writeTexture({ texture }, bytesOf(map), {}, [STEPS, 1]);
  };
  return (into, simulation, look) => {
    const drawn = simulation.drawn();
    if (drawn === undefined) return;
    write(drawn, simulation, look);
    const entries = [{ buffer: drawn.level }, { buffer: uniform }, texture.createView()]
      .map((resource, binding) => ({ binding, resource }));
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginRenderPass({
      colorAttachments: [{ view: into.createView(), loadOp: "clear", storeOp: "store" }],
    });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    pass.draw(3);
    pass.end();
    device.queue.submit([encoder.finish()]);
  };
}

/** A picture's colours, four bytes a cell, of cells that are read from the CPU's memory. */
export async function pixelsOf(simulation: Simulation, { map, gain }: Look) {
  const { scene: { shown, paints } } = simulation, colours = bytesOf(map);
  const cells = await simulation.readPicture();
  const medium = shown === paints ? undefined : await simulation.readPicture(paints);
  const [low, high, least, most] = endsOf(simulation, gain) as [number, number, number, number];
  const part = (value: number, from: number, to: number): number =>
    Math.min(1, Math.max(0, (value - from) / (to - from)));
  const data = new Uint8ClampedArray(4 * cells.length).fill(255);
  cells.forEach((value, i) => {
    const at = 4 * Math.round(part(value, low, high) * (STEPS - 1));
    const shade = medium === undefined ? 0 : STRENGTH * part(medium[i]!, least, most);
    for (let c = 0; c < 3; c++) data[4 * i + c] = colours[at + c]! + shade * (TINT[c]! - colours[at + c]!);
  });
  return data;
}

/** Draws from cells that are read from the CPU's memory. */
export function cpuPainter(canvas: HTMLCanvasElement): Painter {
  const context = canvas.getContext("2d")!;
  return async (simulation, look) => {
    const [rows, columns] = simulation.size, data = await pixelsOf(simulation, look);
    const small = await createImageBitmap(new ImageData(data, columns, rows));
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
  };
}

/** Draws traces below each other, the newest sample at the right. */
export function drawTraces(canvas: HTMLCanvasElement, traces: readonly Float32Array[], samples = 600): void {
  const context = canvas.getContext("2d")!, { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  context.strokeStyle = getComputedStyle(canvas).color;
  const tall = height / Math.max(1, traces.length);
  traces.forEach((trace, i) => {
    const shown = trace.slice(-samples),
      largest = trace.reduce((most, one) => Math.max(most, Math.abs(one)), 0) || 1;
    context.beginPath();
    shown.forEach((value, n) =>
      context.lineTo((n + 0.5) / samples * width, tall * (i + 0.5 - 0.45 * value / largest))
    );
    context.stroke();
  });
}
