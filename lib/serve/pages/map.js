// The map: moving, zooming, names of what is in view, boxes.

import { address, ask, byId, complete, done, element, nodeLink, plural, post, show, showError, start, whole, withRun } from "./common.js";
import { colourings, pageColour } from "./map_colours.js";
import { PointLayer } from "./point_layer.js";

const kMostListed = 200;
const kMostNames = 40;
// Milliseconds; if pictures come more slowly, the map that moves shows the last picture of all points, and a sample of
// the points around it.
const kFrameTime = 20;
const kLeastShown = 20000;
const kMostZoom = 1e5;
const kAround = 300;  // points in view around a node that was looked for
const kSample = 50000;

const canvas = byId("points");
let layer = null;
let floats = null;  // x, y, kinds as they are
let bytes = null;
let choices = [];
let chosen = null;
let moving = false;
let shownWhileMoving = Infinity;
let found = -1;  // point of the search

// The middle of the view and how much of the map it shows: at zoom 1 both axes from -1 to 1.
const view = {
  x: 0, y: 0, zoom: 1,
  scale(of) {
    const side = Math.min(of.width, of.height);
    return [this.zoom * side / of.width, this.zoom * side / of.height];
  },
  // From a place of the canvas in pixels of the page to one of the map, and back.
  toMap(px, py) {
    const [sx, sy] = this.scale(canvas);
    return [this.x + (2 * px / canvas.clientWidth - 1) / sx, this.y - (2 * py / canvas.clientHeight - 1) / sy];
  },
  toPage(x, y) {
    const [sx, sy] = this.scale(canvas);
    return [((x - this.x) * sx + 1) * canvas.clientWidth / 2, (1 - (y - this.y) * sy) * canvas.clientHeight / 2];
  },
};

function pointSize() {
  const sparse = Math.min(6, Math.sqrt(canvas.width * canvas.height * view.zoom * view.zoom / Math.max(1, layer.count)) * 0.25);
  return Math.max(1.5, sparse) * Math.min(2, devicePixelRatio);
}

// Fewer points in the picture are drawn more strongly.
function alphaFor(count) {
  const covered = count * pointSize() ** 2 / (canvas.width * canvas.height * view.zoom ** 1.2);
  return Math.min(0.95, Math.max(0.08, 0.5 / Math.sqrt(covered + 0.05)));
}

