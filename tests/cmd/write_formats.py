#!/usr/bin/python3
"""Writes one graph in every format that octavo imports, and the expected result as tab-separated text.

usage: write_formats.py EDGES     into the current folder

The names and triples are drawn here; each file is written by a few lines that are independent of octavo's parsers.
"""

import gzip
import pathlib
import random
import sys

import numpy

XSD = "http://www.w3.org/2001/XMLSchema#"
random.seed(5)
edge_count = int(sys.argv[1])


def write(name, text):
    pathlib.Path(name).write_bytes(text.encode())


def tsv(edges):
    return "".join("\t".join(str(field) for field in edge) + "\n" for edge in edges)


def escaped(iri):
    """Some of the letters after the scheme as escapes, which stand for the same text."""
    scheme, text = iri.split(":", 1)
    return scheme + ":" + "".join(c if random.random() < 0.7 else f"\\u{ord(c):04X}" if ord(c) < 65536 and random.random() < 0.5
                   else f"\\U{ord(c):08X}" for c in text)


# Triples: (written, name) for each position. The canonical form of a literal is spelt out.
NODES = [(f"<{escaped(iri)}>", iri) for iri in
         [f"http://www.example.org/entity/Q{i}" for i in range(300)] + [f"urn:caf\u00e9:{i}/\U0001F600" for i in range(50)]]
NODES += [(f"_:b{i}.x", f"_:b{i}.x") for i in range(50)]
RELATIONS = [(f"<{escaped(iri)}>", iri) for iri in [f"http://www.example.org/p/{i}" for i in range(7)]]
LITERALS = [('"plain"', '"plain"'), ('"pl\\u0061in"', '"plain"'), (f'"plain"^^<{XSD}string>', '"plain"'),
            ('"t\tab"', '"t\\tab"'), ('"line\\nend"', '"line\\nend"'), ('"caf\\u00E9"@fr', '"caf\u00e9"@fr'),
            (f'"1"^^<{XSD}integer>', f'"1"^^<{XSD}integer>'), ('"a . <b> \\"c\\" # d"', '"a . <b> \\"c\\" # d"')]


def triples(count, graphs):
    lines, edges, with_literals = [], [], []
    for _ in range(count):
        is_literal = random.random() < 0.2
        places = [random.choice(NODES), random.choice(RELATIONS), random.choice(LITERALS if is_literal else NODES)]
        graph = random.choice(["", "<http://g>", "_:g"]) if graphs else ""
        blank = random.choice([" ", "\t", "  "])
        comment = random.choice(["", "", " # a comment"])
        lines.append(blank.join([written for written, _ in places] + [graph] * (graph != "") + ["."]) + comment)
        names = [name for _, name in places]
        with_literals.append(names)
        if not is_literal:
            edges.append(names)
        if random.random() < 0.1:
            lines.append(random.choice(["", "# comment", "  \t# indented"]))
    return random.choice(["\n", "\r\n"]).join(lines) + "\n", edges, with_literals


text, edges, with_literals = triples(edge_count, False)
write("kg.nt", text)
write("kg.tsv", tsv(edges))
write("literals.tsv", tsv(with_literals))
quads, quad_edges, _ = triples(edge_count, True)
with gzip.open("kg.nq.gz", "wb") as file:
    file.write(quads.encode())
write("quads.tsv", tsv(quad_edges))
half = text.index("\n", len(text) // 2) + 1
with gzip.open("part-1.nt.gz", "wb") as file:
    file.write(text[:half].encode())
write("part-2.nt", text[half:])

# Matrices: (row, column, value), each position once.
size = 200
places = random.sample(range(size * size), min(edge_count, size * size // 2))
entries = [(place // size + 1, place % size + 1, random.choice([0.25, 1, 2.5])) for place in places]


def matrix(name, kind, rows, fields):
    head = f"%%MatrixMarket matrix coordinate {kind}\n% a comment\n\n{size} {size} {len(rows)}\n"
    write(name, head + "".join(" ".join(str(field) for field in row[:fields]) + "\n" for row in rows))


matrix("general.mtx", "real general", entries, 3)
write("general.tsv", tsv(entries))
matrix("pattern.mtx", "pattern general", entries, 2)
write("pattern.tsv", tsv([entry[:2] for entry in entries]))
lower = [entry for entry in entries if entry[0] >= entry[1]]
matrix("symmetric.mtx", "real symmetric", lower, 3)
write("symmetric.tsv", tsv(lower + [(column, row, value) for row, column, value in lower if row != column]))
matrix("skew.mtx", "real skew-symmetric", [(row, column, -value) for row, column, value in lower if row > column], 3)
skew = [entry[:2] for entry in lower if entry[0] > entry[1]]
write("skew.tsv", tsv(skew + [(column, row) for row, column in skew]))

# Arrays of indexes.
rows = numpy.array([[random.randrange(100), random.randrange(5), random.randrange(100)] for _ in range(edge_count)])
nodes, relations = [f"# node {i}\u00e9" for i in range(100)], [f"relation {i}" for i in range(5)]
write("nodes.txt", "\n".join(nodes))
write("relations.txt", "\n".join(relations) + "\n")
for kind in ("int32", "int64", "uint32", "uint64"):
    numpy.save(f"triples-{kind}.npy", rows.astype(kind))
numpy.save("pairs.npy", rows[:, [0, 2]].copy())
write("triples.tsv", tsv(rows.tolist()))
write("pairs.tsv", tsv(rows[:, [0, 2]].tolist()))
write("named.csv", "".join(f'"{nodes[h]}",{relations[r]},"{nodes[t]}"\n' for h, r, t in rows.tolist()))

# In SNAP's format.
write("snap.txt", "# Directed graph\n# FromNodeId\tToNodeId\n" + tsv([entry[:2] for entry in entries]))
