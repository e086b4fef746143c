"""Jobs: what they say of themselves, their results, and lists of them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from qiskit.providers import JobStatus  # noqa: E402

from platform_quantum import InvalidProblemError  # noqa: E402
from platform_quantum.backend.pubs import Pub  # noqa: E402
from platform_quantum.backend.registers import describe_pub  # noqa: E402

from ..conftest import TOKEN  # noqa: E402
from ..support.descriptions import JOB, describe_job  # noqa: E402
from ..support.scripted_server import Answer, ScriptedServer  # noqa: E402
from ..support.wire import make_ghz, read_header  # noqa: E402

if TYPE_CHECKING:
    from platform_quantum import PlatformBackend, PlatformQuantumProvider


def test_a_job_says_what_it_is_and_is_no_other_than_the_platform_says(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    job = backend.run(make_ghz(2))
    more = {"queue_position": 3, "cost": 1.5, "digest": "d"}
    path = f"GET /quantum/jobs/{JOB}"
    states = ("PENDING", "RUNNING", "NEW", "CANCELLED")
    server.on(path, *(Answer(200, describe_job(state, **more)) for state in states))
    assert job.job_id() == job.id == JOB
    assert job.backend() is backend
    assert [job.status() for _ in states] == [
        JobStatus.QUEUED,
        JobStatus.RUNNING,
        JobStatus.INITIALIZING,
        JobStatus.CANCELLED,
    ]
    assert (job.queue_position(), job.cost, job.digest, job.shots) == (3, 1.5, "d", 100)
    assert job.in_final_state()
    assert TOKEN not in repr(job)


def test_a_result_is_that_of_the_job(server: ScriptedServer, backend: PlatformBackend) -> None:
    circuit = make_ghz(2)
    circuit.metadata = {"mine": 1}
    pub = describe_pub(Pub(circuit, circuit.name, 4, (), (), ()), [{"11": 4}], 1)
    raw = {"pubs": [pub], "metadata": {"seconds": 0.5}}
    ended = describe_job("COMPLETED", backend_version="7", ended_at="2026-11-28 09:00:01")
    server.on(f"GET /quantum/jobs/{JOB}", Answer(200, ended))
    server.on(f"GET /quantum/jobs/{JOB}/result", Answer(200, json.loads(json.dumps(raw))))
    job = backend.run(circuit)
    result = job.result()
    assert result is job.result()
    assert result.get_counts(circuit) == {"11": 4}
    assert read_header(result)["metadata"] == {"mine": 1}
    assert (result.job_id, result.backend_name, result.backend_version) == (JOB, "sim.test", "7")


def test_lists_of_jobs_are_fetched_as_they_are_asked_for(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    def page(first: int, last: bool) -> Answer:
        jobs = [{**describe_job("COMPLETED"), "id": f"{first + n}"} for n in range(50)]
        return Answer(200, {"content": jobs, "last": last})

    # One has started meanwhile: the last one of the first page stands on the second one again.
    server.on("GET /quantum/jobs", page(0, False), page(49, True))
    jobs = provider.jobs(limit=None, tags=["a", "b"], status="COMPLETED")
    assert server.asked == []
    assert [next(jobs).id for _ in range(50)] == [str(n) for n in range(50)]
    assert len(server.asked) == 1
    assert [job.id for job in jobs] == [str(n) for n in range(50, 99)]
    assert server.asked[0].path == "/quantum/jobs?status=COMPLETED&tag=a&tag=b&page=0&size=50"


def test_a_limit_bounds_what_is_fetched(
    server: ScriptedServer, provider: PlatformQuantumProvider
) -> None:
    jobs = [{**describe_job("COMPLETED"), "id": f"{n}"} for n in range(3)]
    server.on("GET /quantum/jobs", Answer(200, {"content": jobs, "last": False}))
    assert len(list(provider.jobs(limit=2))) == 2
    assert list(provider.jobs(limit=0)) == list(provider.jobs(limit=-1)) == []
    assert len(server.asked) == 1


def test_jobs_are_found_by_all_that_the_platform_filters(
    server: ScriptedServer, provider: PlatformQuantumProvider, backend: PlatformBackend
) -> None:
    server.on("GET /quantum/jobs", Answer(200, {"content": [], "last": True}))
    server.on("POST /quantum/sessions", Answer(201, {"id": "s-1"}))
    berlin = timezone(timedelta(hours=1))
    wanted = {
        "created_after": datetime(2026, 11, 28, 1, tzinfo=berlin),
        "created_before": datetime(2026, 11, 29, tzinfo=UTC),
        "name": "bell & co",
    }
    for session in (backend.open_session(), "s-1"):
        assert list(provider.jobs(backend="sim.test", session=session, **wanted)) == []
        assert parse_qs(urlsplit(server.asked[-1].path).query) == {
            "backendId": ["sim.test"],
            "createdAfter": ["2026-11-28 00:00:00"],
            "createdBefore": ["2026-11-29 00:00:00"],
            "name": ["bell & co"],
            "sessionId": ["s-1"],
            "page": ["0"],
            "size": ["50"],
        }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"created_after": "2026-11-28"}, "created_after must be a datetime"),
        ({"created_before": date(2026, 11, 28)}, "created_before must be a datetime"),
        (
            {"created_before": datetime.max.replace(tzinfo=timezone(-timedelta(hours=1)))},
            "created_before is too early or too late",
        ),
        ({"limit": "5"}, "limit must be a whole number"),
        ({"tags": "bell"}, "tags must be a list"),
        ({"tags": 5}, "tags must be a list"),
        ({"backend": 5}, "An id is a text"),
        ({"session": 5}, "An id is a text"),
    ],
)
def test_a_list_of_jobs_is_refused_where_it_is_called(
    server: ScriptedServer, provider: PlatformQuantumProvider, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidProblemError, match=said):
        provider.jobs(**given)
    with pytest.raises(TypeError, match="nam"):
        provider.jobs(nam="bell")  # type: ignore[call-arg]
    assert server.asked == []
