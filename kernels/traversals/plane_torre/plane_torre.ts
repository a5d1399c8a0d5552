/**
 * DiamondTorre in two dimensions and time with the data structures of an abstract by its authors (diamond tiles along the
 * Z curve, lines, FArSh): a workgroup holds a diamond tile of x and y and moves it along x, S cells a time step.
 *
 * Geometry. u = x + y, v = x − y, and S, W = 2·S·DTS, stages and bands are those of `torre/diamond_torre.ts`. A tier begins with
 * F(t) of the tile at [U, U+W) × [V, V+W), and makes F(t+1) of the tile at S further along u and v. In local coordinates
 * a = u − U, b = v − V a cell at a, b becomes what it makes of cells at [a, a+2S] × [b, b+2S]: a thread replaces its cells
 * one by one, from the left, and needs no second copy. It reads F(t) of other threads in workgroup memory, where each has
 * put what others read; of F(t − 1) the cell's own value moves along as F(t) at a + 2S, b + 2S does.
 *
 * Of the tile's **front**, a or b from W to W + 2S, a torre takes over what its neighbours further along u and v had at
 * the same tier, and hands on its own cells with a or b < 2S. Either way through the level (F(t) of even and odd tiers
 * in the two arrays), or through **FArSh**, a buffer of `lanes`: one for each V, from which the torre at U takes what the
 * one at U + W left, tier by tier, and puts its own in the same place; one for each U in the same way. A lane along u goes
 * on over the corner, so that nothing older than a stage is needed. With FArSh a band touches a level at its first and
 * its last tier alone, so that the level holds one time step.
 *
 * Where an end holds images, the tiles cover as much beyond it as a round's steps reach (`shape.ts`).
 *
 * A thread holds a line of cells along (1, 1), which is along x, or a square of u and v (`shape.ts`). A level
 * lies in rows or in diamond tiles (`cell_places.ts`).
 *
 * @module
 */
import { ALONE_IN_A_TILE, capabilities, refuseUnlike, wrongParameters } from "../../capability.ts";
import { isAllZero } from "../../stencils/stencil.ts";
import { precisionOf } from "../../precision.ts";
import { operationsOf } from "../../update.ts";
import { asPlane, PLANE_PARAMETERS, type PlaneParameters, type PlaneShape, planeShape } from "./shape.ts";
import { imagesShader, planeTorreShader } from "./shader.ts";
import { rowsOfWaves, scheduleTorres, stageCount, usableBands } from "../waves.ts";
import { leanOf, placesIn } from "../tiles.ts";
import type { Dispatch, Traversal } from "../traversal.ts";
import { exceededLimit } from "../workgroup_limits.ts";

/** Registers of a multiprocessor. */
const REGISTERS = 65_536;

/** Instructions that find a cell's place in a level, and whether it is in the grid. */
const PLACE_IN_ROW = 12, PLACE_IN_TILE = 35;

