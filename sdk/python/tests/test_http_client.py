"""What the SDK does when a server, or the way to it, does not do what it should."""

from __future__ import annotations

import copy
import logging
import socket
from typing import TYPE_CHECKING

import pytest

from platform_quantum import (
    ApiError,
    BackendNotFoundError,
    InvalidAccessTokenError,
    InvalidProblemError,
    ServerUnreachableError,
)
from platform_quantum.credentials import Credentials
from platform_quantum.http_client import HttpClient, Request

from .conftest import TOKEN
from .support.descriptions import describe_job
from .support.scripted_server import Answer, ScriptedServer

if TYPE_CHECKING:
    from platform_quantum.api import QuantumApi

AWAY = Answer(503, {"code": "UNAVAILABLE", "detail": "later"}, {"Retry-After": "0"})
START = {"backend_id": "sim.test", "shots": 1}


def test_a_redirect_is_refused_and_the_other_server_gets_no_token(
    server: ScriptedServer, api: QuantumApi
) -> None:
    other = ScriptedServer()
    target = {"Location": f"{other.endpoint}/quantum/backends"}
    try:
        for status in (301, 302, 303, 307, 308):
            server.on("GET /quantum/backends", Answer(status, None, target))
            with pytest.raises(ApiError, match="redirects") as raised:
                api.list_backends()
            assert raised.value.code == "REDIRECTED"
        assert other.asked == []
        assert len(server.asked) == 5
    finally:
        other.close()


def test_token_and_organisation_are_sent_as_the_command_line_tool_sends_them(
    server: ScriptedServer, api: QuantumApi
) -> None:
    server.on("GET /quantum/backends", Answer(200, []))
    api.list_backends("vendor")
    (asked,) = server.asked
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["x-organizationid"] == "org"
    assert asked.path == "/quantum/backends?provider=vendor"


def test_a_start_whose_answer_is_lost_is_sent_again_with_the_same_key(
    server: ScriptedServer, api: QuantumApi, caplog: pytest.LogCaptureFixture
) -> None:
    server.on(
        "POST /quantum/jobs", Answer(0), AWAY, Answer(0), Answer(201, describe_job("PENDING"))
    )
    with caplog.at_level(logging.WARNING):
        assert api.start_job(START).status == "PENDING"
    keys = {asked.headers["idempotency-key"] for asked in server.asked}
    assert len(server.asked) == 4
    assert len(keys) == 1
    assert [asked.body for asked in server.asked] == [server.asked[0].body] * 4
    assert caplog.text.count("trying again") == 1
    assert TOKEN not in caplog.text


def test_what_has_a_client_can_be_copied(server: ScriptedServer, api: QuantumApi) -> None:
    server.on("GET /quantum/backends", Answer(200, []))
    assert copy.deepcopy(api).list_backends() == []
    assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_two_starts_have_two_keys_unless_the_caller_gives_one(
    server: ScriptedServer, api: QuantumApi
) -> None:
    server.on("POST /quantum/jobs", Answer(201, describe_job("PENDING")))
    for key in (None, None, "mine"):
        api.start_job(START, key)
    first, second, third = [asked.headers["idempotency-key"] for asked in server.asked]
    assert first != second
    assert third == "mine"


def test_after_its_patience_the_error_of_the_server_is_raised(server: ScriptedServer) -> None:
    server.on("GET /quantum/backends", AWAY)
    client = HttpClient(Credentials(server.endpoint, None, TOKEN), patience=0.3)
    with pytest.raises(ApiError, match="later") as raised:
        client.send(Request("GET", "/quantum/backends"))
    assert raised.value.status == 503
    assert 2 <= len(server.asked) <= 20


