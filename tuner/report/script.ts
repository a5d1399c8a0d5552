/** The page's only script: copies a configuration, and opens the problem that a link leads to. */
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
`;
