"""Who may, on a running platform."""

from __future__ import annotations

import pytest

from .live import ENDPOINT, TOKEN, connect

# isort: split
from platform_quantum import ApiError, InvalidAccessTokenError, PlatformQuantumProvider


def test_a_wrong_token_is_refused_and_not_shown() -> None:
    provider = PlatformQuantumProvider("pat_wrong-secret", endpoint=ENDPOINT)
    with pytest.raises(InvalidAccessTokenError) as raised:
        provider.backends()
    assert raised.value.status == 401
    assert "wrong-secret" not in str(raised.value)


def test_the_token_of_the_environment_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLATFORM_ENDPOINT", f"{ENDPOINT}/api/")
    monkeypatch.setenv("PLATFORM_PERSONAL_ACCESS_TOKEN", TOKEN)
    assert PlatformQuantumProvider().backends() == connect().backends()


def test_a_job_that_is_not_there_is_404() -> None:
    with pytest.raises(ApiError) as raised:
        connect().retrieve_job("0198a9a4-0000-7000-8000-000000000001")
    assert raised.value.status == 404
