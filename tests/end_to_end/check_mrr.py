#!/usr/bin/python3
"""Ranks the test triples of a graph with numpy and compares with what octavo evaluate --json printed.

Reads the exported embeddings, relations.npy, nodes.names, relations.tsv and the triple files that were imported. Shares
no code with octavo: scores are written out below from the papers, in double precision, one triple at a time; the filter
is a set of triples. If the report is one of --typed, its ranks among plausible nodes are computed by matrices.

usage: check_mrr.py --model NAME [--norm l1|l2] [--reciprocal] --embeddings FILE.npy --relations FILE.npy --graph DIR
                    --train FILE --valid FILE --test FILE --report FILE.json
exit 0 when all metrics agree, 1 with one line for each that does not
"""

import argparse
import collections
import json
import pathlib
import sys

import numpy

TOLERANCE = 1e-4  # of MRR and hits; mean ranks are compared relative to the number of nodes


def read_triples(path):
    lines = pathlib.Path(path).read_bytes().split(b"\n")
    return [tuple(line.split(b"\t")) for line in lines if line]


def times_blocks(row, relation, transposed=False):
    """h' R of a block-diagonal R, whose blocks are one after the other; transposed: R t."""
    side = relation.size // row.size
    blocks = relation.reshape(-1, side, side)
    return numpy.einsum("bji,bi->bj" if transposed else "bij,bi->bj", blocks, row.reshape(-1, side)).reshape(-1)


def score_tails(model, norm, head, relation, candidates):
    """Scores of (head, relation, each of candidates): [dim], [width], [n, dim] -> [n]."""
    half = head.size // 2
    if model == "dot":
        return candidates @ head
    if model == "source-context":
        return candidates[:, half:] @ head[:half]
    if model == "distmult":
        return candidates @ (head * relation)
    if model == "rescal":
        return candidates @ times_blocks(head, relation)
    if model == "transe":
        return -numpy.linalg.norm(head + relation - candidates, ord=1 if norm == "l1" else 2, axis=1)
    h = head[:half] + 1j * head[half:]
    c = candidates[:, :half] + 1j * candidates[:, half:]
    if model == "complex":
        r = relation[:half] + 1j * relation[half:]
        return numpy.real(numpy.conj(c) @ (h * r))
    moduli = numpy.abs(h * numpy.exp(1j * relation) - c)
    return -moduli.sum(axis=1) if norm == "l1" else -numpy.sqrt((moduli**2).sum(axis=1))


def score_heads(model, norm, candidates, relation, tail):
    """Scores of (each of candidates, relation, tail)."""
    half = tail.size // 2
    if model == "dot":
        return candidates @ tail
    if model == "source-context":
        return candidates[:, :half] @ tail[half:]
    if model == "distmult":
        return candidates @ (relation * tail)
    if model == "rescal":
        return candidates @ times_blocks(tail, relation, transposed=True)
    if model == "transe":
        return -numpy.linalg.norm(candidates + relation - tail, ord=1 if norm == "l1" else 2, axis=1)
    t = tail[:half] + 1j * tail[half:]
    c = candidates[:, :half] + 1j * candidates[:, half:]
    if model == "complex":
        r = relation[:half] + 1j * relation[half:]
        return numpy.real(c @ (r * numpy.conj(t)))
    moduli = numpy.abs(c * numpy.exp(1j * relation) - t)
    return -moduli.sum(axis=1) if norm == "l1" else -numpy.sqrt((moduli**2).sum(axis=1))


def rank_of(scores, answer, excluded):
    """Mean of the best and the worst rank of `answer` among the candidates that are not excluded."""
    kept = numpy.ones(scores.size, dtype=bool)
    kept[list(excluded)] = False
    kept[answer] = False
    best = 1 + numpy.count_nonzero(scores[kept] > scores[answer])
    worst = 1 + numpy.count_nonzero(scores[kept] >= scores[answer])
    return (best + worst) / 2


def plausible_nodes(train, nodes, relations, share):
    """Whether each node is plausible as the head (column 2r) and the tail (2r + 1) of relation r."""
    seen = numpy.zeros((nodes, 2 * relations))
    for head, relation, tail in train:
        seen[head, 2 * relation] = seen[tail, 2 * relation + 1] = 1
    common = seen.T @ seen  # [asked, other]: nodes seen at both
    counts = seen.sum(axis=0)
    like = (common > 0) & (common >= share * counts[:, None])
    unknown = seen.sum(axis=1) == 0
    return (seen @ like.T > 0) | unknown[:, None] | (counts == 0)[None, :]


def metrics_of(ranks):
    ranks = numpy.array(ranks)
    return {
        "mrr": (1 / ranks).mean(),
        "hits@1": (ranks <= 1).mean(),
        "hits@3": (ranks <= 3).mean(),
        "hits@10": (ranks <= 10).mean(),
        "mean_rank": ranks.mean(),
    }


