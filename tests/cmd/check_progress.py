#!/usr/bin/python3
"""Runs a command on its own terminal and checks the progress it draws.

usage: check_progress.py COLUMNS PHASE COMMAND...

Some drawing must have the phase, a bar, a share and the memory; none may be wider than the terminal; the last screen
must contain none of it.
"""

import fcntl
import os
import pty
import re
import struct
import sys
import termios

columns, phase, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.environ["LC_ALL"] = "C.UTF-8"
    os.execvp(command[0], command)
shown = b""
try:
    while piece := os.read(terminal, 65536):
        shown += piece
except OSError:  # the other end is closed
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
text = shown.decode()
drawings = [part.split("\r")[0].split("\n")[0] for part in text.split("\r\x1b[K")[1:]]
drawn = [part for part in drawings if part.startswith(phase) and "━" in part]
assert status == 0, (status, text)
assert drawn, text
assert all(len(part) < columns for part in drawings), max(drawings, key=len)
assert any(re.search(r"[━─]{24} +\d+ %", part) for part in drawn), drawn[:3]
if columns >= 100:
    assert any(re.search(r"memory [\d.]+ MiB of 600 MiB", part) for part in drawn), drawn[:3]
    assert any("ETA" in part and " edges/s" in part and "loss" in part for part in drawn), drawn[-3:]
assert "\x1b[K" in text[text.rindex(drawn[-1]) + len(drawn[-1]):], "the bar was left on the screen"
print(max(drawn, key=len))
