import { address, ask, byId, complete, done, element, linkTo, nodeLink, plural, show, showError, showMarkup, sizeText, start, timeText, whole } from "./common.js";

const one = () => byId("one").value;
const other = () => byId("other").value;

// The runs' figures: name, and text of a training.
const kRows = [
  ["model", (run) => `${run.model}, ${run.dim} dimensions`],
  ["epochs done", (run) => `${run.epochs_done} of ${run.epochs}`],
  ["loss, last epoch", (run) => run.epoch_events.at(-1)?.loss.toPrecision(4) ?? "–"],
  ["validation MRR, best", (run) => run.validation_events.length === 0 ? "–" :
    Math.max(...run.validation_events.map((event) => event.mrr)).toFixed(4)],
  ["Hits@10, last validation", (run) => run.validation_events.at(-1)?.["hits@10"].toFixed(4) ?? "–"],
  ["edges/s, last epoch", (run) => run.epoch_events.length === 0 ? "–" : whole(Math.round(run.epoch_events.at(-1).edges_per_second))],
  ["seconds in epochs", (run) => run.epoch_events.reduce((sum, event) => sum + event.seconds, 0).toFixed(1)],
  ["peak memory", (run) => run.epoch_events.length === 0 ? "–" : sizeText(Math.max(...run.epoch_events.map((event) => event.peak_rss_bytes)))]];

async function showMetrics() {
  const [left, right] = await Promise.all([one(), other()].map(async (run) => (await ask("training", { run })).data));
  const options = Object.keys(left.options).filter((key) => left.options[key] !== right.options[key])
    .map((key) => [key, (run) => run.options[key]]);
  show("metrics", element("table", {},
    element("thead", {}, element("tr", {}, element("td", {}), element("th", { scope: "col" }, left.run), element("th", { scope: "col" }, right.run))),
    element("tbody", {}, [...kRows, ...options].map(([title, text]) => element("tr", {},
      element("th", { scope: "row" }, title), element("td", {}, text(left)), element("td", {}, text(right)))))));
  const response = await fetch(`/api/v1/compare/figures?${new URLSearchParams({ run: one(), other: other() })}`);
  if (response.ok) showMarkup("figures", await response.text());
}

function change(row) {
  if (row.other_rank === null) return "only in the first";
  if (row.rank === null) return "only in the other";
  const difference = row.rank - row.other_rank;
  return difference === 0 ? "same rank" : difference > 0 ? `${difference} higher in the other` : `${-difference} lower in the other`;
}

async function showDifferences() {
  const { name, k } = byId("near").elements;
  if (name.value.trim() === "") return;
  show("near-status", "Searching …");
  try {
    const { data, milliseconds } = await ask("compare", { run: one(), other: other(), name: name.value, k: k.value });
    show("near-status", `${plural(data.in_both, "node")} in both lists of ${k.value}. ${timeText(milliseconds)}`);
    show("differences", element("table", { class: "ranked" },
      element("thead", {}, element("tr", {}, ...["", "name", "first", "other", "difference"].map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, data.neighbors.map((row) => element("tr", {}, element("td", {}), element("td", {}, nodeLink(row)),
        element("td", {}, row.rank === null ? "–" : String(row.rank)), element("td", {}, row.other_rank === null ? "–" : String(row.other_rank)),
        element("td", {}, change(row)))))));
    const place = new URLSearchParams({ one: one(), other: other(), name: name.value });
    history.replaceState(null, "", `?${place}`);
  } catch (error) { showError("near-status", error); }
  done("compared");
}

try {
  const { runs } = await start();
  byId("run").parentElement.hidden = true;
  for (const id of ["one", "other"]) byId(id).append(...runs.map((run) => element("option", {}, run.run)));
  if (runs.length > 1) byId("other").selectedIndex = 1;
  else show("status", "Only one run is served. This page is for two: octavo serve RUN OTHER-RUN");
  for (const id of ["pair", "metrics", "figures", "both"]) byId(id).hidden = runs.length < 2;
  for (const id of ["one", "other"]) if (runs.some((run) => run.run === address.get(id))) byId(id).value = address.get(id);
  byId("pair").addEventListener("change", () => { showMetrics(); showDifferences(); });
  complete(byId("name"), "node", showDifferences);
  byId("near").addEventListener("submit", (event) => { event.preventDefault(); showDifferences(); });
  if (runs.length > 1) await showMetrics();
  done("ready");
  if (runs.length > 1 && address.has("name")) {
    byId("name").value = address.get("name");
    await showDifferences();
  }
} catch (error) { showError("status", error); }
