#!/usr/bin/python3
"""Opens what octavo export wrote with the readers that people use: numpy and gensim.

usage: check_readers.py EMBEDDINGS.npy NODES.names EXPORTED.npy WORD2VEC.txt WORD2VEC.bin VECTORS.tsv
EMBEDDINGS.npy is the run's own table, of floats or of bf16 words. Every file must hold the same rows, bit for bit, under the names of NODES.names.
exit 0 when all agree; an exception or a message and exit 1 otherwise
"""

import pathlib
import re
import sys

import gensim
import numpy


def check(condition, message):
    if not condition:
        sys.exit(message)


def word_of(name):
    """The name as word2vec has it: no ASCII white space, UTF-8, not empty."""
    return re.sub(r"[ \t\n\v\f\r]", "_", name.decode("utf-8", errors="replace")) or "_"


def main():
    table, names_path, exported, text, binary, tsv = sys.argv[1:]
    names = pathlib.Path(names_path).read_bytes().split(b"\n")[:-1]
    rows = numpy.load(table, mmap_mode="r")
    if rows.dtype == numpy.dtype("<u2"):
        rows = (rows.astype("uint32") << 16).view("float32")
    check(rows.dtype == numpy.dtype("<f4") and rows.ndim == 2, f"{table}: {rows.dtype}, {rows.ndim} dimensions")
    check(rows.shape[0] == len(names), f"{table}: {rows.shape[0]} rows; expected {len(names)}")

    copy = numpy.load(exported, mmap_mode="r")
    check(copy.dtype == rows.dtype and numpy.array_equal(copy, rows), f"{exported}: not the rows of {table}")

    for path, is_binary in ((text, False), (binary, True)):
        vectors = gensim.models.KeyedVectors.load_word2vec_format(path, binary=is_binary)
        check(vectors.vectors.shape == rows.shape, f"{path}: {vectors.vectors.shape}; expected {rows.shape}")
        check(vectors.index_to_key == [word_of(name) for name in names], f"{path}: names differ")
        check(numpy.array_equal(vectors.vectors, rows), f"{path}: not the rows of {table}")

    lines = pathlib.Path(tsv).read_bytes().split(b"\n")[:-1]
    check([line.split(b"\t")[0] for line in lines] == [re.sub(rb"[\t\n\r]", b"_", name) for name in names],
          f"{tsv}: names differ")
    values = numpy.array([[numpy.float32(x) for x in line.split(b"\t")[1:]] for line in lines], dtype=numpy.float32)
    check(numpy.array_equal(values, rows), f"{tsv}: not the rows of {table}")
    print(f"{len(names)} vectors of {rows.shape[1]} numbers: numpy {numpy.__version__} and gensim {gensim.__version__} agree")


if __name__ == "__main__":
    main()
