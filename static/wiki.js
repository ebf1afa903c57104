// The wiki's pages: keys, contents, history, the review queue. Pages work without it.
(() => {
  "use strict";
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const typing = (element) => element.matches("input:not([type=checkbox]):not([type=radio]), textarea, select");

  /* Keys -------------------------------------------------------------------------------- */

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (typing(event.target) || $("dialog[open]")) return;
    const link = $(`[data-key="${CSS.escape(event.key)}"]`);
    if (link) {
      event.preventDefault();
      link.click();
    } else if ($("[data-review]")) review(event);
  });

  function review(event) {
    const items = $$("[data-item]");
    const at = items.findIndex((item) => item.contains(document.activeElement));
    const go = { j: 1, k: -1 }[event.key];
    if (go) {
      const next = items[Math.min(Math.max(at + go, 0), items.length - 1)];
      next?.focus();
      next?.scrollIntoView({ block: "nearest" });
    }
    const item = items[at];
    if (!item) return;
    if (event.key === "a") $("[data-accept]", item)?.click();
    if (event.key === "r") $("[data-reject]", item)?.click();
    if (event.key === "x") $(".pick input", item)?.click();
  }

  /* Reading ------------------------------------------------------------------------------ */

  // The section's list is open beside a wide page, and folded above a narrow one.
  const wide = matchMedia("(min-width: 1100px)");
  const unfold = () => $$("details[data-wide]").forEach((fold) => (fold.open = wide.matches));
  wide.addEventListener("change", unfold);
  unfold();

  function follow() {
    const links = new Map($$(".rail .contents a").map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
    if (!links.size) return;
    const watch = new IntersectionObserver((entries) => {
      const seen = entries.filter((entry) => entry.isIntersecting)[0];
      if (!seen) return;
      links.forEach((link) => link.classList.remove("now"));
      links.get(seen.target.id)?.classList.add("now");
    }, { rootMargin: "-72px 0px -70% 0px" });
    links.forEach((_, id) => document.getElementById(id) && watch.observe(document.getElementById(id)));
  }
  follow();

  /* The history: what lies between the two picked ------------------------------------------ */

  addEventListener("change", (event) => {
    const form = event.target.closest("form[data-history]");
    if (form) between(form);
  });
  function between(form) {
    const [from, to] = ["from", "to"].map((name) => Number(new FormData(form).get(name)));
    for (const row of $$(".revision", form)) {
      const number = Number($("input", row).value);
      row.classList.toggle("between", number <= Math.max(from, to) && number >= Math.min(from, to));
    }
  }
  $$("form[data-history]").forEach(between);
})();
