"""octavo as a watched child: how it ends, what it prints and holds, and what it leaves.

For the scripts in this folder. A Watch has a scratch folder with a small graph and a run of it to copy from; nothing
outside the scratch folder is written.
"""

import dataclasses
import hashlib
import os
import pathlib
import re
import resource
import select
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading

NOBODY = 65534
# What a message must never contain: it reaches terminals.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
# Files whose bytes a command may change although it fails: the last owner of the run.
LIVELY = {"LOCK"}


class Failure(Exception):
    """What was found, and what was expected."""


@dataclasses.dataclass
class Ended:
    """A child that has ended."""
    line: str  # the command, for a shell
    pid: int
    code: int  # negative: a signal
    out: bytes
    err: bytes
    peak_bytes: int  # resident; at least that of this interpreter, its parent

    def said(self):
        return self.err.decode(errors="backslashreplace")


def snapshot(folder):
    """Returns {name: what it is} of everything in the folder, without following a link or opening a pipe."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(parent, name)
            info = os.lstat(path)
            what = [stat.filemode(info.st_mode)]
            if stat.S_ISLNK(info.st_mode):
                what.append(os.readlink(path))
            elif stat.S_ISREG(info.st_mode) and name not in LIVELY:
                with open(path, "rb") as file:
                    what += [info.st_size, hashlib.file_digest(file, "sha256").hexdigest()]
            found[os.path.relpath(path, folder)] = what
    return found


def differences(before, after, made=()):
    """Returns a line for each thing that is new, gone, or changed and not in `made` (and for what is in such a
    folder)."""
    lines = []
    for name in sorted(before.keys() | after.keys()):
        if name in made or any(name.startswith(f"{folder}/") for folder in made) or name.split("/")[-1] in LIVELY:
            continue
        if before.get(name) != after.get(name):
            lines.append(f"{name!r} was {before.get(name, 'not there')} and is {after.get(name, 'gone')}")
    return lines


def tables(run):
    """Returns {name: sha256} of the tables of a run."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(run.glob("*.npy"))}


class Reading:
    """What comes out of a pipe, read by a thread. A file instead would be subject to the child's limits."""

    def __init__(self, pipe):
        self.pieces = []
        self.thread = threading.Thread(target=self.read, args=[pipe])
        self.thread.start()

    def read(self, pipe):
        with pipe:
            while piece := pipe.read1(1 << 16):
                self.pieces.append(piece)

    def text(self):
        self.thread.join()
        return b"".join(self.pieces)


