// Buttons with data-copy="id" put the text of that element on the clipboard.
(() => {
  "use strict";
  function select(element) {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }

  function say(button, text) {
    const words = button.textContent;
    button.textContent = text;
    const region = document.getElementById("announce");
    if (region) region.textContent = text;
    setTimeout(() => (button.textContent = words), 2500);
  }

  addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    const source = button && document.getElementById(button.dataset.copy);
    if (!source || button.dataset.busy) return;
    button.dataset.busy = "yes";
    try {
      // Browsers lend the clipboard to HTTPS and localhost alone.
      await navigator.clipboard.writeText(source.textContent);
      say(button, "Copied");
    } catch {
      select(source);
      say(button, "Selected: press Ctrl+C or ⌘C");
    }
    setTimeout(() => delete button.dataset.busy, 2600);
  });
})();
