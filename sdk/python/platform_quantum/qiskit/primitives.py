"""Qiskit's primitives: one job for all circuits and all sets of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from qiskit.primitives import BaseEstimatorV2, BaseSamplerV2
from qiskit.primitives.containers.estimator_pub import EstimatorPub
from qiskit.primitives.containers.sampler_pub import SamplerPub

from .. import samples
from ..arguments import read_count
from ..errors import InvalidProblemError
from ..remote_job import RemoteJob
from ..session import Session
from .backend import PlatformBackend, Task
from .primitive_job import PlatformPrimitiveJob, read_expectations, read_samples

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qiskit.primitives import EstimatorPubLike, SamplerPubLike

    from ..estimate import Estimate
    from ..models import JobInfo

_DEFAULT_SHOTS = "default_shots"
_DEFAULT_PRECISION = "default_precision"


class SamplerV2(BaseSamplerV2):  # type: ignore[misc, unused-ignore]
    """Samples circuits on a backend of the platform, or in a session.

    Options: `default_shots`, and those of the backend's `run`.
    """

    def __init__(
        self, mode: PlatformBackend | Session, options: dict[str, Any] | None = None
    ) -> None:
        self._backend, chosen = _read_mode(mode)
        self.options: dict[str, Any] = {**chosen, **(options or {})}

    def run(
        self, pubs: Iterable[SamplerPubLike], *, shots: int | None = None
    ) -> PlatformPrimitiveJob:
        """Starts one job for all pubs.

        :raises InvalidProblemError: the backend would refuse it
        """
        task, options = self._accept(pubs, shots)
        return PlatformPrimitiveJob(self._backend.start(task, options), read_samples)

    def estimate(self, pubs: Iterable[SamplerPubLike], *, shots: int | None = None) -> Estimate:
        """What `run` would cost: the backend checks the pubs and runs nothing.

        :raises InvalidProblemError: the backend would refuse it, as can be told without asking
        :raises JobFailedError: the backend would refuse it
        """
        return self._backend.rate(*self._accept(pubs, shots))

    def _accept(
        self, pubs: Iterable[SamplerPubLike], shots: int | None
    ) -> tuple[Task, dict[str, Any]]:
        options = dict(self.options)
        default = options.pop(_DEFAULT_SHOTS, None) or self._backend.options.shots
        listed = [SamplerPub.coerce(pub, shots) for pub in pubs]
        task = Task(
            "sampler",
            [pub.circuit for pub in listed],
            [_encode(pub, {} if pub.shots is None else {"shots": pub.shots}) for pub in listed],
            read_count("shots", shots or default),
        )
        for pub in listed:
            if not pub.circuit.cregs:
                raise InvalidProblemError(
                    f"The circuit {pub.circuit.name!r} measures nothing. Use measure_all()."
                )
        self._backend.check(task, options)
        return task, options

    def job(self, job_id: str) -> PlatformPrimitiveJob:
        """A job of a sampler by its id, started from anywhere."""
        return PlatformPrimitiveJob(_open(self._backend, job_id), read_samples)


class EstimatorV2(BaseEstimatorV2):  # type: ignore[misc, unused-ignore]
    """Estimates expectation values on a backend of the platform, or in a session.

    Options: `default_precision`, and those of the backend's `run`. Without a precision the backend
    takes its own: a simulator of states is exact.
    """

    def __init__(
        self, mode: PlatformBackend | Session, options: dict[str, Any] | None = None
    ) -> None:
        self._backend, chosen = _read_mode(mode)
        self.options: dict[str, Any] = {**chosen, **(options or {})}

    def run(
        self, pubs: Iterable[EstimatorPubLike], *, precision: float | None = None
    ) -> PlatformPrimitiveJob:
        """Starts one job for all pubs, with the finest precision that one of them wants.

        :raises InvalidProblemError: the backend would refuse it
        """
        task, options = self._accept(pubs, precision)
        return PlatformPrimitiveJob(self._backend.start(task, options), read_expectations)

    def estimate(
        self, pubs: Iterable[EstimatorPubLike], *, precision: float | None = None
    ) -> Estimate:
        """What `run` would cost: the backend checks the pubs and runs nothing.

        :raises InvalidProblemError: the backend would refuse it, as can be told without asking
        :raises JobFailedError: the backend would refuse it
        """
        return self._backend.rate(*self._accept(pubs, precision))

    def _accept(
        self, pubs: Iterable[EstimatorPubLike], precision: float | None
    ) -> tuple[Task, dict[str, Any]]:
        options = dict(self.options)
        default = options.pop(_DEFAULT_PRECISION, None)
        listed = [EstimatorPub.coerce(pub, precision) for pub in pubs]
        wanted = [pub.precision for pub in listed if pub.precision]
        options["precision"] = min(wanted) if wanted else default
        task = Task(
            "estimator",
            [pub.circuit for pub in listed],
            [_encode(pub, {"observables": _list_observables(pub)}) for pub in listed],
            self._backend.min_shots,
        )
        self._backend.check(task, options)
        return task, options

    def job(self, job_id: str) -> PlatformPrimitiveJob:
        """A job of an estimator by its id, started from anywhere."""
        return PlatformPrimitiveJob(_open(self._backend, job_id), read_expectations)


def _read_mode(mode: PlatformBackend | Session) -> tuple[PlatformBackend, dict[str, Any]]:
    """The backend, and options of all jobs."""
    if isinstance(mode, PlatformBackend):
        return mode, {}
    if not isinstance(mode, Session):
        raise InvalidProblemError(
            f"A backend of the platform or a session is needed, not {mode!r}: "
            "PlatformQuantumProvider().get_backend(...) is one."
        )
    if mode.backend is None:
        detail = "The session was not opened by a backend: give it as an option `session`."
        raise InvalidProblemError(detail)
    return mode.backend, {"session": mode}


def _open(backend: PlatformBackend, job_id: str) -> RemoteJob:
    api = backend.provider.api
    info: JobInfo = api.get_job(job_id)[0]
    return RemoteJob(api, info)


def _encode(pub: SamplerPub | EstimatorPub, more: dict[str, Any]) -> dict[str, Any]:
    parameters = list(pub.circuit.parameters)
    if not parameters:
        shape = list(pub.parameter_values.shape)
        if not shape:
            return more
        empty = {"names": [], "shape": shape, "values": samples.pack(b"")}
        return {"parameters": empty, **more}
    array = pub.parameter_values.as_array(parameters)
    values = np.ascontiguousarray(array, dtype="<f8")
    encoded = {
        "names": [parameter.name for parameter in parameters],
        "shape": list(values.shape[:-1]),
        "values": samples.pack(values.tobytes()),
    }
    return {"parameters": encoded, **more}


def _list_observables(pub: EstimatorPub) -> Any:
    """Lists of objects of Pauli texts and numbers, of the shape of the observables."""

    def lower(value: Any) -> Any:
        if isinstance(value, list):
            return [lower(one) for one in value]
        return {label: float(np.real(weight)) for label, weight in dict(value).items()}

    return lower(pub.observables.tolist())
