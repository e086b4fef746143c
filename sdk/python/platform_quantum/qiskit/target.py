"""From what a backend says of itself to Qiskit's `Target`; the backends use the same function.

A calibration is `{"qubits": [{"id", "t1", "t2", "frequency"}], "gates": [{"name", "qubits": [id],
"duration", "error"}]}`, times in seconds, with `measure` and `reset` among the gates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qiskit.circuit import Delay, Measure, Parameter, Reset, Store
from qiskit.circuit.controlflow import (
    BreakLoopOp,
    ContinueLoopOp,
    ForLoopOp,
    IfElseOp,
    SwitchCaseOp,
    WhileLoopOp,
)
from qiskit.circuit.library import (
    DiagonalGate,
    Initialize,
    MCPhaseGate,
    MCXGate,
    PauliGate,
    UnitaryGate,
    get_standard_gate_name_mapping,
)
from qiskit.providers import QubitProperties
from qiskit.transpiler import InstructionProperties, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qiskit.circuit import Instruction

_ANY_WIDTH: dict[str, type[Instruction]] = {
    "break_loop": BreakLoopOp,
    "continue_loop": ContinueLoopOp,
    "diagonal": DiagonalGate,
    "for_loop": ForLoopOp,
    "if_else": IfElseOp,
    "initialize": Initialize,
    "mcphase": MCPhaseGate,
    "mcx": MCXGate,
    "pauli": PauliGate,
    "store": Store,
    "switch_case": SwitchCaseOp,
    "unitary": UnitaryGate,
    "while_loop": WhileLoopOp,
}
"""Operations that are not of one width; they can be anywhere."""
_DEFAULT_INSTRUCTIONS = ("measure", "reset", "delay")

Places = tuple[int, ...]


def build_target(
    configuration: dict[str, Any], calibration: dict[str, Any] | None = None
) -> Target:
    """What the transpiler has to know; gates that this Qiskit does not know are left out."""
    qubits = [str(qubit["id"]) for qubit in configuration.get("qubits") or []]
    count = int(configuration.get("qubit_count") or len(qubits))
    qubits = qubits or [str(index) for index in range(count)]
    indices = {name: index for index, name in enumerate(qubits)}
    measured = _read_gates(calibration, indices)
    target = Target(
        num_qubits=count or None, qubit_properties=_read_qubits(calibration, indices, count)
    )
    edges = _read_edges(configuration.get("connectivity") or {}, indices)
    for name, kind in _list_instructions(configuration):
        if isinstance(kind, type):
            target.add_instruction(kind, name=name)
            continue
        places = _find_places(kind.num_qubits, edges, count)
        known = measured.get(name, {})
        if places is None and not known:
            target.add_instruction(kind, name=name)  # everywhere, without error
            continue
        if places is not None or known:
            listed = places if places is not None else list(known)
            target.add_instruction(kind, {place: known.get(place) for place in listed}, name=name)
    return target


def _list_instructions(
    configuration: dict[str, Any],
) -> Iterator[tuple[str, Instruction | type[Instruction]]]:
    standard = get_standard_gate_name_mapping()
    named = [gate["name"] for gate in configuration.get("gates") or []]
    others = configuration.get("instructions") or list(_DEFAULT_INSTRUCTIONS)
    for name in dict.fromkeys([*named, *others]):
        if name in _ANY_WIDTH:
            yield name, _ANY_WIDTH[name]
        elif name == "delay":
            yield name, Delay(Parameter("t"))
        elif name in ("measure", "reset"):
            yield name, Measure() if name == "measure" else Reset()
        elif name in standard:
            yield name, standard[name]


def _find_places(width: int, edges: list[Places] | None, count: int) -> list[Places] | None:
    """Where a gate can be; None: everywhere."""
    if edges is None or width == 0:
        return None
    if width == 1:
        return [(index,) for index in range(count)]
    return edges if width == 2 else []


def _read_edges(connectivity: dict[str, Any], indices: dict[str, int]) -> list[Places] | None:
    """Pairs of neighbours; None: all qubits are."""
    graph = connectivity.get("graph")
    if connectivity.get("fully_connected") or not graph:
        return None
    return [(indices[str(one)], indices[str(other)]) for one in graph for other in graph[one]]


def _read_qubits(
    calibration: dict[str, Any] | None, indices: dict[str, int], count: int
) -> list[QubitProperties] | None:
    found: Iterable[dict[str, Any]] = (calibration or {}).get("qubits") or []
    properties = {
        indices[str(qubit["id"])]: QubitProperties(
            t1=qubit.get("t1"), t2=qubit.get("t2"), frequency=qubit.get("frequency")
        )
        for qubit in found
    }
    if not properties:
        return None
    return [properties.get(index, QubitProperties()) for index in range(count)]


def _read_gates(
    calibration: dict[str, Any] | None, indices: dict[str, int]
) -> dict[str, dict[Places, InstructionProperties]]:
    gates: dict[str, dict[Places, InstructionProperties]] = {}
    for gate in (calibration or {}).get("gates") or []:
        place = tuple(indices[str(qubit)] for qubit in gate["qubits"])
        properties = InstructionProperties(duration=gate.get("duration"), error=gate.get("error"))
        gates.setdefault(gate["name"], {})[place] = properties
    return gates
