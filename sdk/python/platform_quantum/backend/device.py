"""What a device says of itself, for adapters of vendors whose library has a target of Qiskit's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qiskit import transpile
from qiskit.circuit.library import get_standard_gate_name_mapping

from .circuits import to_qiskit
from .failures import GATE_UNSUPPORTED, BackendFailure, describe_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qiskit import QuantumCircuit
    from qiskit.providers import BackendV2
    from qiskit.transpiler import Target

_INSTRUCTIONS = ("measure", "reset", "delay")
_CALIBRATED = ("measure",)
_EASY_LEVEL = 1


def read_target(target: Target) -> dict[str, Any]:
    """Qubits, gates, coupling and calibration of a device, as members of a backend's profile."""
    known = get_standard_gate_name_mapping()
    names = [name for name in target.operation_names if name in known]
    gates = [name for name in names if name not in _INSTRUCTIONS]
    found: dict[str, Any] = {
        "qubits": target.num_qubits,
        "gates": gates,
        "instructions": [*(name for name in names if name in _INSTRUCTIONS), "barrier"],
        "calibration": _read_calibration(target, [*gates, *_CALIBRATED]),
    }
    coupling = target.build_coupling_map()
    if coupling is not None:
        found["coupling"] = sorted(coupling.get_edges())
    return found


def _read_calibration(target: Target, names: list[str]) -> dict[str, Any]:
    properties = target.qubit_properties or [None] * (target.num_qubits or 0)
    qubits = [
        {
            "id": str(index),
            **({} if qubit is None or qubit.t1 is None else {"t1": qubit.t1}),
            **({} if qubit is None or qubit.t2 is None else {"t2": qubit.t2}),
        }
        for index, qubit in enumerate(properties)
    ]
    gates = [
        {
            "name": name,
            "qubits": [str(qubit) for qubit in place],
            "duration": measured.duration,
            "error": measured.error,
        }
        for name in names
        if name in target.operation_names
        for place, measured in sorted((target[name] or {}).items(), key=str)
        if place is not None and measured is not None
        if measured.duration is not None and measured.error is not None
    ]
    return {"qubits": qubits, "gates": gates}


def fit(
    circuit: Mapping[str, Any], device: BackendV2, target: Target | None = None
) -> QuantumCircuit:
    """The circuit for the device: as it is, where the device has all of it in these places.

    `target` is what it really has, where that is less than what it lets the transpiler use.

    :raises BackendFailure: GATE_UNSUPPORTED
    """
    there = device.target if target is None else target
    made = to_qiskit(circuit)
    if all(_is_there(there, operation) for operation in circuit["operations"]):
        return made
    return compile_for(made, device)


def compile_for(circuit: QuantumCircuit, device: BackendV2) -> QuantumCircuit:
    """The circuit with the gates of the device, where it has them.

    :raises BackendFailure: GATE_UNSUPPORTED
    """
    try:
        return transpile(circuit, backend=device, optimization_level=_EASY_LEVEL)
    except Exception as error:
        detail = f"The circuit {circuit.name!r} does not fit the device: {describe_error(error)}"
        raise BackendFailure(GATE_UNSUPPORTED, detail) from None


def _is_there(target: Target, operation: list[Any]) -> bool:
    name, _, qubits, _ = operation
    return name == "barrier" or bool(target.instruction_supported(name, tuple(qubits)))
