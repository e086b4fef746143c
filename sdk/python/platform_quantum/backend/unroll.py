"""How large a circuit is once it is unrolled, found out before anything unrolls it.

Gates that are defined by two of the gate before double with each definition: 40 lines of OpenQASM 2
are 2^40 operations. Loops multiply. Counting costs no more than the limit, whatever the circuit is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from qiskit.circuit import ControlFlowOp, ForLoopOp
from qiskit.circuit.library import get_standard_gate_name_mapping

from .failures import (
    CIRCUIT_INVALID,
    CIRCUIT_TOO_LARGE,
    GATE_UNSUPPORTED,
    BackendFailure,
    describe_error,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from qiskit import QuantumCircuit

_FREE = ("barrier", "delay", "measure", "reset", "store", "break_loop", "continue_loop")
_DEFINED_IN = "qiskit.qasm2.parse"
_STANDARD = {name: gate.base_class for name, gate in get_standard_gate_name_mapping().items()}
"""Gates of a fixed width, which the transpiler turns into a few others each."""


def _is_finite(value: Any) -> bool:
    if value.__class__ is float:
        return math.isfinite(value)
    if isinstance(value, (complex, np.number, np.ndarray)):
        return bool(np.isfinite(value).all())
    return True


def _check_finite(instruction: Any) -> None:
    """Simulators take an infinite angle, and measure something."""
    for value in instruction.params:
        if not _is_finite(value):
            detail = f"A parameter of {instruction.name!r} is no finite number."
            raise BackendFailure(CIRCUIT_INVALID, detail)


class Size:
    """Counts operations; `known` are the names of those that the backend runs as they are.

    `loop_limit` is how many may be in a loop with all its rounds; default: `limit`.
    """

    def __init__(self, known: Collection[str], limit: int, loop_limit: int | None = None) -> None:
        self._known = frozenset((*known, *_FREE))
        self._limit = limit
        self._loop_limit = limit if loop_limit is None else loop_limit
        self._looped = 0
        self._looked_at = 0
        self._by_definition: dict[int, tuple[Any, int]] = {}
        self._by_name: dict[str, int] = {}
        self.is_basic = True
        """Whether nothing has to be unrolled."""

    def count(self, circuit: QuantumCircuit) -> int:
        """Operations of a circuit, unrolled.

        :raises BackendFailure: CIRCUIT_TOO_LARGE, GATE_UNSUPPORTED, CIRCUIT_INVALID
        """
        try:
            return self._count(circuit)
        except RecursionError:
            detail = "The gates of the circuit are defined too deeply."
            raise BackendFailure(CIRCUIT_TOO_LARGE, detail) from None

    def _count(self, circuit: QuantumCircuit) -> int:
        total = 0
        if not _is_finite(circuit.global_phase):
            raise BackendFailure(CIRCUIT_INVALID, "The phase of the circuit is no finite number.")
        for instruction in circuit.data:
            _check_finite(instruction)
            total += self._count_operation(instruction.operation)
            self._looked_at += 1
            if max(total, self._looked_at) > self._limit:
                detail = f"The circuit has more than {self._limit:,} operations once unrolled."
                raise BackendFailure(CIRCUIT_TOO_LARGE, detail)
        return total

    def _count_operation(self, operation: Any) -> int:
        name = operation.name
        if isinstance(operation, ControlFlowOp):
            return self._count_control_flow(operation)
        if name in self._known:
            return 1
        self.is_basic = False
        if name in _STANDARD and operation.base_class is _STANDARD[name]:
            return 1
        # Of a gate of an OpenQASM 2 file each use has a definition of its own, and they are equal.
        is_defined = type(operation).__module__ == _DEFINED_IN
        if is_defined and name in self._by_name:
            return self._by_name[name]
        definition = self._define(operation)
        cached = self._by_definition.get(id(definition))
        if cached is None:
            # The definition is kept, so that its id is not given to another one.
            cached = (definition, self._count(definition))
            self._by_definition[id(definition)] = cached
        if is_defined:
            self._by_name[name] = cached[1]
        return cached[1]

    def _count_control_flow(self, operation: Any) -> int:
        if operation.name not in self._known:
            detail = f"The backend does not run {operation.name}."
            raise BackendFailure(GATE_UNSUPPORTED, detail)
        inside = sum(self._count(block) for block in operation.blocks)
        if not isinstance(operation, ForLoopOp):
            return 1 + inside
        try:
            rounds = len(operation.params[0])
        except OverflowError:  # a range of more than 2^63
            rounds = 2**63
        # A round without operations takes its time as well.
        return self._count_looped(max(1, inside) * rounds) + 1

    def _count_looped(self, count: int) -> int:
        self._looped += count
        if self._looped > self._loop_limit:
            detail = (
                f"The loops of the circuit have more than {self._loop_limit:,} operations once "
                "unrolled."
            )
            raise BackendFailure(CIRCUIT_TOO_LARGE, detail)
        return count

    def _define(self, operation: Any) -> QuantumCircuit:
        try:
            definition = operation.definition
        except Exception as error:
            reason = describe_error(error)
            detail = f"The gate {operation.name!r} has no usable definition: {reason}"
            raise BackendFailure(CIRCUIT_INVALID, detail) from None
        if definition is None:
            detail = f"The backend does not run {operation.name!r}, which has no definition."
            raise BackendFailure(GATE_UNSUPPORTED, detail)
        found: QuantumCircuit = definition
        return found
