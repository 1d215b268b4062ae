#!/usr/bin/python3
"""Classifies the labelled nodes of one split with scikit-learn and compares with octavo evaluate --labels --label-test.

Reads the exported vectors, nodes.names and the files of labels and test nodes. Shares no code with octavo.

usage: check_labels.py --embeddings FILE.npy --names nodes.names --labels FILE --test FILE --report FILE.json
                       [--normalize] [--cost C] [--tolerance F]
exit 0 when micro-F1, macro-F1 and the counts agree, 1 with one line for each that does not
"""

import argparse
import json
import pathlib
import sys

import numpy
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.preprocessing import normalize


def read_labels(path):
    labels = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, own = line.split("\t")
        labels.setdefault(name, set()).update(own.split())
    return labels


def features(solver, rows):
    """liblinear makes the intercept a feature that is 1 everywhere; lbfgs, which would not regularize it, is given one."""
    return rows if solver == "liblinear" else numpy.hstack([rows, numpy.ones((len(rows), 1))])


def predict(solver, cost, train_rows, train_labels, test_rows, test_labels):
    """Whether each test row is given each label: as many labels as it has, those with the highest scores."""
    scores = numpy.full(test_labels.shape, -numpy.inf)
    for label in range(train_labels.shape[1]):
        positive = train_labels[:, label]
        if positive.any() and not positive.all():
            fitted = LogisticRegression(solver=solver, C=cost, max_iter=2000, fit_intercept=solver == "liblinear")
            fitted.fit(features(solver, train_rows), positive)
            scores[:, label] = fitted.decision_function(features(solver, test_rows))
        elif positive.all():
            scores[:, label] = numpy.inf
    predicted = numpy.zeros_like(test_labels)
    for row, count in enumerate(test_labels.sum(axis=1)):
        predicted[row, numpy.argsort(-scores[row], kind="stable")[:count]] = True
    return predicted


def main():
    parser = argparse.ArgumentParser()
    for flag in ("embeddings", "names", "labels", "test", "report"):
        parser.add_argument(f"--{flag}", required=True)
    parser.add_argument("--normalize", action="store_true")
    parser.add_argument("--cost", type=float, default=1)
    parser.add_argument("--tolerance", type=float, default=0.002)
    arguments = parser.parse_args()

    table = numpy.load(arguments.embeddings).astype(numpy.float64)
    row_of = {name: row for row, name in enumerate(pathlib.Path(arguments.names).read_text().split("\n")[:-1])}
    labels = {name: own for name, own in read_labels(arguments.labels).items() if name in row_of}
    names = sorted(set().union(*labels.values()))
    nodes = sorted(labels)
    rows = table[[row_of[name] for name in nodes]]
    if arguments.normalize:
        rows = normalize(rows)
    has = numpy.array([[label in labels[node] for label in names] for node in nodes])
    listed = set(pathlib.Path(arguments.test).read_text().split("\n"))
    test = numpy.array([node in listed for node in nodes])

    entry, = json.loads(pathlib.Path(arguments.report).read_text())["fractions"]
    wrong = []
    if (entry["train_nodes"], entry["test_nodes"]) != ((~test).sum(), test.sum()):
        wrong.append(f"nodes: {entry['train_nodes']} and {entry['test_nodes']}, expected {(~test).sum()} and {test.sum()}")
    for solver in ("liblinear", "lbfgs"):
        predicted = predict(solver, arguments.cost, rows[~test], has[~test], rows[test], has[test])
        for average in ("micro", "macro"):
            expected = f1_score(has[test], predicted, average=average, zero_division=0)
            found = entry[f"{average}_f1"]
            print(f"{average}-F1 {found:.4f}, scikit-learn's {solver} {expected:.4f}")
            if not abs(found - expected) <= arguments.tolerance:
                wrong.append(f"{average}-F1 is {found}; {solver} gives {expected}")
    if wrong:
        sys.exit("\n".join(wrong))


main()
