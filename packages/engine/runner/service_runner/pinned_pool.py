"""Data pools as they reach a run, until the hint of the argument makes its object of them."""

from __future__ import annotations


class PinnedPool:
    """Where its files are, and their sizes by name."""

    __slots__ = ("id", "path", "sizes")
    platform_input = "data-pool"

    def __init__(self, identity: str, path: str, sizes: dict[str, int]) -> None:
        self.id = identity
        self.path = path
        self.sizes = sizes


class PinnedOutput:
    """The folder whose files the data pool gets."""

    __slots__ = ("id", "path")
    platform_input = "output-pool"

    def __init__(self, identity: str, path: str) -> None:
        self.id = identity
        self.path = path
