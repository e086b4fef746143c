"""Runs quantum circuits and annealing problems on the backends of a platform.

Importing this costs milliseconds: each name is imported when it is used first, and Qiskit only with
what needs it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .credentials import Credentials
    from .errors import (
        ApiError,
        BackendNotFoundError,
        ConfigInvalidError,
        CredentialsNotFound,
        InvalidAccessTokenError,
        InvalidProblemError,
        JobCancelledError,
        JobFailedError,
        JobTimeoutError,
        MissingDependencyError,
        PlatformError,
        ServerUnreachableError,
    )
    from .estimate import Estimate
    from .models import BackendInfo, Failure, JobInfo, LogLine
    from .provider import PlatformQuantumProvider
    from .qiskit.backend import PlatformBackend
    from .qiskit.job import PlatformJob
    from .qiskit.primitives import EstimatorV2, SamplerV2
    from .remote_job import RemoteJob
    from .session import Session

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "BackendInfo",
    "BackendNotFoundError",
    "ConfigInvalidError",
    "Credentials",
    "CredentialsNotFound",
    "Estimate",
    "EstimatorV2",
    "Failure",
    "InvalidAccessTokenError",
    "InvalidProblemError",
    "JobCancelledError",
    "JobFailedError",
    "JobInfo",
    "JobTimeoutError",
    "LogLine",
    "MissingDependencyError",
    "PlatformBackend",
    "PlatformError",
    "PlatformJob",
    "PlatformQuantumProvider",
    "RemoteJob",
    "SamplerV2",
    "ServerUnreachableError",
    "Session",
]

_MODULES = {
    "Credentials": "credentials",
    "Estimate": "estimate",
    "BackendInfo": "models",
    "Failure": "models",
    "JobInfo": "models",
    "LogLine": "models",
    "PlatformQuantumProvider": "provider",
    "PlatformBackend": "qiskit.backend",
    "EstimatorV2": "qiskit.primitives",
    "PlatformJob": "qiskit.job",
    "SamplerV2": "qiskit.primitives",
    "RemoteJob": "remote_job",
    "Session": "session",
}
"""Where a name is, when it is not in `errors`."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f".{_MODULES.get(name, 'errors')}", __name__)
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