function draw() {
  const width = Math.round(canvas.clientWidth * devicePixelRatio);
  const height = Math.round(canvas.clientHeight * devicePixelRatio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const count = moving ? Math.min(layer.count, shownWhileMoving) : layer.count;
  layer.draw(view, { ground: pageColour("--ground"), choice: chosen.choice, size: pointSize(), alpha: alphaFor(count), count });
  if (count < layer.count) layer.drawKept(view);
  else if (!moving) layer.keep(view);
}

// While the map moves without a pause: draws fewer points if pictures come too slowly, and more if there is time.
let pictureTime = -Infinity;  // of the last picture of this move
function adapt(now) {
  const time = now - pictureTime;
  pictureTime = now;
  if (time === Infinity) return;  // the first picture of a move
  const count = Math.min(layer.count, shownWhileMoving);
  if (time > kFrameTime) shownWhileMoving = Math.max(kLeastShown, count * Math.max(0.25, Math.min(0.8, kFrameTime / time)));
  else shownWhileMoving = count * 1.1;
}

let frame = 0;
let rest = 0;
function redraw() {
  moving = true;
  byId("hover").hidden = true;
  if (frame === 0) frame = requestAnimationFrame((now) => { frame = 0; adapt(now); draw(); placeNames(); });
  clearTimeout(rest);
  rest = setTimeout(() => { moving = false; pictureTime = -Infinity; draw(); nameView(); }, 160);
}

function zoomBy(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
  const [x, y] = view.toMap(px, py);
  view.zoom = Math.min(kMostZoom, Math.max(0.5, view.zoom * factor));
  const [newX, newY] = view.toMap(px, py);
  view.x += x - newX;
  view.y += y - newY;
  redraw();
}

// Calls use(i, x, y) for the points in a rectangle of the map.
function each(left, bottom, right, top, use) {
  for (let i = 0; i < layer.count; ++i) {
    const x = floats[3 * i];
    const y = floats[3 * i + 1];
    if (x >= left && x <= right && y >= bottom && y <= top) use(i, x, y);
  }
}

const degreeRange = (i) => bytes[12 * i + 8];

function inView() {
  const [left, top] = view.toMap(0, 0);
  const [right, bottom] = view.toMap(canvas.clientWidth, canvas.clientHeight);
  return [left, bottom, right, top];
}

// ---- names: in each cell of a grid the point of the highest degree

let names = [];
const known = new Map();

async function nameOf(points) {
  const wanted = points.filter((point) => !known.has(point));
  if (wanted.length > 0) {
    const { data } = await post("map/nodes", { points: wanted });
    for (const node of data.nodes ?? []) known.set(node.point, node);
  }
  return points.map((point) => known.get(point)).filter((node) => node !== undefined);
}

async function nameView() {
  const columns = Math.max(2, Math.floor(canvas.clientWidth / 190));
  const rows = Math.max(2, Math.floor(canvas.clientHeight / 90));
  const best = new Map();
  const [sx, sy] = view.scale(canvas);
  each(...inView(), (i, x, y) => {
    const cell = Math.floor(((x - view.x) * sx + 1) / 2 * columns) + columns * Math.floor(((y - view.y) * sy + 1) / 2 * rows);
    if (!best.has(cell) || degreeRange(best.get(cell)) < degreeRange(i)) best.set(cell, i);
  });
  let points = [...best.values()].sort((a, b) => degreeRange(b) - degreeRange(a)).slice(0, kMostNames);
  if (found >= 0) points = [found, ...points.filter((point) => point !== found)];
  try { names = await nameOf(points); } catch { names = []; }
  placeNames();
  done("map");
}

function placeNames() {
  const taken = [];
  const spans = [];
  for (const node of names) {
    const [px, py] = view.toPage(floats[3 * node.point], floats[3 * node.point + 1]);
    const text = node.label ?? node.node;
    const half = Math.min(110, 4 + text.length * 3.4);
    if (px < half || py < 24 || px > canvas.clientWidth - half || py > canvas.clientHeight) continue;
    if (taken.some(([x, y, width]) => Math.abs(x - px) < half + width && Math.abs(y - py) < 20)) continue;
    taken.push([px, py, half]);
    const span = element("span", {}, text);
    span.style.left = `${px}px`;
    span.style.top = `${py}px`;
    spans.push(span);
  }
  if (found >= 0) {
    const ring = element("i", {});
    const [px, py] = view.toPage(floats[3 * found], floats[3 * found + 1]);
    Object.assign(ring.style, { left: `${px}px`, top: `${py}px` });
    spans.push(ring);
  }
  byId("names").replaceChildren(...spans);
}

// ---- lists

async function list(title, rectangle) {
  const points = [];
  each(...rectangle, (i) => points.push(i));
  const count = points.length;
  points.sort((a, b) => degreeRange(b) - degreeRange(a) || a - b);
  const nodes = await nameOf(points.slice(0, kMostListed));
  nodes.sort((a, b) => b.degree - a.degree);
  show("selected", element("h2", {}, `${title}: ${plural(count, "node")}`),
    count > kMostListed ? element("p", { class: "note" }, `The ${kMostListed} of the highest degrees.`) : "",
    element("ul", { class: "top-lists" }, nodes.map((node) => element("li", {}, nodeLink(node), " ",
      element("span", { class: "label" }, whole(node.degree))))));
  document.documentElement.dataset.selected = String(count);
}

// ---- input

function setBoxing(on) {
  byId("box").setAttribute("aria-pressed", String(on));
  canvas.classList.toggle("boxing", on);
}

function pointers() {
  const down = new Map();
  let box = null;
  let pinch = 0;
  const place = (event) => {
    const frameOf = canvas.getBoundingClientRect();
    return [event.clientX - frameOf.left, event.clientY - frameOf.top];
  };
  const distance = () => {
    const [[ax, ay], [bx, by]] = [...down.values()];
    return Math.hypot(ax - bx, ay - by);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    box = event.shiftKey || byId("box").getAttribute("aria-pressed") === "true" ? place(event) : null;
    if (down.size === 2) { pinch = distance(); box = null; }
  });
  canvas.addEventListener("pointermove", (event) => {
    const [px, py] = place(event);
    if (!down.has(event.pointerId)) return hover(px, py);
    const [beforeX, beforeY] = down.get(event.pointerId);
    down.set(event.pointerId, [px, py]);
    if (box !== null) return drawBox(box, [px, py]);
    if (down.size === 2) {
      const now = distance();
      zoomBy(now / Math.max(1, pinch), px, py);
      pinch = now;
      return undefined;
    }
    const [x, y] = view.toMap(px, py);
    const [oldX, oldY] = view.toMap(beforeX, beforeY);
    view.x += oldX - x;
    view.y += oldY - y;
    return redraw();
  });
  const up = (event) => {
    down.delete(event.pointerId);
    if (box === null) return;
    const [left, top] = view.toMap(...box);
    const [right, bottom] = view.toMap(...place(event));
    box = null;
    byId("rectangle").hidden = true;
    setBoxing(false);
    list("In the box", [Math.min(left, right), Math.min(bottom, top), Math.max(left, right), Math.max(bottom, top)]);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", (event) => { down.delete(event.pointerId); box = null; byId("rectangle").hidden = true; });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * 0.0015), ...place(event));
  }, { passive: false });
  canvas.addEventListener("click", (event) => {
    const point = nearest(...place(event), 8);
    if (point >= 0 && !event.shiftKey && wasStill) open(point);
  });
  let wasStill = false;
  let pressed = [0, 0];
  canvas.addEventListener("pointerdown", (event) => { pressed = place(event); });
  canvas.addEventListener("pointerup", (event) => {
    const [px, py] = place(event);
    wasStill = Math.hypot(px - pressed[0], py - pressed[1]) < 4;
  });
}

