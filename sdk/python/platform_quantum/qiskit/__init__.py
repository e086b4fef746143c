"""Backends, jobs and primitives for Qiskit; imports Qiskit with what is used."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .backend import PlatformBackend
    from .job import PlatformJob
    from .primitive_job import PlatformPrimitiveJob
    from .primitives import EstimatorV2, SamplerV2

__all__ = ["EstimatorV2", "PlatformBackend", "PlatformJob", "PlatformPrimitiveJob", "SamplerV2"]

_MODULES = {
    "EstimatorV2": "primitives",
    "PlatformBackend": "backend",
    "PlatformJob": "job",
    "PlatformPrimitiveJob": "primitive_job",
    "SamplerV2": "primitives",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value
