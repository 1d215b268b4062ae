#!/usr/bin/python3
"""Opens what octavo export wrote with common readers: numpy, gensim, h5py, json, csv.

usage: check_readers.py EMBEDDINGS.npy NODES.names FOLDER [SELECTED]
EMBEDDINGS.npy is the run's table, of floats or of bf16 words. FOLDER has vectors.FORMAT for each format, plain or .zst,
metadata.tsv, the names of hdf5 as names.json, and half.npy, int8.npy and scales.npy. Every file must hold the same
rows, bit for bit (half and int8: as numpy rounds them), under the names of NODES.names: all of them, or those in the
file SELECTED, in its order.
exit 0 when all agree; an exception or a message and exit 1 otherwise
"""

import csv
import json
import pathlib
import re
import subprocess
import sys

import gensim
import h5py
import numpy


def check(condition, message):
    if not condition:
        sys.exit(message)


def word_of(name):
    """The name as word2vec has it: no ASCII white space, UTF-8, not empty."""
    return re.sub(r"[ \t\n\v\f\r]", "_", text_of(name)) or "_"


def text_of(name):
    return name.decode("utf-8", errors="replace")


def field_of(name):
    return re.sub(rb"[\t\n\r]", b"_", name)


def floats_of(rows):
    return numpy.array([[numpy.float32(x) for x in row] for row in rows], dtype=numpy.float32)


def main():
    table, names_path, folder, *selected = sys.argv[1:]
    names = pathlib.Path(names_path).read_bytes().split(b"\n")[:-1]
    rows = numpy.load(table, mmap_mode="r")
    if rows.dtype == numpy.dtype("<u2"):
        rows = (rows.astype("uint32") << 16).view("float32")
    check(rows.dtype == numpy.dtype("<f4") and rows.ndim == 2, f"{table}: {rows.dtype}, {rows.ndim} dimensions")
    check(rows.shape[0] == len(names), f"{table}: {rows.shape[0]} rows; expected {len(names)}")
    if selected:
        row_of = {name: row for row, name in enumerate(names)}
        names = pathlib.Path(selected[0]).read_bytes().split(b"\n")[:-1]
        rows = rows[[row_of[name] for name in names]]
    folder = pathlib.Path(folder)

    def exported(name):
        """The path of the file, decompressed by the program for its format."""
        path, packed = folder / name, folder / f"{name}.zst"
        if packed.exists():
            subprocess.run(["zstd", "-dqf", packed, "-o", path], check=True)
        return path

    def same(values, name):
        check(values.shape == rows.shape and numpy.array_equal(values, rows), f"{name}: not the rows of {table}")

    copy = numpy.load(exported("vectors.npy"), mmap_mode="r")
    check(copy.dtype == rows.dtype, f"vectors.npy: {copy.dtype}")
    same(copy, "vectors.npy")

    half = numpy.load(exported("half.npy"))
    check(half.dtype == numpy.float16, f"half.npy: {half.dtype}")
    with numpy.errstate(over="ignore"):
        check(half.tobytes() == rows.astype("<f2").tobytes(), "half.npy: not as numpy rounds")

    q, scales = numpy.load(exported("int8.npy")), numpy.load(exported("scales.npy"))
    check(q.dtype == numpy.int8 and scales.dtype == numpy.float32, f"int8.npy: {q.dtype}, {scales.dtype}")
    check(scales.shape == (len(rows), 1), f"scales.npy: {scales.shape}")
    steps = rows.astype("float64") / numpy.where(scales == 0, 1, scales)
    check(numpy.array_equal(q, numpy.rint(steps)), "int8.npy: not as numpy rounds")
    check((numpy.abs(q).max(axis=1) == 127 * (scales[:, 0] > 0)).all(), "int8.npy: does not reach 127")
    check((numpy.abs(q * scales - rows) <= scales * 0.50001).all(), "int8.npy: a value is off by more than half a step")

    for name, is_binary in (("vectors.word2vec", False), ("vectors.word2vec-binary", True)):
        vectors = gensim.models.KeyedVectors.load_word2vec_format(str(exported(name)), binary=is_binary)
        check(vectors.index_to_key == [word_of(name) for name in names], f"{name}: names differ")
        same(vectors.vectors, name)

    lines = exported("vectors.tsv").read_bytes().split(b"\n")[:-1]
    check([line.split(b"\t")[0] for line in lines] == [field_of(name) for name in names], "vectors.tsv: names differ")
    same(floats_of(line.split(b"\t")[1:] for line in lines), "vectors.tsv")

    # The Embedding Projector splits at tabs, and takes one column of metadata without a header.
    with open(exported("vectors.projector"), newline="") as file:
        same(floats_of(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)), "vectors.projector")
    metadata = exported("metadata.tsv").read_bytes().split(b"\n")[:-1]
    check(metadata == [field_of(name) for name in names], "metadata.tsv: names differ")

    objects = [json.loads(line) for line in exported("vectors.jsonl").read_text("utf-8").split("\n")[:-1]]
    check([entry["name"] for entry in objects] == [text_of(name) for name in names], "vectors.jsonl: names differ")
    same(floats_of(entry["vector"] for entry in objects), "vectors.jsonl")

    # As PyTorch-BigGraph's checkpoint_storage.py reads it.
    with h5py.File(exported("vectors.hdf5"), "r") as file:
        check(file.attrs["format_version"] == 1, "vectors.hdf5: format_version")
        check(file["embeddings"].dtype == numpy.dtype("<f4"), "vectors.hdf5: type")
        same(file["embeddings"][...], "vectors.hdf5")
    check(json.loads(exported("names.json").read_text("utf-8")) == [text_of(name) for name in names],
          "names.json: names differ")
    print(f"{len(names)} vectors of {rows.shape[1]} numbers: numpy {numpy.__version__}, gensim {gensim.__version__}"
          f" and h5py {h5py.__version__} agree")


if __name__ == "__main__":
    main()
