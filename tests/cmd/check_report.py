#!/usr/bin/python3
"""Checks a page of octavo report independently: its elements are closed, it needs nothing from elsewhere, and its map
equals what numpy computes from the run and its edge list.

usage: check_report.py PAGE RUN GRAPH EDGES     EDGES: lines head<TAB>relation<TAB>tail, all training edges
"""

import collections
import html.parser
import json
import pathlib
import sys

import numpy

VOID = {"meta", "input", "line", "circle", "rect", "polyline"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.text_of, self.id = [], collections.defaultdict(str), None
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            assert name not in ("src", "href") and not name.startswith("on"), (tag, name, value)
        self.id = dict(attributes).get("id")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass  # of the drawings

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag, f"</{tag}> does not match"

    def handle_data(self, data):
        self.text_of[self.id] += data


def readable(name):
    return "".join("\ufffd" if ord(c) < 32 or 127 <= ord(c) < 160 or 0xDC80 <= ord(c) <= 0xDCFF else c
                   for c in name.decode("utf-8", "surrogateescape"))


def main():
    page, run, graph, edges = map(pathlib.Path, sys.argv[1:])
    text = page.read_bytes().decode()  # UTF-8
    shown = json.loads(Page(text).text_of["map-data"])
    names = (graph / "nodes.names").read_bytes().split(b"\n")[:-1]
    degrees = collections.Counter()
    for line in edges.read_bytes().splitlines():
        head, _, tail = line.split(b"\t")
        degrees.update([head, tail])
    order = sorted(range(len(names)), key=lambda i: (-degrees[names[i]], i))[:len(shown["names"])]
    assert shown["names"] == [readable(names[i]) for i in order], "other nodes, or in another order"
    assert shown["degrees"] == [degrees[names[i]] for i in order]
    rows = numpy.load(run / "embeddings.npy").astype(float)[order]
    centred = rows - rows.mean(axis=0)
    axes = numpy.linalg.svd(centred, full_matrices=False)[2][:2]
    expected = centred @ axes.T
    found = numpy.array([shown["x"], shown["y"]]).T
    scale = abs(expected).max()
    for axis in range(2):
        sign = numpy.sign(axes[axis][abs(axes[axis]).argmax()])
        error = abs(sign * expected[:, axis] / scale - found[:, axis]).max()
        assert error < 1e-4, f"axis {axis} is off by {error}"
    print(f"{len(order)} nodes as numpy has them")


main()
