#!/usr/bin/python3
"""Trains DistMult on a random graph, writes questions with given candidates and negatives that all edges share, and
compares what octavo evaluate prints with the metrics of the Open Graph Benchmark, computed by NumPy in double precision.

usage: check_given.py OCTAVO SCRATCH
Works in a new folder inside SCRATCH and removes only that folder.
exit 0 when all figures agree within 1e-6, 1 with one line for each that does not
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

TOLERANCE = 1e-6


def make_run(octavo, random):
    """Trains a graph whose names are numbers; every node has a test edge or more."""
    nodes, relations = 300, 7
    triples = numpy.unique(numpy.stack([random.integers(nodes, size=4000), random.integers(relations, size=4000),
                                        random.integers(nodes, size=4000)], axis=1), axis=0)
    random.shuffle(triples)
    for name, part in (("train.tsv", triples[400:]), ("test.tsv", triples[:400])):
        pathlib.Path(name).write_text("".join(f"{h * 3}\t{r}\t{t * 3}\n" for h, r, t in part))
    for command in (["import", "train.tsv", "--test", "test.tsv", "--graph", "graph"],
                    ["train", "--preset", "none", "--graph", "graph", "--run", "run", "--model", "distmult", "--dim", "16",
                     "--epochs", "3", "--initial-scale", "0.3"],
                    ["export", "--run", "run", "--output", "given.npy", "--format", "npy"],
                    ["export", "--run", "run", "--table", "relations", "--output", "relations.npy", "--format", "npy"]):
        subprocess.run([octavo, "--quiet", *command], check=True)


def check(octavo):
    random = numpy.random.default_rng(1)
    make_run(octavo, random)
    run, graph, test_file = "run", "graph", "test.tsv"
    nodes = numpy.load("given.npy").astype(numpy.float64)
    relations = numpy.load("relations.npy").astype(numpy.float64)
    names = pathlib.Path(graph, "nodes.names").read_text().split("\n")[:-1]
    relation_names = [line.split("\t")[0] for line in
                      pathlib.Path(graph, "relations.tsv").read_text().splitlines()]
    row_of = {name: row for row, name in enumerate(names)}
    relation_of = {name: row for row, name in enumerate(relation_names)}
    edges = [line.split("\t") for line in pathlib.Path(test_file).read_text().splitlines()]
    heads = numpy.array([row_of[edge[0]] for edge in edges])
    kinds = numpy.array([relation_of[edge[1]] for edge in edges])
    tails = numpy.array([row_of[edge[2]] for edge in edges])

    def score(head, kind, tail):
        return (nodes[head] * relations[kind] * nodes[tail]).sum(axis=-1)

    def evaluate(*flags):
        done = subprocess.run([octavo, "--quiet", "evaluate", "--run", run, "--json", *flags], check=True,
                              capture_output=True)
        return json.loads(done.stdout)

    wrong = []

    def compare(what, found, expected):
        print(f"{what} {found:.6f}, NumPy's {expected:.6f}")
        if not abs(found - expected) <= TOLERANCE:
            wrong.append(f"{what} is {found}; NumPy gives {expected}")

    # MRR and Hits@k as ogb.linkproppred's evaluator computes them, of both sides.
    negatives = random.integers(len(nodes), size=(2 * len(edges), 50))
    lines = []
    for i, (head, kind, tail) in enumerate(edges):
        asked = [head, kind, "?", tail], ["?", kind, tail, head]
        for side in (0, 1):
            lines.append("\t".join(asked[side] + [names[node] for node in negatives[2 * i + side]]))
    pathlib.Path("given.txt").write_text("\n".join(lines) + "\n")
    positive = numpy.repeat(score(heads, kinds, tails), 2)[:, None]
    negative = numpy.empty(negatives.shape)
    negative[0::2] = score(heads[:, None], kinds[:, None], negatives[0::2])
    negative[1::2] = score(negatives[1::2], kinds[:, None], tails[:, None])
    optimistic = (negative > positive).sum(axis=1)
    pessimistic = (negative >= positive).sum(axis=1)
    ranks = 0.5 * (optimistic + pessimistic) + 1
    report = evaluate("--candidates", "given.txt")
    compare("MRR", report["mrr"], (1 / ranks).mean())
    compare("MRR of tails", report["tail"]["mrr"], (1 / ranks[0::2]).mean())
    for k in (1, 3, 10):
        compare(f"Hits@{k}", report[f"hits@{k}"], (ranks <= k).mean())

    # Hits@K against shared negatives.
    count = 400
    shared = random.integers(len(nodes), size=count), random.integers(len(relations), size=count), \
        random.integers(len(nodes), size=count)
    pathlib.Path("shared.txt").write_text("".join(f"{names[h]}\t{relation_names[r]}\t{names[t]}\n" for h, r, t in zip(*shared)))
    against = numpy.sort(score(*shared))
    report = evaluate("--link-prediction", "--negatives", "shared.txt")
    for k in (10, 20, 50, 100):
        compare(f"shared Hits@{k}", report[f"hits@{k}"], (score(heads, kinds, tails) > against[-k]).mean())

    # An array of the same questions.
    table = numpy.full((2 * len(edges), 54), -1)
    numbers = numpy.array([int(name) for name in names])
    kind_numbers = numpy.array([int(name) for name in relation_names])
    table[0::2, 0], table[1::2, 2] = numbers[heads], numbers[tails]
    table[:, 1] = numpy.repeat(kind_numbers[kinds], 2)
    table[0::2, 3], table[1::2, 3] = numbers[tails], numbers[heads]
    table[:, 4:] = numbers[negatives]
    numpy.save("given_array.npy", table)
    compare("MRR of an array", evaluate("--candidates", "given_array.npy")["mrr"], (1 / ranks).mean())
    return wrong


def main():
    octavo, scratch = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(scratch, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        os.chdir(folder)
        wrong = check(octavo)
        os.chdir("/")
    if wrong:
        sys.exit("\n".join(wrong))


main()
