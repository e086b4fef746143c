"""Makes the wheel of the package beside it (PEP 517): pip needs nothing else, and no network."""

from __future__ import annotations

import base64
import hashlib
import tomllib
import zipfile
from pathlib import Path
from typing import Any

_TAG = "py3-none-any"
_TIME = (2000, 1, 1, 0, 0, 0)
_README = Path("README.md")
# Beside the package in an archive, else at the root of the repository.
_LICENSE = [Path("LICENSE"), Path("../../LICENSE")]


def build_wheel(
    wheel_directory: str,
    _settings: dict[str, Any] | None = None,
    _metadata: str | None = None,
) -> str:
    """Writes the wheel, and returns its name."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    files = {path.as_posix(): path.read_bytes() for path in sorted(_list_files(name))}
    info = f"{name}-{version}.dist-info"
    files[f"{info}/METADATA"] = _describe(project).encode()
    if "entry-points" in project:
        files[f"{info}/entry_points.txt"] = _list_entry_points(project["entry-points"]).encode()
    text = next(path for path in _LICENSE if path.exists())
    files[f"{info}/licenses/LICENSE"] = text.read_bytes()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: build_backend\nRoot-Is-Purelib: true\nTag: {_TAG}\n"
    ).encode()
    record = f"{info}/RECORD"
    lines = [f"{path},sha256={_hash(content)},{len(content)}" for path, content in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    wheel = f"{name}-{version}-{_TAG}.whl"
    with zipfile.ZipFile(Path(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, _TIME)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return wheel


def _list_files(name: str) -> list[Path]:
    found = Path(name).rglob("*")
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts]


def _describe(project: dict[str, Any]) -> str:
    head = {
        "Metadata-Version": "2.1",
        "Name": project["name"],
        "Version": project["version"],
        "Summary": project["description"],
        "Requires-Python": project["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    lines = [f"{name}: {value}\n" for name, value in head.items()]
    for extra, needed in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}\n")
        lines += [f'Requires-Dist: {one} ; extra == "{extra}"\n' for one in needed]
    return "".join([*lines, "\n", _README.read_text("utf-8") if _README.exists() else ""])


def _list_entry_points(groups: dict[str, dict[str, str]]) -> str:
    parts = []
    for group, entries in groups.items():
        lines = [f"{name} = {place}\n" for name, place in entries.items()]
        parts.append("".join([f"[{group}]\n", *lines]))
    return "\n".join(parts)


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
