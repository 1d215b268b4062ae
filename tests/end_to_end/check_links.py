#!/usr/bin/python3
"""Draws random pairs that are no edges and compares scikit-learn's figures for their inner products with those that
octavo evaluate --link-prediction printed. octavo draws other pairs, so the figures agree within statistical error.

usage: check_links.py --embeddings FILE.npy --names nodes.names --train FILE --test FILE --report FILE.json
exit 0 when AUC and average precision agree, 1 with one line for each that does not
"""

import argparse
import json
import pathlib
import sys

import numpy
from sklearn.metrics import average_precision_score, roc_auc_score

REPEATS = 20
DEVIATIONS = 5


def main():
    parser = argparse.ArgumentParser()
    for flag in ("embeddings", "names", "train", "test", "report"):
        parser.add_argument(f"--{flag}", required=True)
    arguments = parser.parse_args()

    table = numpy.load(arguments.embeddings).astype(numpy.float64)
    row_of = {name: row for row, name in enumerate(pathlib.Path(arguments.names).read_text().split("\n")[:-1])}

    def read(path):
        lines = pathlib.Path(path).read_text().splitlines()
        return numpy.array([[row_of[name] for name in line.split("\t")] for line in lines])

    test = read(arguments.test)
    edges = {tuple(sorted(pair)) for path in (arguments.train, arguments.test) for pair in read(path).tolist()}
    random = numpy.random.default_rng(1)

    def score(pairs):
        return (table[pairs[:, 0]] * table[pairs[:, 1]]).sum(axis=1)

    def draw():
        pairs = []
        while len(pairs) < len(test):
            pair = random.integers(len(table), size=2)
            if pair[0] != pair[1] and tuple(sorted(pair.tolist())) not in edges:
                pairs.append(pair)
        return numpy.array(pairs)

    truth = numpy.repeat([1, 0], len(test))
    figures = {"auc": [], "average_precision": []}
    for _ in range(REPEATS):
        scores = numpy.concatenate([score(test), score(draw())])
        figures["auc"].append(roc_auc_score(truth, scores))
        figures["average_precision"].append(average_precision_score(truth, scores))

    report = json.loads(pathlib.Path(arguments.report).read_text())
    wrong = []
    for key, values in figures.items():
        mean, deviation = numpy.mean(values), numpy.std(values)
        print(f"{key} {report[key]:.4f}, scikit-learn's {mean:.4f} +- {deviation:.4f}")
        if not abs(report[key] - mean) <= DEVIATIONS * deviation:
            wrong.append(f"{key} is {report[key]}; scikit-learn gives {mean} +- {deviation}")
    if (report["edges"], report["non_edges"]) != (len(test), len(test)):
        wrong.append(f"edges and non-edges: {report['edges']} and {report['non_edges']}, expected {len(test)} each")
    if wrong:
        sys.exit("\n".join(wrong))


main()
