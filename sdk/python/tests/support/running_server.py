"""Backends that really run, without a platform: each job is run by the request that starts it."""

from __future__ import annotations

import importlib.util
import json
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .descriptions import describe_job
from .scripted_server import Answer, Asked, ScriptedServer

if TYPE_CHECKING:
    from types import ModuleType

BACKENDS = Path(__file__).parents[4] / "backends"


def load_backend(name: str) -> ModuleType:
    """The program of a bundled backend, imported once."""
    known = sys.modules.get(f"program_{name}")
    if known is not None:
        return known
    file = BACKENDS / name / "src" / "program.py"
    spec = importlib.util.spec_from_file_location(f"program_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[f"program_{name}"] = module
    return module


class RunningServer(ScriptedServer):
    """Answers as the platform does, for the backends that it was given."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self._programs = {f"sim.{name}": load_backend(name) for name in names}
        self._jobs: dict[str, tuple[dict[str, Any], Any]] = {}

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        path = asked.path.partition("?")[0].removeprefix("/quantum/")
        place, _, part = path.partition("/")[2].partition("/")
        if path == "jobs" and asked.method == "POST":
            return self._start(asked.body)
        if path.startswith("jobs/"):
            info, result = self._jobs[place]
            return Answer(200, result if part == "result" else info, {"Preference-Applied": "wait"})
        return self._describe(place, part)

    def _describe(self, backend_id: str, part: str) -> Answer:
        if backend_id not in self._programs:
            return Answer(404, {"code": "BACKEND_NOT_FOUND", "detail": "no"})
        described = json.loads(json.dumps(self._programs[backend_id].describe()))
        state = {"id": backend_id, "status": "ONLINE", "queue_size": 0}
        found = {
            "": {**described, **state},
            "status": state,
            "calibration": described.get("calibration"),
            "config": described.get("config", described),
        }[part]
        return Answer(204) if found is None else Answer(200, found)

    def _start(self, body: dict[str, Any]) -> Answer:
        given = body["input"]
        data = given if isinstance(given, dict) else {"input": given}
        shots = {} if body.get("shots") is None else {"shots": body["shots"]}
        params = {**body["input_params"], **shots}
        job_id = str(uuid.uuid4())
        try:
            run = self._programs[body["backend_id"]].run
            result = json.loads(json.dumps(run({"format": body["input_format"], **data}, params)))
            more: dict[str, Any] = {"status": "COMPLETED"}
        except Exception as error:
            reason = {"code": getattr(error, "code", "ERROR"), "detail": str(error)}
            result, more = reason, {"status": "FAILED", "error": reason}
        about = {"backend_id": body["backend_id"], "shots": body.get("shots"), "id": job_id}
        info = describe_job(more.pop("status"), **about, **more)
        self._jobs[job_id] = (info, result)
        return Answer(201, info)
