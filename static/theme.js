// Runs before the first paint, so that the page never flashes in the other theme.
// The admin keeps its choice under the same name, as JSON.
(() => {
  const root = document.documentElement;
  const read = () => {
    try {
      const kept = JSON.parse(localStorage.getItem("adminTheme"));
      return kept === "light" || kept === "dark" ? kept : "auto";
    } catch {
      return "auto";
    }
  };
  const apply = (theme) => {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
  };
  root.classList.remove("no-js");
  apply(read());
  window.theme = {
    read,
    set(theme) {
      try {
        localStorage.setItem("adminTheme", JSON.stringify(theme));
      } catch {
        // Private windows may refuse; the choice then lasts for this page.
      }
      apply(theme);
    },
  };
  addEventListener("storage", (event) => event.key === "adminTheme" && apply(read()));
})();
