/** A box of 5² cells: `deno task tune --stencil ./bench/boxes/radius_2.ts --grid 16384x16384`. */
import type { Stencil } from "../../mod.ts";
import { box } from "./box.ts";

const stencil: Stencil = box(2);
export default stencil;