def rank_all(arguments, share):
    names = pathlib.Path(arguments.graph, "nodes.names").read_bytes().split(b"\n")[:-1]
    relation_lines = pathlib.Path(arguments.graph, "relations.tsv").read_bytes().split(b"\n")[:-1]
    node_of = {name: i for i, name in enumerate(names)}
    relation_of = {line.rsplit(b"\t", 1)[0]: i for i, line in enumerate(relation_lines)}
    embeddings = numpy.load(arguments.embeddings).astype(numpy.float64)
    if embeddings.shape[0] != len(names):
        sys.exit(f"{arguments.embeddings}: {embeddings.shape[0]} rows; expected {len(names)}, one a name")
    if arguments.model in ("dot", "source-context"):
        relations = numpy.zeros((len(relation_of), 0))
    else:
        relations = numpy.load(arguments.relations).astype(numpy.float64)

    tails = collections.defaultdict(set)
    heads = collections.defaultdict(set)
    test = []
    train = []
    for path in (arguments.train, arguments.valid, arguments.test):
        for head, relation, tail in read_triples(path):
            triple = node_of[head], relation_of[relation], node_of[tail]
            tails[triple[0], triple[1]].add(triple[2])
            heads[triple[1], triple[2]].add(triple[0])
            if path == arguments.test:
                test.append(triple)
            if path == arguments.train:
                train.append(triple)
    plausible = None if share is None else plausible_nodes(train, len(names), len(relation_of), share)

    ranks = collections.defaultdict(list)
    for head, relation, tail in test:
        scores = score_tails(arguments.model, arguments.norm, embeddings[head], relations[relation], embeddings)
        ranks["tail"].append(rank_of(scores, tail, tails[head, relation]))
        ranks["tail raw"].append(rank_of(scores, tail, []))
        if plausible is not None:
            others = numpy.flatnonzero(~plausible[:, 2 * relation + 1])
            ranks["tail typed"].append(rank_of(scores, tail, [*tails[head, relation], *others]))
        if arguments.reciprocal:
            inverse = relations[relation + len(relation_of)]
            scores = score_tails(arguments.model, arguments.norm, embeddings[tail], inverse, embeddings)
        else:
            scores = score_heads(arguments.model, arguments.norm, embeddings, relations[relation], embeddings[tail])
        ranks["head"].append(rank_of(scores, head, heads[relation, tail]))
        ranks["head raw"].append(rank_of(scores, head, []))
        if plausible is not None:
            others = numpy.flatnonzero(~plausible[:, 2 * relation])
            ranks["head typed"].append(rank_of(scores, head, [*heads[relation, tail], *others]))
    return ranks, len(test), len(names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True, choices=["dot", "distmult", "complex", "transe", "rotate", "source-context", "rescal"])
    parser.add_argument("--norm", default="l1", choices=["l1", "l2"])
    parser.add_argument("--reciprocal", action="store_true")
    for name in ("embeddings", "relations", "graph", "train", "valid", "test", "report"):
        parser.add_argument("--" + name, required=True)
    arguments = parser.parse_args()
    report = json.loads(pathlib.Path(arguments.report).read_text())
    typed = "typed" in report
    ranks, triples, nodes = rank_all(arguments, report["typed"]["type_share"] if typed else None)

    expected = {
        "": (metrics_of(ranks["tail"] + ranks["head"]), report),
        "raw ": (metrics_of(ranks["tail raw"] + ranks["head raw"]), report["raw"]),
        "head ": (metrics_of(ranks["head"]), report["head"]),
        "head raw ": (metrics_of(ranks["head raw"]), report["head"]["raw"]),
        "tail ": (metrics_of(ranks["tail"]), report["tail"]),
        "tail raw ": (metrics_of(ranks["tail raw"]), report["tail"]["raw"]),
    }
    if typed:
        expected["typed "] = metrics_of(ranks["tail typed"] + ranks["head typed"]), report["typed"]
        expected["head typed "] = metrics_of(ranks["head typed"]), report["head"]["typed"]
        expected["tail typed "] = metrics_of(ranks["tail typed"]), report["tail"]["typed"]
    failures = 0
    if report["triples"] != triples or report["filtered"] is not True or report["split"] != "test":
        print(f"triples, filtered, split: {report['triples']}, {report['filtered']}, {report['split']}; expected "
              f"{triples}, True, test")
        failures += 1
    for place, (ours, theirs) in expected.items():
        for metric, value in ours.items():
            tolerance = TOLERANCE * nodes if metric == "mean_rank" else TOLERANCE
            if abs(value - theirs[metric]) > tolerance:
                print(f"{place}{metric}: numpy {value:.6f}, octavo {theirs[metric]:.6f}")
                failures += 1
    print(f"{arguments.model} {arguments.norm}{' reciprocal' if arguments.reciprocal else ''}: {triples} triples, "
          f"filtered MRR {expected[''][0]['mrr']:.6f} (numpy), {report['mrr']:.6f} (octavo)")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
