"""A platform with one backend, and no stored login."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from platform_quantum import PlatformQuantumProvider

from ..conftest import TOKEN
from ..support.descriptions import describe_backend, describe_job
from ..support.scripted_server import Answer, ScriptedServer

if TYPE_CHECKING:
    from pathlib import Path

    from platform_quantum import PlatformBackend


@pytest.fixture
def provider(server: ScriptedServer, config_folder: Path) -> PlatformQuantumProvider:
    """Its jobs wait."""
    assert not config_folder.exists()
    server.on("POST /quantum/jobs", Answer(201, describe_job("PENDING")))
    return PlatformQuantumProvider(TOKEN, None, server.endpoint)


def open_backend(
    server: ScriptedServer, provider: PlatformQuantumProvider, **more: Any
) -> PlatformBackend:
    """`more` is of its configuration."""
    server.on("GET /quantum/backends/sim.test", Answer(200, describe_backend(**more)))
    return provider.get_backend("sim.test")


@pytest.fixture
def backend(server: ScriptedServer, provider: PlatformQuantumProvider) -> PlatformBackend:
    return open_backend(server, provider)
