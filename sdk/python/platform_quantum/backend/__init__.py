"""For authors of backends: `run, describe = gate_backend(execute, qubits=20, gates=[...])`.

A backend is a project of the platform whose `src/program.py` has `run` and `describe`. This module
does what all of them need: it decodes circuits, holds limits, chooses codes of failures, and gives
results their shape. Qiskit is imported here, once, before the platform forks.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .annealing import Problem, annealing_backend
    from .decode import check_nesting
    from .dialects.braket import BraketRunner, Program
    from .failures import BackendFailure
    from .foresee import foresee_states
    from .gate import GateProfile, gate_backend
    from .limits import Limits
    from .options import Options
    from .registers import pack_memory
    from .simulate import check_memory, count_threads, read_shots
    from .trial import read_in_copy
    from .vendor import VendorJob, external

__all__ = [
    "BackendFailure",
    "BraketRunner",
    "GateProfile",
    "Limits",
    "Options",
    "Problem",
    "Program",
    "VendorJob",
    "annealing_backend",
    "check_memory",
    "check_nesting",
    "count_threads",
    "external",
    "foresee_states",
    "gate_backend",
    "pack_memory",
    "read_in_copy",
    "read_shots",
]

_MODULES = {
    "BackendFailure": "failures",
    "BraketRunner": "dialects.braket",
    "GateProfile": "gate",
    "Limits": "limits",
    "Options": "options",
    "Problem": "annealing",
    "Program": "dialects.braket",
    "VendorJob": "vendor",
    "annealing_backend": "annealing",
    "check_memory": "simulate",
    "check_nesting": "decode",
    "count_threads": "simulate",
    "external": "vendor",
    "foresee_states": "foresee",
    "gate_backend": "gate",
    "pack_memory": "registers",
    "read_in_copy": "trial",
    "read_shots": "simulate",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value
