/// <reference lib="dom" />
/**
 * Icons: lines in a square of 24.
 *
 * @module
 */
const LINES = {
  play: "M8 5v14l11-7z",
  pause: "M8 5v14M16 5v14",
  step: "M5 5v14l10-7zM19 5v14",
  again: "M5 6v5h5M5 11a7.5 7.5 0 1 1 1 6",
  wipe: "M4 15 13 6l6 6-7 7H8zM9 10l6 6M12 20h8",
  touch: "M9 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0M12 3v3M12 18v3M3 12h3M18 12h3",
  paint: "M15 5l4 4L9 19H5v-4zM12 8l4 4",
  source: "M12 3v5M12 16v5M3 12h5M16 12h5M6 6l3 3M15 15l3 3M18 6l-3 3M9 15l-3 3",
  receiver: "M4 6h16l-8 13z",
  scenes: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
  equation: "M18 8V5H6l7 7-7 7h12v-3",
  walls: "M4 4h16v16H4zM8 8h8v8H8z",
  tune: "M4 17a8 8 0 1 1 16 0M12 17l4-6",
  share: "M12 15V3M8 7l4-4 4 4M5 12v8h14v-8",
};

/** Gives an element the icon that it names, before its text. */
export function drawIcon(element: HTMLElement): void {
  element.querySelector("svg")?.remove();
  const lines = LINES[element.dataset.icon as keyof typeof LINES];
  element.insertAdjacentHTML("afterbegin", `<svg aria-hidden="true" class="icon"><path d="${lines}"/></svg>`);
}
