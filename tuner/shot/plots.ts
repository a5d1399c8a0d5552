/**
 * The pictures of a shot: what its receivers recorded, and the wave in the medium.
 *
 * @module
 */
import type { FloatArray } from "../../kernels/precision.ts";
import type { Grid } from "../../kernels/stencils/stencil.ts";
import { HIGHEST, seismic, smoothly, WIDEST } from "../files/draw_field.ts";
import { type Colour, drawPlot, type Plot, type PlotAxis } from "../files/picture.ts";
import type { ShotPlan } from "./shoot.ts";

/** The share of a gather's amplitudes that are not clipped, in colours and of wiggles, and the part of a direct wave's from which a field's are. */
const GATHER_SHARE = 0.95, WIGGLE_SHARE = 0.99, WAVE_PART = 0.4;

/** The largest value of ∫ ricker(t − u)/√u du, times √f: of a wave from a line, which has a tail. */
const LINE_PEAK = 0.684;

/** Receivers up to which traces are wiggles; pixels of a receiver at most, of these and of colours. */
const FEW = 30, WIGGLE_WIDTH = 25, TRACE_WIDTH = 8;

/** How far a wiggle goes to both sides, in receivers, and half its line's width, in pixels. */
const SWING = 0.47, PEN = 0.8;

/** A shot's traces: receivers across, time downwards, as wiggles, black to the right, or in colours. Amplitudes are times t, or √t, since they fall as a wave spreads. */
export async function drawGather(
  traces: readonly FloatArray[],
  { interval, receivers, model }: Pick<ShotPlan, "interval" | "receivers" | "model">,
  title: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const isLine = model.dimensions === 2, samples = traces[0]!.length;
  const gained = traces.map((trace) => trace.map((value, i) => value * (isLine ? Math.sqrt(i) : i)));
  const isFew = traces.length <= FEW, each = isFew ? WIGGLE_WIDTH : TRACE_WIDTH;
  const clip = clipOf(gained, isFew ? WIGGLE_SHARE : GATHER_SHARE);
  const size = [Math.min(WIDEST, Math.max(WIDEST / 2, each * traces.length)), HIGHEST] as const;
  const valueAt = smoothly((i, j) => gained[i]![j]!, traces.length, samples);
  const pen = PEN * traces.length / size[0], rows = traces.map(() => [NaN, 0, 0]);
  const wiggle = (right: number, down: number): Colour => {
    const at = right * traces.length, trace = Math.floor(at), middle = trace + 0.5;
    if (rows[trace]![0] !== down) { // what its pixels in a row share
      const ends = [-0.5, 0.5].map((by) => valueAt(middle / traces.length, down + by / size[1]) / clip)
        .map((part) => SWING * Math.max(-1, Math.min(1, part)));
      rows[trace] = [down, Math.min(0, ...ends) - pen, Math.max(...ends) + pen];
    }
    const [, low, high] = rows[trace]!, off = at - middle;
    return off > low! && off < high! ? [0, 0, 0] : [255, 255, 255];
  };
  return await drawPlot({
    title,
    across: acrossOf(receivers),
    down: { label: "time (s)", from: -interval / 2, to: (samples - 0.5) * interval },
    size,
    colourAt: isFew ? wiggle : (right, down) => seismic(valueAt(right, down) / clip, 255),
    ...(!isFew && {
      bar: barOf(
        `amplitude times ${isLine ? "root " : ""}t`,
        clip * (isLine ? Math.sqrt(interval) : interval),
        255,
      ),
    }),
  });
}

/** The wave, as {@linkcode shoot} hands it on, over the medium, which is darker where it is faster. */
export async function drawWave(
  field: FloatArray,
  { model: { grid: [nx, , nz], dimensions, at, least, most }, spacing, sent, frequency }: Pick<
    ShotPlan,
    "model" | "spacing" | "sent" | "frequency"
  >,
  { source, t }: { readonly source: Grid; readonly t: number },
): Promise<Uint8Array<ArrayBuffer>> {
  const direct = dimensions === 2
    ? LINE_PEAK * spacing ** 2 / (2 * Math.PI * Math.sqrt(2 * t * frequency))
    : spacing ** 3 / (4 * Math.PI * least * t);
  const clip = sent[0] === "s" ? WAVE_PART * direct : clipOf([field]),
    scale = Math.min(WIDEST / nx, HIGHEST / nz);
  const y = Math.round(source[1] / spacing - 0.5), valueAt = smoothly((x, z) => field[x * nz + z]!, nx, nz);
  return await drawPlot({
    title: `t = ${t.toFixed(3)} s`,
    across: { label: "x (m)", from: 0, to: nx * spacing },
    down: { label: "depth (m)", from: 0, to: nz * spacing },
    size: [Math.ceil(nx * scale), Math.ceil(nz * scale)],
    bar: barOf("amplitude", clip, 245),
    mark: [source[0] / (nx * spacing), source[2] / (nz * spacing)],
    colourAt(right, down) {
      const velocity = at(Math.floor(right * nx), y, Math.floor(down * nz));
      const grey = 245 - 110 * (velocity - least) / Math.max(1, most - least);
      return seismic(valueAt(right, down) / clip, grey);
    },
  });
}

/** What the colours of amplitudes up to this size mean, over a medium of this grey. */
function barOf(label: string, clip: number, grey: number): Required<Plot>["bar"] {
  return { label, from: -clip, to: clip, colourOf: (value) => seismic(value / clip, grey) };
}

/** The size that this share of the values does not exceed; 1 where all are 0. */
function clipOf(traces: readonly FloatArray[], share = GATHER_SHARE): number {
  const every = Math.ceil(traces.length * traces[0]!.length / 1e6);
  const some = traces.flatMap((trace, row) => [...trace.filter((_, i) => (i + row) % every === 0)]);
  const sizes = Float32Array.from(some, Math.abs);
  return sizes.sort()[Math.floor(share * (sizes.length - 1))] || sizes.at(-1) || 1;
}

/** Where receivers lie along the axis that they spread along, if evenly; else their numbers. */
function acrossOf(receivers: readonly Grid[]): PlotAxis {
  const { length } = receivers,
    spans = [0, 1, 2].map((axis) => receivers.at(-1)![axis]! - receivers[0]![axis]!);
  const axis = spans.findIndex((span) => Math.abs(span) === Math.max(...spans.map(Math.abs)));
  const first = receivers[0]![axis]!, step = spans[axis]! / (length - 1);
  const isEven = step !== 0 &&
    receivers.every((at, i) => Math.abs(at[axis]! - first - i * step) < 0.01 * Math.abs(step));
  if (!isEven) return { label: "receiver", from: 0.5, to: length + 0.5 };
  return { label: `receiver ${"xyz"[axis]} (m)`, from: first - step / 2, to: first + (length - 0.5) * step };
}
