"""Jobs as the platform hands them to a backend."""

from __future__ import annotations

import base64
import io
import json
import zlib
from typing import TYPE_CHECKING, Any

from qiskit import QuantumCircuit, qpy

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]


def to_qpy(circuit: QuantumCircuit, version: int = 13) -> bytes:
    buffer = io.BytesIO()
    qpy.dump(circuit, buffer, version=version)
    return buffer.getvalue()


def to_text(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content)).decode()


def make_data(*circuits: QuantumCircuit | str, format_name: str = "QISKIT_QPY") -> dict[str, Any]:
    texts = [one if isinstance(one, str) else to_text(to_qpy(one)) for one in circuits]
    pubs = [{"circuit": text} for text in texts]
    return {"format": format_name, "primitive": "sampler", "shape": "registers", "pubs": pubs}


def run_over_wire(run: Run, data: dict[str, Any], **params: Any) -> dict[str, Any]:
    """As through the platform: everything is JSON."""
    answer = run(json.loads(json.dumps(data)), json.loads(json.dumps(params)))
    found: dict[str, Any] = json.loads(json.dumps(answer))
    return found


def make_ghz(width: int) -> QuantumCircuit:
    circuit = QuantumCircuit(width)
    circuit.h(0)
    for index in range(width - 1):
        circuit.cx(index, index + 1)
    circuit.measure_all()
    return circuit


def make_condition() -> QuantumCircuit:
    """What is measured in the middle says what follows: each shot is `11`."""
    circuit = QuantumCircuit(2, 2)
    circuit.x(0)
    circuit.measure(0, 0)
    with circuit.if_test((circuit.clbits[0], 1)):
        circuit.x(1)
    circuit.measure(1, 1)
    return circuit


def read_header(result: Any) -> dict[str, Any]:
    """Of the first circuit: a dict since Qiskit 2, an object before."""
    header = result.results[0].header
    found: dict[str, Any] = header if isinstance(header, dict) else header.to_dict()
    return found
