"""A backend of gates from one function: `run, describe = gate_backend(execute, qubits=...)`."""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Required, TypedDict, Unpack

import qiskit
from qiskit import transpile
from qiskit.quantum_info import Statevector

from .. import __version__
from ..qiskit.target import build_target
from . import failures
from .bindings import check_bindings
from .counts import count_pub
from .describe import DEFAULT_INSTRUCTIONS, DEFAULT_SHOTS, describe_gates
from .dialects import ionq, translate
from .failures import BackendFailure
from .limits import Limits
from .observables import estimate_pubs
from .options import Options, read_options
from .pubs import Pub, read_pubs
from .registers import Output, describe_pub
from .trial import read_in_copy
from .unroll import Size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from qiskit import QuantumCircuit
    from qiskit.primitives import BaseEstimatorV2
    from qiskit.transpiler import Target

    Execute = Callable[[list[QuantumCircuit], int, Options], Sequence[Output]]
    """Runs circuits, each with so many shots; an output for each of them, in their order."""
    Run = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
    Describe = Callable[[], dict[str, Any]]


_MAX_STATE_QUBITS = 16
"""A state of 16 qubits has about 2.6 MB of JSON."""


class GateProfile(TypedDict, total=False):
    """What a backend can do."""

    qubits: Required[int]
    gates: Required[Sequence[str]]
    """Names as Qiskit has them; other gates are unrolled into these."""
    instructions: Sequence[str]
    """Measurements, control flow and the like; default: measure, reset, delay, barrier."""
    coupling: list[tuple[int, int]]
    """Ordered pairs of neighbours; default: all qubits are."""
    calibration: dict[str, Any]
    """See `platform_quantum.qiskit.target`."""
    shots: tuple[int, int]
    """Fewest and most shots of a circuit."""
    options: Sequence[str]
    """Names of the options of its own; others are refused."""
    method_qubits: Mapping[str, int]
    """Qubits that other values of the option `method` allow."""
    estimator: Callable[[Options], BaseEstimatorV2]
    """Makes what estimates expectation values; default: it does not."""
    check: Callable[[QuantumCircuit, Options], None]
    """Raises `BackendFailure` for a circuit that cannot be run."""
    seconds: Callable[[QuantumCircuit, int, Options], float | None]
    """How long a circuit with so many shots would run, for dry runs; None: it does not say. An
    estimator has 0 shots."""
    limits: Limits
    type: str
    technology: str
    display_name: str
    provider: str
    hardware_provider: str
    documentation: Mapping[str, str]
    """`description`, `url`."""
    has_states: bool
    """Whether states may be computed in place of shots, for published SDKs that ask for them."""
    deterministic: bool
    """Whether the same seed gives the same result."""
    price: dict[str, Any]


