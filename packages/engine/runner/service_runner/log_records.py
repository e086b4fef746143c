"""Severity of `logging` records: handlers mark each line that they write to stdout or stderr.

The root logger gets no handler, so that the user's own `basicConfig` works as usual. Records that
no handler takes go through `logging.lastResort`.
"""

from __future__ import annotations

import logging
import os
import sys

from .capture import mark_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

_NAMES = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}
_LETTERS = (
    (logging.CRITICAL, "C"),
    (logging.ERROR, "E"),
    (logging.WARNING, "W"),
    (logging.INFO, "I"),
)


def _letter(level: int) -> str:
    return next((letter for minimum, letter in _LETTERS if level >= minimum), "D")


def _emit(handler: logging.StreamHandler[TextIO], record: logging.LogRecord) -> None:
    stream = handler.stream
    if stream is not sys.stdout and stream is not sys.stderr:
        _plain_emit(handler, record)
        return
    try:
        stream.write(mark_lines(handler.format(record), _letter(record.levelno)))
        handler.flush()
    except RecursionError:
        raise
    except Exception:
        handler.handleError(record)


_plain_emit = logging.StreamHandler.emit
_plain_basic_config = logging.basicConfig


def _basic_config(**options: Any) -> None:
    """Prints the message alone unless the user sets a format: the mark has the severity."""
    if options.get("style", "%") == "%":
        options.setdefault("format", "%(message)s")
    _plain_basic_config(**options)


def install_log_records() -> None:
    """Marks records from now on, and sets the level to LOG_LEVEL.

    (DEBUG, INFO, WARNING, ERROR or CRITICAL; INFO if it is none of these.)
    """
    level = os.environ.get("LOG_LEVEL", "").upper()
    logging.StreamHandler.emit = _emit  # type: ignore[assignment, method-assign]
    logging.basicConfig = _basic_config
    if logging.lastResort is not None:
        logging.lastResort.setLevel(logging.NOTSET)  # it would print warnings and errors only
    logging.root.setLevel(level if level in _NAMES else "INFO")
