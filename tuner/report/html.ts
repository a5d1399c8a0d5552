import { withoutBidi } from "../format.ts";

/** Text that is HTML already. */
export class Html {
  constructor(readonly text: string) {}
}

/** What a hole of a template may hold; undefined and null leave nothing. */
export type Hole = Html | string | number | undefined | null | readonly Hole[];

/** A text as HTML shows it, inside elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return withoutBidi(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

/** HTML from a template; lists are joined, and all that is not Html already is escaped: what comes from files is data. */
export function markup(strings: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  return new Html(strings.reduce((text, part, i) => text + render(holes[i - 1]) + part));
}

function render(hole: Hole): string {
  if (hole === undefined || hole === null) return "";
  if (hole instanceof Html) return hole.text;
  if (typeof hole === "object") return hole.map(render).join("");
  return escapeHtml(String(hole));
}

/** The title of a table's column; numbers are aligned to the right. */
type Column = string | { readonly number: string };

export function numbers(...titles: readonly string[]): Column[] {
  return titles.map((number) => ({ number }));
}

/**
 * A table that scrolls by itself where it is too wide, by keyboard too; the first cell of a row names the row. On a phone
 * a row becomes a card, where each cell shows its column's title.
 */
export function table(caption: string, columns: readonly Column[], rows: readonly (readonly Hole[])[]): Html {
  const titles = columns.map((column) => typeof column === "string" ? column : column.number);
  const kinds = columns.map((column) => typeof column === "string" ? "text" : "number");
  const head = titles.map((title, i) => markup`<th scope="col" class="${kinds[i]}">${title}</th>`);
  const cell = (value: Hole, i: number): Html =>
    i === 0
      ? markup`<th scope="row" class="${kinds[i]}" data-label="${titles[i]}">${value}</th>`
      : markup`<td class="${kinds[i]}" data-label="${titles[i]}">${value}</td>`;
  const body = rows.map((row) => markup`<tr>${columns.map((_, i) => cell(row[i], i))}</tr>\n`);
  return markup`
    <div class="scroll" role="group" tabindex="0" aria-label="${caption}">
      <table class="rows"><caption>${caption}</caption>
        <thead><tr>${head}</tr></thead>
        <tbody>${body}</tbody></table>
    </div>
  `;
}

/** A table behind a chart, closed until it is asked for. */
export function tableBehind(summary: string, content: Html): Html {
  return markup`<details class="behind"><summary>${summary}</summary>${content}</details>`;
}

/** A figure: a caption and what it describes. */
export function figure(title: string, caption: Hole, ...content: readonly Hole[]): Html {
  return markup`<figure><figcaption><strong>${title}</strong> ${caption}</figcaption>${content}</figure>`;
}
