"""What it costs to import the package, and what it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
MAX_MS = 30


def run(code: str, *options: str) -> str:
    # Isolated and without site-packages: nothing but Python is installed.
    program = f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n{code}"
    command = [sys.executable, "-I", "-S", *options, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_importing_it_takes_less_than_30_ms() -> None:
    code = (
        "import time; t = time.perf_counter(); import platform_quantum\n"
        "print((time.perf_counter() - t) * 1000)"
    )
    assert min(float(run(code)) for _ in range(5)) < MAX_MS


def test_the_core_works_with_nothing_but_python_installed() -> None:
    code = (
        "from platform_quantum import *\n"
        "import platform_quantum as p\n"
        "provider = p.PlatformQuantumProvider('t', 'o', 'http://localhost:1')\n"
        "print(provider, [n for n in ('numpy', 'qiskit', 'dimod') if n in sys.modules])\n"
        "try: provider._to_backend(None)\n"
        "except ImportError as error: print(type(error).__name__, error)\n"
    ).replace("from platform_quantum import *\n", "")
    provider, refusal = run(code).splitlines()
    assert provider == "PlatformQuantumProvider('http://localhost:1') []"
    assert refusal.startswith("MissingDependencyError The package qiskit is not installed")
    assert refusal.endswith("pip install 'platform-quantum[qiskit]'")


def test_every_public_name_can_be_imported_and_no_other() -> None:
    code = (
        "import platform_quantum as p\n"
        "circuits = ('PlatformBackend', 'PlatformJob', 'SamplerV2', 'EstimatorV2')\n"
        "print([n for n in p.__all__ if n not in circuits and getattr(p, n).__name__ != n])\n"
        "print(hasattr(p, 'nothing'), set(p.__all__) <= set(dir(p)))"
    )
    assert run(code).splitlines() == ["[]", "False True"]
