"""`data` of a job: circuits with their parameters, observables and shots, read and checked."""

from __future__ import annotations

import itertools
import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import samples
from .decode import Decoder
from .failures import (
    CIRCUIT_INVALID,
    INVALID_INPUT,
    SHOTS_OUT_OF_RANGE,
    TOO_MANY_CIRCUITS,
    BackendFailure,
)
from .options import check_shots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qiskit.circuit import QuantumCircuit

    from .limits import Limits
    from .options import Options

    _Parameters = tuple[tuple[int, ...], tuple[str, ...], tuple[float, ...]]
    """Shape, names, values."""

_MAX_DIMENSIONS = 8
_MAX_NAME = 200


@dataclass(frozen=True)
class Pub:
    """A circuit of a job, and what to do with it."""

    circuit: QuantumCircuit
    name: str
    shots: int
    shape: tuple[int, ...]
    """Of its sets of parameters; () for a circuit without."""
    names: tuple[str, ...]
    values: tuple[float, ...]
    """For each set of parameters, in C order, a value for each name."""
    observables: Any = None

    @property
    def runs(self) -> int:
        """How often it is to be run, each time with all shots."""
        return math.prod(self.shape)

    def rows(self) -> Iterator[dict[str, float]]:
        """The values of each set of parameters, by name; of a circuit without, one empty set."""
        width = len(self.names)
        for index in range(self.runs if width else 1):
            row = self.values[index * width : (index + 1) * width]
            yield dict(zip(self.names, row, strict=True))

    def bind(self) -> Iterator[QuantumCircuit]:
        """The circuit with each set of parameters."""
        if not self.names:
            yield from itertools.repeat(self.circuit, self.runs)
            return
        found = {parameter.name: parameter for parameter in self.circuit.parameters}
        for row in self.rows():
            yield self.circuit.assign_parameters({found[name]: row[name] for name in row})


def read_pubs(
    data: dict[str, Any], options: Options, limits: Limits, shots_range: tuple[int, int]
) -> list[Pub]:
    """The circuits of a job.

    :raises BackendFailure: with the code that says what is wrong
    """
    listed = data.get("pubs")
    if not isinstance(listed, list) or not listed:
        raise BackendFailure(INVALID_INPUT, "/data/pubs must be a list of circuits.")
    if len(listed) > limits.circuits:
        detail = f"The job has {len(listed)} circuits, more than {limits.circuits}."
        raise BackendFailure(TOO_MANY_CIRCUITS, detail)
    decoder = Decoder(str(data.get("format")), limits)
    pubs = []
    for index, raw in enumerate(listed):
        if not isinstance(raw, dict) or not isinstance(raw.get("circuit"), str):
            detail = f"/data/pubs/{index}/circuit must be a text."
            raise BackendFailure(INVALID_INPUT, detail)
        shots = raw.get("shots")
        count = options.shots if shots is None else check_shots(shots, shots_range)
        pubs.append(_read_pub(raw, index, decoder.decode(raw["circuit"]), count))
    _check_totals(pubs, limits)
    return pubs


def _read_pub(raw: dict[str, Any], index: int, circuit: QuantumCircuit, shots: int) -> Pub:
    wanted = sorted(parameter.name for parameter in circuit.parameters)
    given = raw.get("parameters")
    none: _Parameters = ((), (), ())
    shape, names, values = none if given is None else _read_parameters(given, index)
    if sorted(names) != wanted:
        detail = f"/data/pubs/{index}: the circuit has the parameters {wanted[:10]}"
        raise BackendFailure(CIRCUIT_INVALID, f"{detail}, and values came for {list(names)[:10]}.")
    name = raw.get("name")
    return Pub(
        circuit=circuit,
        name=name[:_MAX_NAME] if isinstance(name, str) and name else f"circuit-{index}",
        shots=shots,
        shape=shape,
        names=names,
        values=values,
        observables=raw.get("observables"),
    )


def _read_parameters(given: Any, index: int) -> _Parameters:
    place = f"/data/pubs/{index}/parameters"
    if not isinstance(given, dict):
        raise BackendFailure(INVALID_INPUT, f"{place} must be an object.")
    names, shape = given.get("names"), given.get("shape", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BackendFailure(INVALID_INPUT, f"{place}/names must be a list of texts.")
    is_shape = isinstance(shape, list) and len(shape) <= _MAX_DIMENSIONS
    if not is_shape or not all(type(size) is int and 0 < size <= 2**31 for size in shape):
        raise BackendFailure(INVALID_INPUT, f"{place}/shape must be a list of sizes.")
    count = math.prod(shape) * len(names)
    text = given.get("values")
    if not isinstance(text, str):
        raise BackendFailure(INVALID_INPUT, f"{place}/values must be a text.")
    try:
        values = struct.unpack(f"<{count}d", samples.unpack(text, count * 8))
    except ValueError as error:
        raise BackendFailure(INVALID_INPUT, f"{place}/values: {error}.") from None
    if not all(math.isfinite(value) for value in values):
        raise BackendFailure(INVALID_INPUT, f"{place}/values has a number that is not finite.")
    return tuple(shape), tuple(names), values


def _check_totals(pubs: list[Pub], limits: Limits) -> None:
    runs = sum(pub.runs for pub in pubs)
    if runs > limits.runs:
        detail = f"With all sets of parameters there are {runs} circuits, more than {limits.runs}."
        raise BackendFailure(TOO_MANY_CIRCUITS, detail)
    shots = sum(pub.runs * pub.shots for pub in pubs)
    if shots > limits.total_shots:
        detail = f"All circuits together have {shots} shots, more than {limits.total_shots}."
        raise BackendFailure(SHOTS_OUT_OF_RANGE, detail)
