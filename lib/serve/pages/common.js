// What all pages share: calls of the API, elements from data, completion, the choice of the run. Names may contain
// anything; they only ever become text, never markup.

export const address = new URLSearchParams(location.search);

// Returns the element. Attributes with a value of null or false are left out; children are elements or texts.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

export function runName() { return address.get("run") ?? ""; }

export function withRun(parameters) {
  const all = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== "" && value !== null && value !== undefined) all.append(key, value);
  }
  if (runName() !== "" && !all.has("run")) all.append("run", runName());
  return all;
}

async function read(response) {
  const data = await response.json();
  if (!response.ok) throw new Error(data.error?.message ?? `HTTP ${response.status}`);
  const timing = /dur=([0-9.]+)/.exec(response.headers.get("Server-Timing") ?? "");
  return { data, status: response.status, milliseconds: timing ? Number(timing[1]) : null };
}

// Asks the API; an error has the message of the server.
export async function ask(path, parameters = {}, options = {}) {
  return read(await fetch(`/api/v1/${path}?${withRun(parameters)}`, options));
}

export async function post(path, body) {
  return read(await fetch(`/api/v1/${path}?${withRun({})}`,
    { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));
}

export function linkTo(page, parameters, ...children) {
  return element("a", { href: `${page}?${withRun(parameters)}` }, ...children);
}

// A name with its label, as a link to the node's page.
export function nodeLink(entry, name = entry.node) {
  const link = linkTo("/node", { name }, entry.label ?? name);
  return entry.label ? element("span", {}, link, " ", element("span", { class: "label" }, name)) : link;
}

export function show(id, ...children) { byId(id).replaceChildren(...children); }

export function showError(id, error) {
  show(id, element("span", { class: "error" }, error.message));
  document.documentElement.dataset.error = error.message;
}

export const whole = (number) => Number(number).toLocaleString("en-US");
export const plural = (number, noun) => `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;

export function timeText(milliseconds) {
  if (milliseconds === null) return "";
  return milliseconds < 10 ? `${milliseconds.toFixed(2)} ms`
    : milliseconds < 1000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export function sizeText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit + 1 < units.length) { bytes /= 1024; ++unit; }
  return `${bytes.toPrecision(3)} ${units[unit]}`;
}

// Answers as a table: rank, name, score, and what else is to be said. Scores have a bar if they are cosines.
export function answerTable(rows, scoreName, extra = () => null) {
  const cosine = scoreName === "cosine";
  return element("table", { class: "ranked" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "#"), element("th", { scope: "col" }, "name"),
      element("th", { scope: "col", class: "score" }, scoreName))),
    element("tbody", {}, rows.map((row, i) => element("tr", {},
      element("td", {}, String(i + 1)),
      element("td", {}, nodeLink(row), " ", extra(row)),
      element("td", { class: "score" },
        cosine ? element("meter", { min: 0, max: 1, value: Math.max(0, row.score), "aria-hidden": "true" }) : null,
        row.score.toFixed(4))))));
}

// Completion of an input inside .combo, as an ARIA combobox with a list. `kind` is any, node or relation; `chosen` is
// called with the text.
export function complete(input, kind, chosen = () => {}) {
  const id = `options-${input.name || input.id}`;
  const list = element("ul", { class: "options", id, role: "listbox", hidden: true, "aria-label": "Suggestions" });
  input.after(list);
  for (const [key, value] of Object.entries(
    { role: "combobox", "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list" })) {
    input.setAttribute(key, value);
  }
  let active = -1;
  let asked = 0;
  let timer = 0;
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    active = -1;
  };
  const choose = (text) => {
    ++asked;
    clearTimeout(timer);
    input.value = text;
    close();
    chosen(text);
  };
  const mark = (next) => {
    const items = [...list.children];
    if (items.length === 0) return;
    active = (next + items.length) % items.length;
    items.forEach((item, i) => item.setAttribute("aria-selected", String(i === active)));
    items[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", items[active].id);
  };
  const look = async () => {
    const mine = ++asked;
    if (input.value.trim() === "") return close();
    try {
      const { data } = await ask("complete", { text: input.value, kind, count: 12 });
      if (mine !== asked || document.activeElement !== input) return;
      list.replaceChildren(...data.completions.map((entry, i) => {
        const item = element("li", { role: "option", id: `${id}-${i}`, "aria-selected": "false" }, entry.text,
          entry.kind === "relation" && kind === "any" ? element("small", {}, "relation") : null);
        item.addEventListener("mousedown", (event) => { event.preventDefault(); choose(entry.text); });
        return item;
      }));
      active = -1;
      list.hidden = data.completions.length === 0;
      input.setAttribute("aria-expanded", String(!list.hidden));
    } catch { close(); }
  };
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 80); });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) look(); else mark(active < 0 && event.key === "ArrowUp" ? -1 : active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Escape") {
      close();
    } else if (event.key === "Enter") {
      ++asked;
      clearTimeout(timer);
      if (active >= 0 && !list.hidden) {
        event.preventDefault();
        choose(list.children[active].firstChild.textContent);
      } else { close(); }
    }
  });
}

// The runs, the choice among them at the top of the page, and the one that the page is about.
export async function start() {
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === location.pathname) link.setAttribute("aria-current", "page");
    if (runName() !== "") link.href = `${link.getAttribute("href")}?${withRun({})}`;
  }
  const { data } = await read(await fetch("/api/v1/runs"));
  const select = byId("run");
  for (const run of data.runs) select.append(element("option", { value: run.run }, run.run));
  const current = data.runs.find((run) => run.run === runName()) ?? data.runs[0];
  select.value = current.run;
  select.parentElement.hidden = data.runs.length < 2;
  select.addEventListener("change", () => {
    address.set("run", select.value);
    location.search = address.toString();
  });
  return { runs: data.runs, run: current };
}

// Puts HTML of the server, figures of the report, into an element. Scripts in it would not run.
export function showMarkup(id, html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  byId(id).replaceChildren(...parsed.body.childNodes);
}

export function done(what) { document.documentElement.dataset.page = what; }
