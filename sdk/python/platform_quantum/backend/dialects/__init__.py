"""What published SDKs send and expect, translated to and from the own form of jobs.

A dialect makes of a job one with `pubs`, which takes the same way as every other job, and of its
result what that SDK reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Translation:
    """A job in the own form, and how its result is told."""

    data: dict[str, Any]
    params: dict[str, Any]
    tell: Callable[[dict[str, Any]], Any]
    """Of the own result."""
    is_state: bool = False
    """Not run: the state is wanted, of which `tell` is told as `{"state": ..., "qubits": n}`."""


def translate(data: dict[str, Any], params: dict[str, Any]) -> Translation | None:
    """The job of another SDK in the own form; None: it has the own form already.

    :raises BackendFailure: it has neither
    """
    if "pubs" in data:
        return None
    from . import counts, ionq, qsim

    if data.get("format") == ionq.FORMAT:
        return ionq.translate(data, params)
    if "qasm" not in data and "input" not in data:
        return None
    # Both send OpenQASM 2; one of them always says in which mode it is to be run.
    if "mode" in params:
        return qsim.translate(data, params)
    return counts.translate(data, params)
