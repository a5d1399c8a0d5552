/**
 * A line cut into **lanes**, as many as a vector has values, that lie side by side, so that vector i holds point i of each: neighbours of a
 * vector are the vectors beside it, and no tap has to be cut out of two (Henretty and others, "Data layout
 * transformation for stencil computations on short-vector SIMD architectures", CC 2011).
 *
 * Of four, lanes are equally long, ⌈N/4⌉ points. Where N is no multiple of four some begin with the last point of the one
 * before: it is computed twice, alike.
 *
 * @module
 */
import { type Precise, precisionOf } from "../precision.ts";
import { VECTOR } from "./rows.ts";

export interface Lanes extends Precise {
  /** Points of a lane, vectors of a plane. */
  readonly length: number;
  /** The first point of each lane. */
  readonly starts: readonly number[];
  /** Points that two neighbouring lanes have in common at most: 0 or 1. */
  readonly overlap: number;
  /** Vectors before and behind, images of other lanes' points. */
  readonly pad: number;
  /** Bytes from one plane to the next. */
  readonly plane: number;
  readonly bytes: number;
}

/**
 * Bytes from a page's beginning at which each plane begins further than the one before: stores to one plane do not
 * look like stores to where another is read just then, which the processor tells by an address's last 12 bits.
 */
const STAGGER = 1088;

/** Cuts a line of at least as many points into lanes: of 13, points 3, 6 and 9 lie in two of four. */
export function layLanes(
  points: number,
  { reach, planes, precision }: Precise & { readonly reach: number; readonly planes: number },
): Lanes {
  const { lanes } = precisionOf({ precision }), length = Math.ceil(points / lanes);
  const starts = Array.from({ length: lanes }, (_, lane) => Math.floor(points * lane / lanes));
  const plane = Math.ceil((length + 2 * reach) * VECTOR / 4096) * 4096 + STAGGER;
  const overlap = points % lanes === 0 ? 0 : 1;
  return { length, starts, overlap, pad: reach, plane, bytes: planes * plane, precision };
}

/** Bytes from a plane's beginning to a point. */
export function laneOffset(lanes: Lanes, { position, lane }: LanePoint): number {
  return (lanes.pad + position) * VECTOR + lane * precisionOf(lanes).bytes;
}

/** A point: vector `position`, negative or beyond the last in the pads. */
export interface LanePoint {
  readonly position: number;
  readonly lane: number;
}

/** A point of the pads, and which it is the image of. */
export interface LaneImage {
  readonly to: LanePoint;
  readonly from: LanePoint;
}

/**
 * What the pads hold: the neighbouring lane's points, and at the line's ends their images. No source lies further
 * than `pad` from the lane's first or last point.
 */
export function laneImages(lanes: Lanes, points: number, ends: "insulated" | "periodic"): LaneImage[] {
  const { length, starts, pad } = lanes;
  const places = Array.from({ length: pad }, (_, k) => [-1 - k, length + k]).flat();
  return places.flatMap((position) =>
    starts.map((start, lane): LaneImage => {
      const side = position < 0 ? -1 : 1, beside = lane + side, point = start + position;
      const isOutside = beside < 0 || beside === starts.length;
      const source = isOutside && ends === "insulated" ? lane : (beside + starts.length) % starts.length;
      const mirrored = side < 0 ? -point : 2 * (points - 1) - point;
      const image = !isOutside ? point : ends === "periodic" ? point - side * points : mirrored;
      return { to: { position, lane }, from: { position: image - starts[source]!, lane: source } };
    })
  );
}
