"""A platform that really runs, named by the environment; without one, these tests are skipped."""

from __future__ import annotations

import os

import pytest

from platform_quantum import PlatformQuantumProvider

from ..support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

ENDPOINT = os.environ.get("PLATFORM_ENDPOINT", "")
TOKEN = os.environ.get("PLATFORM_PERSONAL_ACCESS_TOKEN", "")
if not (ENDPOINT and TOKEN):
    pytest.skip(
        "no platform: set PLATFORM_ENDPOINT and PLATFORM_PERSONAL_ACCESS_TOKEN to one that has "
        "the bundled backends",
        allow_module_level=True,
    )


def connect() -> PlatformQuantumProvider:
    """The provider of that platform."""
    return PlatformQuantumProvider(TOKEN, os.environ.get("PLATFORM_ORGANIZATION_ID"), ENDPOINT)
