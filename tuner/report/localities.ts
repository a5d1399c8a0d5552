import { readsPrevious } from "../../kernels/update.ts";
import { stepwiseLocality, torreLocality } from "../../models/locality.ts";
import { formatRate } from "../format.ts";
import type { EntryView, Point } from "./entry_view.ts";
import { type Html, numbers, table } from "./html.ts";
import { bytesWords } from "./words.ts";

/** No torre of Facet is larger. */
const LARGEST_DTS = 64;

/** Bytes of a value. */
const BYTES = 4;

/** The locality of a traversal: cell updates for each value moved to or from memory, on an endless grid. */
export interface Locality {
  readonly name: string;
  readonly series: string;
  readonly locality: number;
  /** Of one torre without its neighbours in the row (Eq. 5). */
  readonly alone?: number;
  /** Bytes that a cell update moves. */
  readonly bytes: number;
  /** The fastest that was measured. */
  readonly measured: Point | undefined;
  /** Whether a narrow chart names it. */
  readonly isKey: boolean;
}

/**
 * The localities of one step at a time (Eq. 4) and of rows of torres (Eq. 6) of each tile size up to one more than was
 * measured, after Levchenko, Perepelkina, Zakirov, Computation 2016, 4(3), 29; none if no torre was measured.
 */
export function localitiesOf({ points, problem, best }: EntryView): Locality[] {
  const bySize = Map.groupBy(points.filter(isTorre), ({ parameters }) => parameters.dts!);
  const [[fastest] = []] = bySize.values();
  if (fastest === undefined || problem === undefined) return [];
  const { dts: own, nt = 1 } = fastest.parameters;
  const levelsRead = readsPrevious(problem.stencil.update) ? 2 : 1;
  const plain = {
    name: "one step",
    series: "stepwise",
    locality: stepwiseLocality(levelsRead),
    measured: best.find(({ series }) => series === "stepwise"),
    isKey: true,
  };
  const sizes = Array.from({ length: Math.max(...bySize.keys()) + 1 }, (_, i) => i + 1);
  const torres = sizes.map((dts) => ({
    name: `DTS ${dts}`,
    series: "diamond-torre",
    locality: torreLocality(dts, nt, { levelsRead }),
    alone: torreLocality(dts, nt, { levelsRead, inRow: false }),
    measured: bySize.get(dts)?.[0],
    isKey: dts === own,
  }));
  return [plain, ...torres].map((one) => ({ ...one, bytes: BYTES / one.locality }));
}

/** Whether it is a torre as Facet writes them. */
function isTorre({ series, parameters: { dts = 0, nt = 0 } }: Point): boolean {
  return series === "diamond-torre" && Number.isInteger(dts) && dts >= 1 && dts <= LARGEST_DTS && nt >= 1;
}

/** The localities with their roofs, and what was reached. */
export function localityTable(view: EntryView): Html {
  const roof = (locality = 0): string =>
    locality && formatRate(locality * view.bandwidths.GPU! / BYTES) || "";
  const rows = localitiesOf(view).map(({ name, locality, alone, bytes, measured }) => [
    name,
    locality.toFixed(3),
    bytesWords(bytes),
    roof(locality),
    alone && roof(alone),
    measured && formatRate(measured.cellsPerSecond),
  ]);
  const columns = ["locality", "bytes per cell", "roof (Eq. 4, 6)", "one torre (Eq. 5)", "best measured"];
  return table("Localities and roofs by tile size", ["tile size", ...numbers(...columns)], rows);
}
