"""What every simulator has to respect: threads, and memory before it is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .failures import CIRCUIT_INVALID, GATE_UNSUPPORTED, TOO_MANY_QUBITS, BackendFailure
from .registers import pack_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qiskit import QuantumCircuit
    from qiskit.result import Result

    from .registers import Output

_BYTES_PER_AMPLITUDE = 16
_MAX_DETAIL = 500


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


def read_shots(result: Result, circuits: Sequence[QuantumCircuit], shots: int) -> list[Output]:
    """All shots of each circuit, from a result of Aer with its `memory`.

    :raises BackendFailure: GATE_UNSUPPORTED, CIRCUIT_INVALID: Aer has refused it
    """
    for experiment in result.results:
        if not experiment.success:
            detail = f"Aer refused the circuit: {experiment.status}"
            raise BackendFailure(GATE_UNSUPPORTED, detail[:_MAX_DETAIL])
    if not result.success:
        raise BackendFailure(CIRCUIT_INVALID, f"Aer refused the job: {result.status}"[:_MAX_DETAIL])
    return [
        pack_memory(experiment.data.memory, circuit.num_clbits)
        if "memory" in experiment.data.to_dict()
        else {"0": shots}  # bits, and no measurement
        for experiment, circuit in zip(result.results, circuits, strict=True)
    ]
