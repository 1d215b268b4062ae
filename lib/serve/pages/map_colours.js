// The colours of the map: what can be chosen, a palette for each, and its legend.

import { whole } from "./common.js";

function parse(colour) {
  const hex = colour.trim().slice(1);
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

const mix = (a, b, share) => a.map((part, i) => Math.round(part + (b[i] - part) * share));

export function pageColour(name) { return parse(getComputedStyle(document.documentElement).getPropertyValue(name)); }

// Twelve colours that people can tell apart, those of the figures first.
function distinct() {
  const colours = [...Array(9).keys()].map((i) => pageColour(`--c${i}`));
  return [...colours, mix(colours[0], colours[1], 0.5), mix(colours[2], colours[5], 0.5), mix(colours[3], colours[8], 0.5)];
}

// Kinds by number: 0 is for points without one, if `none`.
function kinds(count, none) {
  const colours = distinct();
  const grey = pageColour("--base");
  return [...Array(256).keys()].map((i) => {
    const rank = none ? i - 1 : i;
    return rank < 0 || rank >= Math.min(count, colours.length) ? grey : colours[rank];
  });
}

// From pale to strong, with the degree.
function ramp(ranges) {
  const from = mix(pageColour("--ground"), pageColour("--c0"), 0.45);
  const middle = pageColour("--c0");
  const to = pageColour("--c1");
  return [...Array(256).keys()].map((i) => {
    const share = Math.min(1, i / Math.max(1, ranges - 1));
    return share < 0.5 ? mix(from, middle, share * 2) : mix(middle, to, share * 2 - 1);
  });
}

// What the points of a map can be coloured by: name, byte of the record, palette, and the legend as [text, colour].
export function colourings(map) {
  const named = (names) => {
    const palette = kinds(names.length - 1, true);
    const shown = names.slice(1, 13).map((name, i) => [name, palette[i + 1]]);
    if (names.length > 13) shown.push(["others", palette[255]]);
    return { palette, legend: shown };
  };
  const degrees = ramp(map.degree_ranges.length);
  const steps = map.degree_ranges.map((degree, i) => [whole(degree), degrees[i]])
    .filter((_, i, all) => i % Math.ceil(all.length / 8) === 0);
  const clusters = kinds(map.clusters, false);
  const list = [
    { name: "type", choice: 1, ...named(map.types) },
    { name: "degree", choice: 0, palette: degrees, legend: steps },
    { name: "cluster", choice: 2, palette: clusters, legend: [...Array(map.clusters).keys()].map((i) => [`cluster ${i + 1}`, clusters[i]]) }];
  if (map.classes.length > 0) list.unshift({ name: "label", choice: 3, ...named(map.classes) });
  return list;
}
