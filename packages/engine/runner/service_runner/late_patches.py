"""Patches of modules that are made when user code imports them.

Importing them for it would cost every start time and memory, which each child has a copy of:
`logging` alone 5 ms and 1 MB.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Patch = Callable[[Any], None]

_patches: dict[str, Patch] = {}


class _Watcher:
    """Finds the modules as usual, and patches them after they were executed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The protocol of `sys.meta_path`."""
        patch = _patches.get(name)
        spec = None if patch is None else PathFinder.find_spec(name, path, target)
        if patch is None or spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_patch(module: ModuleType) -> None:
            execute(module)
            patch(module)

        spec.loader.exec_module = execute_and_patch  # type: ignore[method-assign]
        return spec


_watcher = _Watcher()


def patch_when_imported(name: str, patch: Patch) -> None:
    """Patches the module now if a start-up hook of the environment has imported it.

    It may be a module of the project that has the same name.
    """
    if name in sys.modules:
        patch(sys.modules[name])
    _patches[name] = patch
    if _watcher not in sys.meta_path:
        sys.meta_path.insert(0, _watcher)


def is_patched(name: str) -> bool:
    """Whether the module is, or would be, patched: not since `forget_patch`."""
    return name in _patches


def forget_patch(name: str) -> None:
    """The module is not patched any more when it is imported."""
    _patches.pop(name, None)
    if not _patches and _watcher in sys.meta_path:
        sys.meta_path.remove(_watcher)
