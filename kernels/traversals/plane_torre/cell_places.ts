/**
 * Where torres in two dimensions keep a level: in rows, as everything outside of a plan does, or in diamond tiles, each
 * along the Z curve, as an abstract by DiamondTorre's authors on its data structures has it.
 *
 * The cell at **r** = Σ j_i **e**_i of d axes has the coordinates j_1 … j_d of the lattice **e**_1 = (3 − d, −1, …, −1),
 * **e**_2 = (1, 1, 0, …), **e**_3 = (1, 0, 1, …), …, of which each element is two cells, the second one further along x. In
 * two dimensions u = x + y = 2 j_2 and v = x − y = 2 j_1, and a tile is a square in u and v. Cells that lie near each
 * other lie near each other in memory, and so do those of a thread.
 *
 * @module
 */
import type { Layout } from "../../layout.ts";
import { plus } from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import type { Order } from "../storage.ts";

/** Text of `at(x, y)`, the index of a cell in the grid, and the order that it makes; none where cells lie in rows. */
export interface CellPlaces {
  readonly code: string;
  readonly order?: Order;
}

/** Cells in rows; `layout` is of an x × 1 × y grid. */
export const IN_ROWS: CellPlaces = {
  code: "fn at(x: i32, y: i32) -> i32 { return ORIGIN + x * SLICE + y; }",
};

/**
 * Cells in tiles of 2^k cells along u and v, the largest of which there is a whole number in a torre's tile.
 *
 * @param width cells of a torre's tile along u and v, an even number
 * @param first x of the left corners of the torres furthest to the right: tiles begin where theirs do
 * @param beyond cells before the grid's, along x and y
 */
export function inTiles(
  { grid: [nx, , ny] }: Layout,
  width: number,
  first: number,
  [beyondX, beyondY]: readonly [x: number, y: number],
): CellPlaces {
  const side = width & -width;
  const [u, v] = [-first, 1 - ny - first].map((least) => Math.ceil(-least / width) * width - first) as [
    number,
    number,
  ];
  // of a cell's tile I, J the sum lies between (u + v) / side − 1 and that, the difference up to one above
  const tile = (cell: number): number => Math.floor(cell / side);
  const row = tile(u + v) - 1, rows = tile(u + v + 2 * (nx - 1)) - row + 1;
  const column = tile(u - v), columns = (tile(u - v + 2 * (ny - 1)) + 1 - column >> 1) + 1;
  const code = wgsl`
    fn spread(part: i32) -> i32 { // every other bit
      var bits = (part & ${side - 1}) >> 1;
      bits = (bits | bits << 4) & 0x0f0f0f0f;
      bits = (bits | bits << 2) & 0x33333333;
      return (bits | bits << 1) & 0x55555555;
    }
    fn at(x: i32, y: i32) -> i32 {
      let u = x + y + ${u}; let v = x - y + ${v};
      let i = u >> ${Math.log2(side)}; let j = v >> ${Math.log2(side)};
      let tile = (i + j - ${row}) * ${columns} + ((i - j - ${column}) >> 1);
      return tile * ${side * side / 2} + 4 * spread(u) + 2 * spread(v) + (u & 1);
    }
  `;
  return {
    code,
    order: {
      length: rows * columns * side * side / 2,
      values: { declarations: code, place: `at(${plus("x", beyondX)}, ${plus("z", beyondY)})` },
    },
  };
}
