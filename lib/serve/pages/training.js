import { address, byId, done, element, plural, runName, show, showError, showMarkup, sizeText, start, whole, withRun, ask } from "./common.js";

let state = null;

function number(name, value, note) {
  return element("li", {}, element("span", { class: "name" }, name), element("strong", {}, value),
    element("span", { class: "name" }, note));
}

function showNumbers() {
  const epochs = state.epoch_events;
  const validations = state.validation_events;
  const last = epochs.at(-1);
  const numbers = [number("epochs", `${state.epochs_done} of ${state.epochs}`,
    state.batches_done > 0 ? `and ${plural(state.batches_done, "batch").replace("batchs", "batches")} of the next` : "committed")];
  if (last) {
    numbers.push(number("loss", last.loss.toPrecision(4), `in epoch ${last.epoch}`),
      number("edges/s", whole(Math.round(last.edges_per_second)), `learning rate ${last.learning_rate.toPrecision(3)}`),
      number("peak memory", sizeText(last.peak_rss_bytes), last.memory_bytes > 0 ? `of ${sizeText(last.memory_bytes)} allowed` : ""));
    if (last.partitions > 1) {
      numbers.push(number("partitions", `${last.resident} of ${last.partitions}`, "in memory at a time"),
        number("read in an epoch", sizeText(last.read_bytes), `planned ${sizeText(last.planned_read_bytes)}`));
    }
  }
  if (validations.length > 0) {
    numbers.push(number("validation MRR", validations.at(-1).mrr.toFixed(4), `after epoch ${validations.at(-1).epoch}`));
  }
  show("numbers", ...numbers);
  show("facts", `${state.run}: ${state.model}, ${state.dim} dimensions, ${plural(state.nodes, "node")}, ${plural(state.train_edges, "training edge")}`);
}

async function load() {
  state = (await ask("training")).data;
  showNumbers();
  show("options", element("table", {}, Object.entries(state.options).map(([key, value]) =>
    element("tr", {}, element("th", { scope: "row" }, key), element("td", {}, value)))));
  await showFigures();
}

async function showFigures() {
  const response = await fetch(`/api/v1/training/figures?${withRun({})}`);
  if (response.ok) showMarkup("figures", await response.text());
}

const kRedrawTime = 300;  // milliseconds; by then the server has seen the newest commit

async function redraw() {
  if (state.epochs_done > state.epochs) state.epochs = (await ask("training")).data.epochs;  // resumed with more
  showNumbers();
  await showFigures();
}

let drawing = 0;
function changed(text) {
  showNumbers();
  show("status", element("span", { class: "fresh" }, text));
  clearTimeout(drawing);
  drawing = setTimeout(redraw, kRedrawTime);
  document.documentElement.dataset.events = String(Number(document.documentElement.dataset.events ?? 0) + 1);
}

function listen() {
  const events = new EventSource(`/api/v1/training/events?${withRun({ after: state.place })}`);
  events.addEventListener("epoch", (event) => {
    const epoch = JSON.parse(event.data);
    state.epoch_events.push(epoch);
    changed(`Epoch ${epoch.epoch} is done.`);
  });
  events.addEventListener("validation", (event) => {
    const validation = JSON.parse(event.data);
    state.validation_events.push(validation);
    changed(`Validated after epoch ${validation.epoch}.`);
  });
  events.addEventListener("commit", (event) => {
    const commit = JSON.parse(event.data);
    state.epochs_done = commit.epochs_done;
    state.batches_done = commit.batches_done;
    changed(`Committed after ${plural(commit.epochs_done, "epoch")}.`);
  });
  events.addEventListener("reset", () => load());
  events.addEventListener("open", () => { document.documentElement.dataset.live = "true"; });
  events.addEventListener("error", () => show("status", "The connection is lost; trying again …"));
}

try {
  await start();
  await load();
  done("training");
  listen();
} catch (error) { showError("status", error); }
