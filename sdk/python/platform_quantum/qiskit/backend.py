"""A backend, as Qiskit has backends; one class for all of them."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from qiskit.circuit import QuantumCircuit
from qiskit.providers import BackendV2, Options

from ..arguments import format_time, read_count
from ..errors import InvalidProblemError
from ..estimate import Estimate
from ..job_options import SETTABLE_OPTIONS, take_job_options
from ..remote_job import RemoteJob
from ..session import Session
from .canonical import choose_name, name_parameters
from .job import PlatformJob
from .noise import build_noise, make_simulator
from .target import build_target
from .transport import Chosen, choose_transport, encode_circuits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from qiskit.transpiler import Target
    from qiskit_aer import AerSimulator

    from ..models import BackendInfo
    from ..provider import PlatformQuantumProvider

_DEFAULT_SHOTS = 1024
_ALIASES = {"seed_simulator": "seed", "simulator_seed": "seed"}
"""What Qiskit's own primitives call it."""


@dataclass(frozen=True)
class Task:
    """What is run: circuits, and for each of them what else its pub has."""

    primitive: str
    circuits: list[QuantumCircuit]
    pubs: list[dict[str, Any]]
    shots: int
    """Of each circuit that has none of its own."""


class PlatformBackend(BackendV2):  # type: ignore[misc, unused-ignore]
    """A backend of the platform; circuits that it cannot run are refused before they are sent."""

    def __init__(self, provider: PlatformQuantumProvider, info: BackendInfo) -> None:
        if info.type == "ANNEALER":
            raise InvalidProblemError(
                f"{info.id} is an annealer: use platform_quantum.annealing.PlatformSampler."
            )
        super().__init__(
            provider=provider,
            name=info.id,
            description=info.display_name,
            backend_version=str(info.raw.get("backend_version") or ""),
        )
        self.info = info
        self._target: Target | None = None
        default = max(self.min_shots, min(_DEFAULT_SHOTS, self.max_shots or _DEFAULT_SHOTS))
        own = dict.fromkeys(self._configuration.get("operations") or ())
        self._options.update_options(**{**own, "shots": default})

    def __repr__(self) -> str:
        return f"PlatformBackend({self.info.id!r})"

    @classmethod
    def _default_options(cls) -> Options:
        unset = dict.fromkeys(SETTABLE_OPTIONS)
        return Options(shots=_DEFAULT_SHOTS, memory=True, transport="auto", **unset)

    @property
    def id(self) -> str:
        """The id, the same as the name."""
        return self.info.id

    @property
    def target(self) -> Target:
        """What it can do; with errors, durations, T1 and T2 where it is calibrated."""
        if self._target is None:
            wired = not (self._configuration.get("connectivity") or {}).get("fully_connected")
            is_real = self.info.type != "SIMULATOR"
            calibration = self.calibration() if wired or is_real else None
            self._target = build_target(self._configuration, calibration)
        return self._target

    @property
    def num_qubits(self) -> int:
        """How many qubits it has."""
        return self.info.qubit_count or 0

    @property
    def max_circuits(self) -> int | None:
        """Circuits of one job; None: no limit."""
        count: int | None = self._configuration.get("max_pubs_per_job")
        return count

    @property
    def min_shots(self) -> int:
        """The fewest shots of a circuit."""
        return int(self._shots_range.get("min") or 1)

    @property
    def max_shots(self) -> int | None:
        """The most shots of a circuit; None: no limit."""
        most: int | None = self._shots_range.get("max")
        return most

    def status(self) -> str:
        """ONLINE, PAUSED or OFFLINE, at present."""
        status: str = self._provider.api.get_backend_status(self.id)["status"]
        return status

    def queue_info(self) -> Any:
        """What the platform says of its queue at present."""
        return self._provider.api.get_backend_status(self.id)

    def calibration(self, effective_at: datetime | None = None) -> dict[str, Any] | None:
        """Its calibration, at present or as of a time; None: the version had none.

        `effective_at` without a zone is local time.
        """
        query = {"effectiveAt": format_time("effective_at", effective_at)}
        found: dict[str, Any] | None = self._provider.api.get_backend_part(
            self.id, "calibration", query
        )
        return found

    def calibration_history(
        self, start: datetime | None = None, end: datetime | None = None
    ) -> Iterator[dict[str, Any]]:
        """The calibrations of its versions, the newest first, fetched as they are asked for.

        Each has `backend_version`, `calibrated_at`, `retired_at` and `calibration`. `start` and
        `end`: of versions that were made then or later, and before; without a zone in local time.
        """
        query = {"start": format_time("start", start), "end": format_time("end", end)}
        is_last = False
        while not is_last:
            page, is_last = self._provider.api.list_calibrations(self.id, query)
            yield from page
            if not is_last:
                query["before"] = page[-1]["backend_version"]

    def configuration(self) -> SimpleNamespace:
        """What programs for Qiskit 0.x ask; new ones ask `target`."""
        pairs = None if self.coupling_map is None else [list(e) for e in self.coupling_map]
        return SimpleNamespace(
            backend_name=self.id,
            backend_version=self.backend_version,
            n_qubits=self.num_qubits,
            max_shots=self.max_shots,
            max_experiments=self.max_circuits,
            basis_gates=[gate["name"] for gate in self._configuration.get("gates") or []],
            coupling_map=pairs,
            simulator=self.info.type == "SIMULATOR",
            local=False,
            memory=True,
            conditional=True,
            open_pulse=False,
        )

    def rehearse(self) -> AerSimulator:
        """A simulator in this process with the noise that this backend says it has.

        For circuits that were transpiled for `sim.noisy`, and the same seed (`seed_simulator`), it
        gives exactly the shots that the backend gives.

        :raises MissingDependencyError: qiskit-aer is not installed
        """
        return make_simulator(None if self.calibration() is None else build_noise(self.target))

    def retrieve_job(self, job_id: str) -> PlatformJob:
        """A job by its id, started from anywhere."""
        job: PlatformJob = self._provider.retrieve_job(job_id)
        return job

    def run(
        self,
        run_input: QuantumCircuit | Sequence[QuantumCircuit],
        shots: int | None = None,
        **options: Any,
    ) -> PlatformJob:
        """Starts one job for all circuits.

        `seed`, `tags`, `name`, `session`, `idempotency_key`, `max_cost` (nothing runs if it may
        cost more), `cache` (with a seed, on a deterministic backend: an earlier job that ran the
        same answers, free), `memory` (the shots one by one, in the result), `transport` (auto, qpy,
        qasm3, qasm2); whatever else goes to the backend. `set_options` sets them for all jobs, also
        those of samplers and estimators.

        :raises InvalidProblemError: the backend would refuse it
        """
        options = {**dict(self._options.items()), **options}
        memory = bool(options.pop("memory"))
        task = self._accept(run_input, shots, options)
        remote = self.start(task, options)
        headers = [
            {"name": circuit.name, "metadata": dict(circuit.metadata or {})}
            for circuit in task.circuits
        ]
        return PlatformJob(self._provider, remote, self, headers, memory)

    def estimate(
        self,
        run_input: QuantumCircuit | Sequence[QuantumCircuit],
        shots: int | None = None,
        **options: Any,
    ) -> Estimate:
        """What `run` would cost: the backend checks the circuits and runs nothing.

        :raises InvalidProblemError: the backend would refuse it, as can be told without asking
        :raises JobFailedError: the backend would refuse it
        """
        options = {**dict(self._options.items()), **options}
        options.pop("memory")
        return self.rate(self._accept(run_input, shots, options), options)

    def rate(self, task: Task, options: dict[str, Any]) -> Estimate:
        """As `estimate`, of a task; the options are those of `start`."""
        remote = self.start(task, options, dry_run=True)
        return Estimate.from_dict(remote.raw_result())

    def with_options(self, **options: Any) -> PlatformBackend:
        """The same backend with options of its own, as `set_options` sets them."""
        other = copy.copy(self)
        other._options = Options(**dict(self._options.items()))
        other.set_options(**options)
        return other

    def open_session(self, ttl: int | None = None) -> Session:
        """Opens a session: its jobs run on the version of now, before others that wait.

        `ttl`: how long it is open, in seconds; at most, and by default, 8 hours.
        """
        return Session.open(self._provider.api, self.id, ttl, self)

    def _accept(
        self,
        run_input: QuantumCircuit | Sequence[QuantumCircuit],
        shots: int | None,
        options: dict[str, Any],
    ) -> Task:
        alone = isinstance(run_input, (QuantumCircuit, str)) or not isinstance(run_input, Iterable)
        circuits: list[QuantumCircuit] = [run_input] if alone else list(run_input)
        default = options.pop("shots")
        count = read_count("shots", default if shots is None else shots)
        self._check(circuits, count, options)
        for circuit in circuits:
            self._check_runnable(circuit)
        return Task("sampler", circuits, [{} for _ in circuits], count)

    def start(self, task: Task, options: dict[str, Any], *, dry_run: bool = False) -> RemoteJob:
        """Starts a job; the options are those of `run`, but for shots and memory."""
        merged = {**dict(self._options.items()), **options}
        for name in ("shots", "memory"):
            merged.pop(name)
        for name, alias in _ALIASES.items():
            if merged.get(name) is not None:
                merged[alias] = merged[name]
            merged.pop(name, None)
        own = take_job_options(merged, dry_run)
        chosen = choose_transport(self.info, merged.pop("transport"))
        names = [choose_name(circuit, index) for index, circuit in enumerate(task.circuits)]
        texts = encode_circuits(task.circuits, names, chosen)
        pubs = [
            {"circuit": text, "name": name, **_name_values(pub, circuit, chosen)}
            for text, name, circuit, pub in zip(texts, names, task.circuits, task.pubs, strict=True)
        ]
        body = {
            "backend_id": self.id,
            "shots": task.shots,
            "input": {"pubs": pubs, "primitive": task.primitive, "shape": "registers"},
            "input_format": chosen.format,
            "input_params": {name: value for name, value in merged.items() if value is not None},
            **own.body,
        }
        api = self._provider.api
        return RemoteJob(api, api.start_job(body, own.idempotency_key))

    def check(self, task: Task, options: dict[str, Any]) -> None:
        """Returns if the backend would not refuse the circuits for their size or number.

        :raises InvalidProblemError: it would
        """
        self._check(task.circuits, task.shots, {**dict(self._options.items()), **options})

    @property
    def _configuration(self) -> dict[str, Any]:
        return self.info.configuration

    @property
    def _shots_range(self) -> dict[str, Any]:
        found: dict[str, Any] = self._configuration.get("shots_range") or {}
        return found

    def _check(self, circuits: list[QuantumCircuit], shots: int, options: dict[str, Any]) -> None:
        if not circuits:
            raise InvalidProblemError("There is no circuit.")
        if self.max_circuits is not None and len(circuits) > self.max_circuits:
            raise InvalidProblemError(
                f"{self.id} takes {self.max_circuits} circuits in a job, not {len(circuits)}."
            )
        most = self.max_shots
        if shots < self.min_shots or (most is not None and shots > most):
            raise InvalidProblemError(
                f"{self.id} takes {self.min_shots} to {most or 'any number of'} shots, not {shots}."
            )
        widths = self._configuration.get("method_qubits") or {}
        width = widths.get(str(options.get("method") or "automatic"), self.num_qubits)
        for circuit in circuits:
            if not isinstance(circuit, QuantumCircuit):
                kind = type(circuit).__name__
                raise InvalidProblemError(f"An object of type {kind} is no circuit.")
            if width and circuit.num_qubits > width:
                raise InvalidProblemError(
                    f"The circuit {circuit.name!r} has {circuit.num_qubits} qubits, {self.id} has "
                    f"{width}."
                )

    @staticmethod
    def _check_runnable(circuit: QuantumCircuit) -> None:
        if circuit.num_parameters > 0:
            names = ", ".join(parameter.name for parameter in list(circuit.parameters)[:5])
            raise InvalidProblemError(
                f"The circuit {circuit.name!r} has parameters without a value: {names}. "
                "Use assign_parameters()."
            )
        if circuit.num_clbits == 0:
            raise InvalidProblemError(
                f"The circuit {circuit.name!r} measures nothing. Use measure_all()."
            )


def _name_values(pub: dict[str, Any], circuit: QuantumCircuit, chosen: Chosen) -> dict[str, Any]:
    """The pub, whose values are those of the parameters as they are sent."""
    values = pub.get("parameters")
    if not values or not values["names"]:
        return pub
    names = name_parameters(circuit, chosen.has_plain_names)
    return {**pub, "parameters": {**values, "names": names}}
