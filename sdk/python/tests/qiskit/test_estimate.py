"""What a job would cost: what is asked, and how the answer is read."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from platform_quantum import Estimate, JobFailedError  # noqa: E402

from ..support.descriptions import JOB, describe_job  # noqa: E402
from ..support.scripted_server import Answer, ScriptedServer  # noqa: E402
from ..support.wire import make_ghz  # noqa: E402

if TYPE_CHECKING:
    from platform_quantum import PlatformBackend

ANSWER = {
    "valid": True,
    "warnings": ["It is slow."],
    "seconds": 2.5,
    "cost": "0.1000000001",
    "most_cost": "0.907",
    "currency": "EUR",
    "queue_position": 3,
}


@pytest.fixture
def backend(server: ScriptedServer, backend: PlatformBackend) -> PlatformBackend:
    server.on("POST /quantum/jobs", Answer(201, describe_job("COMPLETED")))
    server.on(f"GET /quantum/jobs/{JOB}/result", Answer(200, ANSWER))
    return backend


def test_an_estimate_is_a_dry_run_with_exact_amounts(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    found = backend.estimate(make_ghz(3), shots=7, seed=5)
    sent = next(asked.body for asked in server.asked if asked.method == "POST")
    assert (sent["dry_run"], sent["shots"], sent["input_params"]) == (True, 7, {"seed": 5})
    assert found == Estimate(
        valid=True,
        cost=Decimal("0.1000000001"),
        most_cost=Decimal("0.907"),
        currency="EUR",
        seconds=2.5,
        queue_position=3,
        warnings=["It is slow."],
    )


def test_a_circuit_that_the_backend_refuses_has_no_estimate(
    server: ScriptedServer, backend: PlatformBackend
) -> None:
    error = {"code": "GATE_UNSUPPORTED", "detail": "It has no rzz."}
    server.on("POST /quantum/jobs", Answer(201, describe_job("FAILED", error=error)))
    with pytest.raises(JobFailedError, match="GATE_UNSUPPORTED"):
        backend.estimate(make_ghz(3), shots=7)


@pytest.mark.parametrize(
    ("amount", "text"), [(0.1, "0.1"), ("2.50", "2.50"), (Decimal("1E-7"), "0.0000001")]
)
def test_a_bound_is_sent_digit_by_digit(
    server: ScriptedServer, backend: PlatformBackend, amount: float | str | Decimal, text: str
) -> None:
    backend.run(make_ghz(2), max_cost=amount)
    body = server.asked[-1].body
    assert body["max_cost"] == text
    assert "dry_run" not in body


def test_a_job_says_what_it_has_cost(server: ScriptedServer, backend: PlatformBackend) -> None:
    server.on(
        "POST /quantum/jobs", Answer(201, describe_job("COMPLETED", cost="0.30", digest="ab"))
    )
    job = backend.run(make_ghz(2))
    assert (job.cost, job.digest) == (Decimal("0.30"), "ab")