class Watch:
    def __init__(self, octavo, prefix):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
        os.chmod(self.scratch, 0o755)  # another user comes here, too
        self.octavo = self.scratch / "octavo"
        shutil.copy(octavo, self.octavo)
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        self.number = 0

    def remove(self):
        self.discard(self.scratch)

    def folder(self, *templates):
        """Returns a new empty folder, with copies of what is named."""
        self.number += 1
        folder = self.scratch / f"{self.number}"
        folder.mkdir(mode=0o755)
        for template in templates:
            shutil.copytree(self.scratch / template, folder / template, symlinks=True)
        return folder

    @staticmethod
    def discard(folder):
        for path in [folder, *folder.rglob("*")]:
            if path.is_dir() and not path.is_symlink():
                os.chmod(path, 0o755)
        shutil.rmtree(folder)

    def start(self, arguments, folder, *, prefix=(), environment=None, stdin=subprocess.DEVNULL, user=None, shell=None):
        """Returns (process, readers of its outputs, its command line). `shell`: redirections that a shell makes
        last."""
        command = [str(part) for part in [*prefix, self.octavo, *arguments]]
        if user is not None and os.geteuid() == 0:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--", *command]
        line = shlex.join(command) + (f" {shell}" if shell else "")
        if shell:
            command = ["bash", "-c", f"exec \"$@\" {shell}", "bash", *command]
        inherited = {name: value for name, value in os.environ.items() if name not in ("OCTAVO_FAILPOINT", "NO_COLOR")}
        process = subprocess.Popen(command, cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=inherited | (environment or {}))
        said = "".join(f"{name}={value} " for name, value in (environment or {}).items())
        return process, [Reading(process.stdout), Reading(process.stderr)], said + line

    @staticmethod
    def end(started, timeout=60):
        """Waits for what start() returned."""
        process, outputs, line = started
        descriptor = os.pidfd_open(process.pid)
        try:
            ended = bool(select.select([descriptor], [], [], timeout)[0])
        finally:
            os.close(descriptor)
        if not ended:
            process.kill()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = [output.text() for output in outputs]
        if not ended:
            raise Failure(f"no end after {timeout} s: {line}")
        return Ended(line, process.pid, process.returncode, texts[0], texts[1], usage.ru_maxrss * 1024)

    def run(self, arguments, folder, timeout=60, **how):
        return self.end(self.start(arguments, folder, **how), timeout)

    def must(self, arguments, folder=None, **how):
        """Runs what has to succeed and returns its standard output."""
        ended = self.run(arguments, folder or self.scratch, **how)
        if ended.code != 0:
            raise Failure(f"{ended.line}: exit {ended.code}: {ended.said()}")
        return ended.out

    def make_graph(self, name="graph", nodes=40, edges=400, relations=3, weights=False, labels=False):
        """Makes a graph with all three splits from drawn edges, and labels if wanted: of every other
        node and of a relation."""
        text = []
        state = 12345 + nodes
        for number in range(edges):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            text.append(f"n{number % nodes}\tr{(state >> 33) % relations}\tn{(state >> 40) % nodes}"
                        + f"\t{1 + number % 3}" * weights)
        (self.scratch / f"{name}.tsv").write_text("\n".join(text) + "\n")
        flags = []
        if labels:
            flags = ["--labels", f"{name}-labels.tsv"]
            (self.scratch / flags[1]).write_text(
                "r1\tthe relation\n" + "".join(f"n{i}\tlabel {i} of {edges}\n" for i in range(0, nodes, 2)))
        self.must(["--quiet", "import", f"{name}.tsv", "--graph", name, "--split", "0.8,0.1,0.1", *flags])

    def make_run(self, name="run", graph="graph", **options):
        flags = [f"--{option}={value}" for option, value in (TINY_OPTIONS | options).items()]
        self.must(["--quiet", "train", "--graph", graph, "--run", name, "--durability", "process", *flags])


# Flags of a training that takes a moment.
TINY_OPTIONS = {"preset": "none", "dim": 8, "batch": 64, "chunk": 16, "negatives": 8, "epochs": 2}
TINY = [f"--{option}={value}" for option, value in TINY_OPTIONS.items()]


def judge(ended, codes, message, silent=True):
    """Raises a Failure unless the child ended with one of the codes and, if it failed, standard error matches the
    regular expression and contains nothing unfit for a terminal; with `silent` standard output must be empty then."""
    if ended.code < 0:
        raise Failure(f"died of {signal.Signals(-ended.code).name}: {ended.said()}")
    if ended.code not in codes:
        raise Failure(f"exit {ended.code}, expected {' or '.join(map(str, sorted(codes)))}: {ended.said()}")
    if message is not None and not re.search(message, ended.said(), re.DOTALL):
        raise Failure(f"exit {ended.code} with the message\n    {ended.said().strip()}\nexpected\n    {message}")
    if ended.code not in (0, 129, 130, 143) and message != "" and not re.search(r"(?m)^error: |\"level\":\"error\"",
                                                                               ended.said()):
        raise Failure(f"exit {ended.code} without an error message: {ended.said()!r}")
    if found := CONTROL.search(ended.err):
        raise Failure(f"the control byte {found[0]!r} in the message {ended.err[:300]!r}")
    if "terminate called" in ended.said() or "Sanitizer" in ended.said():
        raise Failure(f"exit {ended.code}: {ended.said()}")
    if silent and ended.code != 0 and ended.out:
        raise Failure(f"exit {ended.code} with {ended.out[:200]!r} on standard output")


def main(octavo, prefix, work):
    """Calls work(watch), which returns the number of failures, and exits. The scratch folder is kept after a failure."""
    if not os.access(octavo, os.X_OK):
        sys.exit(f"{octavo}: no such program")
    watch = Watch(octavo, prefix)
    failures = 1
    try:
        failures = work(watch)
    finally:
        if failures == 0:
            watch.remove()
        else:
            print(f"kept: {watch.scratch}")
    sys.exit(1 if failures else 0)
