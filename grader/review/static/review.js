// Keys for pages that work without them: every key presses a button, follows a link or fills a field of the page.
"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const bench = document.querySelector(".bench");
  const form = document.querySelector("[data-save]");
  const fields = all(".criterion input");
  const phrases = document.querySelector(".phrases");
  let active = -1;
  let picking = false;

  const value = (field) => Number(field.value.replace(",", "."));
  const right = (field) => field.value.trim() !== "" && value(field) >= 0 && value(field) <= Number(field.dataset.most);
  const shorten = (number) => String(Math.round(number * 1e6) / 1e6);

  function mark(place) {
    active = Math.max(0, Math.min(place, fields.length - 1));
    fields.forEach((field, index) => field.closest(".criterion").classList.toggle("active", index === active));
  }
  function update() {
    const sum = document.getElementById("sum");
    fields.forEach((field) => field.classList.toggle("wrong", field.value.trim() !== "" && !right(field)));
    if (sum) sum.textContent = fields.every(right) ? shorten(fields.reduce((total, field) => total + value(field), 0)) : "…";
  }
  function fill(values) {
    fields.forEach((field, index) => { field.value = values[index] ?? field.value; });
    update();
  }
  function give(digit) {
    const field = fields[active];
    if (!field) return;
    const most = Number(field.dataset.most);
    const longer = field.dataset.typed && Number(field.dataset.typed + digit) <= most ? field.dataset.typed + digit : "";
    if (longer === "" && Number(digit) > most) { field.value = digit; update(); return; }
    field.value = longer || digit;
    field.dataset.typed = most >= 10 ? field.value : "";
    update();
    // with ten points or more a second digit may follow: the line stays
    if (most < 10 || Number(field.value + "0") > most) mark(active + 1);
  }
  function half() {
    const place = fields[active] && fields[active].value === "" ? active - 1 : active;
    const field = fields[Math.max(0, place)];
    if (!field) return;
    const more = value(field) + 0.5;
    if (more <= Number(field.dataset.most)) field.value = shorten(more);
    update();
  }
  function pick(number) {
    const chosen = all("[data-phrase]")[number - 1];
    const comment = document.getElementById("comment");
    if (chosen && comment) {
      comment.value = comment.value.trim() ? `${comment.value.trim()}\n${chosen.textContent}` : chosen.textContent;
    }
    setPicking(false);
  }
  function setPicking(now) {
    picking = now && phrases !== null;
    if (phrases) phrases.classList.toggle("picking", picking);
  }
  function submit(button) {
    if (form.dataset.sent) return;
    form.requestSubmit(button);
  }
  const follow = (path) => { if (path) location.assign(path); };

  const keys = {
    n: () => follow(bench && bench.dataset.following),
    p: () => follow(bench && bench.dataset.before),
    c: () => { const field = document.getElementById("comment"); if (field) field.focus(); },
    r: () => setPicking(!picking),
    m: () => { const model = document.querySelector(".model"); if (model) model.open = !model.open; },
    f: () => fill(fields.map((field) => field.dataset.most)),
    x: () => fill(fields.map(() => "0")),
    ".": half,
    "?": () => { const help = document.querySelector(".keys"); if (help) help.open = !help.open; },
    ArrowDown: () => mark(active + 1),
    ArrowUp: () => mark(active - 1),
    Enter: () => { if (form) submit(form.querySelector("[name=save]")); },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "Enter" && form) { event.preventDefault(); submit(form.querySelector("[name=save]")); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target;
    if (event.key === "Escape") { target.blur(); setPicking(false); return; }
    if (target.matches("textarea, select, input:not([type=checkbox], [type=radio])")) {
      if (event.key === "Enter" && target.closest(".criterion") && form) { event.preventDefault(); submit(form.querySelector("[name=save]")); }
      return;
    }
    if (event.key === "Enter" && target.matches("a, button, summary, input")) return;
    if (/^[0-9]$/.test(event.key)) {
      if (picking) pick(Number(event.key));
      else give(event.key);
      if (fields.length) event.preventDefault();
      return;
    }
    const button = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (button) { event.preventDefault(); if (event.repeat) return; button.click(); return; }
    if (Object.hasOwn(keys, event.key)) { if (event.repeat && event.key.length > 1 && event.key === "Enter") return; event.preventDefault(); keys[event.key](); }
  });
  document.addEventListener("submit", (event) => {
    // one press, one change: a second one before the next page comes is dropped
    if (event.target.dataset.sent) { event.preventDefault(); return; }
    event.target.dataset.sent = "1";
  });
  window.addEventListener("pageshow", () => all("form").forEach((each) => delete each.dataset.sent));
  document.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-phrase]");
    if (chosen) pick(Number(chosen.dataset.phrase));
  });
  fields.forEach((field, index) => {
    field.addEventListener("focus", () => mark(index));
    field.addEventListener("input", update);
  });
  if (fields.length) {
    const empty = fields.findIndex((field) => field.value === "");
    mark(empty < 0 ? 0 : empty);
    update();
  }
})();
