"""The login that the command line tool stores: read here, never written."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import ConfigInvalidError

_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True)
class StoredLogin:
    """What `platform login` and `platform set-context` have stored."""

    endpoint: str | None = None
    token: str | None = field(default=None, repr=False)
    organization_id: str | None = None


def find_config_file() -> Path:
    """Where the command line tool of this user has its file, whether it exists or not."""
    folder = os.environ.get("PLATFORM_CONFIG_DIR", "").strip()
    return (Path(folder) if folder else _find_usual_folder()) / "config.json"


def read_stored_login(path: Path) -> StoredLogin:
    """The stored login; an empty one if there is no such file.

    :raises ConfigInvalidError: the file cannot be read, or is not what the tool writes
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return StoredLogin()
    except OSError as error:
        raise _refuse(path, error.strerror or type(error).__name__) from None
    if len(content) > _MAX_BYTES:
        raise _refuse(path, f"it has more than {_MAX_BYTES} bytes")
    try:
        # Nothing of the content is told, and no cause kept: it may hold a token.
        stored = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _refuse(path, "it is not JSON") from None
    return _parse(stored, path)


def _find_usual_folder() -> Path:
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Preferences" / "platform"
    if sys.platform == "win32":
        roaming = os.environ.get("APPDATA")
        base = Path(roaming) if roaming else home / "AppData" / "Roaming"
        return base / "platform" / "Config"
    configured = os.environ.get("XDG_CONFIG_HOME")
    return (Path(configured) if configured else home / ".config") / "platform"


def _parse(stored: Any, path: Path) -> StoredLogin:
    if not isinstance(stored, dict):
        raise _refuse(path, "it does not contain a JSON object")
    context = stored.get("context", {})
    if not isinstance(context, dict):
        raise _refuse(path, "'context' is not an object")
    if "context" in stored and _read_text(context, "id", path) is None:
        raise _refuse(path, "'context' has no 'id'")
    return StoredLogin(
        endpoint=_read_text(stored, "endpoint", path),
        token=_read_text(stored, "personalAccessToken", path),
        organization_id=_read_text(context, "id", path),
    )


def _read_text(holder: dict[str, Any], name: str, path: Path) -> str | None:
    if name not in holder:
        return None
    value = holder[name]
    if not isinstance(value, str):
        raise _refuse(path, f"'{name}' is not a string")
    return value


def _refuse(path: Path, reason: str) -> ConfigInvalidError:
    return ConfigInvalidError(
        f"The configuration file '{path}' cannot be used: {reason}. Fix it, or delete it and "
        "log in again with 'platform login'."
    )
