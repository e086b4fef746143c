"""Where a program begins: the backends and jobs of an organisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from .api import QuantumApi
from .arguments import format_time, read_count, read_id, read_tags
from .credentials import find_credentials
from .errors import BackendNotFoundError
from .job_filters import read_more
from .needs import need
from .remote_job import RemoteJob

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from .job_filters import MoreFilters
    from .models import BackendInfo, JobInfo
    from .qiskit.backend import PlatformBackend
    from .qiskit.job import PlatformJob

_PAGE = 50
_MAX_NAMED = 20


class PlatformQuantumProvider:
    """Backends and jobs. What is not given comes from the environment, else from the stored login.

    Inside of a service nothing has to be given.
    """

    def __init__(
        self,
        access_token: str | None = None,
        organization_id: str | None = None,
        endpoint: str | None = None,
    ) -> None:
        self.api = QuantumApi(find_credentials(access_token, organization_id, endpoint))
        """The operations of the platform, without Qiskit."""

    def __repr__(self) -> str:
        return f"PlatformQuantumProvider({self.api.endpoint!r})"

    @overload
    def backends(
        self, provider: str | None = None, detailed: Literal[False] = False
    ) -> list[str]: ...

    @overload
    def backends(
        self, provider: str | None = None, *, detailed: Literal[True]
    ) -> list[BackendInfo]: ...

    def backends(
        self, provider: str | None = None, detailed: bool = False
    ) -> list[str] | list[BackendInfo]:
        """Ids of the backends that the organisation may use; with `detailed` all about them."""
        found = self.api.list_backends(provider)
        return found if detailed else [info.id for info in found]

    def get_backend(self, backend_id: str) -> PlatformBackend:
        """A backend for Qiskit.

        :raises BackendNotFoundError: there is none with this id
        """
        return self._to_backend(self.find_backend(backend_id))

    def find_backend(self, backend_id: str) -> BackendInfo:
        """What the platform says of a backend, without Qiskit.

        :raises BackendNotFoundError: there is none with this id; it names those that there are
        """
        try:
            return self.api.get_backend(backend_id)
        except BackendNotFoundError as error:
            raise self._explain(backend_id, error) from None

    def least_busy(
        self, min_qubits: int | None = None, provider: str | None = None
    ) -> PlatformBackend:
        """The backend where a job is expected to wait for the shortest time."""
        return self._to_backend(self.api.find_least_busy(min_qubits, provider))

    def retrieve_job(self, job_id: str) -> PlatformJob:
        """A job by its id, started from anywhere."""
        info, _ = self.api.get_job(job_id)
        return self._to_job(info)

    def jobs(
        self,
        limit: int | None = 50,
        backend: str | None = None,
        status: str | None = None,
        tags: Iterable[str] | None = None,
        created_after: datetime | None = None,
        **more: Unpack[MoreFilters],
    ) -> Iterator[PlatformJob]:
        """The newest 50 jobs, or `limit` (None: all), fetched page by page as they are asked for.

        Only those that match all that is given: `backend` is an id; `tags` are those that a job has
        all of; `created_after` is a time, then or later, and `created_before` one before, in local
        time without a zone; `name` is a text in the name; `session` is one, or its id.

        :raises InvalidProblemError: something given is of another type
        :raises ApiError: INVALID_INPUT of a `status` that does not exist, with the first job
        """
        most = None if limit is None else read_count("limit", limit)
        query: dict[str, Any] = {
            "backendId": None if backend is None else read_id(backend),
            "status": status,
            "tag": None if tags is None else read_tags(tags),
            "createdAfter": format_time("created_after", created_after),
            **read_more(**more),
        }
        return self._list(query, most)

    def _list(self, query: dict[str, Any], most: int | None) -> Iterator[PlatformJob]:
        for count, info in enumerate(self._list_infos(query, most), 1):
            yield self._to_job(info)
            if count == most:
                return

    def _list_infos(self, query: dict[str, Any], limit: int | None) -> Iterator[JobInfo]:
        size = _PAGE if limit is None else max(1, min(limit, _PAGE))
        seen: set[str] = set()
        page = 0
        is_last = limit is not None and limit <= 0
        while not is_last:
            jobs, is_last = self.api.list_jobs({**query, "page": page, "size": size})
            for info in jobs:
                # A job that has started meanwhile moves the others to the next page.
                if info.id not in seen:
                    seen.add(info.id)
                    yield info
            page += 1

    def _to_backend(self, info: BackendInfo) -> PlatformBackend:
        need("qiskit", "qiskit")
        from .qiskit.backend import PlatformBackend

        return PlatformBackend(self, info)

    def _to_job(self, info: JobInfo) -> PlatformJob:
        need("qiskit", "qiskit")
        from .qiskit.job import PlatformJob

        return PlatformJob(self, RemoteJob(self.api, info))

    def _explain(self, backend_id: str, error: BackendNotFoundError) -> BackendNotFoundError:
        known = self.backends()
        named = ", ".join(known[:_MAX_NAMED]) + (", ..." if len(known) > _MAX_NAMED else "")
        detail = f"There is no backend {backend_id!r}. There is: {named or 'none'}."
        return BackendNotFoundError(error.status, error.code, detail, error.request_id)