@dataclass(frozen=True)
class _Backend:
    execute: Execute
    profile: GateProfile
    limits: Limits
    known: frozenset[str]
    """Names of operations that it runs as they are."""
    unrolled: Target
    """These alone, wherever they are: whether they fit the coupling is the caller's business."""

    def run_any(self, data: dict[str, Any], params: dict[str, Any]) -> Any:
        """A job in the own form, or in that of a published SDK."""
        translated = translate(data, params)
        if translated is None:
            return self.run(data, params)
        if params.get("dry_run") is True:
            return self.run(translated.data, {**translated.params, "dry_run": True})
        if translated.is_state:
            return translated.tell(self._find_state(translated.data, translated.params))
        return translated.tell(self.run(translated.data, translated.params))

    def run(self, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """A job in the own form."""
        started = time.perf_counter()
        shots_range = self.profile.get("shots", DEFAULT_SHOTS)
        options = read_options(params, self.profile.get("options", ()), shots_range)
        primitive = data.get("primitive", "sampler")
        estimator = self.profile.get("estimator")
        if primitive not in ("sampler", "estimator") or (
            primitive == "estimator" and estimator is None
        ):
            detail = f"The primitive {str(primitive)[:50]!r} is not supported."
            raise BackendFailure(failures.INVALID_INPUT, detail)
        pubs = self._read(data, options, primitive)
        pubs = [self._prepare(pub, options, primitive) for pub in pubs]
        for pub in pubs:
            check_bindings(pub)
        if options.dry_run:
            return {"valid": True, "warnings": [], **self._foresee(pubs, options, primitive)}
        if primitive == "estimator" and estimator is not None:
            listed = estimate_pubs(pubs, estimator(options), options, self.limits)
        else:
            listed = self._sample(pubs, options)
            if data.get("shape") == "counts":
                listed = [count_pub(pub) for pub in listed]
        return {"pubs": listed, "metadata": self._tell(options, time.perf_counter() - started)}

    def _read(self, data: dict[str, Any], options: Options, primitive: str) -> list[Pub]:
        """The circuits of a job, which a copy of this process has read and measured before."""
        shots_range = self.profile.get("shots", DEFAULT_SHOTS)

        def read() -> list[Pub]:
            return read_pubs(data, options, self.limits, shots_range)

        def measure() -> None:
            for pub in read():
                self._measure(pub, options, primitive)

        read_in_copy(measure, self.limits.reading_seconds)
        return read()

    def _measure(self, pub: Pub, options: Options, primitive: str) -> Size:
        """How large a circuit is, which is not too large."""
        circuit = pub.circuit
        if circuit.num_clbits == 0 and primitive == "sampler":
            detail = f"The circuit {pub.name!r} measures nothing."
            raise BackendFailure(failures.CIRCUIT_INVALID, detail)
        method = options.get("method", "automatic")
        if not isinstance(method, str):
            raise BackendFailure(failures.INVALID_INPUT, "`method` must be a text.")
        widths = self.profile.get("method_qubits") or {}
        width = widths.get(method, self.profile["qubits"])
        if circuit.num_qubits > width:
            detail = f"The circuit {pub.name!r} has {circuit.num_qubits} qubits, there are {width}."
            raise BackendFailure(failures.TOO_MANY_QUBITS, detail)
        size = Size(self.known, self.limits.operations, self.limits.looped)
        size.count(circuit)
        return size

    def _prepare(self, pub: Pub, options: Options, primitive: str) -> Pub:
        circuit = pub.circuit
        if not self._measure(pub, options, primitive).is_basic:
            circuit = self._unroll(circuit)
        if "check" in self.profile:
            self.profile["check"](circuit, options)
        return replace(pub, circuit=circuit)

    def _foresee(self, pubs: list[Pub], options: Options, primitive: str) -> dict[str, float]:
        foresee = self.profile.get("seconds")
        if foresee is None:
            return {}
        total = 0.0
        for pub in pubs:
            shots = pub.shots if primitive == "sampler" else 0
            found = foresee(pub.circuit, shots, options)
            if found is None:
                return {}
            total += pub.runs * found
        return {"seconds": round(total, 3)}

    def _unroll(self, circuit: QuantumCircuit) -> QuantumCircuit:
        try:
            return transpile(circuit, target=self.unrolled, optimization_level=0, seed_transpiler=0)
        except Exception as error:
            reason = failures.describe_error(error)
            detail = f"A gate of the circuit cannot be unrolled: {reason}"
            raise BackendFailure(failures.GATE_UNSUPPORTED, detail) from None

    def _sample(self, pubs: list[Pub], options: Options) -> list[dict[str, Any]]:
        outputs: dict[int, list[Output]] = {}
        for shots in dict.fromkeys(pub.shots for pub in pubs):
            group = [index for index, pub in enumerate(pubs) if pub.shots == shots]
            circuits = [circuit for index in group for circuit in pubs[index].bind()]
            found = list(self.execute(circuits, shots, options))
            if len(found) != len(circuits):
                raise RuntimeError(f"{len(circuits)} circuits gave {len(found)} outputs")
            for index in group:
                count = pubs[index].runs
                outputs[index], found = found[:count], found[count:]
        return [
            describe_pub(pub, outputs[index], options.seed + index)
            for index, pub in enumerate(pubs)
        ]

    def _find_state(self, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        if not self.profile.get("has_states"):
            raise BackendFailure(failures.INVALID_INPUT, "This backend has no states to tell.")
        shots_range = self.profile.get("shots", DEFAULT_SHOTS)
        options = read_options({**params, "shots": shots_range[0]}, (), shots_range)
        (pub, *others) = self._read(data, options, "estimator")
        if others or pub.circuit.num_qubits > _MAX_STATE_QUBITS:
            detail = f"The state is told of one circuit with {_MAX_STATE_QUBITS} qubits at most."
            raise BackendFailure(failures.TOO_MANY_QUBITS, detail)
        circuit = self._prepare(pub, options, "estimator").circuit
        try:
            state = Statevector(circuit.remove_final_measurements(inplace=False))
        except Exception as error:
            reason = failures.describe_error(error)
            detail = f"The circuit has no state: {reason}"
            raise BackendFailure(failures.CIRCUIT_INVALID, detail) from None
        return {"state": state.data, "qubits": pub.circuit.num_qubits}

    def _tell(self, options: Options, seconds: float) -> dict[str, Any]:
        return {
            "seconds": round(seconds, 6),
            "method": options.get("method", "automatic"),
            "seed": options.seed,
            "software": {
                "platform-quantum": __version__,
                "qiskit": qiskit.__version__,
                "python": platform.python_version(),
            },
        }


def gate_backend(execute: Execute, **profile: Unpack[GateProfile]) -> tuple[Run, Describe]:
    """`run` and `describe` of a backend that runs circuits by `execute`.

    Circuits reach it with values for all parameters, with gates of `gates` only, and within the
    limits. It may raise `BackendFailure` with a code and a detail for the caller.
    """
    limits = profile.get("limits", Limits())
    known = frozenset((*profile["gates"], *profile.get("instructions", DEFAULT_INSTRUCTIONS)))
    described = describe_gates(profile, limits.circuits, limits.total_shots)
    configuration = described["configuration"]
    configuration["supported_input_formats"].append(ionq.FORMAT)
    # What is described must be what the SDK can read: found out when the version is built.
    build_target(configuration, described.get("calibration"))
    anywhere = {**configuration, "connectivity": {}, "qubits": [], "qubit_count": None}
    backend = _Backend(execute, profile, limits, known, build_target(anywhere))

    def run(data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = backend.run_any(data, params)
        return answer

    def describe() -> dict[str, Any]:
        return described

    return run, describe
