"""Waiting for a job, and what it says when it has ended."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from platform_quantum import JobCancelledError, JobFailedError, JobTimeoutError, RemoteJob
from platform_quantum.models import JobInfo

from .support.descriptions import JOB, describe_job
from .support.scripted_server import Answer, ScriptedServer

if TYPE_CHECKING:
    from platform_quantum.api import QuantumApi

STATE = f"GET /quantum/jobs/{JOB}"
RESULT = f"GET /quantum/jobs/{JOB}/result"
HELD = {"Preference-Applied": "wait=30"}


def start(api: QuantumApi, status: str = "PENDING", **more: Any) -> RemoteJob:
    return RemoteJob(api, JobInfo.from_dict(describe_job(status, **more)))


def test_the_end_is_waited_for_by_asking_the_platform_to_hold_its_answer(
    server: ScriptedServer, api: QuantumApi
) -> None:
    held = [Answer(200, describe_job(status), HELD) for status in ("PENDING", "RUNNING")]
    server.on(STATE, *held, Answer(200, describe_job("COMPLETED"), HELD))
    server.on(RESULT, Answer(200, {"pubs": []}))
    job = start(api)
    begin = time.monotonic()
    assert job.raw_result() == {"pubs": []}
    assert time.monotonic() - begin < 1
    waits = [one.headers.get("prefer") for one in server.asked if "result" not in one.path]
    assert waits == ["wait=30"] * 3


def test_a_result_is_fetched_once_and_a_final_state_is_not_asked_for_again(
    server: ScriptedServer, api: QuantumApi
) -> None:
    server.on(RESULT, Answer(200, {"pubs": [1]}))
    job = start(api, "COMPLETED")
    assert job.raw_result() == job.raw_result()
    assert job.refresh().status == "COMPLETED"
    assert len(server.asked) == 1


def test_a_platform_that_does_not_hold_its_answer_is_not_flooded(
    server: ScriptedServer, api: QuantumApi
) -> None:
    server.on(STATE, Answer(200, describe_job("RUNNING")))
    with pytest.raises(JobTimeoutError):
        start(api).wait(1)
    assert len(server.asked) <= 8


def test_waiting_ends_at_its_timeout_and_says_that_the_job_goes_on(
    server: ScriptedServer, api: QuantumApi
) -> None:
    server.on(STATE, Answer(200, describe_job("RUNNING"), {**HELD}, seconds=0.2))
    begin = time.monotonic()
    with pytest.raises(JobTimeoutError, match="It goes on") as raised:
        start(api).raw_result(timeout=0.5)
    assert time.monotonic() - begin < 3
    assert isinstance(raised.value, TimeoutError)
    assert raised.value.job_id == JOB


def test_a_timeout_ends_the_tries_to_reach_a_server_that_is_away(
    server: ScriptedServer, api: QuantumApi
) -> None:
    server.on(STATE, Answer(503, {"code": "UNAVAILABLE"}))
    begin = time.monotonic()
    with pytest.raises(JobTimeoutError):
        start(api).wait(0.5)
    assert time.monotonic() - begin < 5


def test_a_timeout_ends_the_tries_to_read_the_result_as_well(
    server: ScriptedServer, api: QuantumApi
) -> None:
    server.on(STATE, Answer(200, describe_job("COMPLETED"), HELD))
    server.on(RESULT, Answer(503, {"code": "UNAVAILABLE"}))
    begin = time.monotonic()
    with pytest.raises(JobTimeoutError):
        start(api).raw_result(timeout=0.5)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    ("status", "error"),
    [("FAILED", JobFailedError), ("ABORTED", JobFailedError), ("CANCELLED", JobCancelledError)],
)
def test_a_job_without_a_result_raises_its_code_and_detail(
    server: ScriptedServer, api: QuantumApi, status: str, error: type[JobFailedError]
) -> None:
    reason = {"code": "TOO_MANY_QUBITS", "detail": "40 are too many."}
    server.on(STATE, Answer(200, describe_job(status, error=reason), HELD))
    with pytest.raises(error) as raised:
        start(api).raw_result()
    assert (raised.value.code, raised.value.detail) == (reason["code"], reason["detail"])


def test_the_reason_is_fetched_where_the_state_does_not_tell_it(
    server: ScriptedServer, api: QuantumApi
) -> None:
    server.on(RESULT, Answer(200, {"code": "CIRCUIT_INVALID", "detail": "No."}))
    failure = start(api, "FAILED").failure()
    assert failure is not None
    assert (failure.code, failure.detail) == ("CIRCUIT_INVALID", "No.")


def test_a_job_that_goes_on_or_has_a_result_has_no_failure(
    server: ScriptedServer, api: QuantumApi
) -> None:
    server.on(STATE, Answer(200, describe_job("RUNNING")))
    assert start(api).failure() is None
    assert start(api, "COMPLETED").failure() is None


def test_a_log_of_many_pages_is_read_to_its_end_without_leaving_the_platform(
    server: ScriptedServer, api: QuantumApi
) -> None:
    path = f"GET /quantum/jobs/{JOB}/log"
    link = {"Link": '<https://elsewhere.example.org/log?cursor=c%201>; rel="next"'}
    lines = [{"timestamp": "t", "severity": "INFO", "message": f"line {n}"} for n in range(2)]
    server.on(path, Answer(200, lines[:1], link), Answer(200, lines[1:]))
    assert [line.message for line in start(api).logs()] == ["line 0", "line 1"]
    assert server.asked[1].path.endswith("/log?cursor=c+1")


def test_cancel_is_not_sent_for_what_has_ended(server: ScriptedServer, api: QuantumApi) -> None:
    server.on(f"DELETE /quantum/jobs/{JOB}", Answer(204))
    start(api, "COMPLETED").cancel()
    assert server.asked == []
    start(api, "RUNNING").cancel()
    assert [one.method for one in server.asked] == ["DELETE"]


def test_times_are_utc() -> None:
    info = JobInfo.from_dict(describe_job("COMPLETED", ended_at="2026-11-28 09:00:01.5"))
    assert info.created_at == datetime(2026, 11, 28, 9, tzinfo=UTC)
    assert info.ended_at == datetime(2026, 11, 28, 9, 0, 1, 500_000, tzinfo=UTC)
    assert JobInfo.from_dict(describe_job("PENDING", created_at="soon")).created_at is None


def test_a_result_is_had_in_one_form_without_a_library(
    server: ScriptedServer, api: QuantumApi
) -> None:
    normal = {"circuits": [{"name": None, "index": [], "shots": 1, "counts": {"1": 1}}]}
    server.on(f"{RESULT}/normalized", Answer(200, normal))
    assert start(api, "COMPLETED").normal_result() == normal
    failed = start(api, "FAILED", error={"code": "TIMEOUT", "detail": "It took too long."})
    with pytest.raises(JobFailedError, match="too long"):
        failed.normal_result()


def test_a_job_knows_when_it_is_likely_to_begin_and_the_calibration_it_runs_on(
    server: ScriptedServer, api: QuantumApi
) -> None:
    at = "2026-11-28 09:00:10"
    server.on(STATE, Answer(200, describe_job("PENDING", estimated_start=at, queue_position=2)))
    info = start(api).refresh()
    assert info.estimated_start == datetime(2026, 11, 28, 9, 0, 10, tzinfo=UTC)
    assert start(api, "COMPLETED").known.estimated_start is None
    server.on(f"{STATE}/calibration", Answer(200, {"gates": []}), Answer(204))
    assert start(api).calibration() == {"gates": []}
    assert start(api).calibration() is None
