/**
 * The page's only script: copies a configuration, opens the problem that a link leads to, and shows long tables, a page
 * of rows at a time once opened. Cells are set as text, never as HTML.
 */
export const SCRIPT = `
for (const button of document.querySelectorAll("button.copy")) {
  const source = document.getElementById(button.dataset.copy), words = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      source.closest("details").open = true;
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => button.textContent = words, 3000);
  });
}
const openTarget = () => {
  const details = document.getElementById(location.hash.slice(1))?.closest("details");
  if (details) details.open = true;
};
addEventListener("hashchange", openTarget);
openTarget();
for (const details of document.querySelectorAll("details.all")) {
  details.addEventListener("toggle", () => {
    const pages = details.querySelector(".pages");
    if (pages && details.open && !pages.firstChild) fill(pages);
  });
}
function fill(pages) {
  const size = 200;
  const { caption, columns, numbers, rows } = JSON.parse(document.getElementById(pages.dataset.rows).textContent);
  const make = (name, props, ...children) => {
    const element = Object.assign(document.createElement(name), props);
    element.append(...children);
    return element;
  };
  const kind = (i) => numbers[i] ? "number" : "text";
  const cell = (value, i) => {
    const element = make(i ? "td" : "th", { className: kind(i), ...(i ? {} : { scope: "row" }) }, String(value));
    element.dataset.label = columns[i];
    return element;
  };
  const head = columns.map((title, i) => make("th", { scope: "col", className: kind(i) }, title));
  const body = make("tbody", {});
  const where = make("span", { role: "status" });
  const table = make("table", { className: "rows" }, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...head)), body);
  const scroll = make("div", { className: "scroll", role: "group", tabIndex: 0, ariaLabel: caption }, table);
  let start = 0;
  const show = (next) => {
    start = Math.max(0, Math.min(next, Math.floor((rows.length - 1) / size) * size));
    const shown = rows.slice(start, start + size);
    body.replaceChildren(...shown.map((row) => make("tr", {}, ...row.map(cell))));
    where.textContent = (start + 1) + " to " + (start + shown.length) + " of " + rows.length;
    back.disabled = start === 0;
    on.disabled = start + size >= rows.length;
  };
  const back = make("button", { type: "button", onclick: () => show(start - size) }, "Previous");
  const on = make("button", { type: "button", onclick: () => show(start + size) }, "Next");
  if (rows.length > size) pages.append(make("p", { className: "turn" }, back, where, on));
  pages.append(scroll);
  show(0);
}
`;
