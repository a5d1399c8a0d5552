/** The page's only script: copies a configuration, opens the problem that a link leads to, and names marks of charts. */
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
for (const chart of document.querySelectorAll(".drawings > div[tabindex]")) {
  const marks = [...chart.querySelectorAll("[data-name]")], words = chart.parentElement.querySelector("p");
  let at = 0;
  const name = (next) => {
    marks[at].classList.remove("at");
    at = Math.max(0, Math.min(marks.length - 1, next));
    marks[at].classList.add("at");
    words.textContent = marks[at].dataset.name;
  };
  words.hidden = false;
  chart.onpointermove = chart.onpointerdown = ({ clientX, clientY }) => {
    const distances = marks.map((mark) => {
      const { x, y, width, height } = mark.getBoundingClientRect();
      return Math.hypot(x + width / 2 - clientX, y + height / 2 - clientY);
    });
    const least = Math.min(...distances);
    if (least < 20) name(distances.indexOf(least));
  };
  chart.onfocus = () => chart.matches(":focus-visible") && name(at);
  chart.onkeydown = (event) => {
    const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: marks.length }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    name(next);
  };
}
const openTarget = () => {
  const details = document.getElementById(location.hash.slice(1))?.closest("details");
  if (details) details.open = true;
};
addEventListener("hashchange", openTarget);
openTarget();
`;
