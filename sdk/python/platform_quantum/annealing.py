"""Annealing: samplers for dimod, on the platform or in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import InvalidProblemError, PlatformError
from .needs import need

need("dimod", "annealing")

import dimod  # noqa: E402 (says first how to install it)

from .arguments import read_count  # noqa: E402
from .estimate import Estimate  # noqa: E402
from .job_options import JOB_OPTIONS, take_job_options  # noqa: E402
from .provider import PlatformQuantumProvider  # noqa: E402
from .remote_job import RemoteJob  # noqa: E402
from .session import Session  # noqa: E402

if TYPE_CHECKING:
    from .models import BackendInfo

BQM = "DIMOD_BQM"
_DEFAULT = "sim.annealing"
_IN_PROCESS = (
    "SimulatedAnnealingSampler",
    "SteepestDescentSampler",
    "TabuSampler",
    "PathIntegralAnnealingSampler",
    "RandomSampler",
)
"""Samplers of dwave-samplers that need no platform."""
_SENT_AS_SHOTS = "num_reads"


class PlatformSampler(dimod.Sampler):  # type: ignore[misc, unused-ignore]
    """Samples binary quadratic models by a backend of the platform."""

    def __init__(
        self, backend: str = _DEFAULT, provider: PlatformQuantumProvider | None = None
    ) -> None:
        self._provider = provider or PlatformQuantumProvider()
        self._info: BackendInfo = self._provider.find_backend(backend)
        if BQM not in self._info.formats:
            raise InvalidProblemError(f"The backend {backend} does not anneal.")

    def __repr__(self) -> str:
        return f"PlatformSampler({self._info.id!r})"

    @property
    def info(self) -> BackendInfo:
        """What the platform says of the backend."""
        return self._info

    @property
    def parameters(self) -> dict[str, list[str]]:
        """What `sample` takes besides the problem."""
        own: list[str] = self._info.configuration.get("operations") or []
        return {name: [] for name in (_SENT_AS_SHOTS, "seed", *own, *JOB_OPTIONS, "max_wait")}

    @property
    def properties(self) -> dict[str, Any]:
        """The configuration of the backend."""
        return self._info.configuration

    def sample(
        self, bqm: dimod.BinaryQuadraticModel, *, max_wait: float | None = None, **parameters: Any
    ) -> dimod.SampleSet:
        """Samples, and waits for the samples, for `max_wait` seconds at most.

        `num_reads`, `seed`; `tags`, `name`, `session`, `idempotency_key`, `max_cost`, `cache` as of
        any job; whatever else goes to the backend.

        :raises JobFailedError: the backend has refused it, or failed
        :raises JobTimeoutError: it has not ended within `max_wait` seconds
        """
        return self.read(self.start(bqm, **parameters), max_wait)

    def start(self, bqm: dimod.BinaryQuadraticModel, **parameters: Any) -> RemoteJob:
        """Starts a job, whose samples `read` waits for."""
        return self._start(bqm, parameters, dry_run=False)

    def estimate(self, bqm: dimod.BinaryQuadraticModel, **parameters: Any) -> Estimate:
        """What `sample` would cost: the backend checks the problem and samples nothing.

        :raises JobFailedError: the backend would refuse it
        """
        return Estimate.from_dict(self._start(bqm, parameters, dry_run=True).raw_result())

    def open_session(self, ttl: int | None = None) -> Session:
        """Opens a session: its jobs run on the version of now, before others that wait.

        `ttl`: how long it is open, in seconds; at most, and by default, 8 hours.
        """
        return Session.open(self._provider.api, self._info.id, ttl)

    def _start(
        self, bqm: dimod.BinaryQuadraticModel, parameters: dict[str, Any], dry_run: bool
    ) -> RemoteJob:
        if not isinstance(bqm, dimod.BinaryQuadraticModel):
            kind = type(bqm).__name__
            raise InvalidProblemError(
                f"An object of type {kind} is no binary quadratic model of dimod."
            )
        given = dict(parameters)
        own = take_job_options(given, dry_run)
        named = {name: value for name, value in given.items() if value is not None}
        body = {
            "backend_id": self._info.id,
            "shots": read_count(_SENT_AS_SHOTS, named.pop(_SENT_AS_SHOTS, 1)),
            "input": {"bqm": bqm.to_serializable()},
            "input_format": BQM,
            "input_params": named,
            **own.body,
        }
        api = self._provider.api
        return RemoteJob(api, api.start_job(body, own.idempotency_key))

    def read(self, job: RemoteJob, max_wait: float | None = None) -> dimod.SampleSet:
        """The samples of a job; `info` of them has its id."""
        raw = job.raw_result(max_wait)
        try:
            found = dimod.SampleSet.from_serializable(raw["sampleset"])
        except (KeyError, TypeError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise PlatformError(f"The result of job {job.id} is no sample set: {reason}") from error
        found.info.update(job_id=job.id, metadata=raw.get("metadata") or {})
        return found


class PlatformDwaveProvider:
    """Samplers by the names that D-Wave gives them."""

    def __init__(
        self,
        access_token: str | None = None,
        organization_id: str | None = None,
        endpoint: str | None = None,
    ) -> None:
        self._arguments = (access_token, organization_id, endpoint)

    def __repr__(self) -> str:
        return "PlatformDwaveProvider()"

    def get_sampler(
        self,
        name: str = "SimulatedAnnealingSampler",
        **_: Any,
    ) -> dimod.Sampler:
        """One of dwave-samplers, which runs in this process and needs no token; else a backend.

        What else a sampler of D-Wave's cloud is made with, such as `solver`, chooses nothing here.
        """
        if name not in _IN_PROCESS:
            return PlatformSampler(name, PlatformQuantumProvider(*self._arguments))
        need("dwave", "dwave")
        import dwave.samplers

        return getattr(dwave.samplers, name)()
