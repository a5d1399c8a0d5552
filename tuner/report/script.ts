/** The page's only script: long tables, a page of rows at a time once opened; cells are set as text, never as HTML. */
export const SCRIPT = `
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
  const cell = (value, i) => make(i ? "td" : "th", { className: kind(i), ...(i ? {} : { scope: "row" }) }, String(value));
  const head = columns.map((title, i) => make("th", { scope: "col", className: kind(i) }, title));
  const body = make("tbody", {});
  const where = make("span", { role: "status" });
  const table = make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...head)), body);
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
  pages.append(make("p", { className: "turn" }, back, where, on), scroll);
  show(0);
}
`;
