"""No test reads the login of the user who runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from platform_quantum.api import QuantumApi
from platform_quantum.credentials import Credentials

from .support.scripted_server import ScriptedServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "pat_secret-of-the-tests"
_VARIABLES = (
    "PLATFORM_SERVICE_EXECUTION_TOKEN",
    "PLATFORM_PERSONAL_ACCESS_TOKEN",
    "PLATFORM_ORGANIZATION_ID",
    "PLATFORM_ENDPOINT",
)


@pytest.fixture
def config_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment without credentials; the folder of its stored login, which is not there."""
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "config"
    monkeypatch.setenv("PLATFORM_CONFIG_DIR", str(folder))
    return folder


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """As on the platform, where a run has one thread: here a library may have begun others.

    The folder has a file for each thread.
    """
    from platform_quantum.backend import trial

    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "1").touch()
    monkeypatch.setattr(trial, "_TASKS", str(folder))
    return folder


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A platform that answers as it is told."""
    server = ScriptedServer()
    yield server
    server.close()


@pytest.fixture
def api(server: ScriptedServer) -> QuantumApi:
    """A client of that platform."""
    return QuantumApi(Credentials(server.endpoint, "org", TOKEN))
