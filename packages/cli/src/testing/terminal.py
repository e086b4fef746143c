"""Runs a command at a pseudo-terminal and answers its prompts.

terminal.py '[["text to wait for", "answer"], ...]' COMMAND [ARGUMENT...]
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

DEADLINE_SECONDS = 25

steps = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])

deadline = time.monotonic() + DEADLINE_SECONDS
seen = b""
position = 0
while time.monotonic() < deadline:
    if steps:
        found = seen.find(steps[0][0].encode(), position)
        if found >= 0:
            position = found + len(steps[0][0].encode())
            os.write(terminal, steps.pop(0)[1].encode())
    ready, _, _ = select.select([terminal], [], [], 0.05)
    if not ready:
        continue
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    seen += data
else:
    os.kill(pid, 9)

_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(status) if not steps else 99)
