// Behaviour of every page. Each page works without this file, except searching as one types.
(() => {
  "use strict";
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const wide = matchMedia("(min-width: 1100px)");

  /* Announcements and toasts ------------------------------------------------------------ */

  function announce(text) {
    const region = $("#announce");
    if (!region || !text) return;
    region.textContent = "";
    setTimeout(() => (region.textContent = text), 60);
  }

  function toast(text, level = "error") {
    const shape = $("#toast-template");
    const place = $("#toasts");
    if (!shape || !place) return;
    const item = shape.content.firstElementChild.cloneNode(true);
    item.classList.add(level);
    $("p", item).textContent = text;
    const use = $(".icon use", item);
    const icon = level === "success" ? "check" : level === "error" ? "error" : "warn";
    use.setAttribute("href", use.getAttribute("href").replace(/#.*/, "#" + icon));
    // One message says it; ten of the same kind only cover the page.
    $$(".toast", place).forEach((old) => $("p", old).textContent === text && old.remove());
    place.append(item);
    if (level === "success") setTimeout(() => item.remove(), 8000);
  }

  addEventListener("click", (event) => {
    const button = event.target.closest("[data-dismiss]");
    if (button) button.closest(".toast, .notice").remove();
  });

  /* Theme ------------------------------------------------------------------------------- */

  function showTheme() {
    for (const button of $$("[data-theme-choice]")) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === theme.read()));
    }
  }
  addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-choice]");
    if (!button) return;
    theme.set(button.dataset.themeChoice);
    showTheme();
  });

  /* Keys, menus ------------------------------------------------------------------------- */

  const typing = (element) => element.matches("input, textarea, select, [contenteditable]");

  addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !typing(event.target)) {
      const box = $("#q");
      if (!box) return;
      event.preventDefault();
      box.focus();
      box.select();
    }
    // In a dialog Escape is the dialog's, and the menu behind it takes the focus back.
    if (event.key === "Escape" && !$("dialog[open]")) closeMenus(event.target.closest("details.floating[open]"));
    if (event.key === "ArrowDown" || event.key === "ArrowUp") step(event);
  });

  function closeMenus(only, keep) {
    const open = only ? [only] : $$("details.floating[open]");
    for (const menu of open) {
      if (menu === keep) continue;
      const held = menu.contains(document.activeElement);
      menu.open = false;
      if (only && held) $("summary", menu).focus();
    }
  }
  addEventListener("click", (event) => closeMenus(null, event.target.closest("details.floating")));

  // Up and down walk through a list of results, as in a mail program.
  function step(event) {
    const link = event.target.closest(".says");
    if (!link) return;
    const links = $$(".says", link.closest(".list"));
    const next = links[links.indexOf(link) + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  /* The record beside the list ----------------------------------------------------------- */

  addEventListener("click", (event) => {
    const link = event.target.closest("a[data-pane]");
    if (!link || !wide.matches || !$("#pane")) return;
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    // A second time on the same row goes on into the record.
    if (link.closest(".entry").hasAttribute("aria-current")) $("#pane").focus();
    else openPane(link);
  });

  function openPane(link) {
    htmx.ajax("GET", link.href, { source: $("#pane"), target: "#pane", swap: "innerHTML" }).then(() => {
      if (!link.isConnected) return;
      $$(".entry[aria-current]").forEach((entry) => entry.removeAttribute("aria-current"));
      link.closest(".entry").setAttribute("aria-current", "true");
      const address = new URL(location.href);
      address.searchParams.set("record", link.dataset.pane);
      history.replaceState(history.state, "", address);
      announce("Record shown beside the list");
    }, () => {});
  }

  /* Dialogs: any link with data-dialog shows its page's fragment in one -------------------- */

  addEventListener("click", (event) => {
    const link = event.target.closest("a[data-dialog]");
    const dialog = $("#dialog");
    if (link && dialog && !event.ctrlKey && !event.metaKey && !event.button) {
      event.preventDefault();
      htmx.ajax("GET", link.href, { source: dialog, target: "#dialog", swap: "innerHTML" })
        .then(() => dialog.firstElementChild && !dialog.open && dialog.showModal(), () => {});
    }
    const close = event.target.closest("[data-close]");
    if (close && close.closest("dialog")) {
      event.preventDefault();
      close.closest("dialog").close();
    }
    if (event.target === dialog) dialog.close();
  });

  /* Bulk selection ------------------------------------------------------------------------ */

  function countPicked(form) {
    const count = $$(".pick :checked", form).length;
    const label = $("[data-picked]", form);
    if (label) label.textContent = count === 1 ? "1 selected" : `${count} selected`;
  }
  addEventListener("change", (event) => {
    const form = event.target.closest("form[data-bulk]");
    if (form && event.target.matches(".pick input")) countPicked(form);
  });
  addEventListener("click", (event) => {
    const button = event.target.closest("[data-pick]");
    if (!button) return;
    const form = button.closest("form");
    $$(".pick input", form).forEach((box) => (box.checked = button.dataset.pick === "all"));
    countPicked(form);
    if (button.dataset.pick === "none") $(".pick input", form)?.focus();
  });

  /* Forms: once is enough, and nothing typed is lost -------------------------------------- */

  const draftKey = (form) => `draft:${document.body.dataset.person}:${form.getAttribute("action")}`;

  function keepDraft(form) {
    if (!form?.matches("[data-keep]")) return;
    const kept = {};
    // The hidden ones say what the text was made from: without them what somebody else saved
    // meanwhile would be written over.
    const fields = "textarea, input[type=text], input[type=hidden], input:not([type]), select";
    for (const field of $$(fields, form)) {
      if (field.name && field.name !== "csrfmiddlewaretoken") kept[field.name] = field.value;
    }
    try {
      sessionStorage.setItem(draftKey(form), JSON.stringify(kept));
    } catch {
      // Full or refused: the text still stands in the form.
    }
  }

  function restoreDrafts() {
    for (const form of $$("form[data-keep]")) {
      const kept = sessionStorage.getItem(draftKey(form));
      if (!kept) continue;
      sessionStorage.removeItem(draftKey(form));
      for (const [name, value] of Object.entries(JSON.parse(kept))) {
        const field = form.elements.namedItem(name);
        if (field && "value" in field) field.value = value;
      }
      toast("Your text from before you signed in is back. It is not saved yet.", "warning");
    }
    if (document.body.dataset.person === "") return;
    // Text of somebody who was signed in here before is nobody's business.
    for (const key of Object.keys(sessionStorage)) {
      if (key.startsWith("draft:") && !key.startsWith(`draft:${document.body.dataset.person}:`)) {
        sessionStorage.removeItem(key);
      }
    }
  }

  function lock(form, on) {
    for (const button of $$("button:not([type=button])", form)) {
      button.setAttribute("aria-disabled", String(on));
      if (!on) button.removeAttribute("aria-disabled");
    }
    form.toggleAttribute("data-sent", on);
  }
  addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.hasAttribute("data-sent")) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    setTimeout(() => lock(form, true), 0);
    if (!form.hasAttribute("hx-post")) setTimeout(() => lock(form, false), 8000);
  }, true);
  addEventListener("pageshow", () => $$("form[data-sent]").forEach((form) => lock(form, false)));

  /* htmx: failures, focus, tokens --------------------------------------------------------- */

  const freshToken = (token) => {
    $$("input[name=csrfmiddlewaretoken]").forEach((field) => (field.value = token));
    document.body.dataset.csrf = token;
  };
  const formOf = (element) => element?.closest?.("form");
  const SAFE = "Nothing was saved; what you typed is still here.";

  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.verb !== "get") event.detail.headers["X-CSRFToken"] = document.body.dataset.csrf;
  });

  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const { xhr, requestConfig } = event.detail;
    const token = xhr.getResponseHeader("X-CSRF-Token");
    if (xhr.status !== 403 || !token || requestConfig.elt.dataset.retried) return;
    // Signed in again in another tab: the form's token is old, the person is the same.
    event.preventDefault();
    freshToken(token);
    const form = formOf(requestConfig.elt);
    if (!form) return;
    lock(form, false);
    form.dataset.retried = "yes";
    setTimeout(() => form.requestSubmit(), 0);
  });

  document.addEventListener("htmx:responseError", (event) => {
    const { xhr, requestConfig } = event.detail;
    const form = requestConfig.verb === "get" ? null : formOf(requestConfig.elt);
    if (xhr.status === 401) {
      if (form) keepDraft(form);
      const back = location.pathname + location.search;
      location.assign(`${document.body.dataset.login}?next=${encodeURIComponent(back)}`);
      return;
    }
    fail(form, `${messageOf(xhr)}${form ? " " + SAFE : ""}`);
  });
  function messageOf(xhr) {
    const page = new DOMParser().parseFromString(xhr.responseText || "", "text/html");
    const said = $("[data-failure]", page)?.textContent.trim();
    const id = xhr.getResponseHeader("X-Request-ID");
    if (xhr.status === 429) return said || "Too many requests just now. Wait a moment and try again.";
    if (xhr.status >= 500) return `The server failed (request ${id || "without id"}).`;
    return said || `The server answered ${xhr.status}.`;
  }
  function fail(form, text) {
    if (form) lock(form, false);
    toast(text);
    $$("[aria-busy=true]").forEach((part) => part.removeAttribute("aria-busy"));
  }
  const offline = (event) => {
    const { requestConfig } = event.detail;
    const form = requestConfig.verb === "get" ? null : formOf(requestConfig.elt);
    fail(form, `The server does not answer. ${form ? SAFE : "Check the connection and try again."}`);
  };
  document.addEventListener("htmx:sendError", offline);
  document.addEventListener("htmx:timeout", offline);

  let focusBefore = null;
  let menusBefore = [];
  document.addEventListener("htmx:beforeRequest", (event) => {
    event.detail.target?.setAttribute?.("aria-busy", "true");
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const active = document.activeElement;
    focusBefore = event.detail.target.contains(active) ? active : null;
    menusBefore = $$("details[open][id]", event.detail.target).map((menu) => menu.id);
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    menusBefore.forEach((id) => $("#" + CSS.escape(id)) && ($("#" + CSS.escape(id)).open = true));
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    const target = event.detail.target;
    target?.removeAttribute?.("aria-busy");
    announce($("[data-announce]", target)?.dataset.announce);
    restoreFocus(event);
    prepare();
  });

  // Focus stays on what has the same id, else goes on purpose: to the error, the new rows, the list.
  function restoreFocus(event) {
    const before = focusBefore;
    focusBefore = null;
    const problem = $("[data-focus]", event.detail.target.isConnected ? event.detail.target : document);
    if (problem) return problem.focus();
    if (!before || before.isConnected) return;
    const same = before.id && document.getElementById(before.id);
    const place = same || $("[data-first-new]") || $("#results-title") || $("main");
    if (document.activeElement === document.body || same) place.focus({ preventScroll: true });
  }

  // A next link that was loaded gives way to its rows; the first of them takes the focus.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const link = event.detail.requestConfig?.elt;
    if (link?.matches?.("[data-next]")) {
      $$("[data-first-new]").forEach((row) => row.removeAttribute("data-first-new"));
    }
  });

  function prepare() {
    showTheme();
    $$("form[data-bulk]").forEach(countPicked);
  }
  prepare();
  restoreDrafts();
})();
