import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { formatBytes, formatChange } from "../format.ts";
import type { EntryView, Mark } from "./entry_view.ts";
import { type Html, markup, table } from "./html.ts";
import { parameterWords } from "./words.ts";

/** How a program runs a configuration. */
const USE =
  markup`A program runs it with <code>createSolver(problem, { configuration })</code>; without one it reads it from the profile.`;

/** The chosen configuration: its parameters in words, what changing one of them does, and its JSON to copy. */
export function configurationCard(view: EntryView): Html {
  const { entry: { configuration }, id, winner: { series, cellsPerSecond, parameters } } = view;
  const neighbours = neighboursOf(view);
  const rows = Object.entries(parameters).map(([name, value]) => {
    const { title, meaning, valueOf } = parameterWords(name, series);
    const changes = neighbours.filter((neighbour) => neighbour.name === name).map(({ value, point }) =>
      `${valueOf(value)}: ${formatChange(point.cellsPerSecond / cellsPerSecond - 1)}`
    );
    return [title, valueOf(value), meaning, changes.join("; ")];
  });
  const columns = [
    "parameter",
    "value",
    "meaning",
    ...(neighbours.length > 0 ? ["rate with another value"] : []),
  ];
  const json = JSON.stringify(configuration, null, 2), window = configuration.share.deviceMemory;
  return markup`
    ${table(`Parameters of ${series}`, columns, rows)}
    <p class="use"><button type="button" class="copy" hidden data-copy="${id}-json">Copy as JSON</button>
    ${
    window === undefined
      ? USE
      : markup`The grid passed through a window of ${formatBytes(window)} of the GPU's memory. ${USE}`
  }</p>
    <details class="behind"><summary>The configuration as JSON</summary><pre id="${id}-json" tabindex="0">${json}</pre></details>
  `;
}

interface Neighbour {
  readonly name: string;
  readonly value: Parameters[string];
  readonly point: Mark;
}

/** The measured configurations of the winner's traversal that differ from it in exactly one parameter. */
export function neighboursOf({ winner, points }: EntryView): Neighbour[] {
  const placeOf = ({ name, value }: Neighbour) => parameterWords(name, winner.series).placeOf(value);
  return points.flatMap((point) => {
    const [first, ...others] = Object.entries(differences(winner, point));
    return first === undefined || others.length > 0 ? [] : [{ name: first[0], value: first[1], point }];
  }).sort((a, b) => placeOf(a) - placeOf(b));
}

/** The parameters in which another configuration of the same traversal differs; none for any other. */
export function differences(winner: Mark, { series, parameters }: Mark): Parameters {
  const names = Object.keys(winner.parameters);
  const isAlike = series === winner.series && Object.keys(parameters).length === names.length &&
    names.every((name) => parameters[name] !== undefined);
  const changed = names.filter((name) => isAlike && winner.parameters[name] !== parameters[name]);
  return Object.fromEntries(changed.map((name) => [name, parameters[name]!]));
}
