"""Calls a function in an interpreter of its own, which gets its argument and nothing else.

Adapters hold credentials, and circuits are of strangers. So these are decoded where there is
nothing to be found: no environment, no open files, and no look into this process.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from typing import IO, Any

from .failures import CIRCUIT_INVALID, BackendFailure

CIRCUITS = "platform_quantum.backend.circuits"
"""The module that decodes circuits by Qiskit."""
_SECONDS = 3600.0
"""A large circuit in OpenQASM takes half a minute of a processor, and a run has a twentieth."""
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
        without an answer, or has none in time
    """
    paths = json.dumps([os.path.abspath(path) for path in sys.path])
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT, paths, module, function]
    text = json.dumps(given).encode("ascii")
    _hide()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}, close_fds=True
    )
    try:
        answer = _exchange(process, text)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
    return _read(answer, process.returncode)


def _exchange(process: subprocess.Popen[bytes], given: bytes) -> bytes:
    """What it prints until it closes its output; nothing, where that is too much or too late."""
    assert process.stdin is not None and process.stdout is not None
    deadline = time.monotonic() + _SECONDS
    waiting = memoryview(given)
    parts: list[bytes] = []
    size = 0
    os.set_blocking(process.stdin.fileno(), False)
    with selectors.DefaultSelector() as pipes:
        pipes.register(process.stdin, selectors.EVENT_WRITE)
        pipes.register(process.stdout, selectors.EVENT_READ)
        while size <= _MAX_ANSWER and (left := deadline - time.monotonic()) > 0:
            ready = [key.fileobj for key, _ in pipes.select(left)]
            if process.stdin in ready and not (waiting := _write(process.stdin, waiting)):
                pipes.unregister(process.stdin)
                process.stdin.close()
            if process.stdout in ready:
                parts.append(os.read(process.stdout.fileno(), _CHUNK))
                size += len(parts[-1])
            if parts and not parts[-1]:
                return b"".join(parts)
    return b""


def _write(pipe: IO[bytes], waiting: memoryview) -> memoryview:
    """What is left to be written after a part of it."""
    try:
        return waiting[os.write(pipe.fileno(), waiting[:_CHUNK]) :]
    except BrokenPipeError:
        return waiting[:0]  # what it has printed says why


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


def _hide() -> None:
    """Keeps other processes of this user from looking into this one, from now on.

    For good: what a stranger's circuit has started may outlive the interpreter that read it.
    """
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
