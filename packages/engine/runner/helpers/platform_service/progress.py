"""What a run says of itself while it goes on."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_has_noted = False


def report(fraction: float, message: str = "") -> None:
    """Says how much of the work is done, from 0 to 1, and in a few words what is being done.

    Callers see the newest in the state of the execution, in its events and in the CLI. It may be
    called as often as you like: what comes faster than it can be shown is replaced by what
    follows. Of the message, 500 characters are kept.

    Raises ValueError for what is no number from 0 to 1 and for a message that is no string. Outside
    a run, and in processes that the run has started, it does nothing but say so once on stderr.
    """
    share = _read_fraction(fraction)
    if not isinstance(message, str):
        raise ValueError(f"the message must be a string, not of type {type(message).__name__}")
    reporter = _find_reporter()
    if reporter is not None:
        reporter.report(share, message)


def checkpoint(partial_result: Any) -> None:
    """Keeps what there is of a result: callers get it if the run does not succeed.

    An execution that fails, is cancelled, exceeds a limit or loses its worker returns the last
    checkpoint beside code and detail. It is converted as what `run` returns is, and takes at most
    1 MB of JSON text and 200 levels. It is encoded at once: what changes later is not in it.

    Raises ValueError for what is not JSON or is too large. Outside a run, and in processes that the
    run has started, it does nothing but say so once on stderr.
    """
    reporter = _find_reporter()
    if reporter is not None:
        reporter.checkpoint(partial_result)


def _read_fraction(value: Any) -> float:
    if isinstance(value, (str, bytes, bool)) or not hasattr(value, "__float__"):
        raise ValueError(f"the fraction must be a number from 0 to 1, not {_describe(value)}")
    try:
        fraction = float(value)
    except TypeError as error:
        raise ValueError(f"the fraction must be a number from 0 to 1: {error}") from None
    if not 0 <= fraction <= 1:
        raise ValueError(f"the fraction must be a number from 0 to 1, not {fraction!r}")
    return fraction


def _describe(value: Any) -> str:
    return repr(value) if isinstance(value, bool) else f"of type {type(value).__name__}"


def _find_reporter() -> Any:
    """That of the runtime, by the name that only a run has; None elsewhere."""
    global _has_noted
    runtime = sys.modules.get("service_runner.reporting")
    reporter = None if runtime is None else runtime.get_reporter()
    if reporter is None and not _has_noted:
        _has_noted = True
        note = "report and checkpoint have no effect here: this is not the process of a run"
        print(f"platform_service: {note}", file=sys.stderr)
    return reporter
