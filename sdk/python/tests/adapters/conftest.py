"""What the platform keeps of the execution that a test runs."""

from __future__ import annotations

import pytest

from .support import EXECUTION


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The handles; pauses take no time."""
    handles: list[str] = []
    module = "platform_quantum.backend.vendor"
    monkeypatch.setattr(f"{module}.keep_handle", handles.append)
    monkeypatch.setattr(f"{module}.get_handle", lambda: handles[-1] if handles else None)
    monkeypatch.setattr(f"{module}.time.sleep", lambda _: None)
    monkeypatch.setenv("SERVICE_EXECUTION_ID", EXECUTION)
    return handles