async function open(point) {
  const [node] = await nameOf([point]);
  if (node) location.assign(`/node?${withRun({ name: node.node })}`);
}

function drawBox([ax, ay], [bx, by]) {
  const rectangle = byId("rectangle");
  rectangle.hidden = false;
  Object.assign(rectangle.style, { left: `${Math.min(ax, bx)}px`, top: `${Math.min(ay, by)}px`,
    width: `${Math.abs(ax - bx)}px`, height: `${Math.abs(ay - by)}px` });
}

// The point nearest to a place of the canvas, at most `most` pixels away, or -1.
function nearest(px, py, most) {
  const [left, top] = view.toMap(px - most, py - most);
  const [right, bottom] = view.toMap(px + most, py + most);
  const [x, y] = view.toMap(px, py);
  let best = -1;
  let least = Infinity;
  each(left, bottom, right, top, (i, pointX, pointY) => {
    const distance = (pointX - x) ** 2 + (pointY - y) ** 2;
    if (distance < least) { least = distance; best = i; }
  });
  return best;
}

let hovering = 0;
function hover(px, py) {
  clearTimeout(hovering);
  byId("hover").hidden = true;
  hovering = setTimeout(async () => {
    const point = nearest(px, py, 6);
    if (point < 0) return;
    const [node] = await nameOf([point]);
    if (!node) return;
    const tip = byId("hover");
    tip.textContent = `${node.label ?? node.node}, degree ${whole(node.degree)}`;
    tip.hidden = false;
    tip.style.left = `${Math.min(px + 12, canvas.clientWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = `${Math.min(py + 12, canvas.clientHeight - tip.offsetHeight - 4)}px`;
  }, 60);
}

function keys(event) {
  const step = 0.2 / view.zoom;
  const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (moves[event.key]) {
    view.x += moves[event.key][0];
    view.y += moves[event.key][1];
    redraw();
  } else if (event.key === "+" || event.key === "=") zoomBy(1.4);
  else if (event.key === "-") zoomBy(1 / 1.4);
  else if (event.key === "0") showAll();
  else if (event.key === "l" || event.key === "L") list("In view", inView());
  else return;
  event.preventDefault();
}

function showAll() {
  Object.assign(view, { x: 0, y: 0, zoom: 1 });
  redraw();
}

// The zoom that shows about kAround points around a place, by a sample: the first points are a random one.
function zoomAround(x, y) {
  const sample = Math.min(layer.count, kSample);
  const distances = new Float32Array(sample);
  for (let i = 0; i < sample; ++i) distances[i] = Math.max(Math.abs(floats[3 * i] - x), Math.abs(floats[3 * i + 1] - y));
  distances.sort();
  const rank = Math.min(sample - 1, Math.max(8, Math.round(kAround * sample / layer.count)));
  return Math.min(kMostZoom, Math.max(1, 1 / Math.max(1e-9, distances[rank])));
}

async function find(name) {
  try {
    const { data } = await ask("map/place", { name });
    if (data.point === null || data.point === undefined) {
      show("facts", "This node is not on the map, which has the nodes of the highest degrees.");
      return;
    }
    found = data.point;
    Object.assign(view, { x: data.x, y: data.y, zoom: Math.max(view.zoom, zoomAround(data.x, data.y)) });
    redraw();
  } catch (error) { showError("facts", error); }
}

// ---- the beginning

function choose(name) {
  chosen = choices.find((choice) => choice.name === name) ?? choices[0];
  layer.setPalette(chosen.palette);
  byId("colour").value = chosen.name;
  show("legend", ...chosen.legend.map(([text, colour]) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = `rgb(${colour.join(",")})`;
    return element("li", {}, swatch, text);
  }));
  redraw();
}

async function loaded() {
  let answer = await ask("map");
  while (answer.status === 202) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    answer = await ask("map");
  }
  return answer.data;
}

function layoutText(map) {
  if (map.layout === "file") return "where a file places them";
  if (map.layout === "neighbors") return "each near the nodes with similar vectors";
  const shares = map.variance.map((share) => (100 * share).toFixed(1)).join(" % and ");
  return `in the plane of their two principal components, which have ${shares} % of the variance`;
}

function describe(map) {
  const which = map.points === map.nodes ? `All ${plural(map.points, "node")}` :
    `The ${plural(map.points, "node")} of the highest degrees of ${whole(map.nodes)}`;
  const placed = map.layout_generation ?? map.generation;
  const older = placed === map.newest_generation ? "" :
    map.layout_generation === null ? " It is of an older commit." :
    " It was made from an older commit; octavo map makes it again.";
  show("facts", `${which}, ${layoutText(map)}.${older} Drag to move, turn the wheel to zoom, Shift and drag for a box.`);
  byId("refresh").hidden = older === "";
}

// Times of pictures while the map moves, for ?measure=N: of `all` points, each finished before the next begins, and then
// between pictures as they come on the screen, with as many points as there is time for around the kept picture.
async function measure(pictures) {
  const move = (i) => Object.assign(view, { x: 0.3 * Math.sin(i / 10), zoom: 1 + i / pictures });
  const summary = (times) => {
    times.sort((a, b) => a - b);
    return { median: times[Math.floor(times.length / 2)], p95: times[Math.floor(times.length * 0.95)] };
  };
  const all = [];
  for (let i = 0; i < pictures; ++i) {
    move(i);
    const begin = performance.now();
    draw();
    layer.finish();
    all.push(performance.now() - begin);
  }
  const between = [];
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < pictures; ++i) {
    move(i);
    moving = true;
    draw();
    const now = await new Promise(requestAnimationFrame);
    adapt(now);
    between.push(now - last);
    last = now;
  }
  const shown = Math.round(Math.min(layer.count, shownWhileMoving));
  showAll();
  document.documentElement.dataset.frames = JSON.stringify({ points: layer.count, all: summary(all),
    moving: { ...summary(between.slice(pictures / 2)), points: shown, kept: layer.kept === null ? 0 : layer.count } });
}

try {
  await start();
  const map = await loaded();
  const buffer = await (await fetch(`/api/v1/map/points?${withRun({})}`)).arrayBuffer();
  floats = new Float32Array(buffer);
  bytes = new Uint8Array(buffer);
  layer = new PointLayer(canvas, bytes);
  choices = colourings(map);
  byId("colour").append(...choices.map((choice) => element("option", {}, choice.name)));
  describe(map);
  byId("colour").addEventListener("change", () => choose(byId("colour").value));
  byId("closer").addEventListener("click", () => zoomBy(1.5));
  byId("farther").addEventListener("click", () => zoomBy(1 / 1.5));
  byId("whole").addEventListener("click", showAll);
  byId("box").addEventListener("click", () => setBoxing(byId("box").getAttribute("aria-pressed") !== "true"));
  byId("view").addEventListener("click", () => list("In view", inView()));
  byId("refresh").addEventListener("click", async () => { await ask("map", { refresh: "true" }); location.reload(); });
  complete(byId("find"), "node", find);
  byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter" && byId("find").value !== "") find(byId("find").value); });
  canvas.addEventListener("keydown", keys);
  pointers();
  new ResizeObserver(redraw).observe(byId("frame"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { choices = colourings(map); choose(chosen.name); });
  choose(address.get("colour") ?? choices[0].name);
  if (address.has("name")) await find(address.get("name"));
  if (address.has("measure")) await measure(Number(address.get("measure")));
  if (address.has("list")) await list("In view", inView());
} catch (error) { showError("facts", error); }
