"""Moves a child into the control groups that Node has prepared for it."""

from __future__ import annotations

import os


def join(own: list[int], every: list[int]) -> None:
    """Call first thing in a child: what it allocates before counts as the zygote's.

    Writes to the descriptors `own`, then closes `every` (those of all children, which are
    consecutive): user code could move to the groups of another child. Raises OSError.
    """
    for descriptor in own:
        os.write(descriptor, b"0")  # the process that writes
    if every:
        os.closerange(min(every), max(every) + 1)
