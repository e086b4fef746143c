"""Huge pages for what an import left in memory, so that forking it stays fast.

A fork copies page tables: about 3 ms for 100 MB of small pages, nothing to speak of for huge ones.
glibc asks for huge pages by itself (GLIBC_TUNABLES); the memory of small Python objects does not
come from it.
"""

from __future__ import annotations

import re
import time

from . import kernel

_HUGE = 2 << 20
_LEAST = 64 << 20
"""Bytes below which a fork is fast enough."""
_SLICE = 32 << 20
_LIMIT_SECONDS = 2.0
"""The import waits for it: about 0.5 s for 500 MB on an idle machine."""
_FULL = 0.9
"""Part of a mapping that must be in use: a huge page takes its whole size."""
_HEAD = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p 0+ 00:00 0 *(?:\[heap\])?$")


def collapse() -> None:
    """Puts the large private mappings of this process into huge pages, as far as the time goes."""
    if not kernel.LINUX:
        return
    ranges = find_ranges()
    if sum(end - start for start, end in ranges) < _LEAST:
        return
    deadline = time.monotonic() + _LIMIT_SECONDS
    for start, end in ranges:
        for part in range(start, end, _SLICE):
            # Refused by kernels before 6.1, and where there is no memory in one piece.
            if not kernel.collapse_pages(part, min(_SLICE, end - part)):
                return
            if time.monotonic() > deadline:
                return


def find_ranges() -> list[tuple[int, int]]:
    """Start and end of what can be collapsed, at borders of huge pages (proc_pid_smaps(5))."""
    with open("/proc/self/smaps", encoding="utf-8", errors="replace") as smaps:
        lines = smaps.readlines()
    ranges = []
    start = end = used = 0
    for line in lines:
        if not line[0].isupper():
            head = _HEAD.match(line.rstrip())
            start, end = (int(head[1], 16), int(head[2], 16)) if head else (0, 0)
        elif line.startswith("Rss:"):
            used = int(line.split()[1]) << 10
        elif line.startswith("AnonHugePages:"):
            used -= int(line.split()[1]) << 10
            first, last = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
            if last > first and used >= _FULL * (end - start):
                ranges.append((first, last))
    return ranges
