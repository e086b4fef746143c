"""What the SDK makes of answers that are JSON, but not those of a platform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from platform_quantum import ApiError, PlatformError
from platform_quantum.estimate import Estimate

from .support.descriptions import describe_job
from .support.scripted_server import Answer, ScriptedServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from platform_quantum.api import QuantumApi

START = {"backend_id": "sim.test", "shots": 1}
READS: dict[str, Callable[[QuantumApi], Any]] = {
    "GET /quantum/backends": lambda api: api.list_backends(),
    "GET /quantum/backends/b": lambda api: api.get_backend("b"),
    "GET /quantum/backends/b/status": lambda api: api.get_backend_status("b"),
    "GET /quantum/backends/b/calibration-history": lambda api: api.list_calibrations("b", {}),
    "GET /quantum/backends/least-busy": lambda api: api.find_least_busy(None, None),
    "GET /quantum/jobs": lambda api: api.list_jobs({}),
    "GET /quantum/jobs/j": lambda api: api.get_job("j"),
    "GET /quantum/jobs/j/log": lambda api: api.read_log("j"),
    "POST /quantum/jobs": lambda api: api.start_job(START),
    "GET /quantum/sessions/s": lambda api: api.ask_session("s"),
    "POST /quantum/sessions": lambda api: api.open_session("b", None),
}
OTHERS = [None, 5, "login", [5], {}, {"id": 5, "status": 5, "content": 5}, {"content": [{}]}]


@pytest.mark.parametrize("route", READS)
@pytest.mark.parametrize("body", OTHERS, ids=repr)
def test_an_answer_of_no_platform_is_an_error_and_no_crash(
    server: ScriptedServer, api: QuantumApi, route: str, body: Any
) -> None:
    server.on(route, Answer(200, body))
    with pytest.raises(ApiError, match="Is the endpoint that of the platform API") as raised:
        READS[route](api)
    assert raised.value.code == "INVALID_ANSWER"


@pytest.mark.parametrize("more", [{"tags": 5}, {"created_at": 5}])
def test_a_job_of_another_form_is_an_error_and_no_crash(
    server: ScriptedServer, api: QuantumApi, more: dict[str, Any]
) -> None:
    server.on("GET /quantum/jobs/j", Answer(200, {**describe_job("PENDING"), **more}))
    with pytest.raises(ApiError, match="INVALID_ANSWER"):
        api.get_job("j")


@pytest.mark.parametrize("raw", [5, [], None, {"cost": "dear"}, {"warnings": 5}])
def test_a_dry_run_that_a_backend_answers_by_no_estimate_says_so(raw: Any) -> None:
    with pytest.raises(PlatformError, match="no estimate"):
        Estimate.from_dict(raw)
