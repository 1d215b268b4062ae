#!/usr/bin/python3
"""Checks that no include of lib/ points upward or in a circle, and that threads stay where they belong.

A folder of lib/ may include from itself and from the folders that ALLOWED gives it. Within a folder a module is x.h with
x.cc, and each can be read after those that it includes. lib/README.md is the map for people.

usage: layer_check.py [ROOT]           exit 0 when clean, 1 with one line for each breach
       layer_check.py --order FOLDER   the modules of lib/FOLDER in an order in which they can be read
       layer_check.py --self-test      exit 0 when every kind of deliberate breach is caught
"""

import graphlib
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
    "graph": ["base", "io", "format", "cells"],
    "parse": ["base", "io", "format", "cells", "graph"],
    "import": ["base", "io", "format", "cells", "graph", "parse"],
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
    "layout": ["base", "io", "format", "graph", "tables", "model", "evaluate", "export", "index"],
    "ranks": ["base"],
    "run": ["base", "io", "format", "cells", "graph", "walk", "tables", "vectors", "plan", "prefetch", "model", "optimize", "checkpoint"],
    "query": ["base", "io", "format", "graph", "tables", "model", "evaluate", "index", "run"],
    "train": ["base", "io", "format", "graph", "tables", "plan", "prefetch", "model", "optimize", "checkpoint", "ranks", "run"],
    "choose": ["base", "io", "format", "graph", "plan", "model", "optimize", "run", "train"],
    "tune": ["base", "io", "format", "cells", "graph", "checkpoint", "run", "train", "choose"],
    "chart": ["base"],
    "report": ["base", "io", "format", "chart", "graph", "tables", "plan", "evaluate", "run"],
    "serve": ["base", "io", "format", "graph", "tables", "checkpoint", "evaluate", "index", "layout", "run", "query", "report"],
    "bench": ["base", "chart", "io", "import", "model", "optimize", "graph", "tables", "plan", "prefetch", "run", "train"],
}

# Folders of pure functions and plain files: they start no threads. io has a mutex for its failpoints. base/ has the
# wrappers of TBB's loops and values of threads, of the mutex and of a deep stack, for the folders that may use them.
NO_TBB = {"base", "io", "format", "generate", "plan", "model", "optimize", "chart"}
NO_THREADS = NO_TBB - {"io"}

WRAPPERS = {"base/parallel.cc", "base/per_thread.h", "base/mutex.h", "base/deep_stack.cc"}
TBB = re.compile(r"^(oneapi/)?tbb(/|\.h$)|^base/(parallel|per_thread)\.h$")
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
        if in_wrapper and (TBB.match(name) or THREADS.match(name)):
            continue
        if folder in NO_TBB and TBB.match(name):
            yield f"{path}:{number}: includes <{name}>, but {folder}/ does not use TBB"
        elif folder in NO_THREADS and THREADS.match(name):
            yield f"{path}:{number}: includes <{name}>, but {folder}/ knows no threads or locks"
        elif top in ("cmd", "tests"):
            yield f'{path}:{number}: includes "{name}", but lib/ stands below {top}/'
        elif "/" in name and top in ALLOWED and top != folder and top not in ALLOWED[folder]:
            yield f'{path}:{number}: includes "{name}", but {folder}/ may include only: {" ".join(ALLOWED[folder]) or "nothing"}'


def modules_of(folder):
    """Returns, of each module of the folder, the other modules of it that its header and source include."""
    modules = {}
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".h", ".cc"):
            continue
        includes = modules.setdefault(path.stem, set())
        for line in path.read_text(errors="replace").splitlines():
            match = INCLUDE.match(line)
            if match and match.group(1).startswith(f"{folder.name}/"):
                includes.add(pathlib.PurePath(match.group(1)).stem)
        includes.discard(path.stem)
    return modules


def check_order(folder):
    try:
        graphlib.TopologicalSorter(modules_of(folder)).prepare()
    except graphlib.CycleError as error:
        circle = " <- ".join(error.args[1])
        yield f"{folder}: modules that include each other: {circle}; move what both need to a third file"


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
        breaches.extend(check_order(folder))
    return breaches


def self_test():
    # file, its one line, and whether that is a breach; in place of the line, files with theirs
    cases = [
        ("lib/base/a.h", '#include "io/file.h"', True),
        ("lib/tables/a.cc", '#include "train/trainer.h"', True),
        ("lib/evaluate/a.cc", '#include "train/trainer.h"', True),
        ("lib/train/a.cc", '#include "evaluate/ranking.h"', True),
        ("lib/io/a.cc", "#include <oneapi/tbb/parallel_for.h>", True),
        ("lib/model/a.cc", "#include <tbb/tbb.h>", True),
        ("lib/model/a.cc", '#include "base/parallel.h"', True),
        ("lib/model/a.cc", '#include "base/per_thread.h"', True),
        ("lib/base/per_thread.h", "#include <oneapi/tbb/enumerable_thread_specific.h>", False),
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
        ("lib/train/a.cc", '#include "run/options.h"', False),
        ("lib/run/a.h", '#include "train/trainer.h"', True),
        ("lib/report/a.cc", '#include "train/trainer.h"', True),
        ("lib/parse/a.cc", '#include "import/importer.h"', True),
        ("a circle of headers", {"lib/io/a.h": '#include "io/b.h"', "lib/io/b.h": '#include "io/a.h"'}, True),
        ("a circle through a source", {"lib/io/a.cc": '#include "io/b.h"', "lib/io/b.h": '#include "io/a.h"'}, True),
        ("a circle of three", {f"lib/io/{a}.cc": f'#include "io/{b}.h"' for a, b in ("ab", "bc", "ca")}, True),
        ("a source and its header", {"lib/io/a.cc": '#include "io/a.h"', "lib/io/b.cc": '#include "io/a.h"'}, False),
    ]
    for name, line, breach in cases:
        with tempfile.TemporaryDirectory() as folder:
            for file, text in (line if isinstance(line, dict) else {name: line}).items():
                path = pathlib.Path(folder, file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text + "\n")
            found = check(pathlib.Path(folder))
            if bool(found) != breach:
                sys.exit(f"self-test: {name} with {line!r}: {found or 'no breach found'}")
    print(f"{len(cases)} cases behave")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    here = pathlib.Path(__file__).parents[2]
    if len(sys.argv) == 3 and sys.argv[1] == "--order":
        order = graphlib.TopologicalSorter(modules_of(here / "lib" / sys.argv[2])).static_order()
        return print("\n".join(order))
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here)
    breaches = check(root)
    print("\n".join(breaches) if breaches else "every include of lib/ points downward, and none in a circle")
    sys.exit(bool(breaches))


main()
