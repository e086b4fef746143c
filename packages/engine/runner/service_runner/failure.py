"""How a run fails: with a code and a detail, which are all that a caller sees."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from traceback import TracebackException

CODE_LIMIT = 128
DETAIL_LIMIT = 8000


class Failure(Exception):
    """Ends the run as FAILED with exactly this code and detail."""

    def __init__(self, code: str, detail: str, traceback: str | None = None) -> None:
        super().__init__(detail)
        self.code = code[:CODE_LIMIT]
        is_short = len(detail) <= DETAIL_LIMIT
        self.detail = detail if is_short else detail[: DETAIL_LIMIT - 1] + "\u2026"
        self.traceback = traceback


class InvalidInput(Failure):
    """The input does not fit the hints of `run`; `pointer` is a JSON pointer into the request.

    `reason` has no final period. Set `quotes` if it ends with what other code says, which is shown
    as it is. `clause` is the detail without the final period, to be used inside a sentence.
    """

    def __init__(self, pointer: str, reason: str, quotes: bool = False) -> None:
        self.clause = f"{pointer}: {reason}"
        super().__init__("INVALID_INPUT", self.clause if quotes else f"{self.clause}.")


def extend_pointer(pointer: str, key: object) -> str:
    """JSON pointer of a member (RFC 6901)."""
    return pointer + "/" + str(key).replace("~", "~0").replace("/", "~1")


def describe_exception(error: BaseException) -> str:
    """`Type: message`, or the type alone where there is no message.

    Never raises, even if `__str__` does.
    """
    name = type(error).__name__
    try:
        message = str(error)
    except Exception:
        message = ""
    return f"{name}: {message}" if message else name


def format_traceback(error: BaseException) -> str:
    """The traceback with the user's frames only."""
    import os
    import traceback

    own = os.path.dirname(os.path.abspath(__file__))
    try:
        report = traceback.TracebackException.from_exception(error, compact=True)
        _strip_frames(report, own, 0)
        return "".join(report.format()).rstrip("\n")
    except Exception:
        return describe_exception(error)


def describe_chosen(error: BaseException) -> str:
    """What the log says of an exception that has chosen its code.

    Where it is a refusal of the input (`is_refusal`), with nothing else that went wrong behind it,
    no line of the program is of interest.
    """
    try:
        is_refusal = getattr(error, "is_refusal", False) is True and error.__cause__ is None
    except Exception:
        is_refusal = False
    return describe_exception(error) if is_refusal else format_traceback(error)


def _strip_frames(report: TracebackException, own: str, depth: int) -> None:
    hidden = (own, "<frozen importlib", "<frozen runpy")
    report.stack[:] = [frame for frame in report.stack if not frame.filename.startswith(hidden)]
    for linked in (
        report.__cause__,
        report.__context__,
        *(getattr(report, "exceptions", None) or ()),
    ):
        if linked is not None and depth < 20:
            _strip_frames(linked, own, depth + 1)
