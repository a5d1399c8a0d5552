import type { EntryView } from "./entry_view.ts";
import { type Html, markup, table } from "./html.ts";
import { parameterMeaning, parameterTitle, parameterValue } from "./words.ts";

/** The chosen configuration: its parameters in words, and its JSON to copy. */
export function configurationCard({ entry: { configuration }, id, winner }: EntryView): Html {
  const { series, parameters } = winner;
  const rows = Object.entries(parameters).map(([name, value]) => [
    parameterTitle(name, series),
    parameterValue(name, value, series),
    parameterMeaning(name, series),
  ]);
  const json = JSON.stringify(configuration, null, 2);
  return markup`
    ${table(`Parameters of ${series}`, ["parameter", "value", "meaning"], rows)}
    <p class="use"><button type="button" class="copy" hidden data-copy="${id}-json">Copy as JSON</button>
    A program runs it with <code>createSolver(device, problem, configuration)</code>; <code>chooseConfiguration(profile, problem, device)</code> reads it from the profile.</p>
    <details class="behind"><summary>The configuration as JSON</summary><pre id="${id}-json" tabindex="0">${json}</pre></details>
  `;
}
