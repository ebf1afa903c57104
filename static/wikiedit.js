// The wiki's editor: drafts, tools, keys, uploads, conflicts. The form works without it.
(() => {
  "use strict";
  const $ = (selector, root = document) => root.querySelector(selector);

  /* Keys -------------------------------------------------------------------------------- */

  addEventListener("keydown", (event) => (event.ctrlKey || event.metaKey) && shortcut(event));

  function shortcut(event) {
    const form = $("form[data-editor]");
    if (!form || event.altKey) return;
    if (event.key.toLowerCase() === "s") {
      event.preventDefault();
      if (!form.hasAttribute("data-sent")) form.requestSubmit($("button.primary", form));
    }
    if (event.target.id !== "body" || event.shiftKey) return;
    const tool = { b: "[data-wrap='**']", i: "[data-wrap='*']", k: "[data-link]" }[event.key.toLowerCase()];
    const button = tool && $(tool, form);
    if (!button) return;
    event.preventDefault();
    button.click();
  }

  /* Drafts: kept on this computer as one types, gone when the server has the text ----------- */

  const person = document.body.dataset.person;
  const MONTH = 30 * 86400 * 1000;
  const keyOf = (form) => `wiki-draft:${person}:${form.dataset.editor}`;
  const FIELDS = ["title", "body", "tags", "comment"];
  const textOf = (form) => Object.fromEntries(FIELDS.map((name) => [name, form.elements.namedItem(name)?.value ?? ""]));
  const same = (a, b) => FIELDS.every((name) => name === "comment" || (a[name] ?? "") === (b[name] ?? ""));
  let opened = null;
  let sending = false;
  // Said until a preview comes through again: a draft that is kept does not talk over it.
  let signedOutWords = "";

  function readDraft(form) {
    try {
      return JSON.parse(localStorage.getItem(keyOf(form)));
    } catch {
      return null;
    }
  }
  function dropDraft(form) {
    try {
      localStorage.removeItem(keyOf(form));
    } catch {
      // Refused: there is none.
    }
  }
  function keepDraft(form) {
    const state = $("#draft-state");
    if (same(textOf(form), opened)) {
      dropDraft(form);
      if (state) state.textContent = "";
      return;
    }
    try {
      const draft = { ...textOf(form), base: form.elements.namedItem("base").value, at: Date.now() };
      localStorage.setItem(keyOf(form), JSON.stringify(draft));
      const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
      if (state) state.textContent = signedOutWords || `Draft kept on this computer, ${time}`;
    } catch {
      if (state) state.textContent = "Not saved yet; this browser keeps no draft";
    }
  }
  function forgetOldDrafts() {
    try {
      for (const key of Object.keys(localStorage)) {
        if (!key.startsWith("wiki-draft:")) continue;
        if (Date.now() - (JSON.parse(localStorage.getItem(key))?.at ?? 0) > MONTH) localStorage.removeItem(key);
      }
    } catch {
      // Nothing can be kept here at all.
    }
  }

  function offerDraft(form) {
    const draft = readDraft(form);
    const place = $("#draft-offer", form);
    if (!draft || !place || same(draft, textOf(form))) return;
    $("[data-when]", place).textContent = new Date(draft.at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    place.hidden = false;
  }
  addEventListener("click", (event) => {
    const button = event.target.closest("[data-draft]");
    const form = $("form[data-editor]");
    if (!button || !form) return;
    if (button.dataset.draft === "take") {
      const draft = readDraft(form) ?? {};
      for (const name of FIELDS) if (name in draft) form.elements.namedItem(name).value = draft[name];
      // A draft of an older revision is saved against that one: what came since is merged, not lost.
      if (draft.base) form.elements.namedItem("base").value = draft.base;
      refresh();
    } else dropDraft(form);
    $("#draft-offer").hidden = true;
    $("#body").focus();
  });
  addEventListener("click", (event) => {
    const form = $("form[data-editor]");
    if (form && event.target.closest("[data-drop-draft]")) {
      dropDraft(form);
      sending = true;
    }
  });

  let waiting = 0;
  addEventListener("input", (event) => {
    const form = event.target.closest("form[data-editor]");
    if (!form || !event.target.name) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => keepDraft(form), 500);
  });
  const dirty = () => {
    const form = $("form[data-editor]");
    return form && opened && !sending && !same(textOf(form), opened);
  };
  addEventListener("beforeunload", (event) => {
    if (!dirty()) return;
    keepDraft($("form[data-editor]"));
    event.preventDefault();
  });
  addEventListener("click", (event) => {
    const form = $("form[data-editor]");
    const leave = event.target.closest("[data-leave]");
    if (leave && form && dirty()) keepDraft(form);
  });

  // Only an answer of the server that sends us on says that the text is saved.
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const { xhr, requestConfig } = event.detail;
    const form = requestConfig.elt;
    if (form.id === "body" && xhr.status === 401) return signedOut(event);
    if (!form.matches?.("form[data-editor]")) return;
    if (xhr.status === 204 && xhr.getResponseHeader("HX-Redirect")) {
      clearTimeout(waiting);
      dropDraft(form);
      sending = true;
    } else {
      keepDraft(form);
      // Signing in again leads back here; the text waits in two places.
      if (xhr.status === 401) sending = true;
    }
  });
  // A preview that is refused interrupts nobody: the save leads to the login and back.
  function signedOut(event) {
    event.preventDefault();
    signedOutWords = "You are signed out. Your text is kept here; Save asks you to sign in.";
    keepDraft($("form[data-editor]"));
    const state = $("#draft-state");
    if (state) state.textContent = signedOutWords;
    $("#preview").removeAttribute("aria-busy");
  }
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target.id === "form") start();
    if (event.detail.target.id === "preview") {
      signedOutWords = "";
      align();
    }
  });

  /* The editor ----------------------------------------------------------------------------- */

  function start() {
    const form = $("form[data-editor]");
    const area = form && $("#body", form);
    if (!area) return;
    const before = opened;
    opened = form.hasAttribute("data-conflict") || $(".notice.bad", form) ? { ...textOf(form), body: null } : textOf(form);
    if (before === null) offerDraft(form);
    area.addEventListener("scroll", align, { passive: true });
    showPreview(localRead("wiki-preview") !== "off" && innerWidth > 820);
  }
  const localRead = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };

  // Asked for by us: htmx looks for changes since it first saw the field.
  function refresh() {
    const area = $("#body[hx-post]");
    if (area) htmx.ajax("POST", area.getAttribute("hx-post"), { source: area, target: "#preview", swap: "innerHTML" });
  }

  function align() {
    const area = $("#body");
    const show = $("#preview");
    if (!area || !show) return;
    const room = area.scrollHeight - area.clientHeight;
    show.scrollTop = room > 0 ? (area.scrollTop / room) * (show.scrollHeight - show.clientHeight) : 0;
  }

  function showPreview(on) {
    const panes = $(".panes");
    if (!panes) return;
    panes.classList.toggle("alone", !on);
    $("#toggle-preview").setAttribute("aria-pressed", String(on));
  }
  addEventListener("click", (event) => {
    if (!event.target.closest("#toggle-preview")) return;
    const on = $(".panes").classList.contains("alone");
    showPreview(on);
    try {
      localStorage.setItem("wiki-preview", on ? "on" : "off");
    } catch {
      // It then lasts for this page.
    }
  });

  // Insert so that the browser's own undo takes it back.
  function insert(area, text) {
    area.focus();
    if (!document.execCommand(text ? "insertText" : "delete", false, text)) {
      area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }
  function wrap(area, mark, end = mark, filler = "text") {
    const { selectionStart: from, selectionEnd: to, value } = area;
    const picked = value.slice(from, to);
    if (picked.startsWith(mark) && picked.endsWith(end) && picked.length > mark.length + end.length) {
      insert(area, picked.slice(mark.length, -end.length));
      return area.setSelectionRange(from, from + picked.length - mark.length - end.length);
    }
    insert(area, mark + (picked || filler) + end);
    area.setSelectionRange(from + mark.length, from + mark.length + (picked || filler).length);
  }
  function prefix(area, mark) {
    const { value } = area;
    const from = value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    const end = value.indexOf("\n", area.selectionEnd);
    const to = end < 0 ? value.length : end;
    const lines = value.slice(from, to).split("\n");
    const all = lines.every((line) => line.startsWith(mark));
    area.setSelectionRange(from, to);
    insert(area, lines.map((line) => (all ? line.slice(mark.length) : mark + line)).join("\n"));
  }
  addEventListener("click", (event) => {
    const tool = event.target.closest(".tool");
    const area = $("#body");
    if (!tool || !area || tool.matches("label")) return;
    if (tool.dataset.wrap) {
      const lines = tool.dataset.wrap === "`" && area.value.slice(area.selectionStart, area.selectionEnd).includes("\n");
      wrap(area, lines ? "```\n" : tool.dataset.wrap, lines ? "\n```" : tool.dataset.wrap, lines || tool.dataset.wrap !== "`" ? "text" : "code");
    }
    if (tool.dataset.line) prefix(area, tool.dataset.line);
    if ("link" in tool.dataset) wrap(area, "[", "](https://)", "text");
    if ("pagelink" in tool.dataset) wrap(area, "[[", "]]", "page name");
    if ("table" in tool.dataset) insert(area, "\n| name | value |\n|------|-------|\n| one  | 1     |\n");
  });

  // Tab indents; after Escape it leaves, so that nobody is caught in the field.
  let leaving = false;
  addEventListener("keydown", (event) => {
    const area = event.target;
    if (area.id !== "body" || !area.closest("[data-editor]")) return;
    if (event.key === "Escape") {
      leaving = true;
      return;
    }
    if (event.key === "Tab" && !leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      indent(area, event.shiftKey);
    }
    if (event.key === "Enter" && !event.isComposing && !event.shiftKey && !event.ctrlKey) continueList(event, area);
    if (event.key !== "Tab" && event.key !== "Shift") leaving = false;
  });
  addEventListener("focusin", (event) => event.target.id === "body" && (leaving = false));

  function indent(area, back) {
    const { selectionStart: at, selectionEnd: to, value } = area;
    if (at === to && !back) return insert(area, "    ");
    const from = value.lastIndexOf("\n", at - 1) + 1;
    const lines = value.slice(from, to).split("\n");
    area.setSelectionRange(from, to);
    const moved = lines.map((line) => (back ? line.replace(/^( {1,4}|\t)/, "") : "    " + line)).join("\n");
    insert(area, moved);
    area.setSelectionRange(from, from + moved.length);
  }
  function continueList(event, area) {
    const from = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    const line = area.value.slice(from, area.selectionStart);
    const [, space, mark, rest] = line.match(/^(\s*)([-*+] \[[ xX]\] |[-*+] |\d+\. )(.*)$/) ?? [];
    if (!mark || area.selectionStart !== area.selectionEnd) return;
    event.preventDefault();
    if (!rest.trim()) {
      area.setSelectionRange(from, area.selectionStart);
      return insert(area, "");
    }
    const next = mark.replace(/\d+/, (n) => Number(n) + 1).replace(/\[[xX]\]/, "[ ]");
    insert(area, "\n" + space + next);
  }

  /* Conflicts ------------------------------------------------------------------------------- */

  addEventListener("click", (event) => {
    const button = event.target.closest("[data-take]");
    if (!button) return;
    const area = $("#body");
    area.value = $(`#text-${button.dataset.take}`).value;
    area.dispatchEvent(new Event("input", { bubbles: true }));
    area.focus();
  });

  /* Pictures and files: pasted, dropped or picked -------------------------------------------- */

  addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (event.target.id !== "body" || !files.length || event.clipboardData.getData("text/plain")) return;
    event.preventDefault();
    files.forEach(upload);
  });
  addEventListener("dragover", (event) => {
    const desk = event.target.closest?.(".desk");
    if (!desk || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    desk.classList.add("over");
  });
  addEventListener("dragleave", (event) => event.target.closest?.(".desk")?.classList.remove("over"));
  addEventListener("drop", (event) => {
    const desk = event.target.closest?.(".desk");
    if (!desk || !event.dataTransfer.files.length) return;
    event.preventDefault();
    desk.classList.remove("over");
    [...event.dataTransfer.files].forEach(upload);
  });
  addEventListener("change", (event) => {
    if (event.target.id !== "pick-file") return;
    [...event.target.files].forEach(upload);
    event.target.value = "";
  });

  let uploads = 0;
  const plainName = (name) => name.replace(/\.[a-z0-9]+$/i, "").replace(/[[\]()\\]/g, " ").replace(/[_-]+/g, " ").trim();

  function upload(file) {
    const form = $("form[data-editor]");
    const area = $("#body");
    const row = uploadRow(file);
    const mark = `![Uploading ${plainName(file.name) || "file"} ${++uploads} …]()`;
    insert(area, apart(area, file) + mark);
    const data = new FormData();
    data.set("slug", form.dataset.editor);
    data.set("file", file, file.name || "pasted.png");
    const xhr = new XMLHttpRequest();
    xhr.open("POST", form.dataset.files);
    xhr.setRequestHeader("Accept", "application/json");
    xhr.setRequestHeader("X-CSRFToken", document.body.dataset.csrf);
    xhr.upload.addEventListener("progress", (event) => ($("progress", row).value = event.loaded / (event.total || 1)));
    xhr.addEventListener("load", () => uploaded(xhr, file, mark, row));
    xhr.addEventListener("error", () => failed(row, mark, "The server does not answer. Try again when it does."));
    xhr.send(data);
  }
  // A picture stands on its own below what was written; another file goes on in the line.
  function apart(area, file) {
    const before = area.value.slice(0, area.selectionStart);
    if (!before || /\n\n$/.test(before)) return "";
    if (!file.type.startsWith("image/")) return /\s$/.test(before) ? "" : " ";
    return before.endsWith("\n") ? "\n" : "\n\n";
  }
  function uploadRow(file) {
    const row = document.createElement("li");
    row.className = "upload";
    const shape = document.importNode($("#toast-template").content, true);
    const icon = $(".icon", shape);
    $("use", icon).setAttribute("href", $("use", icon).getAttribute("href").replace(/#.*/, "#image"));
    const name = document.createElement("span");
    name.textContent = file.name || "pasted picture";
    const bar = document.createElement("progress");
    bar.max = 1;
    bar.value = 0;
    bar.setAttribute("aria-label", `Uploading ${name.textContent}`);
    row.append(icon, name, bar);
    $("#uploads").append(row);
    return row;
  }
  function swap(old, text) {
    const area = $("#body");
    const at = area.value.indexOf(old);
    if (at < 0) return text && insert(area, text);
    const held = [area.selectionStart, area.selectionEnd].map((n) => (n > at ? n + text.length - old.length : n));
    area.setRangeText(text, at, at + old.length);
    area.setSelectionRange(...held.map((n) => Math.max(n, 0)));
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
  function failed(row, mark, words) {
    swap(mark, "");
    row.classList.add("failed");
    $("progress", row)?.remove();
    row.append(Object.assign(document.createElement("span"), { textContent: words }));
    row.setAttribute("role", "alert");
  }
  function uploaded(xhr, file, mark, row) {
    let told = {};
    try {
      told = JSON.parse(xhr.responseText);
    } catch {
      // Not ours: a proxy's page.
    }
    if (xhr.status !== 201) {
      const signIn = "You are signed out. Save first: your text is kept, and you come back here.";
      return failed(row, mark, told.detail || (xhr.status === 401 ? signIn : `The server answered ${xhr.status}. The file was not kept.`));
    }
    const name = plainName(told.name) || "file";
    const link = (words) => `${told.image ? "!" : ""}[${words}](${told.url})`;
    swap(mark, link(name));
    $("progress", row).remove();
    if (!told.image) return row.append(Object.assign(document.createElement("span"), { textContent: "Uploaded" }));
    describe(row, name, link);
  }
  // What the picture shows, for those who do not see it.
  function describe(row, name, link) {
    const box = document.createElement("input");
    box.type = "text";
    box.className = "alt";
    box.value = name;
    box.maxLength = 300;
    box.setAttribute("aria-label", `What ${name} shows`);
    box.placeholder = "What the picture shows";
    let now = name;
    box.addEventListener("input", () => {
      const words = box.value.replace(/[[\]\n]/g, " ");
      swap(link(now), link(words));
      now = words;
    });
    const done = Object.assign(document.createElement("span"), { textContent: "Uploaded" });
    row.append(box, done);
  }

  forgetOldDrafts();
  // After app.js has put back what was typed before a sign-in.
  const restored = () => {
    const form = $("form[data-editor]");
    if (!form) return;
    start();
    if (form && $("#body").value !== $("#body").defaultValue) {
      opened = { ...textOf(form), body: $("#body").defaultValue };
      $("#draft-offer").hidden = true;
      refresh();
    }
  };
  // htmx wakes up when the page is read; what it is asked before is lost.
  document.addEventListener("DOMContentLoaded", restored);
})();
