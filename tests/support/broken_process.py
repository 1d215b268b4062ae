"""Trainings whose messages are read as they come, in order to break them at a moment that depends on the messages."""

import dataclasses
import json
import os
import re
import select
import subprocess
import time

TIMEOUT = 120  # seconds that a process may take


class Failure(Exception):
    """What was found, and what was expected. `data` says that data was lost or wrong: what a control must cause."""

    def __init__(self, message, data=False):
        super().__init__(message)
        self.data = data


@dataclasses.dataclass
class Moment:
    """When a process is broken: `delay` seconds after the start, the k-th acknowledgment, a file, or the end."""
    delay: float = 0.0
    acknowledgment: int = 0
    file: str = ""
    end: bool = False
    naps: str = ""  # failpoints
    cut: bool = True  # or only killed


@dataclasses.dataclass
class Saved:
    """What the processes of a run acknowledged."""
    generation: int = 0
    epochs: int = 0
    done: bool = False

    def take(self, message):
        """Returns whether the message acknowledges a commit."""
        if found := re.fullmatch(r"generation (\d+) is committed", message):
            self.generation = max(self.generation, int(found[1]))
        elif found := re.match(r"epoch (\d+)/\d+  loss ", message):
            self.epochs = max(self.epochs, int(found[1]))
        elif found := re.match(r"done: (\d+) epochs?, generation (\d+) ", message):
            self.epochs, self.generation, self.done = int(found[1]), int(found[2]), True
        else:
            return False
        return True

    def anything(self):
        return self.generation > 0 or self.epochs > 0


class Process:
    """An octavo that trains; its messages are read as they come."""

    def __init__(self, command, environment):
        self.child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        os.set_blocking(self.child.stderr.fileno(), False)
        self.messages = []
        self.rest = b""
        self.said = Saved()
        self.acknowledgments = 0

    def read(self, seconds):
        """Takes what has come, after waiting up to `seconds`. Returns whether more may come."""
        if not select.select([self.child.stderr], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.child.stderr.fileno(), 1 << 20)
        except BlockingIOError:
            return True
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                entry = {"level": "raw", "message": line.decode(errors="replace")}
            if entry["level"] == "progress":  # every 10 seconds
                continue
            self.messages.append((entry["level"], entry["message"]))
            self.acknowledgments += entry["level"] == "info" and self.said.take(entry["message"])
        return bool(data)

    def wait(self, moment, run):
        """Returns at the moment, or when the process has ended. Returns whether it still ran."""
        met = not (moment.acknowledgment or moment.file or moment.end)
        until = time.monotonic() + (moment.delay if met else TIMEOUT)
        while time.monotonic() < until:
            if not self.read(0.0005 if moment.file and not met else min(0.02, max(0, until - time.monotonic()))):
                self.child.wait(TIMEOUT)
                return False
            if not met and (moment.acknowledgment and self.acknowledgments >= moment.acknowledgment
                            or moment.file and (run / moment.file).exists()):
                met, until = True, time.monotonic() + moment.delay
        if not met:
            raise Failure(f"no end after {TIMEOUT} s")
        return True

    def read_to_the_end(self):
        self.wait(Moment(end=True), None)
        return self.child.returncode

    def kill(self):
        self.child.kill()
        self.child.wait()
        while self.read(0.1):
            pass
        self.child.stderr.close()
