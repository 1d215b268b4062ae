#!/usr/bin/python3
"""Checks a chart of octavo bench: it parses, needs nothing else, and no text overlaps another or the edge.

usage: check_chart.py FILE TEXT...     each TEXT must be in the chart: titles, axes with units, names of the legend
"""

import re
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {"svg", "title", "rect", "line", "polyline", "circle", "text"}  # nothing that loads or runs anything
LETTER = 0.58  # of the size: approximate width of a letter of DejaVu Sans


def box(element):
    """The rectangle of a text: left, top, right, bottom."""
    x, y, size = (float(element.get(name)) for name in ("x", "y", "font-size"))
    width = LETTER * size * len(element.text or "")
    before = {"start": 0, "middle": width / 2, "end": width}[element.get("text-anchor")]
    if element.get("transform"):  # read from below, around its place
        assert re.fullmatch(r"rotate\(-90 [\d.]+ [\d.]+\)", element.get("transform")), element.get("transform")
        return x - 0.8 * size, y + before - width, x + 0.2 * size, y + before
    return x - before, y - 0.8 * size, x - before + width, y + 0.2 * size


def main():
    path, *wanted = sys.argv[1:]
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == SVG + "svg", root.tag
    width, height = float(root.get("width")), float(root.get("height"))
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in KNOWN, element.tag
        assert not any("href" in name or name.startswith("on") for name in element.attrib), element.attrib
    texts = [element for element in root.iter(SVG + "text") if element.text]
    boxes = [(box(element), element.text) for element in texts]
    for (left, top, right, bottom), text in boxes:
        assert 0 <= left and right <= width and 0 <= top and bottom <= height, f"beyond the edge: {text}"
    for i, (a, text) in enumerate(boxes):
        for b, other in boxes[:i]:
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert apart, f"on each other: {text!r} and {other!r}"
    shown = {element.text for element in texts}
    for text in wanted:
        assert any(text in line for line in shown), f"no {text!r} in {sorted(shown)}"
    shapes = sum(1 for element in root.iter() if element.tag.removeprefix(SVG) in ("polyline", "circle")
                 or element.get("class") == "bar")
    assert shapes > 0, "nothing is drawn"


main()
