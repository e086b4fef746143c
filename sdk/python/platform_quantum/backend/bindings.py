"""Whether what a circuit computes of its parameters is a number with the values that came.

The values themselves are finite; `1 / a` is not where `a` is 0. Simulators take an infinite angle,
and measure something, or fail in the midst of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from qiskit.circuit import ControlFlowOp, Parameter, ParameterExpression

from .failures import CIRCUIT_INVALID, BackendFailure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qiskit.circuit import QuantumCircuit

    from .pubs import Pub

_MAX_SHOWN = 100


def check_bindings(pub: Pub) -> None:
    """Returns if all parameters of gates are finite numbers, with each set of values.

    :raises BackendFailure: CIRCUIT_INVALID
    """
    expressions = {str(found): found for found in _list_expressions(pub.circuit)}
    if not expressions:
        return
    for index, values in enumerate(pub.rows()):
        for text, expression in expressions.items():
            if not _is_finite(expression, values):
                where = f" with set {index} of its parameters" if values else ""
                detail = f"In the circuit {pub.name!r}, {text[:_MAX_SHOWN]} is no finite number"
                raise BackendFailure(CIRCUIT_INVALID, f"{detail}{where}.")


def _list_expressions(circuit: QuantumCircuit) -> Iterator[ParameterExpression]:
    """Those that are more than a parameter."""
    yield from _keep_computed([circuit.global_phase])
    for instruction in circuit.data:
        operation = instruction.operation
        if isinstance(operation, ControlFlowOp):
            for block in operation.blocks:
                yield from _list_expressions(block)
        else:
            yield from _keep_computed(operation.params)


def _keep_computed(params: list[Any]) -> Iterator[ParameterExpression]:
    for param in params:
        if isinstance(param, ParameterExpression) and not isinstance(param, Parameter):
            yield param


def _is_finite(expression: ParameterExpression, values: dict[str, float]) -> bool:
    bound = {parameter: values[parameter.name] for parameter in expression.parameters}
    try:
        return math.isfinite(float(expression.bind(bound)))
    except (ArithmeticError, TypeError, ValueError, RuntimeError):
        return False  # division by zero, no real number
