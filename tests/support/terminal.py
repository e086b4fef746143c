"""Runs a command in the foreground of a pseudo-terminal.

What comes on stdin is typed; what the command shows goes to stdout.
"""

import os
import pty
import select
import signal
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])

signal.signal(signal.SIGTERM, lambda *_: os.killpg(os.tcgetpgrp(terminal), signal.SIGTERM))
sources = [terminal, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        typed = os.read(0, 4096)
        if typed:
            os.write(terminal, typed)
        else:
            sources.remove(0)
    if terminal in ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            break
        if not shown:
            break
        os.write(1, shown)

_, status = os.waitpid(pid, 0)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
