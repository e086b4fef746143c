"""Helpers for tests whose subject needs an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence

INTERPRETER = (sys.executable, "-E", "-B", "-X", "utf8")
"""No variables of Python: `PYTHONUNBUFFERED` would hide what is not flushed."""
RUNNER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run_python(
    program: str,
    *arguments: str,
    variables: dict[str, str] | None = None,
    descriptors: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Runs a program that can import the runner; returns its output as it was written."""
    return subprocess.run(
        [*INTERPRETER, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        check=False,
        cwd=RUNNER,
        encoding="utf-8",
        env={**os.environ, **(variables or {})},
        pass_fds=descriptors,
    )


def read_output(program: str, *arguments: str, variables: dict[str, str] | None = None) -> str:
    """What such a program prints; raises AssertionError if it writes to stderr or fails."""
    done = run_python(program, *arguments, variables=variables)
    if done.returncode != 0 or done.stderr != "":
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return done.stdout
