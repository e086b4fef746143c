"""Bits that a text declares, counted before any is made: Qiskit would end the process first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import openqasm3
from qiskit_qasm3_import.converter import ConvertVisitor

from .failures import CIRCUIT_INVALID, CIRCUIT_TOO_LARGE, BackendFailure

if TYPE_CHECKING:
    from qiskit import QuantumCircuit

MAX_BITS = 1_000_000
_MAX_SHOWN = 50

_COMMENT = re.compile(r"//[^\n]*")
_SIZE = re.compile(r"\[\s*(\d+)\s*\]")


def refuse_bits(count: int) -> None:
    """Returns if a circuit may have so many.

    :raises BackendFailure: CIRCUIT_TOO_LARGE
    """
    if count > MAX_BITS:
        raise BackendFailure(CIRCUIT_TOO_LARGE, f"A circuit has {MAX_BITS:,} bits at most.")


def check_registers(text: str) -> None:
    """Returns if the registers of OpenQASM 2 are small enough together.

    :raises BackendFailure: CIRCUIT_TOO_LARGE
    """
    total = 0
    for statement in _COMMENT.sub("", text).split(";"):
        # Behind the body of a gate there is no semicolon.
        words = statement[statement.rfind("}") + 1 :].lstrip()
        if words.startswith(("qreg", "creg")):
            found = _SIZE.search(words)
            # A number of more digits than Python converts is no size either.
            total += 0 if found is None else int(found[1][:10])
            refuse_bits(total)


class _Reader(ConvertVisitor):  # type: ignore[misc, unused-ignore]
    """Counts what the sizes of registers and of `ctrl` come to, which may be expressions."""

    _total = 0

    def _resolve_constant_int(self, node: Any, context: Any) -> Any:
        value = super()._resolve_constant_int(node, context)
        self._total += abs(value)
        refuse_bits(self._total)
        return value


def read_qasm3(text: str) -> QuantumCircuit:
    """The circuit of a text in OpenQASM 3.

    :raises BackendFailure: CIRCUIT_TOO_LARGE, CIRCUIT_INVALID
    """
    try:
        program = openqasm3.parse(text)
    except openqasm3.parser.QASM3ParsingError as error:
        # Its text is empty.
        raise BackendFailure(CIRCUIT_INVALID, _describe_place(error)) from None
    circuit: QuantumCircuit = _Reader().convert(program).circuit
    return circuit


def _describe_place(error: Exception) -> str:
    """Where a text is no OpenQASM 3, as far as its parser says."""
    cause = error.__cause__
    token = getattr(cause.args[0], "offendingToken", None) if cause and cause.args else None
    detail = "The circuit is not valid OPEN_QASM_V3"
    if token is None:
        return f"{detail}: {error or 'its parser does not say where'}."
    place = f"line {token.line}, column {token.column + 1}"
    return f"{detail}: {str(token.text)[:_MAX_SHOWN]!r} is not expected in {place}."
