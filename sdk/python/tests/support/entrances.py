"""What every entrance of the SDK takes besides the job: the same, and sent the same way."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from platform_quantum import Estimate

from .descriptions import JOB, describe_job
from .scripted_server import Answer

if TYPE_CHECKING:
    from .scripted_server import ScriptedServer

OPTIONS: dict[str, Any] = {
    "name": "n",
    "tags": ("a", "b"),
    "max_cost": 0.1,
    "cache": True,
    "seed": 7,
}
SENT = {"name": "n", "tags": ["a", "b"], "max_cost": "0.1", "cache": True}
SESSION = {"id": "s-1", "status": "OPEN", "backend_version": "1.0.0"}
ESTIMATE = {
    "valid": True,
    "warnings": [],
    "seconds": 2.5,
    "cost": "0.30",
    "most_cost": "0.9",
    "currency": "EUR",
    "queue_position": 0,
}


def answer_all(server: ScriptedServer, backend: dict[str, Any], result: Any) -> None:
    """A platform with one backend, whose jobs have this result."""
    server.on(f"GET /quantum/backends/{backend['id']}", Answer(200, backend))
    server.on("POST /quantum/sessions", Answer(201, SESSION))
    server.on("DELETE /quantum/sessions/s-1", Answer(204))
    server.on("POST /quantum/jobs", Answer(201, describe_job("COMPLETED")))
    server.on(f"GET /quantum/jobs/{JOB}/result", Answer(200, result))


def read_started(server: ScriptedServer) -> dict[str, Any]:
    """The body of the job that was started last."""
    bodies = [asked.body for asked in server.asked if asked.path == "/quantum/jobs"]
    body: dict[str, Any] = bodies[-1]
    return body


def read_key(server: ScriptedServer) -> str:
    """Its Idempotency-Key."""
    asked = [asked for asked in server.asked if asked.path == "/quantum/jobs"]
    return asked[-1].headers["idempotency-key"]


def check_started(server: ScriptedServer, session: str | None = None) -> None:
    """All options are members of the body, the seed alone is one of the backend's."""
    body = read_started(server)
    told = {name: body.get(name) for name in (*SENT, "session_id", "dry_run")}
    assert told == {**SENT, "session_id": session, "dry_run": None}
    assert body["input_params"] == {"seed": 7}


def check_estimated(server: ScriptedServer, found: Estimate) -> None:
    """A dry run was sent, and its answer read."""
    assert (found.cost, found.most_cost) == (Decimal("0.30"), Decimal("0.9"))
    body = read_started(server)
    assert {name: body.get(name) for name in SENT} == SENT
    assert body["dry_run"] is True
    assert "dry_run" not in body["input_params"]
