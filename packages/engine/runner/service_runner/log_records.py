"""Severity of `logging` records: each line that a handler writes to stdout or stderr carries a mark.

Root stays without a handler of ours, so that the user's own `basicConfig` works as anywhere; what nobody configured
goes through `lastResort`.
"""

import logging
import os
import sys

from .capture import mark_lines

_NAMES = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}


def _letter(level: int) -> str:
    for minimum, letter in (
        (logging.CRITICAL, "C"),
        (logging.ERROR, "E"),
        (logging.WARNING, "W"),
        (logging.INFO, "I"),
    ):
        if level >= minimum:
            return letter
    return "D"


def _emit(handler: logging.StreamHandler, record: logging.LogRecord) -> None:
    stream = handler.stream
    if stream is not sys.stdout and stream is not sys.stderr:
        return _plain_emit(handler, record)
    try:
        stream.write(mark_lines(handler.format(record), _letter(record.levelno)))
        handler.flush()
    except RecursionError:
        raise
    except Exception:
        handler.handleError(record)


_plain_emit = logging.StreamHandler.emit
_plain_basic_config = logging.basicConfig


def _basic_config(**options) -> None:
    """The line has its severity already: without a format of the user's own the message is enough."""
    if options.get("style", "%") == "%":
        options.setdefault("format", "%(message)s")
    _plain_basic_config(**options)


class _LastResort(logging.StreamHandler):
    """Looks `sys.stderr` up at each record, as the handler it stands in for does."""

    def __init__(self) -> None:
        logging.Handler.__init__(self, logging.NOTSET)

    @property
    def stream(self):
        return sys.stderr


def install_log_records() -> None:
    """Honours LOG_LEVEL (DEBUG, INFO, WARNING, ERROR, CRITICAL; INFO where it is none of these)."""
    level = os.environ.get("LOG_LEVEL", "").upper()
    logging.StreamHandler.emit = _emit
    logging.basicConfig = _basic_config
    logging.lastResort = _LastResort()
    logging.root.setLevel(level if level in _NAMES else "INFO")
