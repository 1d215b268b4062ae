import { address, answerTable, ask, byId, complete, done, element, plural, show, showError, start, timeText } from "./common.js";

const asked = (text) => text.trim() === "" || text.trim() === "?";

function marks(row) {
  return [row.known ? element("span", { class: "mark" }, "known") : null,
    row.plausible === false ? element("span", { class: "mark" }, "other type") : null].filter((mark) => mark !== null);
}

async function showAnswers(question, title) {
  show("answers");
  show("status", "Searching …");
  try {
    const { data, milliseconds } = await question();
    const rows = data.predictions ?? data.answers;
    show("status", `${plural(rows.length, "answer")} in ${timeText(milliseconds)}.`);
    show("answers", element("h2", {}, title(data)),
      data.known_answers === undefined ? null : element("p", { class: "note" },
        `${plural(data.known_answers, "answer")} ${data.known_answers === 1 ? "is" : "are"} known from the graph${data.known === "mark" ? " and marked" : ", and left out"}. Scores compare answers to this question only.`),
      answerTable(rows, data.metric ?? "score", marks));
  } catch (error) { showError("status", error); }
  done("answered");
}

function askLink() {
  const { head, relation, tail, known, typed, k } = byId("link").elements;
  if (asked(head.value) === asked(tail.value)) {
    show("status", asked(head.value) ? "Fill in From or To: the other one is asked for." : "Leave From or To empty: that one is asked for.");
    (asked(head.value) ? head : tail).focus();
    return;
  }
  if (asked(relation.value)) {
    show("status", "Fill in the relation.");
    relation.focus();
    return;
  }
  const named = (input) => (asked(input.value) ? null : input.value);
  const parameters = { head: named(head), relation: relation.value, tail: named(tail), k: k.value,
    known: known.checked ? "mark" : "hide", typed: typed.checked ? "true" : "false" };
  const place = new URLSearchParams(address);
  for (const key of ["head", "relation", "tail"]) {
    if (parameters[key] === null) place.delete(key); else place.set(key, parameters[key]);
  }
  history.replaceState(null, "", `?${place}`);
  showAnswers(() => ask("predict", parameters), (data) =>
    `${data.head_label ?? data.head ?? "?"} — ${data.relation_label ?? data.relation} → ${data.tail_label ?? data.tail ?? "?"}`);
}

function askAnalogy() {
  const { a, b, c } = byId("analogy").elements;
  const missing = [a, b, c].find((input) => input.value.trim() === "");
  if (missing) {
    show("status", "Fill in all three names.");
    missing.focus();
    return;
  }
  const parameters = { a: a.value, b: b.value, c: c.value };
  history.replaceState(null, "", `?${new URLSearchParams({ ...parameters, ...(address.has("run") ? { run: address.get("run") } : {}) })}`);
  showAnswers(() => ask("analogy", parameters), (data) => `${data.a} is to ${data.b} as ${data.c} is to …`);
}

try {
  await start();
  for (const form of [byId("link"), byId("analogy")]) {
    for (const input of form.querySelectorAll("input:not([type])")) {
      if (address.has(input.name)) input.value = address.get(input.name);
      complete(input, input.name === "relation" ? "relation" : "node");
    }
  }
  byId("link").addEventListener("submit", (event) => { event.preventDefault(); askLink(); });
  byId("analogy").addEventListener("submit", (event) => { event.preventDefault(); askAnalogy(); });
  done("ready");
  if (address.has("relation") && address.has("head") !== address.has("tail")) askLink();
  else if (["a", "b", "c"].every((name) => address.has(name))) askAnalogy();
  else if (address.has("relation")) byId("head").focus();
} catch (error) { showError("status", error); }
