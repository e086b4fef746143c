"""The interpreter that reads circuits of strangers: what it finds, and how it ends."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

import pytest

from platform_quantum.backend import BackendFailure, interpreter

PR_GET_DUMPABLE = 3


def test_the_interpreter_that_reads_circuits_has_no_variables_and_may_print(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "hostile.py").write_text(
        "import os\n"
        "def look():\n"
        "    print('no answer')\n"
        "    own = os.environ.keys() - {'LC_CTYPE'}\n"
        "    try:\n"
        "        return [*own, open(f'/proc/{os.getppid()}/environ').read()]\n"
        "    except PermissionError:\n"
        "        return [*own]\n"
        "def leave():\n"
        "    os._exit(3)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("VENDOR_KEY", "secret")
    found = interpreter.call_apart("hostile", "look", {})
    assert found == [] or os.getuid() == 0  # root may look everywhere
    assert "VENDOR_KEY" not in found
    with pytest.raises(BackendFailure, match="has ended with 3"):
        interpreter.call_apart("hostile", "leave", {})


@pytest.mark.skipif(sys.platform != "linux", reason="what hides a process is Linux's")
def test_what_outlives_the_interpreter_finds_the_process_hidden_too() -> None:
    assert interpreter.call_apart("json", "dumps", {"obj": 7}) == "7"
    assert ctypes.CDLL(None).prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0


def test_an_interpreter_that_hangs_or_prints_without_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "endless.py").write_text(
        "import os, sys, time\n"
        "def hang():\n"
        "    time.sleep(600)\n"
        "def leave_another():\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(5)\n"
        "    os._exit(3)\n"
        "def say_much():\n"
        "    return 'x' * 2_000_000\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(interpreter, "_SECONDS", 2.0)
    monkeypatch.setattr(interpreter, "_MAX_ANSWER", 1_000_000)
    for function in ("hang", "leave_another", "say_much"):
        with pytest.raises(BackendFailure, match="has ended with") as raised:
            interpreter.call_apart("endless", function, {})
        assert raised.value.code == "CIRCUIT_INVALID"


def test_an_interpreter_that_reads_nothing_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "_SECONDS", 2.0)
    monkeypatch.setattr(interpreter, "_BOOT", "import time; time.sleep(600)")
    with pytest.raises(BackendFailure, match="has ended with"):
        interpreter.call_apart("json", "dumps", {"obj": "x" * 1_000_000})