def test_an_answer_that_asks_for_weeks_is_raised_at_once(
    server: ScriptedServer, api: QuantumApi, caplog: pytest.LogCaptureFixture
) -> None:
    for weeks in ("3000000", "9" * 400):
        server.on("GET /quantum/backends", Answer(503, {"code": "A"}, {"Retry-After": weeks}))
        with caplog.at_level(logging.WARNING), pytest.raises(ApiError, match="503 A"):
            api.list_backends()
    assert len(server.asked) == 2
    assert "trying again" not in caplog.text


def test_a_server_that_is_not_there_is_named_in_the_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}"
        client = HttpClient(Credentials(endpoint, None, TOKEN), patience=0.3)
        with pytest.raises(ServerUnreachableError, match=endpoint) as raised:
            client.send(Request("GET", "/quantum/backends"))
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(503, {"code": "BACKEND_OFFLINE", "detail": "x"}),
        Answer(429, {"code": "QUOTA_EXCEEDED", "detail": "x"}, {"Retry-After": "1"}),
        Answer(429, {"code": "TOO_MANY_REQUESTS", "detail": "x"}),
        Answer(500, {"code": "INTERNAL", "detail": "x"}),
        Answer(400, {"code": "INVALID_INPUT", "detail": "x"}),
    ],
)
def test_what_would_be_refused_again_is_not_sent_again(
    server: ScriptedServer, api: QuantumApi, answer: Answer
) -> None:
    server.on("POST /quantum/jobs", answer)
    with pytest.raises(ApiError) as raised:
        api.start_job(START)
    assert raised.value.status == answer.status
    assert len(server.asked) == 1


def test_what_no_platform_reads_to_its_end_is_not_sent(
    server: ScriptedServer, api: QuantumApi
) -> None:
    with pytest.raises(InvalidProblemError, match="no more than 1 MB"):
        api.start_job({"input": "x" * 3_000_000})
    assert server.asked == []


def test_a_refusal_says_code_detail_places_and_the_id_of_the_request(
    server: ScriptedServer, api: QuantumApi
) -> None:
    errors = [{"path": "/shots", "message": "is too large"}, {"path": "/tags"}, "odd"]
    body = {"code": "INVALID_INPUT", "detail": "No.", "errors": errors}
    server.on("POST /quantum/jobs", Answer(400, body, {"X-Request-Id": "r-1"}))
    with pytest.raises(ApiError) as raised:
        api.start_job(START)
    assert str(raised.value) == (
        "400 INVALID_INPUT: No. [/shots: is too large] [/tags] (request r-1)"
    )


def test_codes_that_programs_handle_have_classes(server: ScriptedServer, api: QuantumApi) -> None:
    server.on("GET /quantum/backends/a.b", Answer(404, {"code": "BACKEND_NOT_FOUND"}))
    server.on("GET /quantum/backends", Answer(401, {"code": "UNAUTHENTICATED"}))
    with pytest.raises(BackendNotFoundError):
        api.get_backend("a.b")
    with pytest.raises(InvalidAccessTokenError):
        api.list_backends()


def test_a_server_that_repeats_the_token_does_not_get_it_into_the_error(
    server: ScriptedServer, api: QuantumApi
) -> None:
    server.on("GET /quantum/backends", Answer(401, {"code": "X", "detail": f"bad {TOKEN}!"}))
    with pytest.raises(InvalidAccessTokenError, match=r"bad \*\*\*!") as raised:
        api.list_backends()
    assert TOKEN not in repr(raised.value)


@pytest.mark.parametrize("status", [200, 502])
def test_an_answer_that_is_no_json_is_an_error_and_no_crash(
    server: ScriptedServer, api: QuantumApi, status: int
) -> None:
    server.on("GET /quantum/backends", Answer(status))
    with pytest.raises(ApiError) as raised:
        api.list_backends()
    assert raised.value.status == status


def test_a_strange_id_cannot_reach_another_path(server: ScriptedServer, api: QuantumApi) -> None:
    with pytest.raises(ApiError):
        api.get_backend("../jobs?x=1#y")
    assert server.asked[0].path == "/quantum/backends/..%2Fjobs%3Fx%3D1%23y"
