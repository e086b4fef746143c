"""Reads circuits of strangers: bounded in size, and whatever goes wrong has a code."""

from __future__ import annotations

import base64
import binascii
import io
import re
import struct
import warnings
import zlib
from typing import TYPE_CHECKING

from qiskit import QuantumCircuit, qasm2, qpy
from qiskit.qpy import common

from .declared import check_registers, read_qasm3, refuse_bits
from .failures import (
    CIRCUIT_FORMAT_UNSUPPORTED,
    CIRCUIT_INVALID,
    CIRCUIT_TOO_LARGE,
    BackendFailure,
    describe_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .limits import Limits

QPY = "QISKIT_QPY"
QASM3 = "OPEN_QASM_V3"
QASM2 = "OPEN_QASM_V2"
FORMATS = (QPY, QASM3, QASM2)
MIN_QPY = 13
"""Files of earlier versions can carry code (CVE-2025-2000)."""
MAX_QPY: int = common.QPY_VERSION

_MAGIC = b"QISKIT"
_HEADER = struct.Struct("!6sBBBBQ")
"""Magic, version of the format, that of Qiskit in three bytes, number of programs."""
_CIRCUIT = struct.Struct("!H1cHIIQIQI")
"""Sizes of name, phase; qubits, classical bits; size of metadata; registers, instructions, ..."""
_CIRCUIT_AT = _HEADER.size + 2
"""Behind the encoding of symbols and the kind of program."""
_TABLE_FROM = 16
"""The version from which a table says where the circuit begins."""
_MAX_NESTING = 200
"""Of brackets in OpenQASM: 50,000 take the parser of OpenQASM 3 a minute and a half."""
_UNREAD = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"\n]*"', re.DOTALL)
"""Comments and strings of OpenQASM: a bracket in them closes none."""
_PANIC = "PanicException"


class Decoder:
    """Reads the circuits of one job; what it has read counts towards one limit."""

    def __init__(self, format_name: str, limits: Limits) -> None:
        if format_name not in FORMATS:
            known = ", ".join(FORMATS)
            detail = f"The format {format_name!r} is not supported; there is {known}."
            raise BackendFailure(CIRCUIT_FORMAT_UNSUPPORTED, detail)
        self._format = format_name
        self._limits = limits
        self._left = limits.circuit_bytes

    def decode(self, text: str) -> QuantumCircuit:
        """The circuit of a text.

        :raises BackendFailure: CIRCUIT_INVALID, CIRCUIT_TOO_LARGE or CIRCUIT_FORMAT_UNSUPPORTED
        """
        is_qasm3 = self._format == QASM3
        limit = self._limits.qasm3_bytes if is_qasm3 else self._limits.text_bytes
        if len(text) > limit:
            detail = f"The circuit has {len(text)} characters in {self._format}, more than {limit}."
            raise BackendFailure(CIRCUIT_TOO_LARGE, detail)
        if self._format == QPY:
            content = self._inflate(text)
            _check_header(content)
            _check_claims(content)
            return _guard(lambda: _load(content), self._format)
        check_nesting(text)
        read = read_qasm3 if is_qasm3 else _read_qasm2
        return _guard(lambda: read(text), self._format)

    def _inflate(self, text: str) -> bytes:
        """The bytes of a QPY file from base64, of zlib or as it is; never more than are left."""
        try:
            content = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise BackendFailure(CIRCUIT_INVALID, "The circuit is not base64.") from None
        if not content.startswith(_MAGIC):
            machine = zlib.decompressobj()
            try:
                content = machine.decompress(content, self._left + 1)
            except zlib.error:
                detail = "The circuit is neither QPY nor QPY compressed by zlib."
                raise BackendFailure(CIRCUIT_INVALID, detail) from None
            if not machine.eof and len(content) <= self._left:
                raise BackendFailure(CIRCUIT_INVALID, "The compressed circuit is cut off.")
        if len(content) > self._left:
            detail = f"The circuits have more than {self._limits.circuit_bytes} bytes of QPY."
            raise BackendFailure(CIRCUIT_TOO_LARGE, detail)
        self._left -= len(content)
        return content


def _check_header(content: bytes) -> None:
    if len(content) < _HEADER.size or not content.startswith(_MAGIC):
        raise BackendFailure(CIRCUIT_INVALID, "The circuit is not QPY.")
    _, version, *_, programs = _HEADER.unpack_from(content)
    if not MIN_QPY <= version <= MAX_QPY:
        detail = f"The circuit is QPY version {version}; versions {MIN_QPY} to {MAX_QPY} are read."
        raise BackendFailure(CIRCUIT_FORMAT_UNSUPPORTED, detail)
    if programs != 1:
        raise BackendFailure(CIRCUIT_INVALID, f"The QPY file has {programs} programs, not one.")


def _check_claims(content: bytes) -> None:
    """Qiskit 1 allocates what a file says it has, before it finds that the file has less."""
    start = _CIRCUIT_AT
    try:
        if content[6] >= _TABLE_FROM:
            (start,) = struct.unpack_from("!Q", content, start)
        claims = _CIRCUIT.unpack_from(content, start)
    except (struct.error, OverflowError):
        raise BackendFailure(CIRCUIT_INVALID, "The QPY file is cut off.") from None
    qubits, clbits, metadata, registers, instructions, variables = claims[3:]
    refuse_bits(max(qubits, clbits))
    if max(metadata, registers, instructions, variables) > len(content):
        detail = "The QPY file says that it has more than it has."
        raise BackendFailure(CIRCUIT_INVALID, detail)


def check_nesting(text: str) -> None:
    """Returns if brackets of OpenQASM are not nested too deeply for its parsers.

    :raises BackendFailure: CIRCUIT_TOO_LARGE
    """
    depth = 0
    for bracket in re.findall(r"[][(){}]", _UNREAD.sub(" ", text)):
        depth += 1 if bracket in "([{" else -1
        if depth > _MAX_NESTING:
            detail = f"The circuit has brackets within brackets, more than {_MAX_NESTING}."
            raise BackendFailure(CIRCUIT_TOO_LARGE, detail)


def _guard(read: Callable[[], QuantumCircuit], format_name: str) -> QuantumCircuit:
    try:
        return read()
    except BackendFailure:
        raise
    except (MemoryError, RecursionError):
        detail = "The circuit is nested too deeply, or too large to be read."
        raise BackendFailure(CIRCUIT_TOO_LARGE, detail) from None
    except BaseException as error:
        # A panic of the Rust in Qiskit is no `Exception`; a cancellation is not either.
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
        reason = describe_error(error)
        detail = f"The circuit is not valid {format_name}: {reason}"
        raise BackendFailure(CIRCUIT_INVALID, detail) from None


def _load(content: bytes) -> QuantumCircuit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (circuit,) = qpy.load(io.BytesIO(content))
    if not isinstance(circuit, QuantumCircuit):
        raise BackendFailure(CIRCUIT_INVALID, "The QPY file has no circuit.")
    return circuit


def _read_qasm2(text: str) -> QuantumCircuit:
    check_registers(text)
    # Without a path nothing of this host's files can be included; qelib1.inc is built in.
    return qasm2.loads(text, include_path=(), custom_instructions=qasm2.LEGACY_CUSTOM_INSTRUCTIONS)
