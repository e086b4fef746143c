"""Sessions, and jobs that earlier ones answer: what is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from ..support.scripted_server import Answer, ScriptedServer  # noqa: E402
from ..support.wire import make_ghz  # noqa: E402

if TYPE_CHECKING:
    from platform_quantum import PlatformBackend

OPENED = {"id": "s-1", "status": "OPEN", "backend_version": "1.0.0"}


@pytest.fixture
def backend(server: ScriptedServer, backend: PlatformBackend) -> PlatformBackend:
    server.on("POST /quantum/sessions", Answer(201, OPENED))
    server.on("GET /quantum/sessions/s-1", Answer(200, {**OPENED, "status": "ACTIVE"}))
    server.on("PATCH /quantum/sessions/s-1", Answer(200, OPENED))
    server.on("DELETE /quantum/sessions/s-1", Answer(204))
    server.on("POST /quantum/sessions/s-1/cancel", Answer(204))
    return backend


def test_jobs_of_a_session_name_it_and_it_is_closed_at_the_end(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    with backend.open_session(ttl=60) as session:
        assert server.asked[-1].body["ttl"] == 60
        assert (session.id, session.backend_version) == ("s-1", "1.0.0")
        for given in (session, "s-1"):
            backend.run(make_ghz(2), session=given)
            assert server.asked[-1].body["session_id"] == "s-1"
        assert session.status() == "ACTIVE"
        session.drain()
        assert server.asked[-1].body == {"accept_jobs": False}
    assert (server.asked[-1].method, server.asked[-1].path) == ("DELETE", "/quantum/sessions/s-1")
    session.cancel()
    assert server.asked[-1].path == "/quantum/sessions/s-1/cancel"


def test_a_session_is_as_long_as_the_platform_lets_it_be(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    backend.open_session()
    assert "ttl" not in server.asked[-1].body


@pytest.mark.parametrize(("wish", "sent"), [(True, True), (False, None), (None, None)])
def test_an_earlier_job_answers_only_where_it_is_wished(
    server: ScriptedServer, backend: PlatformBackend, wish: bool | None, sent: bool | None
) -> None:
    backend.run(make_ghz(2), seed=1, cache=wish)
    assert server.asked[-1].body.get("cache") is sent
