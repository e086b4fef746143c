"""Circuits as IonQ's API has them in, a histogram of states out."""

from __future__ import annotations

import base64
import io
import zlib
from typing import TYPE_CHECKING, Any

from qiskit import QuantumCircuit, qpy
from qiskit.circuit.library import (
    HGate,
    PhaseGate,
    RXGate,
    RXXGate,
    RYGate,
    RYYGate,
    RZGate,
    RZZGate,
    SdgGate,
    SGate,
    SwapGate,
    SXdgGate,
    SXGate,
    TdgGate,
    TGate,
    XGate,
    YGate,
    ZGate,
)

from ..decode import QPY
from ..failures import CIRCUIT_INVALID, CIRCUIT_TOO_LARGE, GATE_UNSUPPORTED, BackendFailure
from . import Translation

if TYPE_CHECKING:
    from collections.abc import Callable

    from qiskit.circuit import Gate

FORMAT = "IONQ_CIRCUIT_V1"
_IGNORED = ("meas_map", "qubits", "memory", "gateset")
_MAX_QUBITS = 100
_MAX_GATES = 200_000
_FIXED: dict[str, type[Gate]] = {
    "x": XGate,
    "not": XGate,
    "y": YGate,
    "z": ZGate,
    "h": HGate,
    "s": SGate,
    "si": SdgGate,
    "t": TGate,
    "ti": TdgGate,
    "v": SXGate,
    "vi": SXdgGate,
    "swap": SwapGate,
}
_TURNING: dict[str, type[Gate]] = {
    "rx": RXGate,
    "ry": RYGate,
    "rz": RZGate,
    "z": PhaseGate,
    "xx": RXXGate,
    "yy": RYYGate,
    "zz": RZZGate,
}
"""With `rotation`: z is a phase then."""


def translate(data: dict[str, Any], params: dict[str, Any]) -> Translation:
    """The job in the own form: all qubits are measured, in their order."""
    circuit = _read_circuit(data)
    circuit.measure_all()
    buffer = io.BytesIO()
    qpy.dump(circuit, buffer)
    text = base64.b64encode(zlib.compress(buffer.getvalue(), 1)).decode("ascii")
    pubs = [{"circuit": text}]
    own = {"format": QPY, "primitive": "sampler", "shape": "counts", "pubs": pubs}
    rest = {name: value for name, value in params.items() if name not in _IGNORED}
    # Older clients send no map of measurements, and turn the states around.
    return Translation(own, rest, _tell_histogram(is_turned=not params.get("meas_map")))


def _tell_histogram(is_turned: bool) -> Callable[[dict[str, Any]], Any]:
    def tell(result: dict[str, Any]) -> dict[str, Any]:
        (pub,) = result["pubs"]
        step = -1 if is_turned else 1
        return {
            "histogram": {
                str(int(bits[::step], 2)): count / pub["shots"]
                for bits, count in pub["counts"].items()
            }
        }

    return tell


def _read_circuit(data: dict[str, Any]) -> QuantumCircuit:
    count, listed = data.get("qubits"), data.get("circuit")
    if data.get("gateset", "qis") != "qis":
        raise BackendFailure(GATE_UNSUPPORTED, "Only the gate set `qis` is run.")
    if type(count) is not int or not 1 <= count <= _MAX_QUBITS or not isinstance(listed, list):
        detail = "A circuit of IonQ has a number `qubits` and a list `circuit`."
        raise BackendFailure(CIRCUIT_INVALID, detail)
    if len(listed) > _MAX_GATES:
        detail = f"The circuit has {len(listed)} gates, more than {_MAX_GATES}."
        raise BackendFailure(CIRCUIT_TOO_LARGE, detail)
    circuit = QuantumCircuit(count)
    for index, entry in enumerate(listed):
        try:
            gate, places = _read_gate(entry)
            circuit.append(gate, places)
        except BackendFailure:
            raise
        except Exception as error:
            detail = f"/data/circuit/{index} is no gate: {type(error).__name__}: {error}"
            raise BackendFailure(CIRCUIT_INVALID, detail[:500]) from None
    return circuit


def _read_gate(entry: dict[str, Any]) -> tuple[Gate, list[int]]:
    name = entry["gate"]
    rotation = entry.get("rotation")
    known = _FIXED if rotation is None else _TURNING
    kind = known.get("x" if name == "cnot" else name)
    if kind is None:
        raise BackendFailure(GATE_UNSUPPORTED, f"The gate {str(name)[:50]!r} is not run.")
    gate = kind() if rotation is None else kind(float(rotation))
    controls = _read_places(entry, "control")
    if controls:
        gate = gate.control(len(controls))
    return gate, [*controls, *_read_places(entry, "target")]


def _read_places(entry: dict[str, Any], name: str) -> list[int]:
    found = entry.get(f"{name}s", entry.get(name, []))
    places = found if isinstance(found, list) else [found]
    if not all(type(place) is int and place >= 0 for place in places):
        raise ValueError(f"{name}s are not numbers of qubits")
    return places
