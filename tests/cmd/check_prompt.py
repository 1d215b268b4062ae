#!/usr/bin/python3
"""Talks to the prompt of octavo query as a person at a terminal does.

usage: check_prompt.py OCTAVO RUN WEB_RUN      the runs of reading.bash; exit 0 when everything is correct
"""

import json
import os
import pty
import re
import select
import subprocess
import sys

PROMPT = "octavo> "
SECONDS = 15  # on a busy machine
UP, TAB, CTRL_C, CTRL_D, CTRL_Z = "\x1b[A", "\t", "\x03", "\x04", "\x1a"


class Terminal:
    """The program on its own terminal; its output without the terminal's escapes."""

    def __init__(self, *command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", NO_COLOR="1", HOME="/nonexistent", LC_ALL="C")
            os.execv(command[0], command)
        self.text = ""

    def read(self):
        if not select.select([self.fd], [], [], SECONDS)[0]:
            raise AssertionError(f"nothing more within {SECONDS} s after:\n{self.text}")
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the other end is closed
            data = b""
        self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>()][B0]?|[\a\r]", "", data.decode())
        return bool(data)

    def expect(self, wanted):
        """Waits for the text and returns the output before it."""
        while wanted not in self.text:
            if not self.read():
                raise AssertionError(f"ended without {wanted!r}:\n{self.text}")
        before, self.text = self.text.split(wanted, 1)
        return before

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def ask(self, line):
        """Types a line at the current prompt and returns the output before the next one."""
        self.type(line + "\n")
        return self.expect("\n" + PROMPT).split("\n", 1)[-1]

    def end(self):
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def same(found, expected):
    assert found == expected, f"found {found!r}\nexpected {expected!r}"


def has(text, *parts):
    for part in parts:
        assert part in text, f"found {text!r}\nexpected {part!r} in it"


