"""Circuits of the Amazon Braket SDK on the platform: a device, as Braket has devices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .errors import InvalidProblemError
from .needs import need

need("braket.devices", "braket")

from braket.circuits import Circuit  # noqa: E402 (says first how to install it)
from braket.circuits.circuit_helpers import validate_circuit_and_shots  # noqa: E402
from braket.circuits.serialization import IRType, SerializableProgram  # noqa: E402
from braket.devices import Device  # noqa: E402
from braket.ir.openqasm import Program  # noqa: E402
from braket.schema_common import BraketSchemaBase  # noqa: E402

from .arguments import read_count  # noqa: E402
from .braket_task import PlatformBraketBatch, PlatformBraketTask  # noqa: E402
from .estimate import Estimate  # noqa: E402
from .job_options import take_job_options  # noqa: E402
from .provider import PlatformQuantumProvider  # noqa: E402
from .remote_job import RemoteJob  # noqa: E402
from .session import Session  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from braket.device_schema import DeviceCapabilities

    from .models import BackendInfo

    Inputs = Mapping[str, float]

__all__ = ["PlatformBraketBatch", "PlatformBraketDevice", "PlatformBraketTask"]

FORMAT = "BRAKET_OPEN_QASM_V3"
_DEFAULT = "sim.braket"
_DEFAULT_SHOTS_QPU = 1000


class PlatformBraketDevice(Device):  # type: ignore[misc, unused-ignore]
    """A backend that reads Braket's OpenQASM."""

    def __init__(
        self, backend: str = _DEFAULT, provider: PlatformQuantumProvider | None = None
    ) -> None:
        self._provider = provider or PlatformQuantumProvider()
        self._info: BackendInfo = self._provider.find_backend(backend)
        if FORMAT not in self._info.formats:
            raise InvalidProblemError(f"The backend {backend} reads no programs of Braket.")
        super().__init__(name=self._info.id, status=self._info.status)

    def __repr__(self) -> str:
        return f"PlatformBraketDevice({self._info.id!r})"

    @property
    def info(self) -> BackendInfo:
        """What the platform says of the backend."""
        return self._info

    @property
    def status(self) -> str:
        """ONLINE, PAUSED or OFFLINE, at present."""
        status: str = self._provider.api.get_backend_status(self._info.id)["status"]
        return status

    @property
    def properties(self) -> DeviceCapabilities:
        """The properties of the device, as Braket describes devices."""
        config = self._provider.api.get_backend_part(self._info.id, "config")
        return BraketSchemaBase.parse_raw_schema(json.dumps(config))

    def run(
        self,
        task_specification: Circuit | Program | SerializableProgram,
        shots: int | None = None,
        inputs: Inputs | None = None,
        *_: Any,
        **options: Any,
    ) -> PlatformBraketTask:
        """Starts one job for a circuit or a program.

        `shots` None: exact values of what a circuit asks for at a simulator, else 1,000. `tags`,
        `name`, `session`, `idempotency_key`, `max_cost`, `cache` as of any job; `seed`, `method`,
        and whatever else goes to the backend.

        :raises InvalidProblemError: the backend would refuse it
        """
        count = self._choose_shots(shots)
        program = self._describe(task_specification, count, inputs)
        return PlatformBraketTask(self._start(program, count, options))

    def estimate(
        self,
        task_specification: Circuit | Program | SerializableProgram,
        shots: int | None = None,
        inputs: Inputs | None = None,
        **options: Any,
    ) -> Estimate:
        """What `run` would cost: the backend checks the program and runs nothing.

        :raises InvalidProblemError: the backend would refuse it, as can be told without asking
        :raises JobFailedError: the backend would refuse it
        """
        count = self._choose_shots(shots)
        program = self._describe(task_specification, count, inputs)
        return Estimate.from_dict(self._start(program, count, options, dry_run=True).raw_result())

    def open_session(self, ttl: int | None = None) -> Session:
        """Opens a session: its jobs run on the version of now, before others that wait.

        `ttl`: how long it is open, in seconds; at most, and by default, 8 hours.
        """
        return Session.open(self._provider.api, self._info.id, ttl)

    def run_batch(
        self,
        task_specifications: Any,
        shots: int | Sequence[int] | None = None,
        max_parallel: int | None = None,  # noqa: ARG002 (of the interface: it is one job)
        inputs: Inputs | Sequence[Inputs] | None = None,
        *_: Any,
        **options: Any,
    ) -> PlatformBraketBatch:
        """Starts one job for many circuits; one circuit, shots or inputs are for all of them.

        :raises InvalidProblemError: the backend would refuse it
        """
        circuits, counts, values = _align(task_specifications, shots, inputs)
        programs = []
        for circuit, count, value in zip(circuits, counts, values, strict=True):
            chosen = self._choose_shots(count)
            programs.append({**self._describe(circuit, chosen, value), "shots": chosen})
        most = self._info.configuration.get("max_pubs_per_job")
        if not programs or (most is not None and len(programs) > most):
            raise InvalidProblemError(
                f"{self._info.id} takes 1 to {most} programs in a job, not {len(programs)}."
            )
        job = self._start({"programs": programs}, 0, options)
        return PlatformBraketBatch(
            [PlatformBraketTask(job, index) for index in range(len(programs))]
        )

    def retrieve_task(self, job_id: str) -> PlatformBraketTask:
        """A task by its id, started from anywhere."""
        api = self._provider.api
        return PlatformBraketTask(RemoteJob(api, api.get_job(job_id)[0]))

    def _choose_shots(self, shots: int | None) -> int:
        chosen = 0 if self._info.type == "SIMULATOR" else _DEFAULT_SHOTS_QPU
        count = chosen if shots is None else read_count("shots", shots)
        most = (self._info.configuration.get("shots_range") or {}).get("max")
        if count < 0 or (most is not None and count > most):
            raise InvalidProblemError(f"{self._info.id} takes 0 to {most} shots, not {count}.")
        return count

    def _describe(self, given: Any, shots: int, inputs: Inputs | None) -> dict[str, Any]:
        values = {name: float(value) for name, value in (inputs or {}).items()}
        if isinstance(given, Circuit):
            self._check(given, shots, values)
            given = given.to_ir(ir_type=IRType.OPENQASM)
        elif isinstance(given, SerializableProgram):
            given = Program(source=given.to_ir(ir_type=IRType.OPENQASM))
        if not isinstance(given, Program):
            kind = type(given).__name__
            detail = f"{self._info.id} runs circuits and programs, no {kind}; several by run_batch."
            raise InvalidProblemError(detail)
        return {"source": given.source, "inputs": {**(given.inputs or {}), **values}}

    def _check(self, circuit: Circuit, shots: int, inputs: Inputs) -> None:
        missing = sorted({parameter.name for parameter in circuit.parameters} - set(inputs))
        if missing:
            raise InvalidProblemError(f"The circuit has parameters without a value: {missing[:5]}.")
        width = self._info.qubit_count
        if width is not None and circuit.qubit_count > width:
            detail = f"The circuit has {circuit.qubit_count} qubits, {self._info.id} has {width}."
            raise InvalidProblemError(detail)
        try:
            validate_circuit_and_shots(circuit, shots)
        except ValueError as error:
            raise InvalidProblemError(f"The circuit cannot be run: {error}") from error

    def _start(
        self, given: dict[str, Any], shots: int, options: dict[str, Any], *, dry_run: bool = False
    ) -> RemoteJob:
        params = dict(options)
        own = take_job_options(params, dry_run)
        body = {
            "backend_id": self._info.id,
            "input": given,
            "input_format": FORMAT,
            "input_params": {name: value for name, value in params.items() if value is not None},
            **own.body,
            **({"shots": shots} if shots else {}),
        }
        api = self._provider.api
        return RemoteJob(api, api.start_job(body, own.idempotency_key))


def _align(circuits: Any, shots: Any, inputs: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Lists of one length; what is one is repeated."""
    given = (circuits, shots, inputs)
    several = [list(one) for one in given if isinstance(one, (list, tuple))]
    sizes = {len(one) for one in several}
    if len(sizes) > 1:
        raise InvalidProblemError("Circuits, shots and inputs must be equal in number.")
    size = sizes.pop() if sizes else 1
    first, second, third = [
        list(one) if isinstance(one, (list, tuple)) else [one] * size for one in given
    ]
    return first, second, third
