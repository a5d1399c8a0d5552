/**
 * The scratch buffers of all features: what an update or a problem may have beside fields and materials.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import type { Scratch } from "../traversals/storage.ts";
import { layerBuffers } from "./layers.ts";
import { POINT_BUFFERS } from "./points.ts";
import { profileBuffers } from "./profiles.ts";

/**
 * What a plan of a problem stores beside its levels.
 *
 * @param hasSeries whether its shaders read what is added, a row a step; `layered`: the problem whose layers it keeps in blocks
 */
export function featureBuffers(problem: Problem, hasSeries: boolean, layered?: Problem): Scratch[] {
  const ofLayers = layered === undefined ? [] : layerBuffers(layered);
  return [...profileBuffers(problem), ...hasSeries ? POINT_BUFFERS : [], ...ofLayers];
}
