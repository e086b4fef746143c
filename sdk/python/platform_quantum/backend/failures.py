"""How a backend refuses: with a code that callers can depend on, and a detail for people."""

from __future__ import annotations

from typing import Final

CIRCUIT_FORMAT_UNSUPPORTED: Final = "CIRCUIT_FORMAT_UNSUPPORTED"
CIRCUIT_INVALID: Final = "CIRCUIT_INVALID"
CIRCUIT_TOO_LARGE: Final = "CIRCUIT_TOO_LARGE"
TOO_MANY_QUBITS: Final = "TOO_MANY_QUBITS"
TOO_MANY_CIRCUITS: Final = "TOO_MANY_CIRCUITS"
SHOTS_OUT_OF_RANGE: Final = "SHOTS_OUT_OF_RANGE"
GATE_UNSUPPORTED: Final = "GATE_UNSUPPORTED"
BACKEND_OFFLINE: Final = "BACKEND_OFFLINE"
VENDOR_REJECTED: Final = "VENDOR_REJECTED"
VENDOR_ERROR: Final = "VENDOR_ERROR"
INVALID_INPUT: Final = "INVALID_INPUT"
"""The body has not the form of a job, or an option is unknown or out of range."""

_MAX_REASON = 500


class BackendFailure(Exception):
    """Ends the job as FAILED with exactly this code and detail.

    The log of the job has its text, without lines of the program unless it is raised from another
    exception.
    """

    is_refusal = True

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


def describe_error(error: BaseException) -> str:
    """Type and message, cut where they are long."""
    text = f"{type(error).__name__}: {error}"
    return text if len(text) <= _MAX_REASON else text[:_MAX_REASON] + "\u2026"
