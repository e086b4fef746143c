"""Says how to install what a call needs."""

from __future__ import annotations

import importlib.util

from .errors import MissingDependencyError


def need(package: str, extra: str) -> None:
    """Returns if a package can be imported.

    :raises MissingDependencyError: with the command that installs it
    """
    try:
        found = importlib.util.find_spec(package)
    except ModuleNotFoundError:  # what it is a part of
        found = None
    if found is None:
        raise MissingDependencyError(
            f"The package {package} is not installed: pip install 'platform-quantum[{extra}]'"
        )
