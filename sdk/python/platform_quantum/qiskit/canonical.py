"""Circuits as they are sent: those that do the same are the same bytes.

Else an earlier job could not answer (`cache`): Qiskit counts the circuits without a name, and each
parameter has a random identity.
"""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

from qiskit.circuit import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qiskit import QuantumCircuit

_COUNTED = re.compile(r"circuit-\d+(?:-\d+)*")
"""What Qiskit calls a circuit that nobody has named."""
_IDENTITIES = uuid.UUID("0b7d1a52-6b5e-4f0c-9a3e-7d1f6f0c2a11")


def choose_name(circuit: QuantumCircuit, index: int) -> str:
    """The name; of one without, its number in the job."""
    name: str = circuit.name
    return f"circuit-{index}" if _COUNTED.fullmatch(name) else name


def name_parameters(circuit: QuantumCircuit, plain: bool) -> list[str]:
    """What its parameters are called, in their order.

    `plain`: as any language calls something. OpenQASM has no `θ[0]`, and `angle` is a word of it.
    """
    return [
        f"parameter_{index}" if plain else parameter.name
        for index, parameter in enumerate(circuit.parameters)
    ]


def canonize(circuit: QuantumCircuit, name: str, parameters: Sequence[str]) -> QuantumCircuit:
    """The circuit with this name, and parameters with these; itself where that is so."""
    if parameters:
        known = {
            old: Parameter(new, uuid=uuid.uuid5(_IDENTITIES, new))
            for old, new in zip(circuit.parameters, parameters, strict=True)
        }
        circuit = circuit.assign_parameters(known)
        circuit.name = name
        return circuit
    return circuit if circuit.name == name else circuit.copy(name)
