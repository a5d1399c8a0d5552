/**
 * Sound of order 4 with a PML of 12 cells, for `tune`: 536³ cells have as many inner ones, 512³, as 556³ with 22 matched cells.
 *
 *     deno task tune --stencil ./bench/sound_pml.ts --grid 536 --budget 25s
 *     deno task tune --stencil acoustic --order 4 --grid 556 --budget 25s
 *
 * Inner cells: the first rate times (512/536)³, the second times (512/556)³.
 *
 * @module
 */
import { acoustic } from "../mod.ts";

export default acoustic({ order: 4, edges: 12, absorber: "pml" });