def main():
    octavo, run, web_run = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]

    def once(*words):
        return subprocess.run([octavo, "query", "--run", run, *words], check=True, capture_output=True, text=True).stdout

    terminal = Terminal(octavo, "query", "--run", run, "-k", "3")
    has(terminal.expect(PROMPT), "14 nodes, 2 relations")

    # Every way to ask gives the answers of the command line.
    paris = once("neighbors", "New York", "-k", "3")
    for line in ('neighbors "New York"', "neighbors New York", '"New York"', "New York", '"New\\x20York"'):
        same(terminal.ask(line), paris)
    tails = once("predict", "city1", "in", "?", "-k", "3")
    for line in ("predict city1 in ?", "city1 in ?", '"city1" in  ?'):
        same(terminal.ask(line), tails)
    same(terminal.ask("? in country2"), once("predict", "?", "in", "country2", "-k", "3"))
    same(terminal.ask("k 2"), "k 2")
    same(terminal.ask("city1"), once("neighbors", "city1", "-k", "2"))
    has(terminal.ask("help"), "predict HEAD RELATION ?", "TAB", "The ? stands for the wanted name")

    # Flags after a question apply only to it; an omitted tail is the wanted one.
    for line in ("city1 -k 4", "neighbors city1 --k 4"):
        same(terminal.ask(line), once("neighbors", "city1", "-k", "4"))
    marked = once("predict", "city1", "in", "?", "-k", "14", "--known", "mark")
    for line in ("predict city1 in ? --known mark -k 14", "city1 in ? -k 14 --known mark"):
        same(terminal.ask(line), marked)
    typed = once("predict", "city1", "in", "?", "-k", "14", "--typed")
    for line in ("predict city1 in ? --typed -k 14", "city1 in ? -k 14 --typed"):
        same(terminal.ask(line), typed)
    same(terminal.ask("predict city1 in"), once("predict", "city1", "in", "?", "-k", "2"))
    same(terminal.ask('neighbors New York -k 2'), once("neighbors", "New York", "-k", "2"))
    has(terminal.ask("city1 -k"), "-k: found nothing after it; expected a whole number")
    has(terminal.ask("city1 -k 0"), "expected a whole number from 1 to 1000")
    has(terminal.ask("city1 in ? --known all"), '--known: found "all"; expected hide or mark')
    for line in ("city1 --typed", "neighbors city1 --typed", "k 5 --typed"):
        has(terminal.ask(line), "--typed: found after something else; expected HEAD RELATION ? or ? RELATION TAIL before it")
    for line in ("city1 --known mark", "--known mark", "help --known mark"):
        has(terminal.ask(line), "--known: found after something else; expected HEAD RELATION ? or")
    has(terminal.ask('city1 "-k" 3'), r'no node "city1 \"-k\" 3"')
    same(terminal.ask("-k 2"), "k 2")

    # Errors are reported, and the prompt continues.
    has(terminal.ask("New Yrok"), 'no node "New Yrok"; did you mean "New York"?')
    has(terminal.ask("city1 nera ?"), 'no relation "nera"; did you mean "near"?')
    has(terminal.ask("city1 ?"), "the graph has 2 relations")
    has(terminal.ask("predict city1"), "found 1 word; expected HEAD RELATION ?")
    has(terminal.ask("predict"), "found 0 words")
    has(terminal.ask("neighbors"), "found no name")
    has(terminal.ask("predict city1 in country1"), "expected ? for exactly one of them")
    has(terminal.ask("k 0"), "expected a whole number from 1 to 1000")
    same(terminal.ask("k"), "k 2")

    # TAB: commands, names with blanks, relations, and many choices.
    terminal.type("neig" + TAB + "New" + TAB + "\n")
    has(terminal.expect("\n\n"), 'neighbors of "New York"')
    terminal.expect(PROMPT)
    terminal.type("pre" + TAB + "city1 n" + TAB + "?\n")
    has(terminal.expect("\n\n"), "(city1, near, ?)")
    terminal.expect(PROMPT)
    terminal.type("cou" + TAB)
    terminal.expect("country")
    terminal.type(TAB)
    terminal.expect("country0  country1  country2\n" + PROMPT + "country")
    terminal.type("2 in" + TAB + "ci" + TAB + "9" + CTRL_C)
    has(terminal.expect("^C\n" + PROMPT), "2 in city9")
    terminal.type(TAB)  # in an empty line: the commands
    has(terminal.expect("\n" + PROMPT), "neighbors", "predict", "quit")

    # History, and Ctrl-C, which clears the line.
    terminal.type("nothing like it" + CTRL_C)
    terminal.expect("^C\n" + PROMPT)
    same(terminal.ask("k 1"), "k 1")
    terminal.type(UP + UP + UP)  # after k 1: the last line, then country's; the cleared line is not in the history
    terminal.type("\n")
    has(terminal.expect("\n\n"), 'neighbors of "New York"')
    terminal.expect(PROMPT)

    terminal.type(CTRL_D)
    same(terminal.end(), 0)

    # TAB by the last part of a name: one match, many at one place, and at several.
    terminal = Terminal(octavo, "query", "--run", web_run, "-k", "1")
    terminal.expect(PROMPT)
    terminal.type("C3" + TAB)
    terminal.expect("http://example.org/country/C3 ")
    terminal.type("fr" + TAB)
    terminal.expect("http://example.org/terms#from ")
    terminal.type("\x15A" + TAB)  # Ctrl-U
    terminal.expect("http://example.org/city/A0")
    terminal.expect(PROMPT)
    terminal.type("\x15A3" + TAB)
    terminal.expect("http://example.org/city/A3 ")
    terminal.type("\x15quit\n")
    same(terminal.end(), 0)

    # With another subcommand, as JSON; a quoted name that is not a command.
    terminal = Terminal(octavo, "--quiet", "query", "--run", run, "--json", "prompt", "--metric", "dot")
    terminal.expect(PROMPT)
    same(json.loads(terminal.ask("city1")), json.loads(once("neighbors", "city1", "--metric", "dot", "--json")))
    has(terminal.ask('"quit"'), 'no node "quit"')
    terminal.type("quit\n")
    same(terminal.end(), 0)

    # Ctrl-Z returns the terminal to the shell, which continues with the typed line.
    terminal = Terminal("/bin/bash", "--norc", "-i")
    terminal.type(f"{octavo} -q query --run {run}\n")
    terminal.expect(PROMPT)
    terminal.type("city" + CTRL_Z)
    terminal.expect("Stopped")
    terminal.type("fg\n")
    terminal.expect(PROMPT + "city")
    terminal.type("1\n")
    terminal.expect('neighbors of "city1"')
    terminal.expect(PROMPT)
    terminal.type("quit\n")
    terminal.expect("bash-")
    terminal.type("exit 7\n")
    same(terminal.end(), 7)


if __name__ == "__main__":
    main()
