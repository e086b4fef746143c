"""A session: jobs on one version of a backend, which go before others of the organisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from .api import QuantumApi
    from .qiskit.backend import PlatformBackend


class Session:
    """Jobs are started in it by `session=`. As a context manager, it is closed at the end."""

    def __init__(
        self, api: QuantumApi, raw: dict[str, Any], backend: PlatformBackend | None = None
    ) -> None:
        self._api = api
        self._raw = raw
        self._backend = backend

    @staticmethod
    def open(
        api: QuantumApi, backend_id: str, ttl: int | None, backend: PlatformBackend | None = None
    ) -> Session:
        """Opens one; `ttl`: for how many seconds, at most and by default 8 hours."""
        return Session(api, api.open_session(backend_id, ttl), backend)

    def __repr__(self) -> str:
        return f"Session({self.id!r})"

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def id(self) -> str:
        """The id, which `session=` takes as well."""
        session_id: str = self._raw["id"]
        return session_id

    @property
    def backend(self) -> PlatformBackend | None:
        """The backend that has opened it: samplers and estimators take a session in its place."""
        return self._backend

    @property
    def backend_version(self) -> str | None:
        """The version of the backend that runs all of its jobs."""
        version: str | None = self._raw.get("backend_version")
        return version

    def status(self) -> str:
        """OPEN, ACTIVE, INACTIVE, DRAINING or CLOSED, at present."""
        status: str = self.details()["status"]
        return status

    def details(self) -> dict[str, Any]:
        """All that the platform says of it, with the sums of its jobs."""
        return self._api.ask_session(self.id)

    def drain(self) -> None:
        """It takes no more jobs; those that it has go on."""
        self._api.change_session(self.id, "PATCH", body={"accept_jobs": False})

    def close(self) -> None:
        """It takes no more jobs, for ever; those that it has go on."""
        self._api.change_session(self.id, "DELETE")

    def cancel(self) -> None:
        """Closes it, and cancels its jobs."""
        self._api.change_session(self.id, "POST", "/cancel")
