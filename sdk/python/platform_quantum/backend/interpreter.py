"""Calls a function in an interpreter of its own, which gets its argument and nothing else.

Adapters hold credentials, and circuits are of strangers. So these are decoded where there is
nothing to be found: no environment, no open files, and no look into this process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

from .failures import CIRCUIT_INVALID, BackendFailure

CIRCUITS = "platform_quantum.backend.circuits"
"""The module that decodes circuits by Qiskit."""
_SECONDS = 300.0
_MAX_ANSWER = 256 * 1024 * 1024
_CHUNK = 1 << 16
_PR_SET_DUMPABLE = 4
_BOOT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from platform_quantum.backend.interpreter import serve
serve(sys.argv[2], sys.argv[3])
"""


def call_apart(module: str, function: str, given: dict[str, Any]) -> Any:
    """What the function of the module returns for these arguments. All of it is JSON.

    :raises BackendFailure: that of the function; CIRCUIT_INVALID where the interpreter has ended
    """
    paths = json.dumps([os.path.abspath(path) for path in sys.path])
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT, paths, module, function]
    _hide(True)
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}, close_fds=True
        )
        try:
            text = _exchange(process, json.dumps(given).encode("ascii"))
        finally:
            process.kill()
            process.wait()
    finally:
        _hide(False)
    return _read(text, process.returncode)


def _exchange(process: subprocess.Popen[bytes], given: bytes) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(given)
        process.stdin.close()
    except BrokenPipeError:
        pass  # what it has printed says why
    deadline = time.monotonic() + _SECONDS
    parts: list[bytes] = []
    size = 0
    while size <= _MAX_ANSWER and time.monotonic() < deadline:
        part = os.read(process.stdout.fileno(), _CHUNK)
        if not part:
            process.wait(timeout=max(0.1, deadline - time.monotonic()))
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    return b""


def _read(text: bytes, status: int) -> Any:
    try:
        answer = json.loads(text)
        if "failure" in answer:
            failure = answer["failure"]
            raise BackendFailure(str(failure["code"])[:100], str(failure["detail"])[:8000])
        return answer["value"]
    except (ValueError, KeyError, TypeError):
        detail = f"The interpreter that reads the circuits has ended with {status}."
        raise BackendFailure(CIRCUIT_INVALID, detail) from None


def serve(module: str, function: str) -> None:
    """In that interpreter: reads the arguments, calls the function, writes what it returned."""
    import importlib

    # What libraries print is no answer.
    out = os.dup(1)
    os.dup2(2, 1)
    given = json.loads(sys.stdin.buffer.read())
    try:
        answer = {"value": getattr(importlib.import_module(module), function)(**given)}
    except BackendFailure as failure:
        answer = {"failure": {"code": failure.code, "detail": failure.detail}}
    with os.fdopen(out, "wb") as file:
        file.write(json.dumps(answer).encode("ascii"))


def _hide(is_hidden: bool) -> None:
    """Whether other processes of this user are kept from looking into this one."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, int(not is_hidden), 0, 0, 0)
