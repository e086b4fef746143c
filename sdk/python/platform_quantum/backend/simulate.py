"""What every simulator has to respect: threads, and memory before it is used."""

from __future__ import annotations

import os

from .failures import TOO_MANY_QUBITS, BackendFailure

_BYTES_PER_AMPLITUDE = 16


def count_threads() -> int:
    """How many threads a run may have: the vCPUs of its version, as the platform says."""
    text = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(text)) if text.isdecimal() else (os.cpu_count() or 1)


def check_memory(qubits: int, limit_bytes: int, copies: int = 1) -> None:
    """Returns if state vectors of so many qubits fit.

    :raises BackendFailure: TOO_MANY_QUBITS
    """
    wanted = copies * _BYTES_PER_AMPLITUDE << qubits
    if wanted > limit_bytes:
        detail = (
            f"A state of {qubits} qubits takes {wanted >> 20} MB, and there are "
            f"{limit_bytes >> 20} MB."
        )
        raise BackendFailure(TOO_MANY_QUBITS, detail)