/** The tile, the torre's height, what a thread holds, where levels lie and what goes from torre to torre are to choose. */
export const planeTorre: Traversal = {
  name: "plane-torre",
  title: "torres of diamond tiles in two dimensions: many time steps in one pass over memory",
  dimensions: 2,
  parameters: PLANE_PARAMETERS,
  capabilities: capabilities(
    ["dimensions grid previous diagonal-taps slanted-taps sideways-taps"],
    { ...ALONE_IN_A_TILE, volume: "a tile covers x and y, and there is no third axis" },
  ),
  parameterLists({ stencil, boundary, steps }) {
    const { slope } = leanOf(asPlane({ stencil, grid: [1, 1, 1], boundary, steps }).stencil.update);
    return {
      dts: [...new Set([64, 32, 48, 24, 16].map((elements) => Math.ceil(elements / Math.max(1, slope))))],
      nt: [64, 128, 32, 256, 16].filter((nt) => nt === 16 || nt <= steps),
      bands: [1, 2, 3, 4, 8],
      line: [4, 2, 8, 1],
      across: [4, 8, 2, 0],
      tiles: isAllZero(boundary) ? [1, 0] : [1],
      farsh: [1, 0],
    };
  },
  infeasible(problem, parameters, limits) {
    const { dts, nt, bands, line, across, tiles, farsh } = parameters;
    if (asPlane(problem).grid[1] === problem.grid[2]) {
      return { kind: "reach", message: "no tap reaches along x or y: there is nothing to tile" };
    }
    const shape = planeShape(problem, parameters), { slope, width, piece, plane } = shape;
    const elements = width / 2;
    const unlike = refuseUnlike(problem);
    if (unlike !== undefined) return unlike;
    if (shape.isRounds && tiles === 0) {
      return wrongParameters(
        "tiles 0: cells in rows have no room for images as far as the steps of all bands reach",
      );
    }
    if (dts < 2) {
      return wrongParameters(
        `DTS ${dts}: 2 or more are wanted, as smaller tiles gain nothing and begin within others' edges`,
      );
    }
    if (elements % line !== 0 || (across > 0 && elements % across !== 0)) {
      return wrongParameters(`DTS ${dts}: ${elements} elements do not divide into ${line} x ${across}`);
    }
    if (across > 0 && Math.min(line, across) < slope) {
      return wrongParameters(`${line} x ${across} elements are fewer than the ${slope} that taps reach`);
    }
    if (nt % 2 !== 0) return wrongParameters(`Nt ${nt} is odd: the two arrays would not swap back`);
    const usable = bands === 1 ? 1 : usableBands(plane, { dts, nt });
    if (bands > 1 && bands >= 2 * usable) {
      return wrongParameters(`${bands} bands are too many: at most ${usable} can run at once`);
    }
    const needed = registersOf(shape) * piece.threads;
    if (needed > REGISTERS) {
      return wrongParameters(`${needed} registers in a workgroup: a multiprocessor has ${REGISTERS}`);
    }
    return exceededLimit(limits, {
      layout: shape.canonical,
      scratch: Math.max(tiles * (shape.places.order?.length ?? 0), farsh * lanesLength(shape, parameters)),
      workgroup: [piece.threads, 1, 1],
      workgroupBytes: exchangeBytes(shape),
      workgroups: [shape.torres, bands],
    });
  },
  demand(problem, parameters) {
    const { nt, tiles, farsh } = parameters, shape = planeShape(problem, parameters);
    const { width, piece, plane, front, hasPrevious, ownShare } = shape, { threads, cells } = piece;
    const { update } = plane.stencil, { bytes } = precisionOf(update);
    const tiers = Math.max(1, Math.min(nt, plane.steps));
    const stages = stageCount(plane, tiers, shape), waves = rowsOfWaves(plane, parameters);
    const waveCount = waves.reduce((sum, { waves }) => sum + waves, 0);
    const tierRatio = plane.grid[0] * 2 / width * tiers / stages;
    const inTile = placesIn(width), ends = 2 * inTile * (hasPrevious ? 2 : 1) / tierRatio;
    const handed = 2 * front, rounds = Math.ceil(front / threads);
    // what caches move of a diagonal edge, in values: sectors of 8 that hold one of a row, two of a tile; the lanes whole
    const sectors = farsh === 1 ? 1 : tiles === 1 ? 4 : 8;
    const exchanges = piece.shared.length + piece.read + 2 * rounds;
    return {
      bytesPerValue: bytes,
      bytesPerUpdate: bytes * (handed + ends) / inTile / ownShare,
      registers: { plain: registersOf(shape) },
      threadsPerWorkgroup: threads,
      workgroupBytes: exchangeBytes(shape),
      workgroupsPerDispatch: shape.torres * stages * plane.steps / tiers / waveCount,
      rounds: {
        instructions: cells.length * (operationsOf(update) + (hasPrevious ? 1 : 0)) + exchanges +
          (farsh === 1 ? 16 : 60) * rounds +
          (tiles === 1 ? PLACE_IN_TILE : PLACE_IN_ROW) * ends * cells.length / inTile,
        barriers: 1,
        operations: cells.length * operationsOf(update),
        rows: 2 * rounds * sectors,
        exchanges,
        waits: {},
        nearWaits: rounds,
        nearBytes: bytes * (sectors * handed + (tiles === 1 ? 1 : 2) * ends) / inTile / ownShare,
        cells: inTile * ownShare,
        busyThreads: threads,
        dispatches: waves.map(({ rows, waves }) => ({
          count: waves / plane.steps,
          workgroups: shape.torres * rows,
          rounds: tierRatio,
        })),
      },
    };
  },
  plan(problem, parameters) {
    const { nt, bands, farsh } = parameters, shape = planeShape(problem, parameters);
    const { canonical, isRounds, plane, places: { order } } = shape, images = imagesShader(shape);
    return {
      label: `plane-torre ${Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" ")}`,
      storage: {
        layout: canonical,
        ...(farsh === 1 && {
          scratch: [{ name: "farsh", length: lanesLength(shape, parameters), lives: "list" }],
        }),
        ...(order && { order }),
      },
      shaders: [planeTorreShader(problem, parameters, shape), ...(isRounds ? [images.shader] : [])],
      dispatches(steps, start) {
        const list: Dispatch[] = [], flipped = start % 2 === 1, round = isRounds ? nt * bands : steps;
        for (let step = 0; step < steps; step += round) {
          if (isRounds) list.push({ shader: 1, workgroups: images.workgroups, flipped, uniforms: [] });
          const count = Math.min(round, steps - step);
          for (const rows of scheduleTorres(plane, { ...parameters, unroll: 1 }, count, shape).waves) {
            list.push({
              shader: 0,
              workgroups: [Math.max(...rows.map(({ torres }) => torres)), rows.length, 1],
              flipped,
              // one tier more hands on what the last that meets the grid has made
              uniforms: rows.flatMap(({ stage, below, tiers, height, band }) => [
                stage,
                below,
                Math.min(height, below + tiers + 1),
                band % bands,
              ]),
            });
          }
        }
        return list;
      },
    };
  },
} satisfies Traversal<PlaneParameters>;

/** Registers of a thread: its cells, what it reads of others, and where it loads cells from, many at once. */
function registersOf({ piece: { cells, read }, hasPrevious, layout }: PlaneShape): number {
  const values = cells.length * (hasPrevious ? 2 : 1) + read;
  return 40 + precisionOf(layout).bytes / 4 * values + 2 * Math.min(64, cells.length);
}

/** Values of the lanes of all bands. */
function lanesLength({ torres, edge }: PlaneShape, { nt, bands }: PlaneParameters): number {
  return edge * (2 * torres * nt * bands + 1);
}

/** Two halves, by turns. */
function exchangeBytes({ piece: { slots, places }, layout }: PlaneShape): number {
  return precisionOf(layout).bytes * 2 * slots * places;
}
