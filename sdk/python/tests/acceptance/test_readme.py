"""The first lines of the page, against a running platform."""

from __future__ import annotations

import subprocess
import sys

from .live import ENDPOINT, TOKEN

# isort: split
from ..test_readme import read_snippet


def test_the_first_lines_print_the_counts_of_a_bell_pair() -> None:
    found = subprocess.run(
        [sys.executable, "-c", read_snippet("get_backend")],
        check=True,
        capture_output=True,
        text=True,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": ":".join(sys.path),
            "PLATFORM_ENDPOINT": ENDPOINT,
            "PLATFORM_PERSONAL_ACCESS_TOKEN": TOKEN,
        },
    )
    assert "'00':" in found.stdout
    assert "'11':" in found.stdout
    assert "'01':" not in found.stdout
