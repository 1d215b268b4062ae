#!/usr/bin/python3
"""Types command lines and a tab into a real shell, and reads the result.

usage: type_and_tab.py bash|zsh|fish OCTAVO       in a folder with some-graph/, other/ and edges.tsv

A file and the program's own folder have names that would make the file `pwned` if a shell ran them.
"""

import os
import re
import subprocess
import sys

import pexpect

# What is typed, and the line after a tab.
LINES = [
    ("octavo tra", "octavo train "),
    ("octavo train --learning-rate-s", "octavo train --learning-rate-schedule "),
    ("octavo train --model dist", "octavo train --model distmult "),
    ("octavo train --model=dist", "octavo train --model=distmult "),
    ("octavo train --graph some", "octavo train --graph some-graph/"),
    ("octavo train --graph=some", "octavo train --graph=some-graph/"),
    ("octavo train --graph edg", "octavo train --graph edg"),
    ("octavo import edg", "octavo import edges.tsv "),
    ("octavo query --run some-graph nei", "octavo query --run some-graph neighbors "),
    ("octavo --log-format js", "octavo --log-format json "),
    ("octavo completion zs", "octavo completion zsh "),
]

HOSTILE = "evil$(touch pwned);`touch pwned`"
QUOTED = re.sub(r"([^\w])", r"\\\1", HOSTILE)

SHOW = "\x14"  # Control-T, which each shell is configured to treat as: print the current line and clear it


def fish(script, environment):
    for typed, expected in LINES:
        answer = subprocess.run(["fish", "--no-config", "-c", script + "\ncomplete -C " + repr(typed)], env=environment,
                                capture_output=True, text=True, check=True).stdout.splitlines()
        words = [line.split("\t")[0] for line in answer]
        last = expected.split(" ")[-1] or expected.split(" ")[-2]
        wanted = [] if typed == expected else [last]
        if words != wanted:
            sys.exit(f"fish: {typed!r}: found {words}; expected {wanted}")
    for typed in ("octavo import evi", f"{QUOTED}/octavo import evi"):
        answer = subprocess.run(["fish", "--no-config", "-c", script + "\ncomplete -C $argv[1]", typed], env=environment,
                                capture_output=True, text=True, check=True).stdout.splitlines()
        if answer != [f"{HOSTILE}/", "evil.tsv;touch pwned"]:
            sys.exit(f"fish: {typed!r}: found {answer}")


def interactive(command, setup, environment):
    shell = pexpect.spawn(command[0], command[1:], env=environment, encoding="utf-8", timeout=20, echo=False,
                          dimensions=(50, 300))
    shell.expect_exact("ready>")
    shell.sendline(setup + "; echo set-$((1+1))up")
    shell.expect_exact("set-2up")
    shell.expect_exact("ready>")
    path = f"./{QUOTED}/octavo import evil."  # bash completes no quoted program
    file = "evil.tsv\\;touch\\ pwned "
    hostile = [("octavo import evil.", f"octavo import {file}"),
               (path, path if command[0] == "bash" else path[:-len("evil.")] + file)]
    for typed, expected in LINES + hostile:
        shell.send(typed + "\t" + SHOW)
        shell.expect(r"<\[(.*?)\]>")
        line = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\x07\r\n]", "", shell.match.group(1))
        if line != expected:
            sys.exit(f"{command[0]}: {typed!r}: found {line!r}; expected {expected!r}")
    shell.close(force=True)


def main():
    name, octavo = sys.argv[1:]
    os.makedirs(HOSTILE, exist_ok=True)
    if not os.path.lexists(f"{HOSTILE}/octavo"):
        os.symlink(octavo, f"{HOSTILE}/octavo")
    open("evil.tsv;touch pwned", "w").close()
    script = subprocess.run([octavo, "completion", name], capture_output=True, text=True, check=True).stdout
    environment = dict(os.environ, PATH=os.path.dirname(octavo) + ":" + os.environ["PATH"], TERM="dumb", PS1="ready>",
                       PROMPT="ready>")
    if name == "fish":
        fish(script, environment)
    elif name == "bash":
        setup = ("source <(octavo completion bash); show() { printf '\\n<[%s]>\\n' \"$READLINE_LINE\"; READLINE_LINE=; "
                 "READLINE_POINT=0; }; bind -x '\"\\C-t\": show'; bind 'set enable-bracketed-paste off'; "
                 "bind 'set bell-style none'")
        interactive(["bash", "--norc", "--noprofile", "-i"], setup, environment)
    else:
        setup = ("autoload -Uz compinit; compinit -D; source <(octavo completion zsh); unsetopt beep; "
                 "show() { print; print -r -- \"<[$BUFFER]>\"; BUFFER=; zle reset-prompt }; zle -N show; bindkey '^T' show")
        interactive(["zsh", "-f", "-i"], setup, environment)
    if os.path.exists("pwned"):
        sys.exit(f"{name} ran a name of a file as a command")
    print(f"{name}: {len(LINES)} lines are completed")


if __name__ == "__main__":
    main()
