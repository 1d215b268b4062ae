"""A small training in lanes, undisturbed in one process, and its commands for several ranks."""

import dataclasses
import pathlib
import random
import shutil
import subprocess

import job

LANES = 4


class Failed(Exception):
    """What was found, and what was expected."""


class Report:
    """Runs the parts of a test, each even if others fail."""

    def __init__(self):
        self.failures = 0

    def attempt(self, part, *arguments, **options):
        """Returns what the part returns; None if it fails."""
        try:
            return part(*arguments, **options)
        except Failed as failure:
            self.failures += 1
            print(f"FAILED: {failure}", flush=True)
            return None


# Two graphs: with relations, which all lanes share, and without, where rounds need no barrier.
KINDS = {
    "relations": ["--model", "complex", "--reciprocal", "--optimizer", "adagrad"],
    "plain": ["--model", "dot", "--optimizer", "row-adagrad"],
}
COMMON = ["--preset", "none", "--dim", "16", "--batch", "500", "--chunk", "100", "--negatives", "16",
          "--learning-rate", "0.1", "--learning-rate-schedule", "cosine", "--seed", "7", "--lanes", str(LANES)]


def run_octavo(command, expected=0):
    result = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            check=False)
    if result.returncode != expected:
        raise Failed(f"{' '.join(map(str, command))}: exit {result.returncode}, expected {expected}: "
                         f"{result.stderr.strip()}")
    return result.stdout


def make_edges(path, relations, nodes=9000, edges=30000, seed=3):
    draw = random.Random(seed)
    with path.open("w") as lines:
        for i in range(edges):
            head, tail = f"n{i % nodes}", f"n{draw.randrange(nodes)}"
            lines.write(f"{head}\tr{draw.randrange(3)}\t{tail}\n" if relations else f"{head}\t{tail}\n")


@dataclasses.dataclass
class Training:
    """Of one kind of graph, or of `given`, by `extra` options alone. Folders are in `folder`."""
    octavo: pathlib.Path
    folder: pathlib.Path
    kind: str
    epochs: int = 3
    extra: tuple = ()  # options
    valid_edges: int = 0
    given: pathlib.Path | None = None  # a graph folder

    def __post_init__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{self.kind}-{self.valid_edges}" if self.valid_edges else self.kind
        self.graph = self.given or self.folder / f"graph-{name}"
        self.whole = self.folder / f"whole-{name}"
        if not self.graph.exists():
            edges = self.folder / f"{self.kind}.tsv"
            make_edges(edges, self.kind == "relations")
            columns = "head,relation,tail" if self.kind == "relations" else "head,tail"
            valid = []
            if self.valid_edges:
                valid = ["--valid", self.folder / "valid.tsv"]
                make_edges(valid[1], self.kind == "relations", edges=self.valid_edges, seed=4)
            run_octavo([self.octavo, "--quiet", "import", edges, "--graph", self.graph, "--columns", columns, *valid])

    def options(self):
        if self.given:
            return ["--seed", "7", "--lanes", str(LANES), *self.extra]
        return [*COMMON, *KINDS[self.kind], "--epochs", str(self.epochs), *self.extra]

    def train_whole(self):
        """The undisturbed run of one process."""
        if not self.whole.exists():
            run_octavo([self.octavo, "--quiet", "train", "--graph", self.graph, "--run", self.whole, *self.options(),
                        "--threads", "1"])

    def train(self, run, threads=1, graph=None):
        return [self.octavo, "train", "--graph", graph or self.graph, "--run", run, *self.options(), "--threads", str(threads)]

    def resume(self, run, threads=1):
        return [self.octavo, "resume", "--run", run, "--threads", str(threads)]

    def folders(self, name, ranks, shared):
        """New run folders, one a rank; a shared one is all ranks'."""
        runs = [self.folder / f"{name}-{'shared' if shared else rank}" for rank in range(ranks)]
        for run in runs:
            shutil.rmtree(run, ignore_errors=True)
        return runs

    def check(self, run, what):
        """Compares a finished run with the undisturbed one, and verifies it."""
        faults = job.differences(run, self.whole)
        if faults:
            raise Failed(f"{what}: {'; '.join(faults)}; the run is {run}")
        run_octavo([self.octavo, "--quiet", "verify", run])
