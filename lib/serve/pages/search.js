import { address, ask, byId, complete, done, element, linkTo, plural, show, showError, start, whole, withRun } from "./common.js";

function facts(run) {
  return `${run.run}: ${plural(run.nodes, "node")}, ${plural(run.relations, "relation")}, ${plural(run.train_edges, "training edge")}; ` +
    `${run.model}, ${run.dim} dimensions, ${run.epochs_done} of ${plural(run.epochs, "epoch")} done`;
}

function linkOf(kind, text) {
  return kind === "relation" ? linkTo("/ask", { relation: text }, text, " ", element("span", { class: "label" }, "relation"))
    : linkTo("/node", { name: text }, text);
}

function listOf(title, entries, textOf) {
  if (entries.length === 0) return null;
  return element("div", { class: "group" }, element("h3", {}, title),
    element("ul", { class: "chips" }, entries.map((entry) => element("li", {}, linkOf(entry.kind, textOf(entry))))));
}

async function search(text) {
  if (text.trim() === "") return;
  show("status", "Searching …");
  history.replaceState(null, "", `?${withRun({ text })}`);
  byId("start").hidden = true;
  try {
    const { data } = await ask("search", { text, count: 50 });
    const found = [
      listOf("Exactly this", data.exact, (entry) => entry.name),
      listOf(`Begin with it${data.matches > data.completions.length ? `: the first ${data.completions.length} of ${whole(data.matches)}` : ""}`,
        data.completions, (entry) => entry.text),
      listOf("Similar spellings", data.near, (entry) => entry.text)].filter((part) => part !== null);
    byId("results").replaceChildren(...found);
    show("status", found.length === 0 ? `Nothing is named “${text}” or alike.` :
      data.exact.length === 0 ? `Nothing is named exactly “${text}”.` : "");
    if (data.exact.length === 1 && data.exact[0].kind === "node" && address.get("text") !== text) {
      location.assign(`/node?${withRun({ name: data.exact[0].name })}`);
    }
  } catch (error) { showError("status", error); }
  done("searched");
}

try {
  const { run } = await start();
  show("facts", facts(run));
  complete(byId("text"), "any", (text) => search(text));
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    search(byId("text").value);
  });
  const { data } = await ask("relations");
  show("relations", ...data.relations.slice(0, 40).map((relation) => element("li", {},
    linkTo("/ask", { relation: relation.name }, relation.label ?? relation.name, " ",
      element("span", { class: "label" }, whole(relation.train_edges))))));
  done("ready");
  if (address.has("text")) {
    byId("text").value = address.get("text");
    await search(address.get("text"));
  }
} catch (error) { showError("status", error); }
