"""Skips a file whose packages are not installed, by a sentence."""

from __future__ import annotations

import importlib.util

import pytest


def need_packages(*names: str) -> None:
    missing = [name for name in names if not _is_there(name)]
    if missing:
        reason = f"{', '.join(missing)} is not installed: pip install -r requirements-tests.txt"
        pytest.skip(reason, allow_module_level=True)


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what it is a part of
        return False
