"""How long a simulation of states would take: for dry runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiskit.circuit import ControlFlowOp

if TYPE_CHECKING:
    from qiskit.circuit import QuantumCircuit

_GATE = 2e-6
_AMPLITUDE = 2.5e-9
_SHOT = 1e-6
"""Seconds of one thread: what Qiskit Aer 0.18 took for 3 to 20 qubits on one machine, to a factor
of two."""
_PASSIVE = ("barrier", "delay")
_CLIFFORD = frozenset(
    ("x", "y", "z", "h", "s", "sdg", "sx", "sxdg", "id", "cx", "cy", "cz", "swap")
)
_MEASURES = frozenset(("measure", *_PASSIVE))


def foresee_states(circuit: QuantumCircuit, shots: int) -> float:
    """Seconds that a circuit takes; 0 shots: its state alone."""
    gates: int = sum(circuit.count_ops().values())
    width: int = circuit.num_qubits
    names = set(circuit.count_ops())
    if names <= _CLIFFORD | _MEASURES:
        # No state is needed: each gate and each shot takes as long as there are qubits.
        return (gates * _GATE + shots * _SHOT) * width
    once = gates * (_GATE + _AMPLITUDE * float(2**width))
    if shots > 0 and not _is_measured_last(circuit):
        return shots * once
    return once + shots * _SHOT


def _is_measured_last(circuit: QuantumCircuit) -> bool:
    """Whether one state is enough for all shots."""
    measured: set[object] = set()
    for instruction in circuit.data:
        operation = instruction.operation
        if operation.name in _PASSIVE:
            continue
        if isinstance(operation, ControlFlowOp) or operation.name in ("reset", "store"):
            return False
        if operation.name == "measure":
            measured.update(instruction.qubits)
        elif measured.intersection(instruction.qubits):
            return False
    return True
