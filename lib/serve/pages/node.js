import { address, answerTable, ask, byId, done, element, linkTo, nodeLink, plural, show, showError, start, timeText, whole, withRun } from "./common.js";

const kShown = 24;  // other ends of a relation before "all"
const name = address.get("name") ?? "";

function groupOf(node, group, most) {
  const count = group.train + group.valid + group.test;
  const relation = group.relation_label ?? group.relation;
  const out = group.direction === "out";
  const held = group.valid + group.test;
  const ends = group.nodes.map((end) => element("li", {}, nodeLink(end)));
  const more = count - ends.length;
  return element("div", { class: "group" },
    element("h4", {}, relation, " ", element("small", {},
      `${whole(count)}${held === 0 ? "" : held === count ? ", held out from training" : `, ${whole(held)} of them held out from training`} · `,
      linkTo("/ask", out ? { head: node, relation: group.relation } : { relation: group.relation, tail: node }, "likely others"))),
    element("ul", { class: "chips" }, ends, more > 0 && most < 1000 ? element("li", {},
      linkTo("/node", { name: node, edges: 1000 }, `${whole(more)} more`)) : null,
    more > 0 && most >= 1000 ? element("li", {}, element("span", { class: "chip" }, `and ${whole(more)} more`)) : null));
}

async function showNode() {
  const most = Number(address.get("edges") ?? kShown);
  const { data } = await ask("node", { name, edges: most });
  document.title = `${data.label ?? data.node} - octavo`;
  show("title", data.label ?? data.node);
  show("facts", data.label ? element("span", {}, data.node, " · ") : "", `degree ${whole(data.degree)}`);
  if (data.edges.length === 0) show("edges", element("p", { class: "note" }, "None."));
  else show("edges", ...[["out", "From it"], ["in", "To it"]].flatMap(([direction, title]) => {
    const groups = data.edges.filter((group) => group.direction === direction);
    return groups.length === 0 ? [] : [element("h3", {}, title), ...groups.map((group) => groupOf(data.node, group, most))];
  }));
}

async function showNear() {
  const form = byId("near-form");
  show("near-status", "Searching …");
  try {
    const { data, milliseconds } = await ask("neighbors",
      { name, k: form.elements.k.value, exact: form.elements.exact.checked ? "true" : "" });
    show("near-status", `${"ef" in data ? "By the index" : "All vectors compared"} in ${timeText(milliseconds)}.`);
    show("near", answerTable(data.neighbors, data.metric));
  } catch (error) { showError("near-status", error); }
}

// A sample of the map, and the place of the node in it.
async function showPlace() {
  let answer = await ask("map/place", { name });
  for (let tries = 0; answer.status === 202 && tries < 600; ++tries) {
    show("place-status", "The map is being made …");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    answer = await ask("map/place", { name });
  }
  if (answer.status === 202) return;
  if (answer.data.point === null) {
    show("place-status", "This node is not on the map, which has the nodes of the highest degrees.");
    return;
  }
  show("place-status", linkTo("/map", { name }, "Open the map here"));
  const bytes = await (await fetch(`/api/v1/map/points?${withRun({ count: 20000 })}`)).arrayBuffer();
  const values = new Float32Array(bytes);
  const canvas = byId("place");
  canvas.hidden = false;
  const style = getComputedStyle(document.documentElement);
  const context = canvas.getContext("2d");
  const scale = Math.min(canvas.width, canvas.height) / 2.1;
  const at = (x, y) => [canvas.width / 2 + x * scale, canvas.height / 2 - y * scale];
  context.globalAlpha = 0.35;
  context.fillStyle = style.getPropertyValue("--c0");
  for (let i = 0; i < values.length; i += 3) context.fillRect(...at(values[i], values[i + 1]), 1.5, 1.5);
  context.globalAlpha = 1;
  context.strokeStyle = style.getPropertyValue("--c1");
  context.lineWidth = 3;
  context.beginPath();
  context.arc(...at(answer.data.x, answer.data.y), 9, 0, 2 * Math.PI);
  context.stroke();
}

try {
  const { run } = await start();
  show("title", name);
  byId("exact-label").hidden = !run.index;
  byId("near-form").addEventListener("change", showNear);
  byId("near-form").addEventListener("submit", (event) => event.preventDefault());
  await showNode();
  await showNear();
  done("node");
  await showPlace();
  done("placed");
} catch (error) {
  showError("facts", error);
  if (name !== "") byId("facts").append(" ", linkTo("/", { text: name }, "Search for similar names"));
}
