#!/usr/bin/python3
"""Checks that no include of lib/ points upward and that threads stay where they belong.

A folder of lib/ may include from itself and from the folders that ALLOWED gives it. lib/README.md is the map for people.

usage: layer_check.py [ROOT]       exit 0 when clean, 1 with one line for each breach
       layer_check.py --self-test  exit 0 when every kind of deliberate breach is caught
"""

import pathlib
import re
import sys
import tempfile

ALLOWED = {
    "base": [],
    "io": ["base"],
    "format": ["base"],
    "generate": ["base"],
    "cells": ["base", "io", "format"],
    "graph": ["base", "io", "format"],
    "import": ["base", "io", "format", "cells", "graph"],
    "walk": ["base", "io", "format", "cells", "graph"],
    "tables": ["base", "io", "format"],
    "vectors": ["base", "io", "format", "cells", "graph", "tables"],
    "plan": ["base", "graph"],
    "prefetch": ["base", "io", "format", "graph", "plan", "tables"],
    "model": ["base"],
    "optimize": ["base"],
    "checkpoint": ["base", "io", "format", "tables"],
    "evaluate": ["base", "io", "format", "graph", "tables", "model", "plan"],
    "export": ["base", "io", "format", "graph", "tables"],
    "index": ["base", "io", "format", "graph", "tables", "model", "evaluate", "export"],
    "train": ["base", "io", "format", "cells", "import", "graph", "tables", "vectors", "plan", "prefetch", "model", "optimize",
              "checkpoint"],
    "tune": ["base", "io", "format", "graph", "checkpoint", "train"],
    "chart": ["base"],
    "report": ["base", "io", "format", "chart", "graph", "tables", "plan", "evaluate", "train"],
    "bench": ["base", "chart", "io", "model", "optimize", "graph", "tables", "plan", "prefetch", "train"],
}

# Folders of pure functions and plain files: they start no thread. io keeps a mutex for its failpoints. base/ has the
# wrappers of TBB's loops and of the mutex, for the folders that may use what is wrapped.
NO_TBB = {"base", "io", "format", "generate", "plan", "model", "optimize", "chart"}
NO_THREADS = NO_TBB - {"io"}

WRAPPERS = {"base/parallel.cc", "base/mutex.h"}
TBB = re.compile(r"^(oneapi/)?tbb(/|\.h$)")
THREADS = re.compile(
    r"^(thread|mutex|shared_mutex|condition_variable|future|semaphore|barrier|latch|stop_token|pthread\.h"
    r"|absl/synchronization/.*|base/mutex\.h)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def check_source(path, folder):
    in_wrapper = "/".join(path.parts[-2:]) in WRAPPERS
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        name = match.group(1)
        top = name.split("/")[0]
        if in_wrapper and (TBB.match(name) or THREADS.match(name) or name == "base/parallel.h"):
            continue
        if folder in NO_TBB and (TBB.match(name) or name == "base/parallel.h"):
            yield f"{path}:{number}: includes <{name}>, but {folder}/ does not use TBB"
        elif folder in NO_THREADS and THREADS.match(name):
            yield f"{path}:{number}: includes <{name}>, but {folder}/ knows no threads or locks"
        elif top in ("cmd", "tests"):
            yield f'{path}:{number}: includes "{name}", but lib/ stands below {top}/'
        elif "/" in name and top in ALLOWED and top != folder and top not in ALLOWED[folder]:
            yield f'{path}:{number}: includes "{name}", but {folder}/ may include only: {" ".join(ALLOWED[folder]) or "nothing"}'


def check(root):
    breaches = []
    for folder in sorted((root / "lib").iterdir()):
        if not folder.is_dir():
            continue
        if folder.name not in ALLOWED:
            breaches.append(f"{folder}: not in the table of layers; add it to tests/style/layer_check.py and lib/README.md")
            continue
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".h", ".cc"):
                breaches.extend(check_source(path, folder.name))
    return breaches


def self_test():
    # file, its one line, and whether that is a breach
    cases = [
        ("lib/base/a.h", '#include "io/file.h"', True),
        ("lib/tables/a.cc", '#include "train/trainer.h"', True),
        ("lib/evaluate/a.cc", '#include "train/trainer.h"', True),
        ("lib/train/a.cc", '#include "evaluate/ranking.h"', True),
        ("lib/io/a.cc", "#include <oneapi/tbb/parallel_for.h>", True),
        ("lib/model/a.cc", "#include <tbb/tbb.h>", True),
        ("lib/model/a.cc", '#include "base/parallel.h"', True),
        ("lib/base/parallel.cc", '#include "oneapi/tbb/parallel_for.h"', False),
        ("lib/base/parallel.h", '#include "oneapi/tbb/parallel_for.h"', True),
        ("lib/base/mutex.h", "#include <mutex>", False),
        ("lib/model/a.cc", '#include "base/mutex.h"', True),
        ("lib/model/a.cc", "#include <thread>", True),
        ("lib/optimize/a.cc", '#include "absl/synchronization/mutex.h"', True),
        ("lib/graph/a.cc", '#include "cmd/flags.h"', True),
        ("lib/helper/a.h", "int a;", True),
        ("lib/io/a.cc", "#include <mutex>", False),
        ("lib/tables/a.cc", "#include <oneapi/tbb/spin_rw_mutex.h>", False),
        ("lib/train/a.cc", '#include "checkpoint/commit.h"', False),
        ("lib/format/a.cc", '#include "format/b.h"', False),
        ("lib/base/a.cc", "#include <format>", False),
    ]
    for name, line, breach in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True)
            path.write_text(line + "\n")
            found = check(pathlib.Path(folder))
            if bool(found) != breach:
                sys.exit(f"self-test: {name} with {line!r}: {found or 'no breach found'}")
    print(f"{len(cases)} cases behave")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    breaches = check(root)
    print("\n".join(breaches) if breaches else "every include of lib/ points downward")
    sys.exit(bool(breaches))


main()
