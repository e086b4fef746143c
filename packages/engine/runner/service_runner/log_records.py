"""Severity of `logging` records: handlers mark each line that they write to stdout or stderr.

The root logger gets no handler, so that the user's own `basicConfig` works as usual. Records that
no handler takes go through `logging.lastResort`.
"""

from __future__ import annotations

import os
import sys

from .capture import mark_lines
from .late_patches import patch_when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAMES = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}
_LETTERS = ((50, "C"), (40, "E"), (30, "W"), (20, "I"))
"""The levels are those of `logging`."""
_ALL = 0


def install_log_records() -> None:
    """Marks records from now on, and sets the level to LOG_LEVEL.

    (DEBUG, INFO, WARNING, ERROR or CRITICAL; INFO if it is none of these.) `logging` is imported
    by user code, or not at all.
    """
    wanted = os.environ.get("LOG_LEVEL", "").upper()
    level = wanted if wanted in _NAMES else "INFO"
    patch_when_imported("logging", lambda module: _patch(module, level))


def _patch(logging: Any, level: str) -> None:
    handler = getattr(logging, "StreamHandler", None)
    plain_emit = getattr(handler, "emit", None)
    plain_basic_config = getattr(logging, "basicConfig", None)
    if handler is None or plain_emit is None or plain_basic_config is None:
        return  # a module of the project that has the same name

    def emit(self: Any, record: Any) -> None:
        if self.stream is not sys.stdout and self.stream is not sys.stderr:
            plain_emit(self, record)
        else:
            _emit_marked(self, record)

    def basic_config(**options: Any) -> None:
        """Prints the message alone unless the user sets a format: the mark has the severity."""
        if options.get("style", "%") == "%":
            options.setdefault("format", "%(message)s")
        plain_basic_config(**options)

    handler.emit = emit
    logging.basicConfig = basic_config
    if logging.lastResort is not None:
        logging.lastResort.setLevel(_ALL)  # it would print warnings and errors only
    logging.root.setLevel(level)


def _emit_marked(handler: Any, record: Any) -> None:
    try:
        handler.stream.write(mark_lines(handler.format(record), _letter(record.levelno)))
        handler.flush()
    except RecursionError:
        raise
    except Exception:
        handler.handleError(record)


def _letter(level: int) -> str:
    return next((letter for minimum, letter in _LETTERS if level >= minimum), "D")
