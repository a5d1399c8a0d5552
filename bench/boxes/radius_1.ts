/** A box of 3² cells: `deno task tune --stencil ./bench/boxes/radius_1.ts --grid 16384x16384`. */
import type { Stencil } from "../../mod.ts";
import { box } from "./box.ts";

const stencil: Stencil = box(1);
export default stencil;
