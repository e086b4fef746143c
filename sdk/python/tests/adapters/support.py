"""The programs of the adapters in `backends/`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

BACKENDS = Path(__file__).parents[4] / "backends"


def load_adapter(name: str) -> ModuleType:
    """Its `src/program.py`, under a name of its own."""
    path = BACKENDS / name / "src" / "program.py"
    spec = importlib.util.spec_from_file_location(f"adapter_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
