"""A refusal in the log of a job, as the platform writes it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from platform_quantum.backend import BackendFailure

RUNNER = Path(__file__).parents[4] / "packages" / "engine" / "runner"


def test_the_log_has_the_text_of_a_refusal_and_no_line_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [str(RUNNER), *sys.path])
    from service_runner.failure import describe_chosen  # type: ignore[import-not-found]

    def refuse(cause: Exception | None) -> str:
        try:
            raise BackendFailure("CIRCUIT_INVALID", "no circuit") from cause
        except BackendFailure as failure:
            return str(describe_chosen(failure))

    assert refuse(None) == "BackendFailure: CIRCUIT_INVALID: no circuit"
    # What went wrong behind it is of interest.
    assert "in refuse" in refuse(ValueError("wrong"))
