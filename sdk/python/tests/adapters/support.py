"""The programs of the adapters in `backends/`, and what a test of any of them needs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from platform_quantum.backend import BackendFailure

from ..support.wire import make_data, make_ghz, run_over_wire

if TYPE_CHECKING:
    from types import ModuleType

BACKENDS = Path(__file__).parents[4] / "backends"
EXECUTION = "01920000-0000-7000-8000-000000000192"
SECRET = "vendor-secret-of-the-tests"


def load_adapter(name: str) -> ModuleType:
    """Its `src/program.py`, under a name of its own: nothing is remembered from another test."""
    path = BACKENDS / name / "src" / "program.py"
    spec = importlib.util.spec_from_file_location(f"adapter_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_counts(adapter: ModuleType, *circuits: Any, **params: Any) -> dict[str, Any]:
    """A job whose result has counts as texts of bits."""
    return run_over_wire(adapter.run, {**make_data(*circuits), "shape": "counts"}, **params)


def find_most(pub: dict[str, Any]) -> str:
    """What was measured most often."""
    counts: dict[str, int] = pub["counts"]
    return max(counts, key=lambda shot: counts[shot])


def refuse(adapter: ModuleType, *circuits: Any, **params: Any) -> BackendFailure:
    """How a job fails."""
    with pytest.raises(BackendFailure) as raised:
        run_over_wire(adapter.run, make_data(*(circuits or (make_ghz(2),))), **params)
    return raised.value


def check_missing(monkeypatch: pytest.MonkeyPatch, adapter: ModuleType, *names: str) -> None:
    """Without its settings a backend says which it needs, to who builds it and to who uses it."""
    for name in names:
        with monkeypatch.context() as without:
            without.delenv(name)
            adapter.connect.cache_clear()
            adapter.find_device.cache_clear()
            with pytest.raises(BackendFailure, match=f"{name} is not set"):
                adapter.describe()
            failure = refuse(adapter)
            assert (failure.code, name in failure.detail) == ("BACKEND_OFFLINE", True)
