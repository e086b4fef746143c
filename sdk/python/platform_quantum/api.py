"""The operations of the quantum API that the SDK uses, one method each."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs, quote, urlsplit

from .arguments import read_id
from .http_client import FOREVER, HttpClient, Request
from .models import BackendInfo, JobInfo, LogLine, read_list, read_object, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .credentials import Credentials

MAX_WAIT_SECONDS = 30
_SDK = "platform-quantum"

T = TypeVar("T")


class QuantumApi:
    """Backends and jobs of a platform, without Qiskit; threads may share it."""

    def __init__(self, credentials: Credentials) -> None:
        self._http = HttpClient(credentials)
        self.endpoint = credentials.endpoint

    def __repr__(self) -> str:
        return f"QuantumApi({self.endpoint!r})"

    def list_backends(self, provider: str | None = None) -> list[BackendInfo]:
        """All backends that the organisation may use."""
        return self._get(
            "/backends",
            lambda found: [BackendInfo.from_dict(raw) for raw in read_list(found)],
            {"provider": provider},
        )

    def get_backend(self, backend_id: str) -> BackendInfo:
        """One backend.

        :raises BackendNotFoundError: there is none with this id
        """
        return self._get(f"/backends/{_quote(backend_id)}", BackendInfo.from_dict)

    def find_least_busy(self, min_qubits: int | None, provider: str | None) -> BackendInfo:
        """The backend where a job is expected to wait for the shortest time."""
        query = {"minQubits": min_qubits, "provider": provider}
        return self._get("/backends/least-busy", BackendInfo.from_dict, query)

    def get_backend_part(
        self, backend_id: str, part: str, query: Mapping[str, Any] | None = None
    ) -> Any:
        """`config` or `calibration` of a backend; None: it has none."""
        return self._get_part(f"/backends/{_quote(backend_id)}/{part}", query)

    def get_backend_status(self, backend_id: str) -> dict[str, Any]:
        """The state of a backend at present, `status`, and of its queue."""
        return self._get(f"/backends/{_quote(backend_id)}/status", _require("status"))

    def list_calibrations(
        self, backend_id: str, query: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], bool]:
        """A page of the calibrations of a backend, newest first, and whether it is the last one."""
        path = f"/backends/{_quote(backend_id)}/calibration-history"
        return self._get(path, _read_page(_require("backend_version")), query)

    def start_job(self, body: dict[str, Any], idempotency_key: str | None = None) -> JobInfo:
        """Starts a job, once, however often the request has to be sent."""
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        sent = {**body, "sdk_provider": _SDK}
        answer = self._http.send(Request("POST", "/quantum/jobs", body=sent, headers=headers))
        return answer.read_json(JobInfo.from_dict)

    def open_session(self, backend_id: str, ttl: int | None) -> dict[str, Any]:
        """Opens a session on a backend."""
        sent = {"backend_id": backend_id, "sdk_provider": _SDK}
        body = sent if ttl is None else {**sent, "ttl": ttl}
        answer = self._http.send(Request("POST", "/quantum/sessions", body=body))
        return answer.read_json(_require("id"))

    def ask_session(self, session_id: str) -> dict[str, Any]:
        """The state of a session."""
        return self._get(f"/sessions/{_quote(session_id)}", _require("status"))

    def change_session(
        self, session_id: str, method: str, part: str = "", body: Any = None
    ) -> None:
        """DELETE closes it, POST `/cancel` ends its jobs too, PATCH lets it take jobs or not."""
        path = f"/quantum/sessions/{_quote(session_id)}{part}"
        self._http.send(Request(method, path, body=body))

    def get_job(
        self, job_id: str, wait_seconds: float = 0, until: float = FOREVER
    ) -> tuple[JobInfo, bool]:
        """The state of a job, and whether the platform has waited for its end as it was asked."""
        seconds = int(min(max(wait_seconds, 0), MAX_WAIT_SECONDS))
        headers = {"Prefer": f"wait={seconds}"} if seconds > 0 else {}
        request = Request("GET", _job_path(job_id), headers=headers, until=until)
        answer = self._http.send(request)
        waited = "wait" in answer.headers.get("preference-applied", "")
        return answer.read_json(JobInfo.from_dict), waited

    def get_result(self, job_id: str, until: float = FOREVER) -> dict[str, Any]:
        """What the backend returned; `{code, detail}` of a job that has failed."""
        answer = self._http.send(Request("GET", _job_path(job_id, "result"), until=until))
        result: dict[str, Any] = answer.read_json(_as_it_is)
        return result

    def get_job_part(self, job_id: str, part: str) -> Any:
        """`calibration`, `result/normalized` or the like of a job; None where it has none."""
        return self._get_part(_job_path(job_id, part).removeprefix("/quantum"))

    def list_jobs(self, query: Mapping[str, Any]) -> tuple[list[JobInfo], bool]:
        """A page of jobs, newest first, and whether it is the last one."""
        return self._get("/jobs", _read_page(JobInfo.from_dict), query)

    def cancel_job(self, job_id: str) -> None:
        """Cancels it: what waits ends at once, what runs within seconds."""
        self._http.send(Request("DELETE", _job_path(job_id)))

    def read_log(self, job_id: str) -> list[LogLine]:
        """The lines so far, oldest first."""
        lines: list[LogLine] = []
        query: dict[str, Any] = {}
        while True:
            answer = self._http.send(Request("GET", _job_path(job_id, "log"), query))
            page = answer.read_json(_read_lines)
            lines += page
            cursor = _read_cursor(answer.headers.get("link", ""))
            if cursor is None or not page:
                return lines
            query = {"cursor": cursor}

    def _get(
        self, path: str, build: Callable[[Any], T], query: Mapping[str, Any] | None = None
    ) -> T:
        return self._http.send(Request("GET", f"/quantum{path}", query or {})).read_json(build)

    def _get_part(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        """None where there is none."""
        answer = self._http.send(Request("GET", f"/quantum{path}", query or {}))
        return None if answer.status == 204 else answer.read_json(_as_it_is)


def _as_it_is(found: Any) -> Any:
    return found


def _require(name: str) -> Callable[[Any], dict[str, Any]]:
    """Reads an object that has a text of this name."""

    def read(found: Any) -> dict[str, Any]:
        read_text(found, name)
        return read_object(found)

    return read


def _read_page(read: Callable[[Any], T]) -> Callable[[Any], tuple[list[T], bool]]:
    """Reads what a page has, and whether it is the last one: an empty one is."""

    def read_page(page: Any) -> tuple[list[T], bool]:
        entries = [read(raw) for raw in read_list(page["content"])]
        return entries, bool(page.get("last", True)) or not entries

    return read_page


def _read_lines(page: Any) -> list[LogLine]:
    return [
        LogLine(raw.get("timestamp", ""), raw.get("severity", ""), raw.get("message", ""))
        for raw in read_list(page)
    ]


def _job_path(job_id: str, *parts: str) -> str:
    return "/".join(("/quantum/jobs", _quote(job_id), *parts))


def _quote(name: str) -> str:
    return quote(read_id(name), "")


def _read_cursor(link: str) -> str | None:
    """Of a link to the next page only its cursor, so that the token stays with this platform."""
    if 'rel="next"' not in link.replace("rel=next", 'rel="next"'):
        return None
    url = link[link.find("<") + 1 : link.find(">")]
    return next(iter(parse_qs(urlsplit(url).query).get("cursor", [])), None)
