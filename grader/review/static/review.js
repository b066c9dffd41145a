// Keys for pages that work without them: every key presses a button, follows a link or fills a field of the page.
"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const bench = document.querySelector(".bench");
  const form = document.querySelector("[data-save]");
  const fields = all(".criterion input");
  const phrases = document.querySelector(".phrases");
  let active = -1;
  let given = -1; // the line whose digit was pressed last, until another one is marked by hand
  let picking = false;

  const value = (field) => Number(field.value.replace(",", "."));
  const right = (field) => field.value.trim() !== "" && value(field) >= 0 && value(field) <= Number(field.dataset.most);
  const shorten = (number) => String(Math.round(number * 1e6) / 1e6);

  function mark(place) {
    active = Math.max(0, Math.min(place, fields.length - 1));
    given = -1;
    fields.forEach((field, index) => field.closest(".criterion").classList.toggle("active", index === active));
  }
  function update() {
    const sum = document.getElementById("sum");
    fields.forEach((field) => {
      const wrong = field.value.trim() !== "" && !right(field);
      field.classList.toggle("wrong", wrong);
      field.setAttribute("aria-invalid", String(wrong));
      const limit = document.getElementById(field.id.replace("part", "limit"));
      if (limit) limit.hidden = !wrong;
    });
    if (sum) sum.textContent = fields.every(right) ? shorten(fields.reduce((total, field) => total + value(field), 0)) : "…";
    remember();
  }

  // What is typed and not saved stays in this browser, by gradebook, person and page, until it is saved or dropped.
  const { book, person } = document.body.dataset;
  const shelf = `grader-review ${book} ${person} `;
  const typed = form ? [...form.elements].filter((each) => each.name && !["hidden", "submit"].includes(each.type)) : [];
  const snapshot = () => JSON.stringify(typed.map((each) => (each.type === "checkbox" ? each.checked : each.value)));
  const loaded = snapshot();
  // what a refused form shows is not in the gradebook
  const rendered = form && form.dataset.unsaved ? null : loaded;
  const after = () => form.querySelector("[name=after]").value;
  let remembering = false;
  const stored = (action) => { try { return action(localStorage); } catch { return null; } };

  function remember() {
    if (!form || !remembering) return;
    const now = snapshot();
    const draft = { values: now, title: document.querySelector("h1").textContent, label: form.dataset.label, after: after(), at: Date.now() };
    stored((store) => (now === rendered ? store.removeItem(shelf + location.pathname) : store.setItem(shelf + location.pathname, JSON.stringify(draft))));
  }
  function show(values) {
    JSON.parse(values).forEach((each, index) => {
      if (typed[index].type === "checkbox") typed[index].checked = each;
      else typed[index].value = each;
    });
  }
  function notice(words, ...rest) {
    const line = document.createElement("p");
    line.className = "doubt unsaved";
    line.setAttribute("role", "status");
    line.append(words, ...rest);
    const place = document.querySelector(".judging") || document.getElementById("main");
    place.prepend(line);
    return line;
  }
  function recall() {
    if (document.body.dataset.saved) stored((store) => store.removeItem(shelf + document.body.dataset.saved));
    const drafts = stored((store) => Object.keys(store).filter((key) => key.startsWith(shelf)).map((key) => [key.slice(shelf.length), JSON.parse(store.getItem(key))])) || [];
    const others = [];
    drafts.forEach(([path, draft]) => {
      if (Date.now() - draft.at > 30 * 86_400_000) stored((store) => store.removeItem(shelf + path));
      else if (path !== location.pathname || !form) others.push([path, draft]);
      else if (draft.values !== loaded && JSON.parse(draft.values).length === typed.length) {
        show(draft.values);
        const button = document.createElement("button");
        button.type = "button";
        button.className = "quiet";
        button.textContent = "Drop it";
        const since = draft.after === after() ? "" : "Somebody has given points here since. ";
        const line = notice(`Not saved: this is what you typed here before. ${since}`, button);
        button.addEventListener("click", () => { show(loaded); line.remove(); update(); });
      } else if (rendered !== null) stored((store) => store.removeItem(shelf + path));
    });
    if (others.length) {
      const links = others.sort((first, second) => second[1].at - first[1].at).slice(0, 5).map(([path, draft]) => {
        const link = document.createElement("a");
        link.href = path;
        link.textContent = `${draft.title}, ${draft.label}`;
        return link;
      });
      notice(others.length === 1 ? "Typed and not saved: " : `${others.length} answers are typed and not saved: `, ...links.flatMap((link, index) => (index ? [" · ", link] : [link])));
    }
    remembering = true;
    remember();
  }

  // A page goes away only if the server answers: otherwise a line says what to do, and everything stays as it is.
  let line = null;
  function say(words) {
    if (!line) {
      line = document.createElement("p");
      line.className = "flash offline";
      line.setAttribute("role", "alert");
      document.body.append(line);
    }
    line.textContent = words;
    return false;
  }
  async function alive() {
    const again = `open the link that it prints in another tab, then go on here. What you typed stays here.`;
    let answer;
    try {
      answer = await fetch("/alive", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    } catch {
      return say(`The server does not answer, and nothing was sent. Start grader review again where it ran (--port ${location.port}), ${again}`);
    }
    if (!answer.ok) return say(`grader review was started again, and nothing was sent: ${again}`);
    const session = await answer.json();
    if (session.person !== person) return say(`This browser is open as ${session.person} now, and nothing was sent. Open the link of ${person}, then go on here. What you typed stays here.`);
    all("input[name=csrf]").forEach((field) => { field.value = session.csrf; });
    return true;
  }
  function fill(values) {
    fields.forEach((field, index) => { field.value = values[index] ?? field.value; });
    given = -1;
    update();
  }
  function give(digit) {
    const place = active;
    const field = fields[place];
    if (!field) return;
    const most = Number(field.dataset.most);
    const longer = field.dataset.typed && Number(field.dataset.typed + digit) <= most ? field.dataset.typed + digit : "";
    if (longer === "" && Number(digit) > most) { field.value = digit; given = place; update(); return; }
    field.value = longer || digit;
    field.dataset.typed = most >= 10 ? field.value : "";
    update();
    // with ten points or more a second digit may follow: the line stays
    if (most < 10 || Number(field.value + "0") > most) mark(active + 1);
    given = place;
  }
  function half() {
    const before = fields[active] && fields[active].value === "" ? active - 1 : active;
    const field = fields[Math.max(0, given < 0 ? before : given)];
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
      remember();
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
  const follow = async (path) => { if (path && (await alive())) location.assign(path); };

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
    const { target, submitter } = event;
    if (target.dataset.alive) { delete target.dataset.alive; return; }
    event.preventDefault();
    if (target.dataset.sent) return;
    target.dataset.sent = "1";
    alive().then((answers) => {
      if (!answers) { delete target.dataset.sent; return; }
      target.dataset.alive = "1";
      target.requestSubmit(submitter);
    });
  });
  window.addEventListener("pageshow", () => all("form").forEach((each) => delete each.dataset.sent));
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (link && link.origin === location.origin && !event.defaultPrevented && event.button === 0
        && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)) {
      if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
      event.preventDefault();
      follow(link.href);
      return;
    }
    const chosen = event.target.closest("[data-phrase]");
    if (chosen) pick(Number(chosen.dataset.phrase));
  });
  all(".keys").forEach((help) => help.addEventListener("toggle", () => {
    if (help.open) help.scrollIntoView({ block: "nearest" });
  }));
  fields.forEach((field, index) => {
    field.addEventListener("focus", () => mark(index));
    field.addEventListener("input", update);
  });
  if (form) ["input", "change"].forEach((name) => form.addEventListener(name, remember));
  recall();
  if (fields.length) {
    const empty = fields.findIndex((field) => field.value === "");
    mark(empty < 0 ? 0 : empty);
    update();
  }
})();
