// The map of the embeddings: points on a canvas that can be moved, zoomed and searched. Names are inserted only as
// text. `page.html#find=NAME` opens with that search.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("map-data")?.textContent ?? "null");
  if (!data) return;
  const canvas = document.getElementById("points");
  const tip = document.getElementById("tip");
  const input = document.getElementById("find");
  const count = data.names.length;
  const lower = data.names.map((name) => name.toLowerCase());
  // For the most frequent classes, in that order; grey is for the others.
  const palette = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c7", "--c8"];
  const mostMatches = 12;  // listed
  const mostNames = 28;  // written next to their points
  const crowd = Math.max(0.65, Math.min(1, Math.sqrt(1500 / count)));  // many points are smaller
  const radius = data.degrees.map((degree) => crowd * (1.6 + 0.55 * Math.log2(1 + degree) ** 0.9));
  const range = (values) => values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);
  const [left, right] = range(data.x);
  const [bottom, top] = range(data.y);
  const whole = { scale: 1, x: (left + right) / 2, y: (bottom + top) / 2 };
  let view = { ...whole };  // centre and scale
  let found = new Set();
  let chosen = -1;
  let drag = null;
  let width = 0;
  let height = 0;

  // The end of a long name says more than its beginning: of an IRI, a path, a date.
  const brief = (name, most) => {
    const letters = [...name];
    if (letters.length <= most) return name;
    const head = Math.floor(most / 4);
    return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - most + head + 1).join("")}`;
  };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // Pixels per unit; equal on both axes, so that distances are undistorted.
  const unit = () => 0.92 * view.scale * Math.min(width / Math.max(right - left, 1e-9), height / Math.max(top - bottom, 1e-9), 1e4);
  const place = (i) => [
    width / 2 + (data.x[i] - view.x) * unit(),
    height / 2 - (data.y[i] - view.y) * unit(),
  ];
  const colourOf = (i) => {
    if (!data.class) return "--c0";
    return palette[data.class[i]] ?? "--soft";
  };

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    height = Math.round(Math.min(640, 0.62 * width));
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const fills = new Map();
    const searching = found.size > 0;
    for (let i = count - 1; i >= 0; --i) {  // those of high degree are drawn on top
      const [x, y] = place(i);
      if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
      const name = colourOf(i);
      if (!fills.has(name)) fills.set(name, colour(name));
      context.globalAlpha = searching && !found.has(i) ? 0.12 : 0.6;
      context.fillStyle = fills.get(name);
      context.beginPath();
      context.arc(x, y, radius[i], 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
    context.lineWidth = 2;
    context.strokeStyle = colour("--c1");
    for (const i of found) {
      const [x, y] = place(i);
      context.beginPath();
      context.arc(x, y, radius[i] + 3, 0, 2 * Math.PI);
      context.stroke();
    }
    writeNames(context, searching);
  }

  // Names of the first visible nodes, without overlaps.
  function writeNames(context, searching) {
    const boxes = [];
    context.font = '12px system-ui, "DejaVu Sans", sans-serif';
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = colour("--ground");
    context.fillStyle = colour("--ink");
    const order = chosen < 0 ? [] : [chosen];
    if (searching) order.push(...found);
    else for (let i = 0; i < count; ++i) order.push(i);
    for (const i of order) {
      if (boxes.length >= mostNames) break;
      const [x, y] = place(i);
      if (x < 0 || y < 8 || x > width || y > height - 8) continue;
      const name = brief(data.names[i], 28);
      const wide = context.measureText(name).width;
      const before = x + radius[i] + 4 + wide > width;
      const left = before ? x - radius[i] - 4 - wide : x + radius[i] + 4;
      const box = [left - 3, y - 9, left + wide + 3, y + 9];
      if (left < 0 || boxes.some((b) => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3])) continue;
      boxes.push(box);
      context.strokeText(name, left, y + 4);
      context.fillText(name, left, y + 4);
    }
  }

  function nearest(event) {
    const bounds = canvas.getBoundingClientRect();
    const at = [event.clientX - bounds.left, event.clientY - bounds.top];
    let best = -1;
    let least = 14 ** 2;
    for (let i = 0; i < count; ++i) {
      const [x, y] = place(i);
      const distance = (x - at[0]) ** 2 + (y - at[1]) ** 2;
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }

  function describe(i) {
    let text = `${data.names[i]}\ndegree ${data.degrees[i].toLocaleString("en")}`;
    if (data.class && data.class[i] >= 0) text += `\n${data.classes[data.class[i]] ?? "other class"}`;
    return text;
  }

  function showTip(i) {
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.textContent = describe(i);
    const [x, y] = place(i);
    tip.style.left = `${Math.max(0, Math.min(x + 10, width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(0, Math.min(y + 10, height - tip.offsetHeight - 4))}px`;
  }

  function zoom(factor, x = width / 2, y = height / 2) {
    const before = unit();
    view.scale = Math.min(400, Math.max(0.5, view.scale * factor));
    // The point at (x, y) stays there.
    view.x += (x - width / 2) * (1 / before - 1 / unit());
    view.y -= (y - height / 2) * (1 / before - 1 / unit());
    showTip(-1);
    draw();
  }

  function goTo(i) {
    chosen = i;
    view = { scale: Math.max(view.scale, 4), x: data.x[i], y: data.y[i] };
    draw();
    showTip(i);
  }

  function search() {
    const text = input.value.trim().toLowerCase();
    chosen = -1;
    found = new Set();
    if (text) lower.forEach((name, i) => name.includes(text) && found.add(i));
    const matches = [...found].sort((a, b) => (lower[b] === text) - (lower[a] === text)).slice(0, mostMatches);
    document.getElementById("found").textContent = text ? `${found.size} of ${count} nodes` : "";
    document.getElementById("matches").replaceChildren(...matches.map((i) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = brief(data.names[i], 42);
      button.title = describe(i);
      button.addEventListener("click", () => goTo(i));
      item.append(button);
      return item;
    }));
    showTip(-1);
    draw();
  }

  // Counts the nodes of each colour.
  function listClasses() {
    if (!data.class) return;
    const counts = new Map();
    for (const place of data.class) counts.set(place, (counts.get(place) ?? 0) + 1);
    const add = (name, colourName, nodes) => {
      const item = document.createElement("li");
      const key = document.createElement("span");
      key.className = "key";
      key.style.setProperty("--colour", `var(${colourName})`);
      item.append(key, `${name} (${nodes})`);
      document.getElementById("classes").append(item);
    };
    palette.forEach((name, i) => counts.has(i) && add(data.classes[i], name, counts.get(i)));
    const shown = data.class.filter((place) => palette[place]).length;
    if (shown < count) add("others", "--soft", count - shown);
  }

  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return showTip(nearest(event));
    view.x = drag.x - (event.clientX - drag.left) / unit();
    view.y = drag.y + (event.clientY - drag.top) / unit();
    showTip(-1);
    draw();
  });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    drag = { left: event.clientX, top: event.clientY, x: view.x, y: view.y };
  });
  canvas.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => showTip(-1));
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;  // scroll the page
    event.preventDefault();
    const bounds = canvas.getBoundingClientRect();
    zoom(Math.exp(-0.0015 * event.deltaY), event.clientX - bounds.left, event.clientY - bounds.top);
  }, { passive: false });
  document.getElementById("closer").addEventListener("click", () => zoom(1.5));
  document.getElementById("farther").addEventListener("click", () => zoom(1 / 1.5));
  document.getElementById("whole").addEventListener("click", () => {
    view = { ...whole };
    showTip(-1);
    draw();
  });
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && found.size > 0) document.querySelector("#matches button").click();
  });
  window.addEventListener("resize", draw);
  // Paper is light: draw the canvas in light colours, too.
  window.addEventListener("beforeprint", () => {
    document.documentElement.dataset.print = "";
    draw();
  });
  window.addEventListener("afterprint", () => {
    delete document.documentElement.dataset.print;
    draw();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  listClasses();
  if (location.hash.startsWith("#find=")) {
    const text = location.hash.slice(6);
    try {
      input.value = decodeURIComponent(text);
    } catch {  // a lone %
      input.value = text;
    }
    search();
  } else {
    draw();
  }
  document.documentElement.dataset.map = "drawn";
})();
